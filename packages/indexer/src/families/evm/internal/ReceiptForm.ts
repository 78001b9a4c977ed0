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
