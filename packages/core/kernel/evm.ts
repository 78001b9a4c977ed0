/** The kernel of EVM chains. */
export {
  headerAt,
  logsAt,
  openBlock,
  readReceipt,
  readTransaction,
  transactionCount,
  transactionsAt
} from "./evm/block"
export { framesAt, framesFound, openTraces, readTrace } from "./evm/traces"
export { answerAt, answerCount, scan, scanFrom } from "./json"
export { keccak } from "./keccak"
export { begin, reach } from "./memory"
