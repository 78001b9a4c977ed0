/** The first receiving addresses of a wallet: `node examples/derive-addresses.ts bitcoin mainnet zpub…` */
import * as Chain from "@headwater/core/chains/Chain"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import * as Result from "effect/Result"

const [blockchain = "", network = "", text = ""] = process.argv.slice(2)
const chain = Result.getOrThrow(Chain.find(blockchain, network))
const key = Result.getOrThrow(ExtendedPublicKey.decode(chain, text))
const branch = Result.getOrThrow(Derivation.branch(chain, key))
for (const found of Derivation.derive(branch, 0, 5)) console.log(Result.getOrThrow(found).address)
