/** What is promised of callbacks, and of those who receive them. */
import type { Block } from "../Chains.ts"
import type { Record, Subscribed } from "../Record.ts"
import type { Arrival } from "../Receivers.ts"
import { hasLeft, possible, promised } from "../Watched.ts"
import type { Judge } from "./Judge.ts"
import {
  accepted,
  blockIn,
  identityOf,
  isEvent,
  isRetraction,
  keyOf,
  lasting,
  lastWaiting,
  mayBeSentTo,
  name,
  of,
  ownerOf,
  posted,
  sequenceOf,
  type Told,
  toldBy,
  waitingFor
} from "./Told.ts"

/** The final chain's events that are promised to a subscription. */
const promisedTo = (subscribed: Subscribed, { hidUntil, undoneAt, watchedOnly }: Record): ReadonlyArray<Told> => {
  const best = subscribed.chain.best()
  const isPromised = promised(subscribed.watched, subscribed.chain, {
    recorded: subscribed.recorded,
    isWatchedOnly: watchedOnly.has(subscribed.chain),
    isLasting: (hash, since) => (undoneAt.get(hash) ?? -Infinity) < since
  })
  // A transaction is told also where the block was there before, but for nodes that hide it.
  const isHidden = (hidUntil.get(subscribed.chain) ?? -Infinity) >= subscribed.askedAt
  const isPast = subscribed.watched.kind === "transaction" && !isHidden
  return best
    .filter(({ hash }) => isPast || !subscribed.recorded.has(hash))
    .flatMap((block) => toldBy(subscribed, block, best.length - 1, (place) => isPromised(place, block)))
}

/** What a receiver that keeps the keys has booked: what it was told, without what was taken back. */
const booked = (arrivals: ReadonlyArray<Arrival>) => {
  const ended = new Set(arrivals.filter(isRetraction).map(({ body }) => body.data.item.revertedIdempotencyKey))
  const told = new Map<string, string>()
  for (const arrival of arrivals) {
    if (accepted(arrival) && isEvent(arrival) && !ended.has(keyOf(arrival)))
      told.set(keyOf(arrival), identityOf(arrival.body.data))
  }
  return told
}

/** "At least once." */
export const neverLost: Judge = (record) =>
  lasting(record)
    .filter(mayBeSentTo)
    .flatMap((subscribed) => {
      const told = new Set(booked(of(record, subscribed)).values())
      const waiting = lastWaiting(subscribed).flatMap((transaction) => waitingFor(subscribed, transaction))
      return [
        ...promisedTo(subscribed, record)
          .filter(({ identity }) => !told.has(identity))
          .map(({ block, identity }) => `${name(subscribed)} was never told: ${identity}, block ${block.height}`),
        ...waiting
          .filter((identity) => !told.has(identity))
          .map((identity) => `${name(subscribed)} was never told: ${identity}`)
      ]
    })

/** Whatever is told has happened, to an address that was asked for. */
export const nothingInvented: Judge = (record) =>
  record.subscribed.flatMap((subscribed) => {
    const { blocks } = subscribed.chain
    const isPossible = possible(subscribed.watched, subscribed.chain)
    const true_ = new Set([
      ...[...blocks.values()].flatMap((block) =>
        toldBy(subscribed, block, Infinity, isPossible).map(({ identity }) => identity)
      ),
      ...[...subscribed.chain.waited.keys()].flatMap((transaction) => waitingFor(subscribed, transaction))
    ])
    return of(record, subscribed)
      .filter((arrival) => isEvent(arrival) && !true_.has(identityOf(arrival.body.data)))
      .map((arrival) => `${name(subscribed)} was told what never happened: ${identityOf(arrival.body.data)}`)
  })

/** "`receiveCallbackOn` asks for one callback at that confirmation": not before the chain has it. */
export const notTooEarly: Judge = (record) =>
  record.subscribed.flatMap((subscribed) => {
    const { blocks } = subscribed.chain
    const atHeight = Map.groupBy(blocks.values(), ({ height }) => height)
    /** Whether a block stands on another one, some blocks above it. */
    const standsOn = (block: Block, other: string, above: number): boolean => {
      let below: Block | undefined = block
      for (let i = 0; i < above; i++) below = blocks.get(below?.parent ?? "")
      return below?.hash === other
    }
    const wanted = subscribed.event.endsWith("EACH_CONFIRMATION") ? undefined : subscribed.confirmations
    return of(record, subscribed).flatMap((arrival) => {
      const told = blocks.get(blockIn(arrival.text) ?? "")
      if (!isEvent(arrival) || told === undefined) return []
      const confirmation: number = wanted ?? arrival.body.data.item.currentConfirmations
      const above = confirmation - 1
      const has = atHeight
        .get(told.height + above)
        ?.some((block) => block.bornAt <= arrival.at && standsOn(block, told.hash, above))
      return has === true
        ? []
        : [
            `${name(subscribed)} was told of confirmation ${confirmation} of block ${told.height}, which it never had by then`
          ]
    })
  })

/** How often a block has what these words say: a transaction may move the same amount to an address twice. */
const timesOf = (subscribed: Subscribed, identity: string): number => {
  const block = subscribed.chain.blocks.get(/ in ([0-9a-f]{64})/.exec(identity)?.[1] ?? "")
  if (block === undefined) return 1
  const all = toldBy(subscribed, block, block.height + subscribed.confirmations, () => true)
  return all.filter((told) => told.identity === identity).length
}

/** "The same over retries, restarts and replays." */
export const oneKeyForOneEvent: Judge = (record) =>
  record.subscribed.flatMap((subscribed) => {
    const arrivals = of(record, subscribed)
    const keys = Map.groupBy(booked(arrivals), ([, identity]) => identity)
    const bodies = Map.groupBy(arrivals, keyOf)
    return [
      ...[...keys].flatMap(([identity, all]) =>
        all.length === 1 || all.length <= timesOf(subscribed, identity)
          ? []
          : [`${name(subscribed)} was told under ${all.length} keys: ${identity}`]
      ),
      ...[...bodies].flatMap(([key, all]) =>
        new Set(all.map(({ text }) => text)).size === 1
          ? []
          : [`${name(subscribed)} was told different things under the key ${key}`]
      )
    ]
  })

/** "1, 2, 3 … without a gap. The number belongs to the callback." */
export const numbered: Judge = (record) =>
  record.subscribed.flatMap((subscribed) => {
    const feed = record.feeds.get(subscribed.referenceId ?? "") ?? []
    const pairs = [
      ...record.attempts.filter(({ path }) => path === subscribed.path),
      ...feed.map(({ idempotencyKey: key, sequence }) => ({ key, sequence }))
    ]
    const keys = Map.groupBy(pairs, ({ sequence }) => sequence)
    const numbers = Map.groupBy(pairs, ({ key }) => key)
    const last = Math.max(0, ...keys.keys())
    const isKnown = subscribed.referenceId !== undefined && record.feeds.has(subscribed.referenceId)
    const missing = isKnown ? Array.from({ length: last }, (_, i) => i + 1).filter((number) => !keys.has(number)) : []
    return [
      ...missing.map((number) => `${name(subscribed)} has no number ${number}, and a number ${last}`),
      ...[...keys].flatMap(([number, all]) =>
        new Set(all.map(({ key }) => key)).size === 1
          ? []
          : [`${name(subscribed)} has several callbacks with the number ${number}`]
      ),
      ...[...numbers].flatMap(([key, all]) =>
        new Set(all.map(({ sequence }) => sequence)).size === 1
          ? []
          : [
              `${name(subscribed)} has several numbers for the key ${key}: ${[...new Set(all.map(({ sequence }) => sequence))]}`
            ]
      )
    ]
  })

/** Whether what a subscription is told has an order: what is late of addresses that it came to later has none. */
const isOrdered = ({ event, watched: { kind } }: Subscribed) =>
  (kind === "blocks" || kind === "address") && event !== "ADDRESS_COINS_TRANSACTION_UNCONFIRMED"

/**
 * "First attempts of one subscription leave in the order of the chain." What had been leased as its block left the chain
 * may come late, and what was retracted is told again after what followed it. Heights are compared at the same
 * confirmation: an earlier block may have another one already from a branch that was left.
 */
export const inOrder: Judge = (record) =>
  record.subscribed.flatMap((subscribed) => {
    const best = new Map(subscribed.chain.best().map((block) => [block.hash, block]))
    const first = new Set<string>()
    let last = 0
    const heights = new Map<number, number>()
    const broken: Array<string> = []
    for (const { key, path, sequence, text } of record.attempts) {
      if (path !== subscribed.path || first.has(key)) continue
      first.add(key)
      const block = best.get(blockIn(text) ?? "")
      if (block !== undefined && sequence < last)
        broken.push(`${name(subscribed)}: the first attempt of ${sequence} left after that of ${last}`)
      last = Math.max(last, sequence)
      if (block === undefined || !isOrdered(subscribed) || /(reverted|restores)IdempotencyKey":|_TEST"/.test(text))
        continue
      // A rewind commits anew what was recorded before the subscription, which is told then; where the answer to its request
      // was lost, nobody knows what that was.
      if (subscribed.referenceId === undefined || subscribed.recorded.has(block.hash)) continue
      const confirmation: number = JSON.parse(text).data.item.currentConfirmations ?? 1
      const height = heights.get(confirmation) ?? 0
      if (block.height < height)
        broken.push(`${name(subscribed)}: ${sequence}, of block ${block.height}, left after what block ${height} has`)
      heights.set(confirmation, Math.max(block.height, height))
    }
    return broken
  })

/** How long an attempt may take until its request leaves, in milliseconds. */
const beginning = 100

/**
 * "Where the block leaves the chain before the callback is sent, the callback is not sent." What was accepted before may
 * be asked for again whatever became of its block; and where an operator has rewound the block, what has a number is true until
 * another block is in its place.
 */
export const notSentAfterwards: Judge = (record) =>
  record.subscribed.flatMap((subscribed) => {
    const best = new Set(subscribed.chain.best().map(({ hash }) => hash))
    const acceptedAt = new Map<string, number>()
    for (const arrival of of(record, subscribed)) {
      if (accepted(arrival) && !acceptedAt.has(keyOf(arrival))) acceptedAt.set(keyOf(arrival), arrival.at)
    }
    return record.attempts
      .filter(({ at, key, path, text }) => {
        if (path !== subscribed.path || /revertedIdempotencyKey|_TEST"/.test(text)) return false
        const hash = blockIn(text)
        const isAskedFor = subscribed.askedAgainAt.some(
          (asked) => asked < at && (acceptedAt.get(key) ?? Infinity) <= asked
        )
        const until = (record.undoneAt.get(hash ?? "") ?? Infinity) + beginning
        return hash !== undefined && !best.has(hash) && !record.rewound.has(hash) && at > until && !isAskedFor
      })
      .map(({ at, sequence, text }) => {
        const since = Math.round(at - record.undoneAt.get(blockIn(text)!)!)
        return `${name(subscribed)} was sent ${sequence}, ${since} ms after its block was undone`
      })
  })

/** "A retraction comes after the original was answered or given up, never before, and ends that key for good." */
export const retractedAfterwards: Judge = (record) =>
  record.subscribed.flatMap((subscribed) => {
    const arrivals = of(record, subscribed)
    const firstRetraction = new Map<string, number>()
    for (const arrival of arrivals) {
      const key = isRetraction(arrival) ? arrival.body.data.item.revertedIdempotencyKey : undefined
      if (key !== undefined && !firstRetraction.has(key)) firstRetraction.set(key, arrival.at)
    }
    const broken = arrivals.filter(
      (arrival) => isEvent(arrival) && arrival.at > (firstRetraction.get(keyOf(arrival)) ?? Infinity)
    )
    const early = arrivals.filter(
      (arrival) => isEvent(arrival) && (arrival.answeredAt ?? 0) > (firstRetraction.get(keyOf(arrival)) ?? Infinity)
    )
    const feed = record.feeds.get(subscribed.referenceId ?? "")
    const numbers = new Map([
      ...(feed ?? []).map(({ idempotencyKey, sequence }) => [idempotencyKey, sequence] as const),
      ...arrivals.map((arrival) => [keyOf(arrival), sequenceOf(arrival)] as const)
    ])
    const unfounded = arrivals.filter(
      (arrival) =>
        feed !== undefined && isRetraction(arrival) && !numbers.has(arrival.body.data.item.revertedIdempotencyKey)
    )
    const before = arrivals.filter(
      (arrival) =>
        isRetraction(arrival) && sequenceOf(arrival) < (numbers.get(arrival.body.data.item.revertedIdempotencyKey) ?? 0)
    )
    return [
      ...broken.map(
        (arrival) =>
          `${name(subscribed)} was sent ${sequenceOf(arrival)} after its retraction: ${identityOf(arrival.body.data)}`
      ),
      ...early.map((arrival) => `${name(subscribed)}: ${sequenceOf(arrival)} was retracted before it was answered`),
      ...before.map(
        (arrival) => `${name(subscribed)}: the retraction ${sequenceOf(arrival)} is numbered before what it retracts`
      ),
      ...unfounded.map(
        (arrival) => `${name(subscribed)}: the retraction ${sequenceOf(arrival)} takes back what has no number`
      )
    ]
  })

/** An account with retractions that books what it is told has nothing of blocks that left the chain. */
export const takenBack: Judge = (record) =>
  lasting(record)
    .filter((subscribed) => subscribed.tenant.retractions && mayBeSentTo(subscribed))
    .flatMap((subscribed) => {
      const best = new Set(subscribed.chain.best().map(({ hash }) => hash))
      return [...booked(of(record, subscribed)).values()]
        .filter((identity) => {
          const [, hash] = /(?: in|^block) ([0-9a-f]{64})/.exec(identity) ?? []
          return hash !== undefined && !best.has(hash)
        })
        .map((identity) => `${name(subscribed)} still books, of a block that left the chain: ${identity}`)
    })

/** Before an account has verified a host, nothing is sent there for it; and never to an address that is not public. */
export const onlyToVerifiedHosts: Judge = (record) =>
  posted(record).flatMap((arrival) => {
    const subscribed = ownerOf(record, arrival.path)
    const verifiedAt = subscribed?.tenant.verifiedAt.get(arrival.host) ?? Infinity
    return [
      ...(arrival.address.startsWith("8.8.4.")
        ? []
        : [`A callback was sent to ${arrival.address}, for ${arrival.host}`]),
      ...(arrival.at < verifiedAt
        ? [`A callback was sent to ${arrival.host}, which ${subscribed?.tenant.name} has not verified`]
        : [])
    ]
  })

/** What is deleted is sent no more, but for what was on its way. */
export const nothingAfterDeletion: Judge = (record) =>
  record.subscribed.flatMap((subscribed) => {
    const deletedAt = subscribed.deletion?.answeredAt ?? Infinity
    // A lease that was taken before is worked off.
    const late = record.attempts.filter(({ at, path }) => path === subscribed.path && at > deletedAt + 15_000)
    return late.length === 0 ? [] : [`${name(subscribed)} was deleted, and sent ${late.length} callbacks since`]
  })

/** "An edit counts from the next block on": what leaves a list is not told of later blocks. */
export const nothingOfWhatLeft: Judge = (record) =>
  record.subscribed.flatMap((subscribed) => {
    const { chain, watched } = subscribed
    if (watched.kind !== "list") return []
    const all = [...chain.blocks.values()].flatMap((block) => toldBy(subscribed, block, Infinity, () => true))
    const known = new Map(all.map((told) => [told.identity, told]))
    return of(record, subscribed)
      .filter(isEvent)
      .flatMap((arrival) => {
        const told = known.get(identityOf(arrival.body.data))
        return told?.place !== undefined && hasLeft(watched.edits, told.place, told.block, arrival.at)
          ? [`${name(subscribed)} was told of an address that had left: ${told.identity}`]
          : []
      })
  })
