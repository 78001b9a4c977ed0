/**
 * POL that Polygon's state-sync transaction pays: what was deposited on Ethereum. Every node logs each move of coins under the
 * contract that is the coin in the form of ERC-20 (Bor, `core/bor_fee_log.go`; Erigon, `polygon/bor`), and of a state-sync no other
 * account of it is the same at all nodes.
 */
import type { CoinTransfer, ContractLog } from "@headwater/core/Block"
import * as Hex from "./Hex.ts"

/** keccak256 of `LogTransfer(address,address,address,uint256,uint256,uint256,uint256,uint256)`. */
const moveTopic = "0xe6497e3ee548a3372136af2fcb0696db31fc6cf20260707645068bd3fe97f3c4"

const coinContract = `0x${"1010".padStart(40, "0")}`

/** The contract logs calls of its own likewise, and names the coin's token on Ethereum: their moves are logged by the node as well. */
const coinTopic = `0x${"1010".padStart(64, "0")}`

/** Whether a log, of which only the length of the topics is certain, tells of a move of coins. */
export const isMove = (log: { readonly address: unknown; readonly topics: ReadonlyArray<string> }): boolean => {
  const [event, token] = log.topics.map((topic) => topic.toLowerCase())
  return event === moveTopic && token === coinTopic && String(log.address).toLowerCase() === coinContract
}

/** Of such a log, the move. Throws {@link Hex.Malformed}. */
export const coinOf = ({ data, position, topics, transaction }: ContractLog): CoinTransfer => {
  const party = (topic = "") => Hex.address(`0x${topic.slice(-40)}`, "log.topics")
  const amount = Hex.quantity(data.slice(0, 66), "log.data")
  return { kind: "coin", transaction, position, from: party(topics[2]), to: party(topics[3]), amount }
}
