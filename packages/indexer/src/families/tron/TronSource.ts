/**
 * Blocks of Tron from the HTTP API of java-tron nodes: coins, TRC-20, TRC-721 and TRC-1155 tokens, and internal
 * transactions where the node keeps them. TRC-10 tokens are left out, and said to be.
 *
 * A JSON-RPC endpoint of the same node is asked only for the newest final block, where the HTTP API does not say it.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import type { TokenMetadata } from "@headwater/core/events/Callback"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { Log } from "../evm/EvmNode.ts"
import type { JsonRpc } from "../node/JsonRpc.ts"
import { BlockMissing, type NodeError, NodeInconsistent } from "../node/NodeError.ts"
import type { Capability, Head, Source } from "../Source.ts"
import * as InternalTransactions from "./internal/InternalTransactions.ts"
import * as SolidHead from "./internal/SolidHead.ts"
import * as TronAccount from "./internal/TronAccount.ts"
import * as TronBlock from "./internal/TronBlock.ts"
import * as TronContract from "./internal/TronContract.ts"
import * as TronJson from "./internal/TronJson.ts"
import * as TronHttp from "./TronHttp.ts"
import * as TronPreparation from "./TronPreparation.ts"

export interface TronSourceOptions extends TronHttp.TronHttpOptions {
  /** Take internal transactions, if the node keeps them; on by default. */
  readonly internal?: boolean
  /** The node's JSON-RPC endpoint, if it has one. */
  readonly rpc?: JsonRpc
}

export interface TronSource extends Source {
  /**
   * Whether internal transactions are complete in the newest blocks read: what subscriptions and endpoints about them
   * depend on. False until a node has shown that it keeps them.
   */
  readonly hasInternalTransactions: () => boolean
  /** Names, symbols and decimals, in the order of the contracts. */
  readonly tokenMetadata: (
    contracts: ReadonlyArray<AddressBytes>
  ) => Effect.Effect<ReadonlyArray<TokenMetadata>, NodeError>
  /** Balances in sun after the newest block, in the order of the addresses; undefined where none was ever activated. */
  readonly balances: (
    addresses: ReadonlyArray<AddressBytes>
  ) => Effect.Effect<ReadonlyArray<bigint | undefined>, NodeError>
  /** `balanceOf` after the newest block; undefined where the contract gives no answer. */
  readonly tokenBalances: (
    holdings: ReadonlyArray<{ readonly contract: AddressBytes; readonly holder: AddressBytes }>
  ) => Effect.Effect<ReadonlyArray<bigint | undefined>, NodeError>
  /** Logs of a mined transaction; undefined where the chain has no such transaction. */
  readonly logs: (transaction: Uint8Array) => Effect.Effect<ReadonlyArray<Log> | undefined, NodeError>
  /** A transfer of TRX, ready to be signed. */
  readonly prepare: (
    request: TronPreparation.TransferRequest
  ) => Effect.Effect<TronPreparation.PreparedTransfer, NodeError | TronPreparation.TransferRefused>
}

/** Blocks looked back at to see whether a node keeps internal transactions. */
const blocksToLookAt = 100

/** The public network whose block 0 has this id. */
export const networkOf = ({ tron }: Chain, genesis: string): string | undefined =>
  Object.entries(tron!.chainIds).find(([, chainId]) => chainId === genesis.slice(-8).toLowerCase())?.[0]

const network = (chain: Chain, genesis: string | undefined): Capability => {
  const found = genesis === undefined ? undefined : networkOf(chain, genesis)
  const right = found === undefined || found === chain.network
  return {
    name: "network",
    available: right,
    detail: right
      ? `chain id ${genesis === undefined ? "not said" : `0x${genesis.slice(-8).toLowerCase()}`}`
      : `the node is on ${found}, not ${chain.network}: correct the node's URL`
  }
}

/** Opens the source: asks the node what it can do. */
export const make = Effect.fn("TronSource.make")(function* (
  chain: Chain,
  options: TronSourceOptions
): Effect.fn.Return<TronSource, NodeError, Scope.Scope> {
  const http = yield* TronHttp.make(options)
  const wantsInternal = options.internal ?? true
  let keepsInternal: boolean | undefined

  const missing = (block: string) => new BlockMissing({ node: http.name, block })
  const inconsistent = (method: string, message: string) => new NodeInconsistent({ node: http.name, method, message })
  const orMissing =
    (block: string) =>
    <A>(found: A | undefined) =>
      found === undefined ? Effect.fail(missing(block)) : Effect.succeed(found)

  // Nodes before 4.4 show blocks with all their transactions only.
  const short = yield* http.find(TronBlock.Header, "/wallet/getblock", '{"detail":false}').pipe(
    Effect.map((header) => header !== undefined),
    Effect.catchTag(["NodeRejected", "NodeInconsistent"], () => Effect.succeed(false))
  )
  const newest = Effect.flatMap(
    short
      ? http.find(TronBlock.Header, "/wallet/getblock", '{"detail":false}')
      : http.find(TronBlock.Header, "/wallet/getnowblock"),
    orMissing("latest")
  )
  const headerAt = (height: number) =>
    Effect.flatMap(
      short
        ? http.find(TronBlock.Header, "/wallet/getblock", `{"id_or_num":"${height}","detail":false}`)
        : http.find(TronBlock.Header, "/wallet/getblockbynum", `{"num":${height}}`),
      orMissing(String(height))
    )
  const infosAt = (height: number) =>
    Effect.map(
      http.find(Schema.Array(TronBlock.Info), "/wallet/gettransactioninfobyblocknum", `{"num":${height}}`),
      (infos) => infos ?? []
    )

  const observe = (infos: ReadonlyArray<TronBlock.Info>) => {
    keepsInternal = InternalTransactions.areKept(infos) ?? keepsInternal
  }

  const atStart = TronBlock.tipOf(yield* newest)
  const solid = yield* SolidHead.find(http, options.rpc)
  const genesis = yield* Effect.map(headerAt(0), ({ blockID }): string | undefined => blockID).pipe(
    Effect.catchTag(["NodeRejected", "NodeInconsistent", "BlockMissing"], () => Effect.undefined)
  )
  if (wantsInternal) {
    for (let back = 0; back < blocksToLookAt && back < atStart.height && keepsInternal === undefined; back++) {
      observe(yield* infosAt(atStart.height - back))
    }
  }

  const internalCapability = (): Capability => ({
    name: "internal transactions",
    available: wantsInternal && keepsInternal === true,
    ...(wantsInternal && keepsInternal === undefined ? { unsure: true } : {}),
    detail: !wantsInternal
      ? "not fetched: switched off by the settings"
      : keepsInternal === true
        ? "internal_transactions in the infos of transactions"
        : keepsInternal === false
          ? "the node does not keep internal transactions: set vm.saveInternalTx = true in its configuration"
          : "no block has shown yet whether the node keeps internal transactions (vm.saveInternalTx = true)"
  })

  const head = Effect.gen(function* (): Effect.fn.Return<Head, NodeError> {
    const { hash, height } = TronBlock.tipOf(yield* newest)
    const final = solid === undefined ? undefined : yield* solid.height
    return { height, hash, final: final === undefined ? undefined : Math.min(final, height) }
  }).pipe(Effect.withSpan("TronSource.head"))

  const blockAt = Effect.fnUntraced(function* (height: number): Effect.fn.Return<Block, NodeError> {
    const [found, infos] = yield* Effect.all(
      [http.find(TronBlock.Answer, "/wallet/getblockbynum", `{"num":${height}}`), infosAt(height)],
      { concurrency: "unbounded" }
    )
    const answer = yield* orMissing(String(height))(found)
    const block = yield* Effect.mapError(
      Effect.fromResult(TronBlock.decode(chain, answer, infos, { height, internal: wantsInternal })),
      (rule) => inconsistent("/wallet/getblockbynum", rule)
    )
    observe(infos)
    return block
  })

  const hashAt = Effect.fn("TronSource.hashAt")(function* (height: number): Effect.fn.Return<Uint8Array, NodeError> {
    const tip = TronBlock.tipOf(yield* headerAt(height))
    return tip.height === height
      ? tip.hash
      : yield* inconsistent("/wallet/getblock", `asked for block ${height}, answered block ${tip.height}`)
  })

  const logs = Effect.fn("TronSource.logs")(function* (
    transaction: Uint8Array
  ): Effect.fn.Return<ReadonlyArray<Log> | undefined, NodeError> {
    const id = Buffer.from(transaction).toString("hex")
    const path = "/wallet/gettransactioninfobyid"
    const info = yield* http.find(TronBlock.Info, path, `{"value":"${id}"}`)
    if (info === undefined) return undefined
    if (info.id.toLowerCase() !== id) return yield* inconsistent(path, "the info is of another transaction")
    return yield* Effect.mapError(
      Effect.forEach(info.log ?? [], (log) =>
        Effect.map(Effect.fromResult(TronJson.address(chain, log.address, "log.address")), (address) => ({
          address,
          data: TronJson.bytes(log.data ?? ""),
          topics: (log.topics ?? []).map(TronJson.bytes),
          removed: false
        }))
      ),
      (rule) => inconsistent(path, rule)
    )
  })

  return {
    chain,
    head,
    hashAt,
    blockAt,
    capabilities: Effect.sync(() => [
      network(chain, genesis),
      internalCapability(),
      {
        name: "finality",
        available: solid !== undefined,
        detail:
          solid === undefined
            ? "the node names no solidified block: only depth protects against reorganisations"
            : `solidified block from ${solid.way}`
      },
      {
        name: "TRC-10 tokens",
        available: false,
        detail: "TRC-10 tokens are not recorded: no event, transfer or balance is of one"
      }
    ]),
    hasInternalTransactions: () => internalCapability().available,
    tokenMetadata: (contracts) => TronContract.metadata(http, contracts),
    balances: (addresses) =>
      Effect.forEach(addresses, (address) => Effect.map(TronAccount.fetch(http, address), (found) => found?.balance), {
        concurrency: 8
      }),
    tokenBalances: (holdings) => TronContract.balances(http, holdings),
    logs,
    prepare: (request) => TronPreparation.prepare(chain, http, request)
  }
})
