/**
 * What the documentation promises, as assertions over the record of a story. Each says in words which promise was
 * broken, and by what. The model behind them is plain: the final chains, and what tenants have asked for.
 */
import type { Block, Movement, Transaction } from "./Chains.ts"
import type { Record, Subscribed } from "./Record.ts"
import type { Arrival } from "./Receivers.ts"

export interface Broken {
  /** In the words of the documentation. */
  readonly promise: string
  readonly detail: string
}

type Judge = (record: Record) => ReadonlyArray<string>

const decimal = (amount: bigint, decimals: number) => {
  const digits = amount.toString().padStart(decimals + 1, "0")
  const fraction = digits.slice(-decimals).replace(/0+$/, "")
  return `${digits.slice(0, -decimals)}${fraction === "" ? "" : `.${fraction}`}`
}

const kindOf = { ADDRESS_COINS: "coin", ADDRESS_TOKENS: "token", ADDRESS_INTERNAL: "internal" } as const

/** Something that a subscription is to be told: its place, and the words that tell it from everything else. */
interface Told {
  readonly block: Block
  readonly transaction: number
  readonly confirmation: number
  readonly identity: string
}

const movementsOf = ({ failed, movements }: Transaction, kind: Movement["kind"]) =>
  failed ? [] : movements.filter((movement) => movement.kind === kind)

/** What a block has for a subscription, at each confirmation up to the one that `tip` gives. */
const toldBy = (subscribed: Subscribed, block: Block, tip: number): ReadonlyArray<Told> => {
  const { address = 0, confirmations, event } = subscribed
  const { decimals, isOf } = subscribed.chain.family
  if (event === "BLOCK_MINED") return [{ block, transaction: 0, confirmation: 1, identity: `block ${block.hash}` }]
  const kind = kindOf[event.split("_TRANSACTION")[0] as keyof typeof kindOf]
  const has = tip - block.height + 1
  const isEach = event.endsWith("EACH_CONFIRMATION")
  const told = isEach
    ? Array.from({ length: Math.min(has, confirmations) }, (_, i) => i + 1)
    : has >= confirmations
      ? [confirmations]
      : []
  return block.transactions.flatMap((transaction, index) =>
    movementsOf(transaction, kind).flatMap((movement, place) => {
      const { amount, from, to } = movement
      if (!isOf(from, address) && !isOf(to, address)) return []
      const direction = isOf(from, address) ? "outgoing" : "incoming"
      const text = decimal(amount, decimals[kind])
      const operation = kind === "internal" ? ` call_${place}` : ""
      return told.map((confirmation) => ({
        block,
        transaction: index,
        confirmation,
        identity: `${kind} ${transaction.id}${operation} ${direction} ${text} in ${block.hash}${isEach ? ` at confirmation ${confirmation}` : ""}`
      }))
    })
  )
}

const withoutPrefix = (hash: string) => hash.replace(/^0x/, "").toLowerCase()

/** What a callback's body tells, in the same words. */
const identityOf = ({ item }: { readonly item: Readonly<globalThis.Record<string, never>> }): string => {
  const {
    amount,
    currentConfirmations,
    direction,
    hash,
    minedInBlock,
    operationId,
    parentTransactionId,
    token,
    transactionId
  } =
    // biome-ignore lint/suspicious/noExplicitAny: a callback's item is of any event
    item as any
  if (minedInBlock === undefined) return `block ${withoutPrefix(hash)}`
  const at = currentConfirmations === undefined ? "" : ` at confirmation ${currentConfirmations}`
  const where = `in ${withoutPrefix(minedInBlock.hash)}${at}`
  if (token !== undefined) return `token ${withoutPrefix(transactionId)} ${direction} ${token.amount} ${where}`
  return operationId === undefined
    ? `coin ${withoutPrefix(transactionId)} ${direction} ${amount} ${where}`
    : `internal ${withoutPrefix(parentTransactionId)} ${operationId} ${direction} ${amount} ${where}`
}

const isEvent = ({ body }: Arrival) =>
  !/_(REVERTED|TEST|CORRECTED)$|^(BLOCKS_MISSED|SUBSCRIPTION_FAILING)$/.test(body.data.event)
const isRetraction = ({ body }: Arrival) => body.data.event.endsWith("_REVERTED")
const accepted = ({ status }: Arrival) => status !== undefined && status >= 200 && status < 300
const keyOf = ({ body }: Arrival): string => body.idempotencyKey
const sequenceOf = ({ headers }: Arrival) => Number(headers["x-callback-sequence"])

const blockIn = (text: string) => /"hash":"(?:0x)?([0-9a-f]{64})"/i.exec(text)?.[1]?.toLowerCase()

const posted = ({ arrivals }: Record) => arrivals.filter(({ body }) => body !== undefined)

const of = (record: Record, subscribed: Subscribed) => posted(record).filter(({ path }) => path === subscribed.path)

const name = ({ address, chain, confirmations, event, host, path, tenant }: Subscribed) =>
  `${tenant.name}'s subscription ${path} on ${chain.family.chain} to ${event}${address === undefined ? "" : ` of ${chain.family.addressAt(address).slice(0, 6)}…`}` +
  ` (${confirmations} confirmations) at ${host}`

/** The final chain's events that are promised to a subscription. */
const promised = (subscribed: Subscribed): ReadonlyArray<Told> => {
  const best = subscribed.chain.best()
  return best
    .filter(({ hash }) => !subscribed.recorded.has(hash))
    .flatMap((block) => toldBy(subscribed, block, best.length - 1))
}

/** Subscriptions that were surely made, and are still there. */
const lasting = ({ subscribed }: Record) =>
  subscribed.filter(
    ({ deletion, isActive, referenceId, tenant }) =>
      referenceId !== undefined && deletion === undefined && (isActive || !tenant.isPoor)
  )

const mayBeSentTo = ({ host, tenant }: Subscribed) => tenant.verifiedAt.has(host)

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
const neverLost: Judge = (record) =>
  lasting(record)
    .filter(mayBeSentTo)
    .flatMap((subscribed) => {
      const told = new Set(booked(of(record, subscribed)).values())
      return promised(subscribed)
        .filter(({ identity }) => !told.has(identity))
        .map(({ block, identity }) => `${name(subscribed)} was never told: ${identity}, block ${block.height}`)
    })

/** Whatever is told has happened, to an address that was asked for. */
const nothingInvented: Judge = (record) =>
  record.subscribed.flatMap((subscribed) => {
    const { blocks } = subscribed.chain
    const true_ = new Set(
      [...blocks.values()].flatMap((block) => toldBy(subscribed, block, Infinity).map(({ identity }) => identity))
    )
    return of(record, subscribed)
      .filter((arrival) => isEvent(arrival) && !true_.has(identityOf(arrival.body.data)))
      .map((arrival) => `${name(subscribed)} was told what never happened: ${identityOf(arrival.body.data)}`)
  })

/** "`receiveCallbackOn` asks for one callback at that confirmation": not before the chain has it. */
const notTooEarly: Judge = (record) =>
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

/** "The same over retries, restarts and replays." */
const oneKeyForOneEvent: Judge = (record) =>
  record.subscribed.flatMap((subscribed) => {
    const arrivals = of(record, subscribed)
    const keys = Map.groupBy(booked(arrivals), ([, identity]) => identity)
    const bodies = Map.groupBy(arrivals, keyOf)
    return [
      ...[...keys].flatMap(([identity, all]) =>
        all.length === 1 ? [] : [`${name(subscribed)} was told under ${all.length} keys: ${identity}`]
      ),
      ...[...bodies].flatMap(([key, all]) =>
        new Set(all.map(({ text }) => text)).size === 1
          ? []
          : [`${name(subscribed)} was told different things under the key ${key}`]
      )
    ]
  })

/** "1, 2, 3 … without a gap. The number belongs to the callback." */
const numbered: Judge = (record) =>
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

/**
 * "First attempts of one subscription leave in the order of the chain." What had been leased as its block left the chain
 * may come late.
 */
const inOrder: Judge = (record) =>
  record.subscribed.flatMap((subscribed) => {
    const best = new Set(subscribed.chain.best().map(({ hash }) => hash))
    const first = new Set<string>()
    let last = 0
    const broken: Array<string> = []
    for (const { key, path, sequence, text } of record.attempts) {
      if (path !== subscribed.path || first.has(key)) continue
      first.add(key)
      const hash = blockIn(text)
      if (sequence < last && hash !== undefined && best.has(hash)) {
        broken.push(`${name(subscribed)}: the first attempt of ${sequence} left after that of ${last}`)
      }
      last = Math.max(last, sequence)
    }
    return broken
  })

/** "A retraction comes after the original was answered or given up, never before, and ends that key for good." */
const retractedAfterwards: Judge = (record) =>
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
    const numbers = new Map(arrivals.map((arrival) => [keyOf(arrival), sequenceOf(arrival)]))
    const before = arrivals.filter(
      (arrival) =>
        isRetraction(arrival) && sequenceOf(arrival) < (numbers.get(arrival.body.data.item.revertedIdempotencyKey) ?? 0)
    )
    return [
      ...broken.map(
        (arrival) =>
          `${name(subscribed)} was sent ${sequenceOf(arrival)} after its retraction: ${identityOf(arrival.body.data)}`
      ),
      ...before.map(
        (arrival) => `${name(subscribed)}: the retraction ${sequenceOf(arrival)} is numbered before what it retracts`
      )
    ]
  })

/** An account with retractions that books what it is told has nothing of blocks that left the chain. */
const takenBack: Judge = (record) =>
  lasting(record)
    .filter((subscribed) => subscribed.tenant.retractions && mayBeSentTo(subscribed))
    .flatMap((subscribed) => {
      const best = new Set(subscribed.chain.best().map(({ hash }) => hash))
      return [...booked(of(record, subscribed)).values()]
        .filter((identity) => !best.has(/(?: in|^block) ([0-9a-f]{64})/.exec(identity)![1]!))
        .map((identity) => `${name(subscribed)} still books, of a block that left the chain: ${identity}`)
    })

/** Before an account has verified a host, nothing is sent there for it; and never to an address that is not public. */
const onlyToVerifiedHosts: Judge = (record) =>
  posted(record).flatMap((arrival) => {
    const subscribed = record.subscribed.find(({ path }) => path === arrival.path)
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
const nothingAfterDeletion: Judge = (record) =>
  record.subscribed.flatMap((subscribed) => {
    const deletedAt = subscribed.deletion?.answeredAt ?? Infinity
    // A lease that was taken before is worked off.
    const late = record.attempts.filter(({ at, path }) => path === subscribed.path && at > deletedAt + 15_000)
    return late.length === 0 ? [] : [`${name(subscribed)} was deleted, and sent ${late.length} callbacks since`]
  })

/** "No answer with status 200 holds less than the chain", from the block on from which it says to be whole. */
const nothingBelowTheTruth: Judge = (record) =>
  record.listed.flatMap(({ address, chain, completeFrom = Infinity, kind, recorded, transactions }) =>
    [...recorded]
      .flatMap((hash) => chain.blocks.get(hash) ?? [])
      .filter(({ height }) => height >= completeFrom)
      .flatMap((block) =>
        block.transactions
          .filter((one) => movementsOf(one, kind).some(({ from, to }) => from === address || to === address))
          .filter(({ id }) => !transactions.has(id))
          .map(
            ({ id }) => `A list of ${kind} movements, whole from ${completeFrom}, lacks ${id} of block ${block.height}`
          )
      )
  )

/** "A balance never goes below zero", and nothing is charged twice. */
const credits: Judge = (record) =>
  record.tenants.flatMap((tenant) => {
    const balance = record.balances.get(tenant.name)
    const ledger = record.ledgers.get(tenant.name)
    if (balance === undefined || ledger === undefined) return []
    const sum = ledger.reduce((sum, { amount }) => sum + amount, 0)
    const calls = record.calls.filter((call) => call.tenant === tenant)
    const consumed = calls.reduce((sum, { answer }) => sum + Number(answer?.headers["x-credits-consumed"] ?? 0), 0)
    const requests = -ledger.filter(({ kind }) => kind === "request").reduce((sum, { amount }) => sum + amount, 0)
    const paths = new Set(record.subscribed.filter((one) => one.tenant === tenant).map(({ path }) => path))
    const sent = posted(record).filter((arrival) => paths.has(arrival.path) && accepted(arrival)).length
    const paidFor = ledger.filter(({ kind }) => kind === "callback").reduce((sum, { results }) => sum + results, 0)
    const lost = calls.filter(({ answer }) => answer === undefined || answer.status >= 500)
    // What a list costs is known by its answer alone.
    const atMost = lost.reduce((sum, { what }) => sum + (what.startsWith("reads ") ? 50 * 320 : 30), 0)
    return [
      ...(paidFor > sent ? [`${tenant.name} paid for ${paidFor} callbacks, and ${sent} were accepted`] : []),
      ...(balance < 0 ? [`${tenant.name} has ${balance} credits`] : []),
      ...(sum === balance ? [] : [`${tenant.name} has ${balance} credits, and entries that make ${sum}`]),
      ...(new Set(ledger.map(({ key }) => key)).size === ledger.length
        ? []
        : [`${tenant.name} has two entries of one key`]),
      // What a reader was charged last may be lost with the power: no answer waits for the disk that changes nothing.
      ...((requests < consumed && !record.hasLostPower) || requests > consumed + atMost
        ? [
            `${tenant.name} was told of ${consumed} credits for requests, and charged ${requests} (${lost.length} answers lost)`
          ]
        : [])
    ]
  })

/** Once everything is well again, all that is to be done is done in bounded time. */
const ends: Judge = ({ unfinished }) => unfinished

/** No answer fails for a reason of the program's own while its store can be written. */
const noDefects: Judge = (record) =>
  record.calls.flatMap(({ answer, isExcused, what }) =>
    answer?.status === 500 && !isExcused ? [`${what} was answered 500: ${JSON.stringify(answer.body)}`] : []
  )

const promises: ReadonlyArray<readonly [promise: string, judge: Judge]> = [
  ["Never lost: a callback is delivered at least once", neverLost],
  ["Nothing is told that did not happen", nothingInvented],
  ["A confirmation is not told before the chain has it", notTooEarly],
  ["One key for one event: the same over retries, restarts and replays", oneKeyForOneEvent],
  ["Numbered: 1, 2, 3 … without a gap, and the number belongs to the callback", numbered],
  ["In order: first attempts of one subscription leave in the order of the chain", inOrder],
  ["A retraction comes after what it retracts, and ends that key for good", retractedAfterwards],
  ["What leaves the chain is taken back from accounts that want retractions", takenBack],
  ["Nothing is sent to a host that is not verified, or to an address that is not public", onlyToVerifiedHosts],
  ["What is deleted is sent no more", nothingAfterDeletion],
  ["No answer with status 200 holds less than the chain", nothingBelowTheTruth],
  ["Credits are never negative, and nothing is charged twice", credits],
  ["Bounded wait: once all is well, what is to be done is done", ends],
  ["No answer is 500", noDefects]
]

/** The promises that were broken in a story. */
export const judge = (record: Record): ReadonlyArray<Broken> =>
  promises.flatMap(([promise, judge]) => judge(record).map((detail) => ({ promise, detail })))

export const count = promises.length
