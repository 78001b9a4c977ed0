/** EVM chains: all whose nodes speak Ethereum's JSON-RPC. */
import type { Family } from "../Family.ts"
import * as InternalEvents from "../InternalEvents.ts"
import type { EvmConnection } from "./EvmConnection.ts"
import * as EvmSettings from "./internal/EvmSettings.ts"

export const EvmFamily: Family<EvmConnection, EvmSettings.Fields> = {
  name: "evm",
  urlSchemes: ["http", "https"],
  unprovenParts: [
    ...["header", "transactions", "senders", "receipts", "outcomes", "created contracts", "withdrawals"],
    ...["state-sync transactions", "internal transactions"]
  ],
  settings: EvmSettings.fields,
  nodeAccess: () => import("./EvmConnection.ts"),
  unserved: InternalEvents.unserved
}
