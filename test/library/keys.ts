/** What core's README says. */
import * as Chain from "@headwater/core/chains/Chain"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import * as Result from "effect/Result"

const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
const key = Result.getOrThrow(ExtendedPublicKey.decode(bitcoin, "zpub…"))

export const branch = Derivation.branch(bitcoin, key)
