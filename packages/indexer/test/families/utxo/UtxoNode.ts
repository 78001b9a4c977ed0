/** A fake UTXO node for tests: answers from blocks, as nodes of different kinds and ages do. */
import type { Block, Transfer } from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as UtxoSource from "@headwater/indexer/families/utxo/UtxoSource"
import * as Effect from "effect/Effect"
import * as FakeNode from "../../FakeNode.ts"

/** A transaction as `getblock` 2 and `getrawtransaction` 1 show it. */
export interface NodeTransaction {
  readonly txid: string
  readonly vin: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly vout: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly [key: string]: unknown
}

/** A block as `getblock` 1 (ids) or 2 and 3 (transactions) shows it. */
export interface NodeBlock {
  readonly hash: string
  readonly height: number
  readonly tx: ReadonlyArray<string | NodeTransaction>
  readonly [key: string]: unknown
}

export interface ChainPart {
  readonly blocks: ReadonlyArray<NodeBlock>
  /** Raw blocks as hex, by hash. */
  readonly raw?: Readonly<Record<string, string>>
  readonly mempool?: ReadonlyArray<NodeTransaction>
}

/**
 * `core`: verbosity 0 to 3 and booleans; `numeric`: numbers 0 to 2 only (zcashd, Zebra); `boolean`: one boolean only
 * (old Dogecoin); `bcoin`: two booleans, its own error codes.
 */
export type Kind = "core" | "numeric" | "boolean" | "bcoin"

/** A number that is sent as it is written. `JSON.rawJSON` is new in Node 22; TypeScript does not know it yet. */
export const number = (written: string): number =>
  (JSON as unknown as { readonly rawJSON: (text: string) => number }).rawJSON(written)

/** JSON text whose numbers keep their digits when they are sent on: `50.00000000` stays so. */
export const parse = (text: string): unknown =>
  (JSON.parse as (text: string, revive: (key: string, value: unknown, at: { source: string }) => unknown) => unknown)(
    text,
    (_, value, { source }) => (typeof value === "number" && /[.eE]/.test(source) ? number(source) : value)
  )

/** A block with what its inputs show, read: blocks can be compared then, whatever way they were had. */
export const plain = (block: Block) => ({ ...block, ...plainMoves(block) })

/** What a block moves, with all parts at hand that are read when they are asked for. */
export const plainMoves = ({ spends, transfers }: Pick<Block, "spends" | "transfers">) => ({
  spends: spends.map(({ outpoint, position, transaction, unlocking }) => ({
    ...{ outpoint, position, transaction },
    unlocking: unlocking?.()
  })),
  transfers: transfers.map((transfer): Transfer => {
    if (transfer.kind !== "coin") return transfer
    const { amount, from, kind, position, to, transaction } = transfer
    return { amount, from, kind, position, to, transaction }
  })
})

const withoutPrevouts = (transaction: string | NodeTransaction): string | NodeTransaction =>
  typeof transaction === "string"
    ? transaction
    : { ...transaction, vin: transaction.vin.map(({ prevout: _, ...input }) => input) }

const idOf = (transaction: string | NodeTransaction): string =>
  typeof transaction === "string" ? transaction : transaction.txid

/** What `getblock` is asked for by the arguments behind the hash; undefined where the kind does not take them. */
const verbosityOf = (kind: Kind, [first, second, ...more]: ReadonlyArray<unknown>): number | undefined => {
  if (more.length > 0) return undefined
  switch (kind) {
    case "core":
      return second !== undefined ? undefined : typeof first === "boolean" ? Number(first) : (first as number)
    case "numeric":
      return second === undefined && typeof first === "number" && first <= 2 ? first : undefined
    case "boolean":
      return second === undefined && typeof first === "boolean" ? Number(first) : undefined
    case "bcoin": {
      const verbose = first === true || first === 1 ? 1 : first === false || first === 0 ? 0 : undefined
      return verbose === 1 && second === true ? 2 : verbose
    }
  }
}

const refusals: Record<Kind, FakeNode.RpcError> = {
  core: new FakeNode.RpcError(-3, "JSON value of type array is not of expected type number"),
  numeric: new FakeNode.RpcError(-8, "Verbosity must be in range from 0 to 2"),
  boolean: new FakeNode.RpcError(-1, "JSON value is not a boolean as expected"),
  bcoin: new FakeNode.RpcError(-3, "verbose must be a boolean.")
}

/** The answers of a node whose newest block is the last of `part.blocks`. */
export const answers = (kind: Kind, part: ChainPart, options: { readonly txindex?: boolean } = {}): FakeNode.Answer => {
  const byHash = new Map(part.blocks.map((block) => [block.hash, block]))
  const byHeight = new Map(part.blocks.map((block) => [block.height, block]))
  const tip = part.blocks.at(-1)!
  const missing = new FakeNode.RpcError(kind === "bcoin" ? -1 : -5, "Block not found")
  const noTransaction =
    kind === "bcoin"
      ? new FakeNode.RpcError(-1, "Transaction not found.")
      : new FakeNode.RpcError(
          -5,
          "No such mempool or blockchain transaction. Use gettransaction for wallet transactions."
        )
  const transactions = new Map<unknown, NodeTransaction>()
  for (const block of options.txindex === false ? [] : part.blocks) {
    for (const transaction of block.tx) {
      if (typeof transaction !== "string") transactions.set(transaction.txid, { ...transaction, blockhash: block.hash })
    }
  }
  for (const transaction of part.mempool ?? []) transactions.set(transaction.txid, transaction)

  return (method, params) => {
    switch (method) {
      case "getblockchaininfo":
        return { chain: "main", blocks: tip.height, bestblockhash: tip.hash, pruned: false }
      case "getblockhash": {
        const block = byHeight.get(params[0] as number)
        if (block === undefined) throw new FakeNode.RpcError(-8, "Block height out of range")
        return block.hash
      }
      case "getblock": {
        const [hash, ...rest] = params
        const verbosity = verbosityOf(kind, rest)
        if (verbosity === undefined) throw refusals[kind]
        const block = byHash.get(hash as string)
        if (block === undefined) throw missing
        if (verbosity === 0) {
          const raw = part.raw?.[block.hash]
          if (raw === undefined) throw new FakeNode.RpcError(-1, "Block not available (no raw data)")
          return raw
        }
        if (verbosity === 1) return { ...block, tx: block.tx.map(idOf) }
        if (typeof block.tx[0] === "string") throw new FakeNode.RpcError(-1, "response is too big")
        return verbosity === 2 ? { ...block, tx: block.tx.map(withoutPrevouts) } : block
      }
      case "getrawtransaction": {
        const transaction = transactions.get(params[0])
        if (transaction === undefined) throw noTransaction
        return withoutPrevouts(transaction)
      }
      case "getrawmempool":
        return (part.mempool ?? []).map(idOf)
      default:
        throw new FakeNode.RpcError(-32601, "Method not found")
    }
  }
}

/** A block in wire format: the header from its fields, the transactions from their `hex`. Bitcoin's format. */
export const rawOf = (block: NodeBlock): string => {
  const reversed = (hash: unknown) => Buffer.from(String(hash ?? "00".repeat(32)), "hex").reverse()
  const header = Buffer.alloc(80)
  header.writeInt32LE(block.version as number, 0)
  header.set(reversed(block.previousblockhash), 4)
  header.set(reversed(block.merkleroot), 36)
  header.writeUInt32LE(block.time as number, 68)
  header.writeUInt32LE(Number.parseInt(block.bits as string, 16), 72)
  header.writeUInt32LE(block.nonce as number, 76)
  const count = Buffer.alloc(3)
  count.writeUInt8(0xfd)
  count.writeUInt16LE(block.tx.length, 1)
  const transactions = block.tx.map((transaction) => (transaction as NodeTransaction).hex as string)
  return [header.toString("hex"), count.toString("hex"), ...transactions].join("")
}

/** A source whose node, reached over HTTP, gives these answers. */
export const source = Effect.fnUntraced(function* (
  chain: Chain,
  answer: FakeNode.Answer,
  options: UtxoSource.UtxoSourceOptions = {}
) {
  const node = yield* FakeNode.make(answer)
  return yield* UtxoSource.make(chain, yield* JsonRpc.make({ urls: [node.url], attempts: 1 }), options)
})
