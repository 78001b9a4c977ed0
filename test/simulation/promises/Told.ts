/** What a subscription is to be told of the chains as they truly are, and what it was told, in the same words. */
import type { Block, Movement, Transaction } from "../Chains.ts"
import type { Record, Subscribed } from "../Record.ts"
import type { Arrival } from "../Receivers.ts"
import { placesOf } from "../Watched.ts"

const decimal = (amount: bigint, decimals: number) => {
  const digits = amount.toString().padStart(decimals + 1, "0")
  const fraction = digits.slice(-decimals).replace(/0+$/, "")
  return `${digits.slice(0, -decimals)}${fraction === "" ? "" : `.${fraction}`}`
}

const kindOf = { ADDRESS_COINS: "coin", ADDRESS_TOKENS: "token", ADDRESS_INTERNAL: "internal" } as const

/** Something that a subscription is to be told: its place, and the words that tell it from everything else. */
export interface Told {
  readonly block: Block
  readonly transaction: number
  /** Of the address; undefined for blocks and single transactions. */
  readonly place: number | undefined
  readonly confirmation: number
  readonly identity: string
}

export const movementsOf = ({ failed, movements }: Transaction, kind: Movement["kind"]) =>
  failed ? [] : movements.filter((movement) => movement.kind === kind)

/** What a block has for a subscription at its addresses, at each confirmation up to the one that `tip` gives. */
export const toldBy = (
  { chain, confirmations, event, watched }: Subscribed,
  block: Block,
  tip: number,
  isTold: (place: number) => boolean
): ReadonlyArray<Told> => {
  const { addressAt, decimals, isOf } = chain.family
  if (event === "ADDRESS_COINS_TRANSACTION_UNCONFIRMED") return []
  if (watched.kind === "transaction") {
    return block.transactions.flatMap(({ id }, transaction) =>
      id !== watched.id
        ? []
        : [{ block, transaction, place: undefined, confirmation: 1, identity: `mined ${id} in ${block.hash}` }]
    )
  }
  if (event === "BLOCK_MINED")
    return [{ block, transaction: 0, place: undefined, confirmation: 1, identity: `block ${block.hash}` }]
  const kind = kindOf[event.split("_TRANSACTION")[0] as keyof typeof kindOf]
  const has = tip - block.height + 1
  const isEach = event.endsWith("EACH_CONFIRMATION")
  const told = isEach
    ? Array.from({ length: Math.min(has, confirmations) }, (_, i) => i + 1)
    : has >= confirmations
      ? [confirmations]
      : []
  const places = placesOf(watched).filter(isTold)
  return block.transactions.flatMap((transaction, index) =>
    movementsOf(transaction, kind).flatMap(({ amount, from, to }, number) => {
      const operation = kind === "internal" ? ` call_${number}` : ""
      const moved = `${kind} ${transaction.id}${operation}`
      return places
        .filter((place) => isOf(from, place) || isOf(to, place))
        .flatMap((place) => {
          const direction = isOf(from, place) ? "outgoing" : "incoming"
          const what = `${moved} ${direction} ${decimal(amount, decimals[kind])}`
          const where = `of ${addressAt(place).toLowerCase()} in ${block.hash}`
          return told.map((confirmation) => ({
            ...{ block, transaction: index, place, confirmation },
            identity: `${what} ${where}${isEach ? ` at confirmation ${confirmation}` : ""}`
          }))
        })
    })
  )
}

/** What a transaction that waits has for a subscription, in words that tell it from everything else. */
export const waitingFor = ({ chain, event, watched }: Subscribed, { id, movements }: Transaction) => {
  const { addressAt, decimals, isOf } = chain.family
  if (event !== "ADDRESS_COINS_TRANSACTION_UNCONFIRMED") return []
  return movements.flatMap(({ amount, from, kind, to }) =>
    placesOf(watched)
      .filter((place) => isOf(from, place) || isOf(to, place))
      .map((place) => {
        const direction = isOf(from, place) ? "outgoing" : "incoming"
        const what = `${kind} ${id} ${direction} ${decimal(amount, decimals[kind])}`
        return `${what} of ${addressAt(place).toLowerCase()} in no block yet`
      })
  )
}

/**
 * What still waits at the end, of an address that a subscription was made for before. Nothing is promised of a transaction
 * that waited already then: where a block had that only between two looks at the mempool, the look after is not its first.
 */
export const lastWaiting = (subscribed: Subscribed): ReadonlyArray<Transaction> =>
  subscribed.watched.kind !== "address"
    ? []
    : subscribed.chain
        .waiting()
        .map(({ transaction }) => transaction)
        .filter((transaction) => subscribed.chain.waited.get(transaction)! > subscribed.answeredAt)
        .filter((transaction) => waitingFor(subscribed, transaction).length > 0)

const withoutPrefix = (hash: string) => hash.replace(/^0x/, "").toLowerCase()

/** What a callback's body tells, in the same words. */
// biome-ignore lint/suspicious/noExplicitAny: a callback's item is of any event
export const identityOf = ({ item }: { readonly item: any }): string => {
  const {
    address,
    amount,
    currentConfirmations,
    direction,
    firstSeenInMempoolTimestamp: firstSeen,
    hash,
    minedInBlock,
    operationId,
    parentTransactionId,
    token,
    transactionId
  } = item
  if (firstSeen !== undefined)
    return `coin ${transactionId} ${direction} ${amount} of ${address.toLowerCase()} in no block yet`
  if (minedInBlock === undefined) return `block ${withoutPrefix(hash)}`
  if (address === undefined) return `mined ${withoutPrefix(transactionId)} in ${withoutPrefix(minedInBlock.hash)}`
  const at = currentConfirmations === undefined ? "" : ` at confirmation ${currentConfirmations}`
  const where = `of ${address.toLowerCase()} in ${withoutPrefix(minedInBlock.hash)}${at}`
  if (token !== undefined) return `token ${withoutPrefix(transactionId)} ${direction} ${token.amount} ${where}`
  return operationId === undefined
    ? `coin ${withoutPrefix(transactionId)} ${direction} ${amount} ${where}`
    : `internal ${withoutPrefix(parentTransactionId)} ${operationId} ${direction} ${amount} ${where}`
}

export const isEvent = ({ body }: Arrival) =>
  !/_(REVERTED|TEST|CORRECTED)$|^(BLOCKS_MISSED|SUBSCRIPTION_FAILING)$/.test(body.data.event)
export const isRetraction = ({ body }: Arrival) => body.data.event.endsWith("_REVERTED")
export const accepted = ({ status }: Arrival) => status !== undefined && status >= 200 && status < 300
export const keyOf = ({ body }: Arrival): string => body.idempotencyKey
export const sequenceOf = ({ headers }: Arrival) => Number(headers["x-callback-sequence"])

export const blockIn = (text: string) => /"hash":"(?:0x)?([0-9a-f]{64})"/i.exec(text)?.[1]?.toLowerCase()

export const posted = ({ arrivals }: Record) => arrivals.filter(({ body }) => body !== undefined)

export const of = (record: Record, subscribed: Subscribed) =>
  posted(record).filter(({ path }) => path === subscribed.path)

/** The subscription whose callbacks, or copies of them, go to a path. */
export const ownerOf = (record: Record, path: string) => {
  const own = path.replace(/^\/copy(\/\d+)\/.*/, "$1")
  return record.subscribed.find((subscribed) => subscribed.path === own)
}

const watchedWords = ({ chain: { family }, watched }: Subscribed) => {
  switch (watched.kind) {
    case "blocks":
      return ""
    case "transaction":
      return ` of transaction ${watched.id.slice(0, 8)}…`
    case "address":
      return ` of ${family.addressAt(watched.place).slice(0, 6)}…`
    case "list":
      return " of a list"
    case "key":
      return ` of the wallet with a window of ${watched.window}`
  }
}

export const name = (subscribed: Subscribed) => {
  const { chain, confirmations, event, host, path, tenant } = subscribed
  return (
    `${tenant.name}'s subscription ${path} on ${chain.family.chain} to ${event}${watchedWords(subscribed)}` +
    ` (${confirmations} confirmations) at ${host}`
  )
}

/** Subscriptions that were surely made, and are still there. */
export const lasting = ({ subscribed }: Record) =>
  subscribed.filter(
    ({ deletion, isActive, referenceId, tenant }) =>
      referenceId !== undefined && deletion === undefined && (isActive || !tenant.isPoor)
  )

export const mayBeSentTo = ({ host, tenant }: Subscribed) => tenant.verifiedAt.has(host)
