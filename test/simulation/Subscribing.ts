/** What tenants do with subscriptions: how these are made, edited, activated and deleted. */
import type { SimulatedChain } from "./Chains.ts"
import type { Subscribed } from "./Record.ts"
import { oneOf, recorded, type Stage } from "./Stage.ts"
import type { Action, EventName, Subscription } from "./Story.ts"
import type { Edit, Watched } from "./Watched.ts"
import * as Wallets from "./Wallets.ts"

const eventPaths = {
  ADDRESS_COINS_TRANSACTION_CONFIRMED: "address-coins-transactions-confirmed",
  ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION: "address-coins-transactions-confirmed-each-confirmation",
  ADDRESS_TOKENS_TRANSACTION_CONFIRMED: "address-tokens-transactions-confirmed",
  ADDRESS_INTERNAL_TRANSACTION_CONFIRMED: "address-internal-transactions-confirmed",
  ADDRESS_COINS_TRANSACTION_UNCONFIRMED: "address-coins-transactions-unconfirmed",
  TRANSACTION_MINED: "transaction-mined",
  BLOCK_MINED: "block-mined"
} as const

const pathOf = ({ family }: SimulatedChain) => `/blockchain-events/${family.chain}`

/** Where the API has a subscription. */
export const pathTo = ({ chain, referenceId }: Subscribed) => `${pathOf(chain)}/${referenceId}`

/** Subscriptions that were surely made, and that nobody has asked to delete: of those that such an action is for. */
export const known = ({ subscribed }: Stage, kind?: Action["kind"]) =>
  subscribed.filter(
    ({ deletion, referenceId, watched }) =>
      referenceId !== undefined && deletion === undefined && (kind !== "editList" || watched.kind === "list")
  )

/** Events that a chain has. */
const servedBy = ({ family: { hasMempool, kinds } }: SimulatedChain, event: EventName): EventName => {
  if (event === "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED" && hasMempool) return "ADDRESS_COINS_TRANSACTION_UNCONFIRMED"
  return (event === "ADDRESS_TOKENS_TRANSACTION_CONFIRMED" && !kinds.has("token")) ||
    (event === "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED" && !kinds.has("internal"))
    ? "ADDRESS_COINS_TRANSACTION_CONFIRMED"
    : event
}

const uncounted: ReadonlySet<EventName> = new Set([
  ...(["BLOCK_MINED", "TRANSACTION_MINED", "ADDRESS_COINS_TRANSACTION_UNCONFIRMED"] as const)
])
const isCounted = (event: EventName) => !uncounted.has(event)

type By = Pick<Subscription, "confirmations" | "receiver"> & { readonly account: number }

/** Takes note of a subscription that is about to be asked for. */
const begin = (
  { hosts, subscribed, tenants, time }: Stage,
  by: By,
  chain: SimulatedChain,
  event: EventName,
  watched: Watched
): Subscribed => {
  const own: Subscribed = {
    ...{ tenant: oneOf(tenants, by.account)!, chain, event, watched },
    confirmations: isCounted(event) ? by.confirmations : 1,
    host: oneOf(hosts.all, by.receiver)!.host,
    path: `/${subscribed.length}`,
    askedAt: time.now(),
    secrets: [{ text: "secret", askedAt: time.now(), answeredAt: time.now() }],
    ...{ tests: [], recoveries: [], askedAgainAt: [] },
    ...{
      referenceId: undefined,
      answeredAt: Infinity,
      recorded: new Set<string>(),
      isActive: true,
      deletion: undefined
    }
  }
  subscribed.push(own)
  return own
}

/** What a request says of a subscription beside its addresses. */
const wanted = ({ confirmations, event, host, path, secrets }: Subscribed) => ({
  callbackUrl: `https://${host}${path}`,
  callbackSecretKey: secrets[0]!.text,
  allowDuplicates: true,
  ...(isCounted(event)
    ? { [event.endsWith("EACH_CONFIRMATION") ? "confirmationsCount" : "receiveCallbackOn"]: confirmations }
    : {})
})

const isMade = (stage: Stage, own: Subscribed, referenceId: string) => {
  own.referenceId = referenceId
  own.answeredAt = stage.time.now()
  own.recorded = recorded(stage)
}

/** Asks for a subscription. */
const make = async (
  stage: Stage,
  by: By,
  chain: SimulatedChain,
  event: EventName,
  watched: Watched,
  request: { readonly path: string; readonly words: string; readonly item: object }
): Promise<Subscribed> => {
  const own = begin(stage, by, chain, event, watched)
  const answer = await stage.call(own.tenant, `subscribes ${own.path} to ${event} of ${request.words} at ${own.host}`, {
    method: "POST",
    path: `${pathOf(chain)}/${request.path}`,
    item: { ...request.item, ...wanted(own) }
  })
  if (answer !== undefined && answer.status < 300) isMade(stage, own, answer.body.data.item.referenceId)
  return own
}

/** One of the newest transactions, of those that wait and those that are mined; undefined where there is none. */
const newestTransaction = (chain: SimulatedChain, number: number) => {
  const mined = chain.best().flatMap(({ transactions }) => transactions)
  const all = [...mined, ...chain.waiting().map(({ transaction }) => transaction)]
  return all[all.length - 1 - (number % Math.max(1, all.length))]
}

/** What a subscription to one address, to a transaction, or to blocks, is about. */
const oneWatched = (chain: SimulatedChain, { address, event: asked }: Pick<Subscription, "address" | "event">) => {
  const served = servedBy(chain, asked)
  const transaction = served === "TRANSACTION_MINED" ? newestTransaction(chain, address) : undefined
  if (transaction !== undefined) {
    const watched: Watched = { kind: "transaction", id: transaction.id }
    return { event: served, watched, item: { transactionId: transaction.id }, words: `transaction ${transaction.id}` }
  }
  const event = served === "TRANSACTION_MINED" ? "BLOCK_MINED" : served
  if (event === "BLOCK_MINED") return { event, watched: { kind: "blocks" } as Watched, item: {}, words: "blocks" }
  const watched: Watched = { kind: "address", place: address }
  return { event, watched, item: { address: chain.family.addressAt(address) }, words: String(address) }
}

export const subscribe = (stage: Stage, action: Extract<Action, { kind: "subscribe" }>) => {
  const chain = oneOf(stage.chains, action.chain)!
  const { event, item, watched, words } = oneWatched(chain, action)
  return make(stage, action, chain, event, watched, { path: eventPaths[event], words, item })
}

/** How often a request in bulk is made again whose answer was lost. */
const mostRepeated = 3

/** Subscribes several times by one request, which is made again under its key until it is answered. */
export const subscribeInBulk = async (stage: Stage, action: Extract<Action, { kind: "subscribeInBulk" }>) => {
  const chain = oneOf(stage.chains, action.chain)!
  const all = action.items.map((subscription) => {
    const { event, item, watched } = oneWatched(chain, subscription)
    const own = begin(stage, { ...subscription, account: action.account }, chain, event, watched)
    return { own, item: { eventType: event, ...item, ...wanted(own) } }
  })
  const [{ own: first }] = all as [(typeof all)[number]]
  const request = { idempotencyKey: `bulk ${first.path}`, items: all.map(({ item }) => item) }
  for (let i = 0; i < mostRepeated; i++) {
    const answer = await stage.call(first.tenant, `subscribes in bulk to ${all.length} things from ${first.path} on`, {
      method: "POST",
      path: `${pathOf(chain)}/bulk`,
      item: request
    })
    if (answer?.status === 201) {
      for (const [place, { item }] of answer.body.data.items.entries()) {
        if (item !== undefined) isMade(stage, all[place]!.own, item.referenceId)
      }
      return
    }
    await stage.time.sleep(700)
  }
}

/** Subscribes to a list of addresses and fills it, or to the wallet. */
export const subscribeToMany = async (stage: Stage, action: Extract<Action, { kind: "subscribeToMany" }>) => {
  const { addresses, window } = action
  const chain = oneOf(stage.chains, action.chain)!
  const eventType = servedBy(chain, action.event)
  if (addresses !== undefined || !Wallets.isOn(chain.family.chain)) {
    const watched: Watched = { kind: "list", edits: [], atEnd: undefined }
    const request = { path: "address-lists", words: "a list", item: { eventType } }
    const own = await make(stage, action, chain, eventType, watched, request)
    if (own.referenceId !== undefined && addresses !== undefined) await editList(stage, own, "add", addresses)
    return
  }
  const height = () => {
    const name = chain.family.chain
    return stage.look<{ height: number | null }>(`select height from chain where name = '${name}'`)[0]?.height ?? -1
  }
  const watched = { kind: "key" as const, window, madeAt: height() }
  await make(stage, action, chain, eventType, watched, {
    path: "extended-keys",
    words: `the wallet with a window of ${window}`,
    item: { eventType, window, extendedPublicKey: Wallets.publicKeyOn(chain.family.chain) }
  })
  watched.madeAt = Math.max(watched.madeAt, height())
}

/** Adds addresses to a list, or takes them out. */
export const editList = async (stage: Stage, one: Subscribed, kind: Edit["kind"], places: ReadonlyArray<number>) => {
  if (one.watched.kind !== "list") return
  const { edits } = one.watched
  const edit: Edit = {
    kind,
    places: new Set(places),
    askedAt: stage.time.now(),
    recordedBefore: recorded(stage),
    done: undefined
  }
  edits.push(edit)
  const answer = await stage.call(one.tenant, `${kind}s ${places} ${kind === "add" ? "to" : "from"} ${one.path}`, {
    method: "POST",
    path: `${pathTo(one)}/addresses${kind === "add" ? "" : "/remove"}`,
    item: { addresses: places.map(one.chain.family.addressAt) }
  })
  if (answer === undefined || answer.status >= 500) return
  if (answer.status < 300) edit.done = { at: stage.time.now(), recorded: recorded(stage) }
  else edits.splice(edits.indexOf(edit), 1)
}

export const unsubscribe = async ({ call, time }: Stage, one: Subscribed) => {
  const deletion: NonNullable<Subscribed["deletion"]> = { askedAt: time.now(), answeredAt: undefined }
  one.deletion = deletion
  const answer = await call(one.tenant, `deletes ${one.path}`, { method: "DELETE", path: pathTo(one) })
  if (answer?.status === 200) deletion.answeredAt = time.now()
}

export const activate = ({ call }: Stage, one: Subscribed) =>
  call(one.tenant, `activates ${one.path}`, { method: "POST", path: `${pathTo(one)}/activate`, item: {} })

/** Reads a list. */
export const readList = async (stage: Stage, one: Subscribed, list: Extract<Watched, { kind: "list" }>) => {
  const answer = await stage.call(one.tenant, `reads the addresses of ${one.path}`, {
    path: `${pathTo(one)}/addresses`
  })
  if (answer?.status !== 200) return
  const found = new Set(
    answer.body.data.items.map(({ address }: { readonly address: string }) => address.toLowerCase())
  )
  const places = Array.from({ length: Wallets.firstPlace }, (_, place) => place)
  list.atEnd = new Set(places.filter((place) => found.has(one.chain.family.addressAt(place).toLowerCase())))
}
