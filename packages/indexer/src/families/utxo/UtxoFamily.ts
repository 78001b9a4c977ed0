/** UTXO chains: Bitcoin and its descendants. */
import type { Family } from "../Family.ts"
import * as UtxoSettings from "./internal/UtxoSettings.ts"
import type { UtxoConnection } from "./UtxoConnection.ts"

export const UtxoFamily: Family<UtxoConnection, UtxoSettings.Fields> = {
  name: "utxo",
  urlSchemes: ["http", "https"],
  unprovenParts: ["header", "transactions", "witnesses", "prevouts"],
  settings: UtxoSettings.fields,
  nodeAccess: () => import("./UtxoConnection.ts"),
  lossByRewind: (height, restorable) =>
    height < restorable
      ? `below block ${restorable}, outputs that were spent are no longer known: coins from before block ${height} that ` +
        "are spent after it are recognised only if the node shows what inputs spend, and what addresses and wallets have is " +
        "unknown until the node's coins are searched again"
      : undefined
}
