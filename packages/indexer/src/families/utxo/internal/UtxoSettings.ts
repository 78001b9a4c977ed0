/** Settings that UTXO chains have beside those of every chain. */
import * as Schema from "effect/Schema"
import * as Url from "../../node/Url.ts"

export const fields = {
  /** The node's cookie file, in which it leaves user and password at each start. */
  cookie: Schema.optionalKey(Schema.String.check(Schema.isNonEmpty({ message: "must not be empty" }))),
  /** Endpoints at which the node announces blocks and transactions over ZeroMQ. */
  zmq: Schema.optionalKey(Schema.Array(Url.ofSchemes(["tcp", "ipc"])))
}

export type Fields = typeof fields
