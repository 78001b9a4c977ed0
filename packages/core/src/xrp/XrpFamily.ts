/** The XRP Ledger. */
import * as Result from "effect/Result"
import * as Bytes from "../Bytes.ts"
import type { Family } from "../families/Family.ts"
import { compress } from "../keys/BaseMultiples.ts"
import { each, type KeyFormat } from "../keys/KeyFormat.ts"
import { hash160 } from "../utxo/BitcoinHash.ts"
import * as XrpAddress from "./internal/XrpAddress.ts"
import * as TaggedAccount from "./TaggedAccount.ts"

export interface XrpNetwork {
  /** rippled's `network_id`. */
  readonly networkId: number
  /**
   * Hash of ledger 256, which every ledger since has in its state: first in the list of the hashes of every 256th ledger
   * (`LedgerHashes`). Absent where it is not known, or changes with each reset of the network.
   */
  readonly ledger256?: string
  /** The earliest ledger that anybody has, where that is not the first one. */
  readonly firstLedger?: number
  /** X-addresses of the live network begin with X, those of all others with T (XLS-5). */
  readonly xAddresses: "X" | "T"
}

const classic: KeyFormat<"CLASSIC"> = { name: "CLASSIC", addresses: each((point) => hash160(compress(point))) }

export const XrpFamily: Family<XrpNetwork, "CLASSIC"> = {
  title: "XRP",
  ledger: "accounts",
  hasContracts: false,
  hasMempool: false,
  address: {
    decode: ({ xAddresses }, text) => Result.map(XrpAddress.decode(xAddresses, text), ({ account }) => account),
    encode: ({ xAddresses }, bytes) => {
      if (bytes.length === 20) return XrpAddress.encode(bytes)
      const tagged = TaggedAccount.decode(bytes)
      return tagged && XrpAddress.encodeX(xAddresses, tagged)
    },
    destinationTag: ({ xAddresses }, text) => Result.map(XrpAddress.decode(xAddresses, text), ({ tag }) => tag)
  },
  hashText: (hash) => Bytes.hex(hash).toUpperCase(),
  keyFormats: [classic],
  keyFormatsOf: () => [classic],
  hasTestKeys: false,
  example: {
    chain: "xrp/mainnet",
    addresses: ["rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf", "rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY"],
    height: 92_000_000,
    blockHash: []
  }
}
