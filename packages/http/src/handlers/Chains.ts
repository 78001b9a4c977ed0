/** Answers the operations on one chain's data from what the chain's entry in `ConfiguredChains` provides. */
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as Layer from "effect/Layer"
import { Api } from "../contract/Api.ts"
import { CurrentAccount } from "../contract/Authentication.ts"
import { Unimplemented } from "../contract/Errors.ts"
import { Payment } from "../contract/Price.ts"
import { CurrentChain } from "../contract/RequestedChain.ts"
import type { ChainOperations, WalletRequest } from "../operations/Operations.ts"
import * as Pages from "../server/Pages.ts"

/** An operation of the request's chain; 501 where the chain has none. */
const operation = Effect.fnUntraced(function* <K extends keyof ChainOperations>(name: K) {
  const { chain, operations } = yield* CurrentChain
  const found = operations?.[name]
  return found === undefined
    ? yield* new Unimplemented({ message: `This server does not support the operation on ${chain.blockchain}` })
    : (found as ChainOperations[K])
})

const blocks = HttpApiBuilder.group(Api, "blocks", (handlers) =>
  handlers.handleAll({
    utxoLatest: Effect.fnUntraced(function* () {
      return { item: yield* yield* operation("latestBlock") }
    }),
    xrpTransactions: Effect.fnUntraced(function* ({ params, query }) {
      const list = yield* operation("xrpTransactions")
      return yield* Pages.byOffset(query, 50, (page) => list({ ...page, blockHash: params.blockHash }))
    })
  })
)

const transactions = HttpApiBuilder.group(Api, "transactions", (handlers) =>
  handlers.handleAll({
    logs: Effect.fnUntraced(function* ({ params, query }) {
      const list = yield* operation("logs")
      return yield* Pages.byOffset(query, 50, (page) => list({ ...page, transactionHash: params.transactionHash }))
    }),
    prepare: Effect.fnUntraced(function* ({ payload }) {
      const prepare = yield* operation("prepare")
      return { item: yield* prepare(payload.data.item) }
    })
  })
)

/** Lists of what happened on a chain are in the order of block height, place in the block, place in there. */
const positionLength = 3

/** A list of what happened to an address, as a cursor knows it. */
const listOf = Effect.fnUntraced(function* (name: string, address: string) {
  const { id: account } = yield* CurrentAccount
  const { chain } = yield* CurrentChain
  return { account, list: [name, account, Chain.nameOf(chain), address] }
})

const addresses = HttpApiBuilder.group(Api, "addresses", (handlers) =>
  handlers.handleAll({
    internalTransactions: Effect.fnUntraced(function* ({ params: { address }, query }) {
      const read = yield* operation("internalTransactions")
      const { account, list } = yield* listOf("internalTransactions", address)
      return yield* Pages.byCursor(list, positionLength, query, (page) => read({ ...page, account, address }))
    }),
    tokensTransfers: Effect.fnUntraced(function* ({ params: { address }, query }) {
      const read = yield* operation("tokensTransfers")
      const { account, list } = yield* listOf("tokensTransfers", address)
      return yield* Pages.byCursor(list, positionLength, query, (page) => read({ ...page, account, address }))
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

const derive = Effect.fnUntraced(function* (request: WalletHandler) {
  const deriveAndSync = yield* operation("deriveAndSync")
  const { paying } = yield* Payment
  const items = yield* deriveAndSync(yield* walletOf(request), paying)
  return { limit: items.length, offset: 0, total: items.length, items }
})

const hdWallets = HttpApiBuilder.group(Api, "hdWallets", (handlers) =>
  handlers.handleAll({
    evmAssets: Effect.fnUntraced(function* (request) {
      const read = yield* operation("evmAssets")
      return { item: yield* read(yield* walletOf(request)) }
    }),
    utxoAssets: balance,
    utxoStatus: Effect.fnUntraced(function* (request) {
      const read = yield* operation("walletStatus")
      return { item: yield* read(yield* walletOf(request)) }
    }),
    xrpAssets: balance,
    utxoDerive: derive,
    xrpDerive: derive
  })
)

export const layer = Layer.mergeAll(blocks, transactions, addresses, hdWallets)
