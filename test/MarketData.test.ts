/** Market data through the running daemon: the operator's own file, read at start, answered over HTTP. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Anvil from "./Anvil.ts"
import * as Folder from "./Folder.ts"
import * as Headwater from "./Headwater.ts"
import { locations } from "./Stores.ts"

const [{ location }] = locations as [(typeof locations)[number]]

describe("market data", () => {
  it.live("answers an asset of the operator's file by id, symbol and slug, with every field of the interface", () =>
    Effect.gen(function* () {
      const folder = yield* Folder.scoped
      const path = join(folder, "assets.jsonl")
      const contract = {
        ...{ blockchain: "ethereum", network: "mainnet", standard: "ERC-20" },
        identifier: "0xdac17f958d2ee523a2206206994597c13d831ec7",
        fungibleValues: { decimals: 6 }
      }
      writeFileSync(
        path,
        JSON.stringify({
          ...{ slug: "our-token", name: "Our Token", originalSymbol: "OUR", contracts: [contract] },
          latestRate: { amount: "0.123456789012345678" }
        })
      )
      const anvil = yield* Anvil.start({})
      const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
        chains: { "ethereum/devnet": { nodes: [anvil.url] } },
        marketData: { file: { path } }
      })
      const untilThere = Effect.gen(function* () {
        for (let i = 0; i < 2_400; i++) {
          const answer = yield* headwater.get("/market-data/assets/by-slug/our-token")
          if (answer.status === 200) return answer.body.data.item
          yield* Effect.sleep("50 millis")
        }
        return yield* Effect.die(new Error("The file was not loaded"))
      })
      const item = yield* untilThere
      assert.strictEqual(item.latestRate.amount, "0.123456789012345678")
      assert.deepStrictEqual(item.contracts, [
        { ...contract, identifier: "0xdAC17F958D2ee523a2206206994597C13D831ec7" }
      ])
      const fields = [
        "contracts",
        "latestRate",
        "logo",
        "name",
        "originalSymbol",
        "referenceId",
        "slug",
        "specificData"
      ]
      assert.deepStrictEqual(Object.keys(item).sort(), [...fields, "symbol", "type"].sort())
      for (const [path, type] of [
        [`by-id/${item.referenceId}`, "TOKEN"],
        [`by-symbol/${item.symbol}`, "token"]
      ]) {
        const { body, status } = yield* headwater.get(`/market-data/assets/${path}`)
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(body.data.item, { ...item, specificData: { ...item.specificData, type } })
      }
      // What ships has no rate of its own: nothing is made up, and the list names it all the same.
      const bitcoin = yield* headwater.get("/market-data/assets/by-slug/bitcoin")
      assert.strictEqual(bitcoin.status, 404)
      const { body } = yield* headwater.get("/market-data/assets?limit=50")
      assert.isTrue((body.data.items as ReadonlyArray<{ slug: string }>).some(({ slug }) => slug === "bitcoin"))
    }).pipe(Effect.scoped)
  )
})
