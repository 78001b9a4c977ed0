/** Tron: java-tron nodes over their HTTP API. */
import type { Family } from "../Family.ts"
import * as InternalEvents from "../InternalEvents.ts"
import * as TronSettings from "./internal/TronSettings.ts"
import type { TronConnection } from "./TronConnection.ts"

export const TronFamily: Family<TronConnection, TronSettings.Fields> = {
  name: "tron",
  urlSchemes: ["http", "https"],
  unprovenParts: ["block", "header", "transactions", "signatures", "witness", "transaction infos"],
  settings: TronSettings.fields,
  nodeAccess: () => import("./TronConnection.ts"),
  unserved: InternalEvents.unserved,
  adviceByMethod: {
    "/wallet/gettransactioninfobyblocknum":
      "allow this path on the node (java-tron 3.7 and later has it; see node.disabledApi), or use one that does: " +
      "without it there are no tokens, fees and internal transactions, and nothing is followed"
  }
}
