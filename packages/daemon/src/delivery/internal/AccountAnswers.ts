/** How the attempts of an account at a host are answered: when they fail, and for how long the account's part is left alone. */
import type { Lease } from "@headwater/indexer/store/subscriptions/Lease"
import * as Hash from "effect/Hash"

export interface Limits {
  /** An account's attempts without an answer, one after another, until a host is left alone; and for how long, at first and at most. */
  readonly failures: number
  readonly pauseMillis: number
  readonly maxPauseMillis: number
}

export interface AccountAnswers {
  /** Attempts without an answer since the last answer: the account chooses the path, and may mean others by it. */
  failures: number
  /** The URLs of these attempts by their hashes, as many as are remembered: texts may be long, and anybody's. */
  readonly silent: Set<number>
  /** Whether one was added since a URL that was there failed again. */
  hasNew: boolean
  /** When the last attempt without an answer ended. */
  unansweredAt: number | undefined
  /** The URL that was answered last, and when: for a while then, another one without an answer may be at fault itself. */
  answered: { readonly url: string; readonly at: number } | undefined
  pausedUntil: number
}

/** URLs without an answer that are told apart: what fails beyond them is taken for the host's silence. */
const rememberedUrls = 8_192

/** An attempt that has ended: when it began, and the present, in milliseconds since the Unix epoch. */
interface Ended {
  readonly answered: boolean
  readonly at: number
  readonly now: number
}

/** Before any attempt. */
export const none = (): AccountAnswers => ({
  ...{ failures: 0, silent: new Set(), hasNew: false, unansweredAt: undefined, answered: undefined, pausedUntil: 0 }
})

/** `longestPause`, in milliseconds: nothing further away counts, since a clock that was put back may have set that. */
export const make = (limits: Limits, longestPause: number) => {
  const isFailing = ({ failures }: Pick<AccountAnswers, "failures">) => failures >= limits.failures

  const isRecent = (at: number, now: number) => at <= now && now - at < longestPause

  /**
   * Whether the failure of a URL speaks against the host: not where the host has answered at another URL since the attempt
   * began, and of a URL that is at fault itself the first one alone; `isSilent`: an earlier one is remembered.
   */
  const isOfHost = ({ answered }: AccountAnswers, url: string, isSilent: boolean, { at, now }: Ended) => {
    if (answered === undefined || answered.url === url || !isRecent(answered.at, now)) return true
    return answered.at <= at && !isSilent
  }

  /** Whether the attempt began before the last pause was over: what failed together is one reason for a longer pause. */
  const isOfLastPause = ({ pausedUntil }: AccountAnswers, { at, now }: Ended) =>
    at < pausedUntil && pausedUntil - now <= longestPause

  /** Whether an attempt may keep its place until it has failed, for which others would wait. */
  const mayHang = (answers: AccountAnswers, now: number) =>
    isFailing(answers) || (answers.unansweredAt !== undefined && isRecent(answers.unansweredAt, now))

  /** Notes an attempt that has ended. */
  const note = (answers: AccountAnswers, { url }: Pick<Lease, "url">, ended: Ended) => {
    const { answered, now } = ended
    if (answered) {
      answers.failures = 0
      answers.silent.clear()
      answers.answered = { url, at: now }
      answers.pausedUntil = 0
      return
    }
    answers.unansweredAt = now
    const hash = Hash.string(url)
    const isSilent = answers.silent.has(hash)
    const speaks = isOfHost(answers, url, isSilent, ended)
    const isNew = speaks && !isSilent && answers.silent.size < rememberedUrls
    if (isNew) {
      answers.silent.add(hash)
      answers.hasNew = true
    }
    if (isOfLastPause(answers, ended)) return
    // Of a host that is left alone each URL that was not tried may be the one that answers: no pause is longer for it, nor for
    // others that are sent again beside such ones.
    if (speaks && !(answers.hasNew && isFailing(answers))) answers.failures++
    if (!isNew) answers.hasNew = false
    // What says nothing new of a host that was left alone ends no pause either.
    const excess = answers.failures - limits.failures
    if (excess < 0) return
    answers.pausedUntil = now + Math.min(limits.pauseMillis * 2 ** Math.min(excess, 20), limits.maxPauseMillis)
  }

  return { isFailing, mayHang, note }
}
