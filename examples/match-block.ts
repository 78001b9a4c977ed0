/**
 * What a block holds for some addresses, with nothing of Headwater but its pure core: this program reads the block
 * itself. Prints the `data.item` that callbacks would carry.
 *
 * `node examples/match-block.ts http://127.0.0.1:8545 latest 0x7099… 0x3C44…`
 */
import * as Address from "@headwater/core/address/Address"
import type { Block, CoinTransfer } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as Matcher from "@headwater/core/events/Matcher"
import * as Watched from "@headwater/core/events/Watched"
import * as Result from "effect/Result"

const [url = "", height = "latest", ...addresses] = process.argv.slice(2)
const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))
const address = (text: string) => Result.getOrThrow(Address.decode(chain, text))
const hash = (text: string) => Buffer.from(text.slice(2), "hex")

interface NodeTransaction {
  readonly hash: string
  readonly from: string
  readonly to: string | null
  readonly value: string
}
interface NodeBlock {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
  readonly timestamp: string
  readonly transactions: ReadonlyArray<NodeTransaction>
}

const response = await fetch(url, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_getBlockByNumber", params: [height, true] })
})
const { result } = (await response.json()) as { readonly result: NodeBlock }
const { transactions } = result

const block: Block = {
  height: Number(result.number),
  hash: hash(result.hash),
  parent: hash(result.parentHash),
  time: Number(result.timestamp),
  transactions: transactions.map((transaction) => hash(transaction.hash)),
  // A failed transaction moves no value. Receipts say which failed; a program for more than a demonstration reads them.
  transfers: transactions.flatMap(({ from, to, value }, transaction): ReadonlyArray<CoinTransfer> => {
    if (to === null || BigInt(value) === 0n) return []
    return [{ kind: "coin", transaction, position: 0, from: address(from), to: address(to), amount: BigInt(value) }]
  }),
  spends: []
}

// The set that says quickly and in little memory whether an address may concern somebody …
const watched = Watched.make([...crypto.getRandomValues(new Uint32Array(2))] as [number, number])
// … and the exact answer: who it concerns, by the address's hex. Here that is a map; Headwater asks its store.
const byAddress = new Map<string, ReadonlyArray<Matcher.Subscription>>()
for (const text of addresses) {
  const bytes = address(text)
  watched.add(bytes)
  byAddress.set(Buffer.from(bytes).toString("hex"), [{ event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", address: bytes }])
}

if (Matcher.addressesSeen(block, watched).size > 0) {
  const metadata = () => ({ name: "", symbol: "", decimals: undefined })
  for (const { item } of Matcher.match(chain, block, { byAddress, blockMined: [], metadata })) {
    console.log(JSON.stringify(item))
  }
}
