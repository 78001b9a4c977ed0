/** Whether mined coins can be spent, and the transactions that made them, by a node of their chain. */
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import type { Coin } from "@headwater/core/utxo/Coin"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import type { NodeError, NodeRejected } from "../../node/NodeError.ts"
import { refuse } from "./Malformed.ts"
import * as MwebParts from "./MwebParts.ts"
import { consistent } from "./NodeAnswer.ts"
import * as NodeJson from "./NodeJson.ts"
import * as NodeTransaction from "./NodeTransaction.ts"

/**
 * Whether a mined coin can be spent in the next block: a transaction that waits may spend it, a miner's reward or what came
 * out of Litecoin's MWEB may be too young, and a coin of Bitcoin Cash may carry a token, which would be lost.
 */
export type CoinState = "spendable" | "spent" | "immature" | "peggedOut" | "token"

export interface MinedCoins {
  /** In the order of the coins. */
  readonly statesOf: (coins: ReadonlyArray<Coin>) => Effect.Effect<ReadonlyArray<CoinState>, NodeError>
  /** The transactions that made the coins, as signers read them; undefined where the node does not show one. */
  readonly makersOf: (coins: ReadonlyArray<Coin>) => Effect.Effect<ReadonlyArray<Uint8Array | undefined>, NodeError>
}

const usualMaturity = 100

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

/** Behind the version: no inputs, and the flag of MWEB, which of mined transactions a HogEx alone has (LIP-2). */
const isHogEx = (raw: Uint8Array | undefined): raw is Uint8Array => raw?.[4] === 0 && (raw[5]! & MwebParts.flag) !== 0

/** As signers read transactions: a HogEx without its marks, the flag and the empty part in front of the locktime. */
const readable = (raw: Uint8Array | undefined) =>
  isHogEx(raw) ? Buffer.concat([raw.subarray(0, 4), raw.subarray(6, -5), raw.subarray(-4)]) : raw

export const make = (chain: Chain, rpc: JsonRpc): MinedCoins => {
  const network = chain.utxo!

  const stateOf = (coin: Coin, answer: unknown): CoinState => {
    if (answer === null) return "spent"
    const output = NodeJson.record(answer, () => "the output")
    if (output.tokenData !== undefined) return "token"
    const { amount, script } = NodeTransaction.readOutput(chain, output, () => "the output")
    if (amount !== coin.amount || !Bytes.equal(script, coin.script)) {
      return refuse("the output", "must be what the blocks have shown")
    }
    if (output.coinbase !== true) return "spendable"
    // What miners of Zcash get has to be shielded first.
    if (network.wireFormat === "zcash") return "immature"
    const confirmations = NodeJson.count(output.confirmations, () => "confirmations")
    return confirmations >= (network.coinbaseMaturity ?? usualMaturity) ? "spendable" : "immature"
  }

  /** Results that are hex text. */
  const bytesOf = (answer: Result.Result<unknown, NodeRejected>): Uint8Array | undefined =>
    Result.getOrUndefined(Result.try(() => NodeJson.bytes(Result.getOrThrow(answer), () => "the answer")))

  const rawMakersOf: MinedCoins["makersOf"] = Effect.fn("MinedCoins.makersOf")(function* (coins) {
    const ids = [...new Set(coins.map(({ outpoint }) => hex(outpoint.transactionId)))]
    const heights = new Map(coins.map(({ height, outpoint }) => [hex(outpoint.transactionId), height]))
    const indexed = yield* rpc.results(ids.map((id) => ({ method: "getrawtransaction", params: [id] })))
    const found = new Map(ids.flatMap((id, i) => [[id, bytesOf(indexed[i]!)] as const]))
    // Without an index of transactions a node finds one in a block that is named.
    const missing = ids.filter((id) => found.get(id) === undefined)
    const hashes = yield* rpc.results(missing.map((id) => ({ method: "getblockhash", params: [heights.get(id)] })))
    const inBlocks = yield* rpc.results(
      missing.map((id, i) => ({
        method: "getrawtransaction",
        params: [id, false, Result.getOrElse(hashes[i]!, () => "")]
      }))
    )
    for (const [i, id] of missing.entries()) found.set(id, bytesOf(inBlocks[i]!))
    return coins.map(({ outpoint }) => found.get(hex(outpoint.transactionId)))
  })

  const isYoungerThanPegOut = (answer: unknown): boolean => {
    if (network.pegOutMaturity === undefined) return false
    const { confirmations } = NodeJson.record(answer, () => "the output")
    const mined = NodeJson.count(confirmations, () => "confirmations")
    return mined > 0 && mined < network.pegOutMaturity
  }

  const statesOf: MinedCoins["statesOf"] = Effect.fn("MinedCoins.statesOf")(function* (coins) {
    const answers = yield* rpc.batch(
      coins.map(({ outpoint: { index, transactionId } }) => ({
        method: "gettxout",
        params: [hex(transactionId), index, true]
      })),
      "decimalText"
    )
    const states = yield* consistent(rpc, "gettxout", () => coins.map((coin, i) => stateOf(coin, answers[i] ?? null)))
    const young = yield* consistent(rpc, "gettxout", () =>
      coins.filter((_, i) => states[i] === "spendable" && isYoungerThanPegOut(answers[i]))
    )
    if (young.length === 0) return states
    // No answer about an output says that a HogEx made it.
    const makers = yield* rawMakersOf(young)
    const peggedOut = new Set(young.filter((_, i) => isHogEx(makers[i])))
    return states.map((state, i) => (peggedOut.has(coins[i]!) ? "peggedOut" : state))
  })

  return {
    statesOf,
    makersOf: (coins) => Effect.map(rawMakersOf(coins), (makers) => makers.map(readable))
  }
}
