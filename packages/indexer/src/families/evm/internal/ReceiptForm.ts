/** Receipts as they are hashed (Yellow Paper 4.3.1, EIP-658, EIP-2718): what the root of a block's receipts commits to. */
import { depositType } from "./BlockAnswer.ts"
import * as Fields from "./Fields.ts"
import * as Hex from "./Hex.ts"
import { hasStateRoot, type Receipt } from "./Receipts.ts"
import * as Rlp from "./Rlp.ts"
import { enveloped } from "./TransactionForm.ts"

const logFields = (item: unknown): Rlp.Item => {
  const { address, data, topics } = Hex.object(item, "log")
  return [
    Fields.address(address, "log.address"),
    Hex.array(topics, "log.topics").map((topic) => Fields.hash(topic, "log.topic")),
    Fields.data(data, "log.data")
  ]
}

/** What nodes answer of a receipt, hashed or not; `l1…` and `operatorFee…` of the OP stack and Nitro beside. */
const knownFields: ReadonlySet<string> = new Set([
  ...[
    "transactionHash",
    "transactionIndex",
    "blockHash",
    "blockNumber",
    "blockTimestamp",
    "from",
    "to",
    "type",
    "status"
  ],
  ...["root", "cumulativeGasUsed", "gasUsed", "effectiveGasPrice", "contractAddress", "logs", "logsBloom"],
  ...["blobGasUsed", "blobGasPrice", "depositNonce", "depositReceiptVersion", "daFootprintGasScalar", "opGasRefund"],
  // Nitro; Besu; Nethermind; reth of the time of Prague; Base.
  ...["gasUsedForL1", "timeboosted", "multiGasUsed", "revertReason", "error", "authorizationList", "blockTimestampMs"]
])

/** A field that may be part of what is hashed, as far as this version knows; undefined where all are known. */
export const unknownField = (receipts: ReadonlyArray<Receipt>): string | undefined => {
  for (const { json } of receipts) {
    for (const name in json) {
      if (json[name] != null && !knownFields.has(name) && !/^(?:l1|operatorFee)/.test(name)) return name
    }
  }
  return undefined
}

/**
 * The receipt of a transaction of this type, with its bloom. A type that is not known is taken for one as EIP-2718 tells.
 * Throws {@link Hex.Malformed} where a field is missing or not of its form.
 */
export const hashed = ({ json, logs, succeeded }: Receipt, type: number, bloom: Uint8Array): Uint8Array =>
  enveloped(type, [
    hasStateRoot(json) ? Fields.hash(json.root, "receipt.root") : Rlp.integer(succeeded === true ? 1 : 0),
    Fields.quantity(json.cumulativeGasUsed, "receipt.cumulativeGasUsed"),
    bloom,
    logs.map(logFields),
    // Deposits of the OP stack since Canyon.
    ...(type === depositType && json.depositReceiptVersion != null
      ? [
          Fields.quantity(json.depositNonce, "receipt.depositNonce"),
          Fields.quantity(json.depositReceiptVersion, "receipt.depositReceiptVersion")
        ]
      : [])
  ])
