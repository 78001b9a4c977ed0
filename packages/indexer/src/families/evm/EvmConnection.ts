/** The nodes of an EVM chain, connected: blocks, and what endpoints ask beyond blocks. */
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { defaultMaximumFee } from "../Broadcasting.ts"
import { type ConnectedNode, type NodeAccess, urlsOf } from "../Family.ts"
import * as JsonRpc from "../node/JsonRpc.ts"
import type { SideSources } from "../SideSources.ts"
import * as Broadcasting from "./Broadcasting.ts"
import * as EvmExplorer from "./EvmExplorer.ts"
import * as EvmNode from "./EvmNode.ts"
import * as EvmSource from "./EvmSource.ts"
import type { Explorer } from "./Explorer.ts"
import * as EvmSelfReport from "./internal/EvmSelfReport.ts"
import * as EvmSettings from "./internal/EvmSettings.ts"
import * as NewHeads from "./NewHeads.ts"
import * as Past from "./Past.ts"

export interface EvmConnection extends ConnectedNode {
  readonly family: "evm"
  readonly evm: EvmNode.EvmNode
  readonly explorer: Explorer
  /** A transaction whose fee is beyond measure would not be broadcast. */
  readonly feeFault: Broadcasting.FeeFault
}

/** The source, whose blocks are announced. */
const announcedBy = (newHeads: NewHeads.NewHeads, source: EvmSource.EvmSource): EvmSource.EvmSource => ({
  ...source,
  head: Effect.tap(source.head, (head) => Effect.sync(() => newHeads.shown(head))),
  blockAt: (height) =>
    Effect.tap(source.blockAt(height), (block) =>
      Effect.sync(() => {
        const head = newHeads.head()
        if (head !== undefined && Bytes.equal(head.hash, block.hash)) newHeads.shown(block)
      })
    ),
  announced: newHeads.announced,
  announcedHead: newHeads.head
})

type Access = NodeAccess<EvmConnection, EvmSettings.Fields>

export const connect: Access["connect"] = Effect.fnUntraced(function* (chain, settings) {
  const { parallel, timeoutMillis, tracer, traceTimeoutMillis = timeoutMillis } = settings
  const urls = urlsOf(settings)
  const rpc = yield* JsonRpc.make({ urls, timeoutMillis, connections: parallel * 2 })
  const nodes = yield* Effect.forEach(urls, (url) =>
    JsonRpc.make({ urls: [url], timeoutMillis: traceTimeoutMillis, attempts: 1, connections: parallel * 2 })
  )
  const source = yield* EvmSource.make(chain, rpc, {
    internal: settings.internalTransactions,
    verify: settings.verify,
    ...(settings.quorum === undefined ? {} : { quorum: settings.quorum }),
    tracing: { nodes, timeoutMillis: traceTimeoutMillis },
    ...(tracer === undefined ? {} : { tracers: [EvmSettings.methodOf[tracer]] })
  })
  const newHeads = settings.announcements === false ? undefined : yield* NewHeads.make(chain, settings)
  const evm = EvmNode.make(rpc, chain.evm)
  const { maximumFee = defaultMaximumFee } = settings
  const sideSources: SideSources = {
    broadcasting: Broadcasting.make(chain, rpc, evm, { maximumFee }),
    unusedAt: evm.unusedAt,
    past: Past.make(rpc),
    ...(source.wholeBlockAt === undefined ? {} : { wholeBlockAt: source.wholeBlockAt })
  }
  const announcing = newHeads === undefined ? source : announcedBy(newHeads, source)
  return {
    family: "evm" as const,
    source: announcing,
    sideSources,
    evm,
    explorer: EvmExplorer.make(rpc, source.traces),
    feeFault: Broadcasting.feeFault(chain, maximumFee)
  }
})

export const selfReport: Access["selfReport"] = Effect.fnUntraced(function* (_chain, settings) {
  const rpc = yield* JsonRpc.make({ urls: urlsOf(settings), timeoutMillis: settings.timeoutMillis, attempts: 1 })
  const [version, syncing] = yield* rpc.results([
    { method: "web3_clientVersion", params: [] },
    { method: "eth_syncing", params: [] }
  ])
  return EvmSelfReport.read(Result.getOrUndefined(version!), Result.getOrUndefined(syncing!))
})

export const announcementReport: NonNullable<Access["announcementReport"]> = (_chain, settings) =>
  NewHeads.report(settings)
