/** UTXO chains: Bitcoin and its descendants. */
import * as Bytes from "../Bytes.ts"
import type { Family } from "../families/Family.ts"
import * as UtxoAddress from "./internal/UtxoAddress.ts"
import * as UtxoKeyFormats from "./internal/UtxoKeyFormats.ts"
import type { UtxoNetwork } from "./UtxoNetwork.ts"

export const UtxoFamily: Family<UtxoNetwork, UtxoKeyFormats.Name> = {
  title: "UTXO",
  ledger: "outputs",
  hasContracts: false,
  hasMempool: true,
  address: {
    decode: ({ address }, text) => UtxoAddress.decode(address, text),
    encode: ({ address }, script) => UtxoAddress.encode(address, script),
    encodeLegacy: ({ address }, script) => UtxoAddress.encodeLegacy(address, script)
  },
  hashText: Bytes.hex,
  keyFormats: UtxoKeyFormats.all,
  keyFormatsOf: UtxoKeyFormats.of,
  hasTestKeys: true,
  example: {
    chain: "bitcoin/mainnet",
    addresses: ["bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu"],
    height: 870_000,
    blockHash: new Array<number>(9).fill(0)
  }
}
