import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as Explore from "@headwater/http/operations/evm/Explore"
import * as Simulation from "@headwater/indexer/families/evm/Simulation"
import * as TokenTransfers from "@headwater/indexer/families/evm/TokenTransfers"
import * as Effect from "effect/Effect"

const word = (number: number) => Buffer.from(number.toString(16).padStart(64, "0"), "hex")
const bytes = (text: string) => Buffer.from(text.slice(2), "hex")

/** A batch of ERC-1155 with so many ids. */
const batch = (count: number) => ({
  height: 7,
  address: Buffer.alloc(20, 1),
  topics: [bytes(TokenTransfers.batchTopic), word(1), word(2), word(3)],
  data: Buffer.concat([
    ...[word(64), word(64 + 32 * (count + 1))],
    ...[word(count), Buffer.alloc(32 * count, 7), word(count), Buffer.alloc(32 * count, 9)]
  ]),
  removed: false
})

describe("Token transfers of a transaction", () => {
  it.live("are listed of a log that has more of them than a call may have arguments", () =>
    Effect.gen(function* () {
      const count = 150_000
      const record = {
        ...{ chain: Chain.ofName("ethereum/mainnet")!, name: "ethereum/mainnet", tip: Effect.undefined },
        ...{ tokens: () => Effect.succeed(new Map()), keepTokens: () => Effect.void }
      }
      const source = {
        tokenMetadata: (contracts: ReadonlyArray<unknown>) =>
          Effect.succeed(contracts.map(() => ({ name: "", symbol: "", decimals: undefined })))
      }
      const freshness = { node: Effect.succeed({ source }), orUnavailable: (effect: unknown) => effect }
      const node = { logs: () => Effect.succeed([batch(count)]) }
      const { evmTokens } = Explore.make(record as never, freshness as never, () => node as never, {
        internalTransactions: true
      })
      const answer = yield* evmTokens({ transactionHash: `0x${"11".repeat(32)}`, limit: 2, offset: count - 1 } as never)
      assert.deepStrictEqual([answer.total, answer.items.length], [count, 1])
    })
  )

  it.live("are named by a node that has their block, however far the record is", () =>
    Effect.gen(function* () {
      const asked: Array<number> = []
      const source = {
        tokenMetadata: (contracts: ReadonlyArray<unknown>, height: number) => {
          asked.push(height)
          return Effect.succeed(contracts.map(() => ({ name: "Seven", symbol: "7", decimals: undefined })))
        }
      }
      const freshness = { node: Effect.succeed({ source }), orUnavailable: (effect: unknown) => effect }
      const node = { logs: () => Effect.succeed([batch(1)]) }
      for (const tip of [undefined, { height: 6 }, { height: 8 }]) {
        const record = {
          ...{ chain: Chain.ofName("ethereum/mainnet")!, name: "ethereum/mainnet", tip: Effect.succeed(tip) },
          ...{ tokens: () => Effect.succeed(new Map()), keepTokens: () => Effect.void }
        }
        const { evmTokens } = Explore.make(record as never, freshness as never, () => node as never, {
          internalTransactions: true
        })
        yield* evmTokens({ transactionHash: `0x${"11".repeat(32)}`, limit: 1, offset: 0 } as never)
      }
      assert.deepStrictEqual(asked, [7, 7, 8])
    })
  )

  it.live("are counted in a simulation, too, however many one log has", () =>
    Effect.gen(function* () {
      const count = 150_000
      const { data, topics } = batch(count)
      const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString("hex")}`
      const log = { address: `0x${"01".repeat(20)}`, topics: topics.map(hex), data: hex(data) }
      const answers: Record<string, unknown> = {
        eth_getBlockByNumber: { hash: `0x${"22".repeat(32)}`, number: "0x1", timestamp: "0x1" },
        debug_traceCall: { type: "CALL", gasUsed: "0x5208", logs: [log] }
      }
      const rpc = { node: "node", call: (method: string) => Effect.succeed(answers[method]) }
      const { moves } = yield* Simulation.simulate(
        rpc as never,
        {
          ...{ from: new Uint8Array(20), to: new Uint8Array(20), value: 0n, data: new Uint8Array() },
          ...{ gasLimit: 21_000n, gasPrice: 0n }
        } as never
      )
      assert.lengthOf(moves!.tokens, count)
    })
  )
})
