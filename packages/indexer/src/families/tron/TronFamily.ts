/** Tron: java-tron nodes over their HTTP API. */
import * as Schema from "effect/Schema"
import type { Family } from "../Family.ts"
import * as InternalEvents from "../InternalEvents.ts"
import type { TronConnection } from "./TronConnection.ts"

const settings = {
  /** TronGrid's key, sent with every request. */
  apiKey: Schema.optionalKey(
    Schema.RedactedFromValue(
      Schema.String.check(
        Schema.isNonEmpty({ message: "must not be empty" }),
        Schema.isPattern(/^[\x21-\x7e]*$/, { message: "must be printable ASCII without spaces" })
      )
    )
  )
}

export type TronFields = typeof settings

export const TronFamily: Family<TronConnection, TronFields> = {
  name: "tron",
  urlSchemes: ["http", "https"],
  settings,
  nodeAccess: () => import("./TronConnection.ts"),
  unserved: InternalEvents.unserved,
  adviceByMethod: {
    "/wallet/gettransactioninfobyblocknum":
      "allow this path on the node (java-tron 3.7 and later has it; see node.disabledApi), or use one that does: " +
      "without it there are no tokens, fees and internal transactions, and nothing is followed"
  }
}
