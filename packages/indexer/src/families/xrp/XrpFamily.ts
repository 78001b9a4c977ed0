/** The XRP Ledger: rippled and clio, over WebSocket or JSON-RPC. */
import type { Family } from "../Family.ts"
import type { XrpConnection } from "./XrpConnection.ts"

export const XrpFamily: Family<XrpConnection> = {
  name: "xrp",
  urlSchemes: ["ws", "wss", "http", "https"],
  unprovenParts: ["header", "transactions"],
  settings: {},
  nodeAccess: () => import("./XrpConnection.ts")
}
