/** EVM chains: all whose nodes speak Ethereum's JSON-RPC. */
import type { Family } from "../Family.ts"
import * as InternalEvents from "../InternalEvents.ts"
import type { EvmConnection } from "./EvmConnection.ts"

export const EvmFamily: Family<EvmConnection> = {
  name: "evm",
  urlSchemes: ["http", "https"],
  settings: {},
  nodeAccess: () => import("./EvmConnection.ts"),
  unserved: InternalEvents.unserved
}
