import { assert, describe, it } from "@effect/vitest"
import type { Block } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as Matcher from "@headwater/core/events/Matcher"
import * as MinedTransactions from "@headwater/core/events/MinedTransactions"
import * as Watched from "@headwater/core/events/Watched"
import * as Steps from "@headwater/core/Steps"

const id = (number: number) => new Uint8Array(32).fill(number)
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

/** A block without any transfer, one of whose ids could not be read. */
const block: Block = {
  ...{ height: 7, hash: id(0xbb), parent: id(0xaa), time: 1_700_000_000 },
  ...{ transactions: [id(1), new Uint8Array(), id(2), id(3)], transfers: [], spends: [] }
}

const matched = (name: string, of: Block, wanted: ReadonlyArray<Uint8Array>) =>
  Matcher.match(Chain.ofName(name)!, of, {
    byAddress: new Map(),
    byTransaction: new Map(
      wanted.map((one) => [hex(one), [{ event: "TRANSACTION_MINED", address: undefined, name: hex(one) } as const]])
    ),
    blockMined: [],
    metadata: () => ({ name: "", symbol: "", decimals: undefined })
  }).occurrences

describe("MinedTransactions", () => {
  it("are seen where their ids are watched, and where nothing else of the block is", () => {
    const watched = Watched.make([1, 2])
    for (const one of [id(2), id(3), id(4), new Uint8Array(20).fill(1)]) watched.add(one)
    const seen = Steps.atOnce(MinedTransactions.seenInSteps(block, watched))
    assert.deepStrictEqual([...seen.keys()], [hex(id(2)), hex(id(3))])
  })

  it("are told with their block, in chain order, in the form of ids that the chain has", () => {
    const forms = { "bitcoin/mainnet": "02", "ethereum/mainnet": "0x02", "tron/mainnet": "02", "xrp/mainnet": "02" }
    for (const [name, first] of Object.entries(forms)) {
      const found = matched(name, block, [id(3), id(9), id(2)])
      assert.deepStrictEqual(
        found.map(({ occurrence }) => occurrence),
        [`transaction:${hex(id(2))}`, `transaction:${hex(id(3))}`]
      )
      const [blockchain, network] = name.split("/")
      const { minedInBlock, ...item } = found[0]!.item
      assert.deepStrictEqual({ ...item }, { blockchain, network, transactionId: first + "02".repeat(31) } as never)
      assert.deepInclude(minedInBlock, { height: 7, timestamp: 1_700_000_000 })
      assert.match(minedInBlock.hash.toLowerCase(), /^(0x)?(bb){32}$/)
    }
    assert.match(
      matched("xrp/mainnet", { ...block, transactions: [id(0xab)] }, [id(0xab)])[0]!.item.transactionId,
      /^(AB){32}$/
    )
  })

  it("are found by the whole id, not by the part that tells it from most others", () => {
    const alike = id(2)
    alike[0] = 9
    assert.lengthOf(matched("ethereum/mainnet", block, [alike]), 0)
    assert.lengthOf(matched("ethereum/mainnet", { ...block, transactions: [] }, [id(2)]), 0)
  })
})
