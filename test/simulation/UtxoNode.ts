/**
 * What a node of a UTXO chain answers to JSON-RPC, as Bitcoin Core does. Inputs show what they spend, however the node is
 * asked: what they spend is made up, and no node could tell of it afterwards.
 */
import { createHash } from "node:crypto"
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import { type Block, digest, type Transaction } from "./Chains.ts"
import { RpcError } from "../../packages/indexer/test/FakeNode.ts"
import type { View } from "./NodeView.ts"
import * as Wallets from "./Wallets.ts"

type Json = Readonly<Record<string, unknown>>

const chain = Chain.ofName("litecoin/regtest")!

/** The key at a place, of which nothing but its hash is ever looked at. */
const keyAt = (place: number) => `02${digest(`key ${place}`)}`

const hashed = (hex: string) =>
  createHash("ripemd160")
    .update(createHash("sha256").update(Buffer.from(hex, "hex")).digest())
    .digest("hex")

/** Pays to the hash of a key. */
const scripts = new Map<number, string>()
const makeScript = (place: number) =>
  place < Wallets.firstPlace
    ? `76a914${hashed(keyAt(place))}88ac`
    : Buffer.from(Wallets.addressAt("litecoin/regtest", place).bytes).toString("hex")
const scriptAt = (place: number) => {
  const script = scripts.get(place) ?? makeScript(place)
  scripts.set(place, script)
  return script
}

/** What spends a payment to a key: a signature, which nobody checks here, and the key. */
const spending = (place: number) => `47${"30".repeat(71)}21${keyAt(place)}`

/** The transaction that a payment spends an output of. */
const fundingOf = ({ id, spends = id }: Transaction) => digest(`what ${spends} spends`)

/** The address at a place of the chain's list. */
export const addressAt = (place: number) =>
  Address.encode(chain, Address.fromBytes(Buffer.from(scriptAt(place), "hex")))!

const coins = (amount: bigint) => Number(amount) / 1e8

const output = (script: string, amount: bigint, n: number): Json => ({
  ...{ n, value: coins(amount) },
  scriptPubKey: { asm: "", hex: script, type: "pubkeyhash" }
})

const coinbase = ({ hash }: Block): Json => ({
  txid: digest(`coinbase of ${hash}`),
  version: 1,
  vin: [{ coinbase: "51ff", sequence: 4294967295 }],
  vout: [output("6a0568656c6c6f", 0n, 0)]
})

/** A payment, which spends one coin of the payer's and brings back what is left of the coin. */
const transactionOf = (transaction: Transaction): Json => {
  const { id, movements } = transaction
  const [{ amount, from, to }] = movements as readonly [Transaction["movements"][number]]
  const { n: _, ...prevout } = output(scriptAt(from), amount + change, 0)
  return {
    txid: id,
    version: 1,
    vin: [
      {
        ...{ txid: fundingOf(transaction), vout: 0, sequence: 4294967293 },
        scriptSig: { asm: "", hex: spending(from) },
        prevout
      }
    ],
    vout: [output(scriptAt(to), amount, 0), output(scriptAt(from), change, 1)]
  }
}

/** What comes back of each coin, in the smallest unit. */
const change = 1_000n

const twice = (bytes: Uint8Array) => createHash("sha256").update(createHash("sha256").update(bytes).digest()).digest()

const merkleRoot = (ids: ReadonlyArray<string>): string => {
  let level: ReadonlyArray<Buffer> = ids.map((id) => Buffer.from(id, "hex").reverse())
  while (level.length > 1) {
    const below = level
    level = Array.from({ length: Math.ceil(below.length / 2) }, (_, i) =>
      twice(Buffer.concat([below[2 * i]!, below[2 * i + 1] ?? below[2 * i]!]))
    )
  }
  return Buffer.from(level[0]!).reverse().toString("hex")
}

const transactionsOf = (block: Block): ReadonlyArray<Json> => [
  coinbase(block),
  ...block.transactions.map(transactionOf)
]

const blockOf = (block: Block, verbosity: number): Json => {
  const transactions = transactionsOf(block)
  const ids = transactions.map(({ txid }) => txid as string)
  return {
    ...{ hash: block.hash, height: block.height, time: block.time, nTx: ids.length, merkleroot: merkleRoot(ids) },
    ...(block.height === 0 ? {} : { previousblockhash: block.parent }),
    tx: verbosity >= 2 ? transactions : ids
  }
}

/** The answer to one call. */
export const answer = ({ branch, waiting }: View, method: string, params: ReadonlyArray<unknown>): unknown => {
  const tip = branch.at(-1)!
  switch (method) {
    case "getblockchaininfo":
      return { chain: "regtest", blocks: tip.height, bestblockhash: tip.hash, pruned: false }
    case "getblockhash": {
      const block = branch[params[0] as number]
      if (block === undefined) throw new RpcError(-8, "Block height out of range")
      return block.hash
    }
    case "getblock": {
      const [hash, verbosity = 1] = params
      // Raw blocks are not made up here.
      if (Number(verbosity) === 0) throw new RpcError(-1, "Block not available (no raw data)")
      const block = branch.find((one) => one.hash === hash)
      if (block === undefined) throw new RpcError(-5, "Block not found")
      return blockOf(block, Number(verbosity))
    }
    case "getblockheader": {
      const block = branch.find((one) => one.hash === params[0])
      if (block === undefined) throw new RpcError(-5, "Block not found")
      return { hash: block.hash, height: block.height, confirmations: tip.height - block.height + 1 }
    }
    case "getrawtransaction": {
      const own = waiting.find(({ transaction }) => transaction.id === params[0])
      if (own !== undefined) return transactionOf(own.transaction)
      for (const block of branch) {
        const found = transactionsOf(block).find(({ txid }) => txid === params[0])
        if (found !== undefined) return { ...found, blockhash: block.hash }
      }
      throw new RpcError(-5, "No such mempool or blockchain transaction. Use gettransaction for wallet transactions.")
    }
    case "getindexinfo":
      return { txindex: { synced: true, best_block_height: tip.height } }
    case "getrawmempool":
      return waiting.map(({ transaction }) => transaction.id)
    case "getmempoolentry": {
      const own = waiting.find(({ transaction }) => transaction.id === params[0])
      if (own === undefined) throw new RpcError(-5, "Transaction not in mempool")
      return { time: Math.floor(own.at / 1_000) }
    }
    case "getbestblockhash":
      return tip.hash
    default:
      throw new RpcError(-32601, "Method not found")
  }
}
