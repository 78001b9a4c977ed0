/**
 * Blocks of Tron from the HTTP API of java-tron nodes: coins, TRC-20, TRC-721 and TRC-1155 tokens, and internal
 * transactions where the node keeps them. TRC-10 tokens are left out, and said to be.
 *
 * A JSON-RPC endpoint of the same node is asked only for the newest final block, where the HTTP API does not say it.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { Broadcasting } from "../Broadcasting.ts"
import * as TronBroadcasting from "./Broadcasting.ts"
import * as SteadyTime from "../../SteadyTime.ts"
import * as TimeSlice from "../../TimeSlice.ts"
import * as Capability from "../Capability.ts"
import type { Log } from "../evm/EvmNode.ts"
import type { TokenDetails } from "../evm/TokenDetails.ts"
import type { Explorer } from "../evm/Explorer.ts"
import * as Heads from "../node/Heads.ts"
import type { JsonRpc } from "../node/JsonRpc.ts"
import { isTooLarge, type NodeError, NodeInconsistent } from "../node/NodeError.ts"
import * as Proof from "../node/Proof.ts"
import type { UnusedAt } from "../SideSources.ts"
import type { FetchTokenMetadata, Head, Source } from "../Source.ts"
import * as InternalTransactions from "./internal/InternalTransactions.ts"
import * as Network from "./internal/Network.ts"
import * as SolidHead from "./internal/SolidHead.ts"
import * as TronAccount from "./internal/TronAccount.ts"
import * as TronBlock from "./internal/TronBlock.ts"
import * as TronContract from "./internal/TronContract.ts"
import * as TronHeaders from "./internal/TronHeaders.ts"
import * as TronInfos from "./internal/TronInfos.ts"
import * as TronLogs from "./internal/TronLogs.ts"
import * as TronProof from "./internal/TronProof.ts"
import * as TronExplorer from "./TronExplorer.ts"
import * as TronHttp from "./TronHttp.ts"
import * as TronPreparation from "./TronPreparation.ts"
import * as TronTokenPreparation from "./TronTokenPreparation.ts"

export interface TronSourceOptions extends TronHttp.TronHttpOptions {
  /** As in `Heads.Options`. */
  readonly quorum?: number
  /** How far blocks are proved; `roots` by default. */
  readonly verify?: Proof.Level
  /** Take internal transactions, if the node keeps them; on by default. */
  readonly internal?: boolean
  /** The node's JSON-RPC endpoint, if it has one. */
  readonly rpc?: JsonRpc
}

export interface TronSource extends Source {
  readonly tokenMetadata: FetchTokenMetadata
  /** Decimals of a token, for what is to be signed: as `TronContract.decimals` has them. */
  readonly tokenDecimals: (contract: AddressBytes) => Effect.Effect<number | undefined, NodeError>
  /** What a contract says of itself after the newest block; undefined where there is no contract of a token. */
  readonly tokenDetails: (contract: AddressBytes) => Effect.Effect<TokenDetails | undefined, NodeError>
  /** Balances in sun after the newest block, in the order of the addresses; undefined where none was ever activated. */
  readonly balances: (
    addresses: ReadonlyArray<AddressBytes>
  ) => Effect.Effect<ReadonlyArray<bigint | undefined>, NodeError>
  /** As in `SideSources`. */
  readonly unusedAt: UnusedAt
  /** `balanceOf` after the newest block; undefined where the contract gives no answer. */
  readonly tokenBalances: (
    holdings: ReadonlyArray<{ readonly contract: AddressBytes; readonly holder: AddressBytes }>
  ) => Effect.Effect<ReadonlyArray<bigint | undefined>, NodeError>
  /** Logs of a mined transaction; undefined where the chain has no such transaction. */
  readonly logs: (transaction: Uint8Array) => Effect.Effect<ReadonlyArray<Log> | undefined, NodeError>
  /** Blocks and transactions, whether or not they are recorded. */
  readonly explorer: Explorer
  readonly broadcasting: Broadcasting
  /** A transfer of TRX, ready to be signed. */
  readonly prepare: (
    request: TronPreparation.TransferRequest
  ) => Effect.Effect<TronPreparation.PreparedTransfer, NodeError | TronPreparation.TransferRefused>
  /** What the chain charges, by its parameters. */
  readonly prices: Effect.Effect<TronAccount.Prices, NodeError>
  /** Energy that a transfer of tokens takes. */
  readonly energyOf: (
    request: TronTokenPreparation.TokenTransferRequest
  ) => Effect.Effect<number, NodeError | TronPreparation.TransferRefused>
  /** A transfer of tokens, ready to be signed. */
  readonly prepareTokens: (
    request: TronTokenPreparation.TokenTransferRequest
  ) => Effect.Effect<TronTokenPreparation.PreparedCall, NodeError | TronPreparation.TransferRefused>
}

/** Blocks looked back at to see whether a node keeps internal transactions. */
const blocksToLookAt = 100

const trc10 = Capability.lacks(
  "TRC-10 tokens",
  "TRC-10 tokens are not recorded: no event, transfer or balance is of one",
  { unobtainable: true }
)

const finality = (solid: SolidHead.SolidHead | undefined) =>
  solid === undefined
    ? Capability.lacks("finality", "the node names no solidified block: only depth protects against reorganisations", {
        advice: "enable the node's solidity API (node.http.solidityEnable = true), or /wallet/getnodeinfo"
      })
    : Capability.has("finality", `solidified block from ${solid.strategy}`)

/** Whether the node keeps internal transactions, as its newest blocks show it; undefined where none does. */
const findInternal = Effect.fnUntraced(function* (
  http: TronHttp.TronHttp,
  newest: number
): Effect.fn.Return<boolean | undefined, NodeError> {
  for (let back = 0; back < blocksToLookAt && back < newest; back++) {
    const infos = yield* Effect.catchIf(TronInfos.at(http, newest - back), isTooLarge, () => Effect.succeed([]))
    const kept = yield* TimeSlice.run(() => InternalTransactions.areKept(infos))
    if (kept !== undefined) return kept
  }
  return undefined
})

/** How often a node that names no solidified block is asked for one, in milliseconds. */
const solidAgainMillis = 300_000

/** Opens the source: asks the node what it can do. */
export const make = Effect.fn("TronSource.make")(function* (
  chain: Chain,
  options: TronSourceOptions
): Effect.fn.Return<TronSource, NodeError, Scope.Scope> {
  const http = yield* TronHttp.make(options)
  const inconsistent = (method: string, message: string) => new NodeInconsistent({ node: http.name, method, message })

  const headers = yield* TronHeaders.open(http)
  const atStart = TronBlock.tipOf(yield* headers.newest(http))
  let solid = yield* SolidHead.find(http, options.rpc)
  let lookedForSolid = yield* SteadyTime.millis
  /** The node's way to say what is final. A node that refused each may have been starting, or busy: it is asked again. */
  const solidHead = Effect.fnUntraced(function* (http: TronHttp.TronHttp) {
    const now = yield* SteadyTime.millis
    if (solid === undefined && now - lookedForSolid >= solidAgainMillis) {
      lookedForSolid = now
      solid = yield* SolidHead.find(http, options.rpc)
    }
    return solid
  })
  const network = Effect.map(headers.at(http, 0), ({ blockID }): string | undefined => blockID).pipe(
    Effect.catchTag(["NodeRejected", "NodeInconsistent", "BlockMissing"], () => Effect.undefined),
    Effect.map((genesis) => Network.capability(chain, genesis))
  )
  const networkAtStart = yield* network
  const internal = options.internal ?? true
  let keepsInternal = internal ? yield* findInternal(http, atStart.height) : undefined
  const internalCapability = () => InternalTransactions.capability(internal, keepsInternal)

  const head = Effect.fn("TronSource.head")(function* (http: TronHttp.TronHttp): Effect.fn.Return<Head, NodeError> {
    const { hash, height } = TronBlock.tipOf(yield* headers.newest(http))
    const solid = yield* solidHead(http)
    const final = solid === undefined ? undefined : yield* solid.block(http)
    // A solid block above the newest one is another node's, which knows another chain.
    return final === undefined || final.height > height
      ? { height, hash, final: undefined }
      : { height, hash, final: final.height, finalHash: final.hash }
  })

  const block = Effect.fnUntraced(function* (
    http: TronHttp.TronHttp,
    height: number
  ): Effect.fn.Return<Block, NodeError> {
    const path = "/wallet/getblockbynum"
    const [shown, together] = yield* Effect.all(
      [http.find(Schema.Unknown, path, `{"num":${height}}`), TronInfos.together(http, height)],
      { concurrency: "unbounded" }
    )
    const whole = yield* TronHeaders.orMissing(http, String(height))(shown)
    const answer = yield* http.decode(TronBlock.Answer, path, whole)
    const infos = together ?? (yield* TronInfos.oneByOne(http, answer))
    const outcome = yield* TimeSlice.run(() => TronProof.of(whole, infos, options.verify ?? "roots"))
    const unproven = yield* Proof.unprovenOf(outcome, { node: http.name, method: path })
    const decoded = yield* TimeSlice.run(() => TronBlock.decode(chain, answer, infos, { height, internal }))
    const read = yield* Effect.mapError(
      Effect.fromResult(decoded),
      (rule) => new NodeInconsistent({ node: http.name, method: path, message: rule })
    )
    keepsInternal = (yield* TimeSlice.run(() => InternalTransactions.areKept(infos))) ?? keepsInternal
    return {
      ...read,
      ...(unproven.length === 0 ? {} : { unproven }),
      ...(internalCapability().available ? {} : { untraced: true as const })
    }
  })

  const hashAt = Effect.fn("TronSource.hashAt")(function* (
    http: TronHttp.TronHttp,
    height: number
  ): Effect.fn.Return<Uint8Array, NodeError> {
    const tip = TronBlock.tipOf(yield* headers.at(http, height))
    return tip.height === height
      ? tip.hash
      : yield* new NodeInconsistent({
          node: http.name,
          method: "/wallet/getblock",
          message: `asked for block ${height}, answered block ${tip.height}`
        })
  })

  const heads = Heads.make(chain, http, { name: ({ name }) => name, head, hashAt, block }, options)

  const accountsOf = (addresses: ReadonlyArray<AddressBytes>) =>
    Effect.forEach(addresses, (address) => TronAccount.fetch(http, address), { concurrency: 8 })

  /** A node shows accounts after its newest block: none, or one that came later, was none after an earlier block. */
  const unusedAt: UnusedAt = Effect.fn("TronSource.unusedAt")(function* (addresses, block) {
    const header = yield* headers.at(http, block.height)
    if (!Bytes.equal(TronBlock.tipOf(header).hash, block.hash)) {
      return yield* inconsistent("/wallet/getblock", `block ${block.height} is not the recorded one`)
    }
    const time = header.block_header.raw_data.timestamp ?? 0
    return (yield* accountsOf(addresses)).map((account) => account === undefined || account.created > time)
  })

  return {
    chain,
    ...heads,
    network,
    resting: http.resting,
    capabilities: Effect.sync(() => [networkAtStart, internalCapability(), finality(solid), trc10]),
    tokenMetadata: (contracts, height) =>
      http.withOne((one) =>
        Effect.andThen(
          height === undefined ? Effect.void : headers.at(one, height),
          TronContract.metadata(one, contracts)
        )
      ),
    tokenDecimals: (contract) => TronContract.decimals(http, contract),
    tokenDetails: (contract) => http.withOne((one) => TronContract.details(one, contract)),
    balances: (addresses) =>
      Effect.map(accountsOf(addresses), (accounts) => accounts.map((account) => account?.balance)),
    unusedAt,
    tokenBalances: (holdings) => TronContract.balances(http, holdings),
    logs: (transaction) => TronLogs.fetch(chain, http, transaction),
    prepare: (request) => TronPreparation.prepare(chain, http, request),
    prices: TronAccount.prices(http),
    energyOf: (request) => TronTokenPreparation.energyOf(http, request),
    prepareTokens: (request) => TronTokenPreparation.prepare(chain, http, heads.head, request),
    explorer: TronExplorer.make(chain, http, headers, () => internalCapability().available),
    broadcasting: TronBroadcasting.make(http, headers)
  }
})
