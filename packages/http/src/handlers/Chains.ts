/** Answers the operations on one chain's data from what the chain's entry in `ConfiguredChains` provides. */
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as Layer from "effect/Layer"
import { Api } from "../Api.ts"
import { CurrentAccount } from "../contract/Authentication.ts"
import { CurrentChain } from "../contract/RequestedChain.ts"
import { Unimplemented } from "../Errors.ts"
import type { ChainOperations, CursorPage, OffsetPage, WalletRequest } from "../Operations.ts"
import type { SortingOrder } from "../Paging.ts"

/** An operation of the request's chain; 501 where the chain has none. */
const operation = Effect.fnUntraced(function* <K extends keyof ChainOperations>(name: K) {
  const { chain, operations } = yield* CurrentChain
  const found = operations?.[name]
  return found === undefined
    ? yield* new Unimplemented({ message: `This server does not support the operation on ${chain.blockchain}` })
    : (found as ChainOperations[K])
})

const offsetOf = (query: { readonly limit?: number; readonly offset?: number }, defaultLimit: number) => ({
  limit: query.limit ?? defaultLimit,
  offset: query.offset ?? 0
})

const offsetPage = <A>(request: { readonly limit: number; readonly offset: number }, page: OffsetPage<A>) => ({
  limit: request.limit,
  offset: request.offset,
  total: page.total,
  items: page.items
})

interface CursorQuery {
  readonly limit?: number
  readonly sortingOrder?: SortingOrder
  readonly startingAfter?: string
}

const cursorOf = ({ limit = 50, sortingOrder = "DESCENDING", startingAfter }: CursorQuery) => ({
  limit,
  sortingOrder,
  startingAfter
})

const cursorPage = <A>(request: ReturnType<typeof cursorOf>, page: CursorPage<A>) => ({
  limit: request.limit,
  ...(request.startingAfter === undefined ? {} : { startingAfter: request.startingAfter }),
  hasMore: page.next !== undefined,
  ...(page.next === undefined ? {} : { nextStartingAfter: page.next }),
  sortingOrder: request.sortingOrder,
  items: page.items
})

const blocks = HttpApiBuilder.group(Api, "blocks", (handlers) =>
  handlers.handleAll({
    utxoLatest: Effect.fnUntraced(function* () {
      return { item: yield* yield* operation("latestBlock") }
    }),
    xrpTransactions: Effect.fnUntraced(function* ({ params, query }) {
      const page = offsetOf(query, 50)
      const list = yield* operation("xrpTransactions")
      return offsetPage(page, yield* list({ ...page, blockHash: params.blockHash }))
    })
  })
)

const transactions = HttpApiBuilder.group(Api, "transactions", (handlers) =>
  handlers.handleAll({
    logs: Effect.fnUntraced(function* ({ params, query }) {
      const page = offsetOf(query, 50)
      const list = yield* operation("logs")
      return offsetPage(page, yield* list({ ...page, transactionHash: params.transactionHash }))
    }),
    prepare: Effect.fnUntraced(function* ({ payload }) {
      const prepare = yield* operation("prepare")
      return { item: yield* prepare(payload.data.item) }
    })
  })
)

const addresses = HttpApiBuilder.group(Api, "addresses", (handlers) =>
  handlers.handleAll({
    internalTransactions: Effect.fnUntraced(function* ({ params, query }) {
      const page = cursorOf(query)
      const { id: account } = yield* CurrentAccount
      const list = yield* operation("internalTransactions")
      return cursorPage(page, yield* list({ ...page, account, address: params.address }))
    }),
    tokensTransfers: Effect.fnUntraced(function* ({ params, query }) {
      const page = cursorOf(query)
      const { id: account } = yield* CurrentAccount
      const list = yield* operation("tokensTransfers")
      return cursorPage(page, yield* list({ ...page, account, address: params.address }))
    })
  })
)

const walletOf = Effect.fnUntraced(function* (request: {
  readonly params: { readonly extendedPublicKey: string }
  readonly query: { readonly derivation?: string }
}) {
  const { id: account } = yield* CurrentAccount
  return {
    account,
    extendedPublicKey: request.params.extendedPublicKey,
    derivation: request.query.derivation?.toLowerCase() === "bip32" ? "bip32" : "account"
  } satisfies WalletRequest
})

type WalletHandler = Parameters<typeof walletOf>[0]

const balance = Effect.fnUntraced(function* (request: WalletHandler) {
  const read = yield* operation("balance")
  return { item: yield* read(yield* walletOf(request)) }
})

const derive = Effect.fnUntraced(function* ({ params }: Pick<WalletHandler, "params">) {
  const deriveAndSync = yield* operation("deriveAndSync")
  const items = yield* deriveAndSync(yield* walletOf({ params, query: {} }))
  return { limit: items.length, offset: 0, total: items.length, items }
})

const hdWallets = HttpApiBuilder.group(Api, "hdWallets", (handlers) =>
  handlers.handleAll({
    evmAssets: Effect.fnUntraced(function* (request) {
      const read = yield* operation("evmAssets")
      return { item: yield* read(yield* walletOf(request)) }
    }),
    utxoAssets: balance,
    xrpAssets: balance,
    utxoDerive: derive,
    xrpDerive: derive
  })
)

export const layer = Layer.mergeAll(blocks, transactions, addresses, hdWallets)
