/** UTXO chains: Bitcoin and its descendants. */
import * as Schema from "effect/Schema"
import type { Family } from "../Family.ts"
import * as Url from "../node/Url.ts"
import type { UtxoConnection } from "./UtxoConnection.ts"

const settings = {
  /** Endpoints at which the node announces blocks and transactions over ZeroMQ. */
  zmq: Schema.optionalKey(Schema.Array(Url.ofSchemes(["tcp", "ipc"])))
}

export type UtxoFields = typeof settings

export const UtxoFamily: Family<UtxoConnection, UtxoFields> = {
  name: "utxo",
  urlSchemes: ["http", "https"],
  settings,
  nodeAccess: () => import("./UtxoConnection.ts"),
  lossByRewind: (height, restorable) =>
    height < restorable
      ? `below block ${restorable}, outputs that were spent are no longer known: coins from before block ${height} that ` +
        "are spent after it are recognised only if the node shows what inputs spend"
      : undefined
}
