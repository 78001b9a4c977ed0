/** How the attempts of an account at a host are answered: when they fail, and for how long the account's part is left alone. */
import type { Lease } from "@headwater/indexer/store/subscriptions/Lease"

export interface Limits {
  /** An account's attempts without an answer, one after another, until a host is left alone; and for how long, at first and at most. */
  readonly failures: number
  readonly pauseMillis: number
  readonly maxPauseMillis: number
}

export interface AccountAnswers {
  /** Attempts without an answer since the last answer: the account chooses the path, and may mean others by it. */
  failures: number
  /** The URLs of the first of these attempts. */
  readonly silent: Set<string>
  /** Subscriptions whose last attempt had no answer, the oldest attempt first. */
  readonly unanswered: Set<number>
  /** The URL that was answered last, and when: for a while then, another one without an answer may be at fault itself. */
  answered: { readonly url: string; readonly at: number } | undefined
  pausedUntil: number
}

/** Subscriptions without an answer that are remembered. */
const rememberedUnanswered = 1000

/** Before any attempt. */
export const none = (): AccountAnswers => ({
  ...{ failures: 0, silent: new Set(), unanswered: new Set(), answered: undefined, pausedUntil: 0 }
})

/** `isRecent`: whether something of that time counts still. */
export const make = (limits: Limits, isRecent: (at: number, now: number) => boolean) => {
  const isFailing = ({ failures }: Pick<AccountAnswers, "failures">) => failures >= limits.failures

  /** Whether the failure of a URL speaks against the host: of one that is at fault itself the first one alone does. */
  const isOfHost = ({ answered, silent }: AccountAnswers, url: string, now: number) =>
    !silent.has(url) || answered === undefined || answered.url === url || !isRecent(answered.at, now)

  const noteUnanswered = ({ unanswered }: AccountAnswers, subscription: number) => {
    unanswered.add(subscription)
    const [oldest] = unanswered
    if (unanswered.size > rememberedUnanswered) unanswered.delete(oldest!)
  }

  /** Notes an attempt that has ended. */
  const note = (
    answers: AccountAnswers,
    { subscription, url }: Pick<Lease, "subscription" | "url">,
    { answered, now }: { readonly answered: boolean; readonly now: number }
  ) => {
    answers.unanswered.delete(subscription)
    if (!answered) noteUnanswered(answers, subscription)
    if (answered) {
      answers.failures = 0
      answers.silent.clear()
      answers.answered = { url, at: now }
    } else if (isOfHost(answers, url, now)) {
      if (!isFailing(answers)) answers.silent.add(url)
      answers.failures++
    }
    const excess = answers.failures - limits.failures
    if (excess < 0) answers.pausedUntil = 0
    else answers.pausedUntil = now + Math.min(limits.pauseMillis * 2 ** Math.min(excess, 20), limits.maxPauseMillis)
  }

  return { isFailing, note }
}
