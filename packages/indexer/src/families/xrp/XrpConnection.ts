/** The servers of an XRP chain, connected. */
import * as Effect from "effect/Effect"
import { type ConnectedNode, type NodeAccess, urlsOf } from "../Family.ts"
import * as XrpSelfReport from "./internal/XrpSelfReport.ts"
import * as XrpNode from "./XrpNode.ts"
import * as XrpSource from "./XrpSource.ts"

export interface XrpConnection extends ConnectedNode {
  readonly family: "xrp"
  readonly source: XrpSource.XrpSource
}

type Access = NodeAccess<XrpConnection>

export const connect: Access["connect"] = Effect.fnUntraced(function* (chain, settings) {
  const source = yield* XrpSource.make(chain, {
    urls: urlsOf(settings),
    timeoutMillis: settings.timeoutMillis,
    verify: settings.verify,
    ...(settings.maximumFee === undefined ? {} : { maximumFee: settings.maximumFee }),
    ...(settings.quorum === undefined ? {} : { quorum: settings.quorum })
  })
  return { family: "xrp" as const, source, sideSources: { accounts: source, broadcasting: source.broadcasting } }
})

export const selfReport: Access["selfReport"] = Effect.fnUntraced(function* (_chain, settings) {
  const node = yield* XrpNode.make({
    urls: urlsOf(settings),
    timeoutMillis: settings.timeoutMillis,
    attempts: 1
  })
  return XrpSelfReport.read(yield* node.request("server_info", {}))
})
