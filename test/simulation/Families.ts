/** What the simulation knows of each family of chains: how its nodes answer, how they lie, and what tenants may ask for. */
import { RpcError } from "../../packages/indexer/test/FakeNode.ts"
import type { Movement, Transaction, Unsealed } from "./Chains.ts"
import * as Envelopes from "./Envelopes.ts"
import * as EvmNode from "./EvmNode.ts"
import type { View } from "./NodeView.ts"
import * as TronNode from "./TronNode.ts"
import * as UtxoNode from "./UtxoNode.ts"
import * as XrpNode from "./XrpNode.ts"

/**
 * Lies that are noticed: by the links between blocks, or by proofs where the program asks for them. What a node calls
 * final, and what it says of its newest block, is believed.
 */
export type Lie = "wrongReceipts" | "wrongParent" | "wrongHeight" | "withoutBlocks"

type Lying = (method: string, result: unknown, view: View, params: ReadonlyArray<unknown>) => unknown

export interface Family {
  /** As in paths. */
  readonly chain: string
  readonly decimals: Readonly<Record<Movement["kind"], number>>
  /** What moves on the chain beside the coin. */
  readonly kinds: ReadonlySet<Movement["kind"]>
  /** Whether transactions wait for a block where everybody sees them. */
  readonly hasMempool: boolean
  /** Whether transactions are mined that fail. */
  readonly minesFailed: boolean
  /** Whether the hashes of blocks are of what the blocks hold. */
  readonly sealsBlocks: boolean
  /** Blocks behind the newest one that may be left. */
  readonly mostForked: number
  readonly addressAt: (place: number) => string
  /** Whether an address is told what moves at a place. */
  readonly isOf: (place: number, address: number) => boolean
  /** A transaction as the chain can have it, with its id. */
  readonly transaction: (own: Omit<Transaction, "id">) => Transaction
  readonly hashOf: (block: Unsealed) => string
  /** What the first block after the beginning has. */
  readonly first: ReadonlyArray<Movement>
  readonly envelope: Envelopes.Envelope
  readonly answer: (view: View, method: string, params: ReadonlyArray<unknown>) => unknown
  readonly lies: Readonly<Record<Lie, Lying>>
}

type Json = Readonly<Record<string, unknown>>

const wrong = (result: unknown, change: object) =>
  typeof result === "object" && result !== null ? { ...result, ...change } : result

/** Chains of blocks whose hashes nobody calculates again. */
const unproved: Pick<
  Family,
  "first" | "hasMempool" | "hashOf" | "isOf" | "mostForked" | "sealsBlocks" | "transaction"
> = {
  hasMempool: false,
  sealsBlocks: false,
  mostForked: 3,
  isOf: (place, address) => place === address,
  transaction: (own) => ({ ...own, id: own.nonce }),
  hashOf: ({ nonce }) => nonce,
  first: []
}

const evm: Family = {
  ...unproved,
  chain: "ethereum/devnet",
  decimals: { coin: 18, internal: 18, token: 6 },
  kinds: new Set(["coin", "internal", "token"]),
  minesFailed: true,
  addressAt: EvmNode.addressAt,
  envelope: Envelopes.jsonRpc,
  answer: EvmNode.answer,
  lies: {
    wrongReceipts: (method, result) =>
      method === "eth_getBlockReceipts" && Array.isArray(result)
        ? result.map((receipt) => ({ ...receipt, blockHash: `0x${"ee".repeat(32)}` }))
        : result,
    wrongParent: (method, result) =>
      method === "eth_getBlockByNumber" ? wrong(result, { parentHash: `0x${"dd".repeat(32)}` }) : result,
    wrongHeight: (method, result, { branch }, [block]) =>
      method === "eth_getBlockByNumber" && /^0x/.test(String(block))
        ? wrong(result, { number: `0x${Math.max(branch.length - 2, 0).toString(16)}` })
        : result,
    withoutBlocks: (method, result) => (/Block|Receipt/.test(method) ? null : result)
  }
}

const utxo: Family = {
  ...unproved,
  chain: "litecoin/regtest",
  decimals: { coin: 8, internal: 8, token: 8 },
  kinds: new Set(["coin"]),
  hasMempool: true,
  minesFailed: false,
  addressAt: UtxoNode.addressAt,
  envelope: Envelopes.jsonRpc,
  answer: UtxoNode.answer,
  lies: {
    // There are none.
    wrongReceipts: (_, result) => result,
    wrongParent: (method, result) =>
      method === "getblock" ? wrong(result, { previousblockhash: "dd".repeat(32) }) : result,
    wrongHeight: (method, result, { branch }) =>
      method === "getblock" ? wrong(result, { height: Math.max(branch.length - 2, 0) }) : result,
    withoutBlocks: (method, result) => (method === "getblockhash" ? null : result)
  }
}

/** A ledger with something else in its header. */
const wrongLedger = (method: string, result: unknown, change: (ledger: Json) => Json) =>
  method === "ledger" ? wrong(result, { ledger: change((result as { readonly ledger: Json }).ledger) }) : result

const xrp: Family = {
  chain: "xrp/testnet",
  decimals: { coin: 6, internal: 6, token: 6 },
  kinds: new Set(["coin"]),
  hasMempool: false,
  minesFailed: true,
  sealsBlocks: true,
  // What is validated is final.
  mostForked: 0,
  addressAt: XrpNode.addressAt,
  isOf: XrpNode.isOf,
  transaction: XrpNode.transaction,
  hashOf: XrpNode.hashOf,
  first: [],
  envelope: Envelopes.rippled,
  answer: XrpNode.answer,
  lies: {
    // Without proofs, what is left of transactions are hashes; with them, one has delivered more.
    wrongReceipts: (method, result, { isProved }) =>
      wrongLedger(method, result, ({ transactions, ...header }) => ({
        ...header,
        ...(Array.isArray(transactions)
          ? {
              transactions: transactions.map((one, index) =>
                !isProved ? (one.hash ?? "") : index === 0 ? XrpNode.deliveringMore(one) : one
              )
            }
          : {})
      })),
    wrongParent: (method, result) =>
      wrongLedger(method, result, (ledger) => ({ ...ledger, parent_hash: "DD".repeat(32) })),
    wrongHeight: (method, result, { branch }) =>
      wrongLedger(method, result, (ledger) => ({ ...ledger, ledger_index: String(Math.max(branch.length - 2, 0)) })),
    withoutBlocks: (method, result) => {
      if (method === "ledger") throw new RpcError(21, "lgrNotFound")
      return result
    }
  }
}

/** A block's header with something else in it. */
const wrongHeader = (method: string, result: unknown, change: Json) => {
  const { block_header: header } = (result ?? {}) as { readonly block_header?: { readonly raw_data: Json } }
  return header === undefined || !/^\/wallet\/getblock/.test(method)
    ? result
    : wrong(result, { block_header: { ...header, raw_data: { ...header.raw_data, ...change } } })
}

const tron: Family = {
  ...unproved,
  chain: "tron/nile",
  decimals: { coin: 6, internal: 6, token: 6 },
  kinds: new Set(["coin", "internal", "token"]),
  minesFailed: true,
  addressAt: TronNode.addressAt,
  transaction: TronNode.transaction,
  hashOf: TronNode.hashOf,
  sealsBlocks: true,
  // Nobody knows that a node keeps internal transactions before it has shown one.
  first: [{ kind: "internal", from: 6, to: 7, amount: 1n }],
  envelope: Envelopes.paths,
  answer: TronNode.answer,
  lies: {
    // Without proofs, no infos; with them, transactions as nobody has signed them.
    wrongReceipts: (method, result, { isProved }) => {
      if (isProved && method === "/wallet/getblockbynum") return TronNode.withOtherResults(result as Json)
      return !isProved && method === "/wallet/gettransactioninfobyblocknum" ? [] : result
    },
    wrongParent: (method, result) => wrongHeader(method, result, { parentHash: "dd".repeat(32) }),
    wrongHeight: (method, result, { branch }, [body]) =>
      Object.keys(body as Json).some((name) => /num/.test(name))
        ? wrongHeader(method, result, { number: Math.max(branch.length - 2, 0) })
        : result,
    withoutBlocks: (method, result) => (/^\/wallet\/get(block|transactioninfo)/.test(method) ? {} : result)
  }
}

export const all = { evm, utxo, xrp, tron } as const
