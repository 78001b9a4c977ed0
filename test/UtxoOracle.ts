/**
 * A UTXO chain as bitcoinjs-lib reads it from the raw bytes that its node gives: blocks, transactions and coins in the words
 * of the interface. Only what bytes cannot say, chain work and when something came to wait, is the node's word.
 */
import { Block, address as addresses, crypto, type Network, payments, Transaction } from "bitcoinjs-lib"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { formatUnits } from "ethers"
import type { Rpc } from "./NodeRpc.ts"

interface Output {
  readonly script: Uint8Array
  readonly value: bigint
}

interface Place {
  readonly hash: string
  readonly height: number
  readonly position: number
}

interface Known {
  readonly id: string
  readonly transaction: Transaction
  readonly time: number
  /** Undefined where it waits. */
  readonly place: Place | undefined
}

export interface Unit {
  readonly network: Network
  readonly unit: string
  /** Whether the node's `gettxout` hides mined outputs that a waiting transaction spends: bcoin's shows them. */
  readonly hidesWaitingSpends: boolean
}

export type UtxoOracle = Effect.Success<ReturnType<typeof read>>
export type Item = ReturnType<UtxoOracle["item"]>

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")
/** Hashes are written backwards. */
const reversed = (bytes: Uint8Array) => hex(Uint8Array.from(bytes).reverse())

const forms = [
  ["pubkeyhash", payments.p2pkh],
  ["scripthash", payments.p2sh],
  ["witness_v0_keyhash", payments.p2wpkh],
  ["witness_v0_scripthash", payments.p2wsh],
  ["nulldata", payments.embed]
] as const

/** The network makes no difference to a form. */
const typeOf = (script: Uint8Array) =>
  forms.find(([, form]) => Result.isSuccess(Result.try(() => form({ output: script }))))?.[0] ?? "nonstandard"

/** Everything that the node has now. */
export const read = Effect.fnUntraced(function* (rpc: Rpc, { hidesWaitingSpends, network, unit }: Unit) {
  const value = (amount: bigint) => ({ amount: formatUnits(amount, 8).replace(/\.0$/, ""), unit })
  /** By script: most stand in many outputs, and not to be one of a form costs an error. */
  const texts = new Map<string, string | undefined>()
  const addressOf = (output: Output | undefined) => {
    if (output === undefined) return undefined
    const key = hex(output.script)
    if (!texts.has(key)) {
      const text = Result.try(() => addresses.fromOutputScript(output.script, network))
      texts.set(key, Result.getOrUndefined(text))
    }
    return texts.get(key)
  }
  const blocks: Array<{ readonly hash: string; readonly raw: Block; readonly hex: string }> = []
  const known = new Map<string, Known>()
  /** Which transaction spends an output, by its id and index. */
  const spenders = new Map<string, string>()
  const add = (transaction: Transaction, rest: Pick<Known, "time" | "place">) => {
    const id = transaction.getId()
    known.set(id, { id, transaction, ...rest })
    for (const { hash, index } of transaction.ins) spenders.set(`${reversed(hash)} ${index}`, id)
  }
  const tip = yield* rpc<number>("getblockcount")
  for (let height = 0; height <= tip; height++) {
    const hash = yield* rpc<string>("getblockhash", height)
    const text = yield* rpc<string>("getblock", hash, false)
    const raw = Block.fromHex(text)
    blocks.push({ hash, raw, hex: text })
    for (const [position, transaction] of raw.transactions!.entries()) {
      add(transaction, { time: raw.timestamp, place: { hash, height, position } })
    }
  }
  for (const id of yield* rpc<ReadonlyArray<string>>("getrawmempool")) {
    const { time } = yield* rpc<{ readonly time: number }>("getmempoolentry", id)
    add(Transaction.fromHex(yield* rpc<string>("getrawtransaction", id)), { time, place: undefined })
  }

  /** Whether the node shows an output to be spent. */
  const isSpent = (id: string, index: number) => {
    const spender = known.get(spenders.get(`${id} ${index}`) ?? "")
    if (spender === undefined) return false
    return spender.place !== undefined || hidesWaitingSpends || known.get(id)!.place === undefined
  }
  const spentBy = ({ transaction }: Known): ReadonlyArray<Output | undefined> =>
    transaction.ins.map(({ hash, index }) => known.get(reversed(hash))?.transaction.outs[index])
  const sums = (moved: ReadonlyArray<Output | undefined>) => {
    const found = new Map<string, bigint>()
    for (const output of moved) {
      const address = addressOf(output)
      if (address !== undefined) found.set(address, (found.get(address) ?? 0n) + output!.value)
    }
    return [...found].map(([address, amount]) => ({ address, addresses: address, value: value(amount) }))
  }
  const total = (all: ReadonlyArray<Output | undefined>) => all.reduce((sum, output) => sum + (output?.value ?? 0n), 0n)

  const shown = (one: Known) => {
    const { id, place, time, transaction } = one
    const spent = spentBy(one)
    const isCoinbase = transaction.isCoinbase()
    const named = (output: Output | undefined) => {
      const address = addressOf(output)
      return address === undefined ? {} : { addresses: [address] }
    }
    return {
      ...{ id, transactionID: id, hash: reversed(crypto.hash256(transaction.toBuffer())) },
      ...{ isConfirmed: place !== undefined, locktime: transaction.locktime, size: transaction.byteLength() },
      ...{ version: transaction.version, fee: value(isCoinbase ? 0n : total(spent) - total(transaction.outs)) },
      inputs: transaction.ins.map(({ hash, index, script, witness }, input) => {
        const output = spent[input]
        return {
          ...named(output),
          ...(isCoinbase ? { coinbase: hex(script) } : {}),
          ...{ outputIndex: index, oututIndex: index, transactionId: reversed(hash), witnesses: witness.map(hex) },
          script: { type: output === undefined ? "nonstandard" : typeOf(output.script) },
          ...(output === undefined ? {} : { value: value(output.value) })
        }
      }),
      outputs: transaction.outs.map((output, index) => ({
        ...named(output),
        isSpent: isSpent(id, index),
        script: { type: typeOf(output.script) },
        value: value(output.value)
      })),
      ...{ positionInBlock: place?.position ?? -1, recipients: sums(transaction.outs), senders: sums(spent) },
      ...{ timestamp: time, minedInBlock: { hash: place?.hash ?? "", height: place?.height ?? -1 } }
    }
  }

  const all = [...known.values()]
  const names = (address: string) => (one: Known) =>
    [...one.transaction.outs, ...spentBy(one)].some((output) => addressOf(output) === address)

  return {
    tip,
    hashAt: (height: number) => blocks[height]!.hash,
    item: (id: string) => shown(known.get(id)!),
    raw: (id: string) => known.get(id)!.transaction.toHex(),
    /** The transactions of a block, in its order. */
    transactionsAt: (height: number) =>
      blocks[height]!.raw.transactions!.map((each) => shown(known.get(each.getId())!)),
    /** A block's details, beside what the chain above it says. */
    details: Effect.fnUntraced(function* (height: number) {
      const { hash, hex: text, raw } = blocks[height]!
      const { chainwork, difficulty } = yield* rpc<{ readonly chainwork: string; readonly difficulty: number }>(
        ...(["getblock", hash] as const)
      )
      const stripped = raw.byteLength(false, false)
      const merkleRoot = reversed(raw.merkleRoot!)
      return {
        ...{ bits: raw.bits, chainwork, difficulty: Math.floor(difficulty), merkleRoot, hash, height },
        ...{ previousBlockHash: reversed(raw.prevHash!), size: text.length / 2, strippedSize: stripped },
        ...{ timestamp: raw.timestamp, transactionsCount: raw.transactions!.length, version: raw.version },
        ...{ versionHex: (raw.version >>> 0).toString(16).padStart(8, "0"), weight: 3 * stripped + text.length / 2 }
      }
    }),
    /** Mined ones that name an address, oldest first. */
    minedOf: (address: string) =>
      all
        .filter(({ place }) => place !== undefined)
        .filter(names(address))
        .map(shown),
    waitingOf: (address: string) =>
      all
        .filter(({ place }) => place === undefined)
        .filter(names(address))
        .map(shown),
    /** Mined outputs of addresses that no mined transaction spends, by height, id and index. */
    unspentOf: (of: ReadonlySet<string>) =>
      all
        .flatMap(({ id, place, time, transaction }) =>
          place === undefined
            ? []
            : transaction.outs.flatMap((output, index) => {
                const address = addressOf(output)
                const spender = known.get(spenders.get(`${id} ${index}`) ?? "")
                return address !== undefined && of.has(address) && spender?.place === undefined
                  ? [
                      {
                        address,
                        id,
                        index,
                        height: place.height,
                        time,
                        value: output.value,
                        isAvailable: !isSpent(id, index)
                      }
                    ]
                  : []
              })
        )
        .sort((a, b) => a.height - b.height || (a.id < b.id ? -1 : 1) || a.index - b.index),
    value
  }
})
