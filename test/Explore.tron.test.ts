/** Recorded transactions of Tron, of every kind of contract, are shown as tronweb reads them from their bytes. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { formatUnits } from "ethers"
import * as Tron from "../packages/indexer/test/families/tron/TronBlocks.ts"
import * as TronNode from "../packages/indexer/test/families/tron/TronNode.ts"
import * as TronWallet from "../packages/indexer/test/families/tron/TronWallet.ts"
import * as Fixtures from "../packages/indexer/test/Fixtures.ts"
import * as Headwater from "./Headwater.ts"
import { locations } from "./Stores.ts"
import { isInTurn } from "./Turn.ts"

type Json = TronNode.Json

const start = 100
const perBlock = 5

/** What tronweb reads in the bytes of those kinds that move TRX. */
const moved = (type: string, rawDataHex: string) => {
  if (type !== "TransferContract" && type !== "TriggerSmartContract") return undefined
  const { value } = TronWallet.read(rawDataHex, type).raw_data.contract[0].parameter
  const { amount = 0, call_value = 0, contract_address, data = "", owner_address, to_address } = value
  return {
    ...{ sender: TronWallet.base58(owner_address), recipient: TronWallet.base58(to_address ?? contract_address) },
    value: { amount: formatUnits(BigInt(amount) + BigInt(call_value), 6).replace(/\.0$/, ""), unit: "TRX" },
    inputData: `0x${String(data).toLowerCase()}`
  }
}

const { location } = locations[0]!

describe.skipIf(!Fixtures.exist || !isInTurn(import.meta.url))("Recorded transactions of Tron", () => {
  it.live("are shown as tronweb reads them, one by one and by their blocks", () =>
    Effect.gen(function* () {
      const recorded = Fixtures.json("tron/collected/tx-sha256-verified.shared.json") as ReadonlyArray<Json>
      const unique = [...new Map(recorded.map((each) => [each.tx.txID as string, each])).values()]
      const contents = Array.from({ length: Math.ceil(unique.length / perBlock) }, (_, i) =>
        unique.slice(i * perBlock, (i + 1) * perBlock)
      )
      const shown = ({ tx }: Json): Json => ({
        ...{ signature: ["00".repeat(65)], ...tx, visible: false },
        ret: [{ contractRet: "SUCCESS" }]
      })
      const genesis = Tron.blockOf(0, [])
      const first = { ...genesis.block, blockID: Tron.mainnet.tron!.genesis.mainnet }
      const blocks = Tron.linked([
        { ...genesis, block: first },
        ...[undefined, ...contents].map((all = [], i) => Tron.blockOf(start - 1 + i, all.map(shown)))
      ])
      const node = yield* TronNode.make({ blocks, solid: start })
      const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
        chains: { "tron/mainnet": { nodes: [node.url], start, pollMillis: 100, timeoutMillis: 2_000 } }
      })
      const { data: ask } = headwater
      let compared = 0
      for (const [i, all] of contents.entries()) {
        const { items, total } = yield* ask(`/blocks/evm/tron/mainnet/height/${start + i}/transactions?limit=50`)
        assert.strictEqual(total, all.length)
        for (const [position, { tx, type }] of all.entries()) {
          const { timestapm, ...listed } = items[position]
          const { item } = yield* ask(`/transactions/evm/tron/mainnet/${tx.txID}`)
          // The function that is called is shown of a transaction by itself.
          const { signatureData: _, ...resources } = item.blockchainSpecific
          assert.deepStrictEqual(listed, { ...item, blockchainSpecific: resources })
          assert.deepStrictEqual(
            [timestapm, item.timestamp, item.positionInBlock],
            [item.timestamp, item.timestamp, position]
          )
          assert.deepStrictEqual([item.hash, tx.txID], [TronWallet.idOf(tx.raw_data_hex), item.hash])
          const expected = moved(type, tx.raw_data_hex)
          const [{ parameter }] = tx.raw_data.contract
          const owner: string | undefined = parameter.value.owner_address
          if (owner?.startsWith("41")) assert.strictEqual(item.sender, TronWallet.base58(owner), type)
          assert.strictEqual(item.gasLimit, tx.raw_data.fee_limit ?? 0, type)
          if (expected === undefined) continue
          assert.deepInclude(item, expected)
          compared++
        }
      }
      assert.isAbove(compared, 5)
    }).pipe(Effect.scoped)
  )
})
