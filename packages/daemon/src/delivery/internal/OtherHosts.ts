/**
 * Hosts that should be heard of beside one that failed: those that were, and those of other accounts' subscriptions. They are
 * knocked at to tell a host's failure from this machine's.
 */
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import { CallbackTarget } from "../CallbackTarget.ts"
import { ReceiverClient } from "../ReceiverClient.ts"

/** A host that failed, by its fault or ours. */
export interface Suspect {
  readonly host: string
  /** The URL, where a connection to the host had been made. */
  readonly silent: URL | undefined
  /** Whether this machine knew a way to the host. */
  readonly route: boolean
}

/** What one look has found, which several failures may wait for. */
export interface Round {
  readonly at: number
  readonly found: Effect.Effect<boolean>
}

/** How long the store may take to name hosts. */
export const storeMillis = 500
/** Hosts that are asked in one look. */
const most = 8
/** Accounts whose hosts are remembered, and hosts of each. */
const [maxAccounts, maxHosts] = [256, 4]
/** How long valid certificates of other hosts are known. */
const certifiedMillis = 2000

/** Those that the operator allows by name, or all others. */
export const make = Effect.fnUntraced(function* (isAllowed: boolean) {
  const client = yield* ReceiverClient
  const target = yield* CallbackTarget
  const outbox = yield* Outbox
  const clock = yield* Clock.Clock
  /** Origins that were heard of, by account, the latest last. */
  const heard = new Map<number, ReadonlyArray<string>>()
  let certified: Round | undefined

  const remember = (account: number, origin: string) => {
    const known = heard.get(account) ?? []
    if (known.at(-1) !== origin) {
      heard.set(account, [...known.filter((other) => other !== origin), origin].slice(-maxHosts))
    }
    if (heard.size > maxAccounts) heard.delete(heard.keys().next().value!)
  }

  /** Some of each account's, in any order. */
  const others = Effect.fnUntraced(function* ({ host, silent }: Suspect) {
    const known = [...heard.values()].flat()
    const subscribed = yield* outbox.receivers.pipe(
      Effect.timeout(storeMillis),
      Effect.orElseSucceed((): ReadonlyArray<string> => [])
    )
    const parsed = yield* Effect.forEach([...known, ...subscribed], (text) => Effect.option(target.parse(text)))
    const byOrigin = new Map<string, URL>()
    for (const url of parsed.flatMap(Option.toArray)) {
      const { hostname, origin } = url
      if (hostname !== host && target.isAllowed(hostname) === isAllowed) byOrigin.set(origin, url)
    }
    // A host that fell silent is asked first whether it is there.
    return [...(silent === undefined ? [] : [silent]), ...(yield* Random.shuffle(byOrigin.values()))].slice(0, most)
  })

  /** Whether any of the URLs is so: the first tells. */
  const isAny = (urls: ReadonlyArray<URL>, isSo: (url: URL) => Effect.Effect<boolean>) => {
    const each = urls.map((url) => Effect.flatMap(isSo(url), (is) => (is ? Effect.void : Effect.fail(url))))
    return urls.length === 0 ? Effect.succeed(false) : Effect.map(Effect.option(Effect.raceAll(each)), Option.isSome)
  }

  /** Whether anything is heard of other hosts; of a name server where there is none. Ends with the first that is. */
  const knock = Effect.fnUntraced(function* (suspect: Suspect) {
    const urls = yield* others(suspect)
    if (urls.length === 0) return suspect.route && (yield* target.nameServerAnswers)
    return yield* isAny(urls, client.reaches)
  })

  /** Whether any other host has a certificate that is valid by this clock; several failures are told by one look. */
  const isAnyCertified = Effect.fnUntraced(function* (host: string) {
    const now = clock.currentTimeMillisUnsafe()
    if (certified !== undefined && Math.abs(now - certified.at) < certifiedMillis) return yield* certified.found
    const urls = others({ host, silent: undefined, route: true })
    const found = yield* Effect.cached(Effect.flatMap(urls, (urls) => isAny(urls, client.isCertified)))
    certified = { at: now, found }
    return yield* found
  })

  return { remember, knock, isAnyCertified }
})

export type OtherHosts = Effect.Success<ReturnType<typeof make>>
