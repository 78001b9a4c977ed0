/**
 * Ledgers of the XRP Ledger from rippled or clio, over WebSocket or JSON-RPC. Only validated ledgers are read, so what
 * is read is final, and there are no reorganisations.
 *
 * Coin transfers are what payments delivered, and what any other transaction changed in an account's XRP. Fees are none.
 * A transaction that is not understood in full stops nothing: the block names the transaction, and has what is certain.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as TimeSlice from "../../TimeSlice.ts"
import { type Broadcasting, defaultMaximumFee, feeFault } from "../Broadcasting.ts"
import * as Capability from "../Capability.ts"
import * as Heads from "../node/Heads.ts"
import { BlockMissing, isTooLarge, type NodeError, NodeInconsistent } from "../node/NodeError.ts"
import * as Proof from "../node/Proof.ts"
import type { AccountSource } from "../SideSources.ts"
import type { Head } from "../Source.ts"
import * as AccountTransactions from "./AccountTransactions.ts"
import * as XrpBroadcasting from "./Broadcasting.ts"
import * as CompleteLedgers from "./internal/CompleteLedgers.ts"
import * as Ledger from "./internal/Ledger.ts"
import * as LedgerInParts from "./internal/LedgerInParts.ts"
import * as LedgerProof from "./internal/LedgerProof.ts"
import * as Network from "./internal/Network.ts"
import * as WalletBalance from "./internal/WalletBalance.ts"
import { isLedgerMissing } from "./internal/XrpReply.ts"
import * as LedgerExplorer from "./LedgerExplorer.ts"
import * as OpenLedger from "./OpenLedger.ts"
import * as XrpNode from "./XrpNode.ts"

export interface XrpSourceOptions extends XrpNode.XrpNodeOptions {
  /** As in `Heads.Options`. */
  readonly quorum?: number
  /** As in the settings. */
  readonly maximumFee?: number
  /** How far blocks are proved; `roots` by default. */
  readonly verify?: Proof.Level
}

export interface XrpSource extends AccountSource {
  readonly broadcasting: Broadcasting
  readonly openLedger: OpenLedger.OpenLedger
  /** Why a fee is beyond measure, and would not be broadcast; undefined where it is not. Both in drops. */
  readonly feeFault: (fee: bigint, usual: bigint) => string | undefined
  /** Over WebSocket only. */
  readonly announced: Effect.Effect<void>
  readonly explorer: LedgerExplorer.LedgerExplorer
  readonly accountTransactions: AccountTransactions.AccountTransactions
  /** Drops of an address in the newest validated ledger, the reserve included; 0 where that has no such account. */
  readonly balance: (address: AddressBytes) => Effect.Effect<bigint, NodeError>
  /**
   * What a wallet's addresses hold in the newest validated ledger. Each branch is followed until `gapLimit` addresses in
   * a row never had an account, 20 by default, and at least to the index that `least` has for it.
   */
  readonly walletBalance: (
    branches: ReadonlyArray<WalletBalance.Branch>,
    gapLimit?: number,
    least?: ReadonlyArray<number>
  ) => Effect.Effect<WalletBalance.Found, NodeError>
}

const ServerInfo = Schema.Struct({
  info: Schema.Struct({
    complete_ledgers: Schema.optionalKey(Schema.String),
    network_id: Schema.optionalKey(Schema.Int)
  })
})
const decodeServerInfo = Schema.decodeUnknownEffect(ServerInfo)

const historyOf = (completeLedgers: string | undefined): Capability.Capability => {
  const ranges = CompleteLedgers.parse(completeLedgers ?? "")
  const gaps = CompleteLedgers.gaps(ranges)
  const known = `The server has ledgers ${CompleteLedgers.describe(ranges)}`
  const advice = "let the node fetch what it lacks, or use one that keeps everything; or start later"
  if (ranges.length === 0) {
    const detail = "The server does not say which ledgers it has: wait until it has synchronised."
    return Capability.lacks("history", detail, { advice })
  }
  if (gaps.length === 0) return Capability.has("history", `${known}: the start height must not be below.`)
  const missing = `${known}, and lacks ${CompleteLedgers.describe(gaps)}`
  const detail = `${missing}: following waits at a ledger that is missing. Let the server fetch it, or add one with full history.`
  return Capability.lacks("history", detail, { advice })
}

/** Opens the source. Fails where no server can be reached. */
export const make = Effect.fn("XrpSource.make")(function* (
  chain: Chain,
  options: XrpSourceOptions
): Effect.fn.Return<XrpSource, NodeError, Scope.Scope> {
  const node = yield* XrpNode.make(options)

  const inconsistent = (node: XrpNode.XrpClient, method: string, message: string) =>
    new NodeInconsistent({ node: node.name, method, message })

  const serverInfoOf = (node: XrpNode.XrpClient) =>
    Effect.flatMap(node.request("server_info", {}), (answer) =>
      Effect.mapBoth(decodeServerInfo(answer), {
        onFailure: (error) => inconsistent(node, "server_info", error.message.slice(0, 300)),
        onSuccess: ({ info }) => info
      })
    )
  const serverInfo = serverInfoOf(node)

  yield* serverInfo

  /** Names the ledgers that the server has, so that an operator sees why a ledger is missing. */
  const missing = (node: XrpNode.XrpClient, ledger: string) =>
    Effect.flatMap(
      Effect.map(serverInfoOf(node), (info) => info.complete_ledgers ?? "").pipe(Effect.orElseSucceed(() => "")),
      (has) =>
        new BlockMissing({ node: node.name, block: has === "" ? ledger : `${ledger} (it has ${has.slice(0, 200)})` })
    )

  const nameOf = (wanted: LedgerExplorer.Wanted) =>
    "ledger_hash" in wanted ? wanted.ledger_hash : String(wanted.ledger_index)

  const expanded = { transactions: true, expand: true }
  // A WebSocket ends with an answer that is too large, and does not say so.
  const isUnobtainable = (error: NodeError) => error._tag === "NodeUnreachable" || isTooLarge(error)

  const answerTo = (node: XrpNode.XrpClient, wanted: LedgerExplorer.Wanted, expand: object) =>
    node.requestLedger("ledger", { ...wanted, ...expand }).pipe(
      Effect.catchIf(
        (error) => expand === expanded && isUnobtainable(error),
        (error) => Effect.catchTag(LedgerInParts.fetch(node, wanted), "NodeUnreachable", () => Effect.fail(error))
      ),
      Effect.catchIf(isLedgerMissing, () => missing(node, nameOf(wanted)))
    )

  /** What was read of an answer, if it is the ledger that was wanted. */
  const asWanted = Effect.fnUntraced(function* <A extends Ledger.LedgerHeader>(
    node: XrpNode.XrpClient,
    wanted: LedgerExplorer.Wanted,
    read: Result.Result<A | undefined, string>
  ): Effect.fn.Return<A, NodeError> {
    const name = nameOf(wanted)
    const found = yield* Effect.mapError(Effect.fromResult(read), (rule) => inconsistent(node, "ledger", rule))
    if (found === undefined) return yield* new BlockMissing({ node: node.name, block: `${name} (validated)` })
    const hash = Buffer.from(found.hash).toString("hex").toUpperCase()
    const is = "ledger_hash" in wanted ? hash === name : name === "validated" || found.height === wanted.ledger_index
    return is
      ? found
      : yield* inconsistent(node, "ledger", `asked for ledger ${name}, answered ${found.height} (${hash})`)
  })

  const headerBy = (node: XrpNode.XrpClient, wanted: LedgerExplorer.Wanted) =>
    Effect.flatMap(answerTo(node, wanted, {}), (answer) => asWanted(node, wanted, Ledger.decodeHeader(answer)))

  const header = (node: XrpNode.XrpClient, index: number | "validated") => headerBy(node, { ledger_index: index })

  const decoded = (node: XrpNode.XrpClient, wanted: LedgerExplorer.Wanted, answer: unknown) =>
    Effect.flatMap(
      TimeSlice.run(() => Ledger.decode(answer)),
      (read) => asWanted(node, wanted, read)
    )

  const headOf = (node: XrpNode.XrpClient) =>
    Effect.map(header(node, "validated"), ({ hash, height }): Head => ({ height, hash, final: height }))

  const block = Effect.fnUntraced(function* (
    node: XrpNode.XrpClient,
    height: number
  ): Effect.fn.Return<Block, NodeError> {
    const wanted = { ledger_index: height }
    const answer = yield* answerTo(node, wanted, expanded)
    const outcome = yield* TimeSlice.run(() => LedgerProof.of(chain, answer, options.verify ?? "roots"))
    const unproven = yield* Proof.unprovenOf(outcome, { node: node.name, method: "ledger" })
    const found = yield* decoded(node, wanted, answer)
    const block = yield* TimeSlice.run(() => Ledger.toBlock(chain, found))
    return unproven.length === 0 ? block : { ...block, unproven }
  })

  const heads = Heads.make(
    chain,
    node,
    {
      name: ({ name }) => name,
      head: headOf,
      hashAt: (node, height) => Effect.map(header(node, height), ({ hash }) => hash),
      block
    },
    options
  )
  const { head } = heads
  const { maximumFee = defaultMaximumFee } = options

  return {
    chain,
    ...heads,
    resting: node.resting,
    openLedger: OpenLedger.make(chain, node),
    feeFault: (fee, usual) => feeFault(fee, usual, maximumFee, "drops"),
    broadcasting: XrpBroadcasting.make(chain, node, { maximumFee }),
    capabilities: Effect.flatMap(serverInfo, (info) =>
      Effect.map(Network.capability(chain, node, info.network_id), (network) => [
        network,
        historyOf(info.complete_ledgers)
      ])
    ),
    ranges: Effect.map(serverInfo, ({ complete_ledgers }) => CompleteLedgers.parse(complete_ledgers ?? "")),
    announced: node.announced,
    accountTransactions: AccountTransactions.make(chain, node, { header: (wanted) => headerBy(node, wanted) }),
    explorer: LedgerExplorer.make(node, {
      header: (wanted) => headerBy(node, wanted),
      details: (wanted) =>
        Effect.flatMap(answerTo(node, wanted, { transactions: true, expand: false }), (answer) =>
          asWanted(node, wanted, Ledger.decodeDetails(answer))
        ),
      whole: (wanted) => Effect.flatMap(answerTo(node, wanted, expanded), (answer) => decoded(node, wanted, answer))
    }),
    wereUsed: (addresses) =>
      Effect.flatMap(head, ({ height }) => WalletBalance.wereUsed(chain, node, height, addresses)),
    balance: Effect.fn("XrpSource.balance")(function* (address) {
      const { height } = yield* head
      const [drops = 0n] = yield* WalletBalance.balances(chain, node, height, [address])
      return drops
    }),
    walletBalance: (branches, gapLimit = 20, least = []) =>
      Effect.flatMap(head, ({ height }) => WalletBalance.fetch(chain, node, height, branches, gapLimit, least))
  }
})
