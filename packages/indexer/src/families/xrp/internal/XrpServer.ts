/** One server of the XRP Ledger, over either transport. */
import type * as Effect from "effect/Effect"
import type * as Failover from "../../node/Failover.ts"
import type * as XrpReply from "./XrpReply.ts"

export interface XrpServer {
  /** Host and port. */
  readonly name: string
  readonly request: (command: string, params: XrpReply.Json) => Effect.Effect<XrpReply.Json, Failover.Failure>
}
