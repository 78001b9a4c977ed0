/**
 * Vectors of derivation, addresses and signing hashes through core: on Node with either library of the curve, and in a
 * page of Chromium where that is installed. Those of the shared fixtures where they are, a few published ones elsewhere.
 */
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Derivation } from "@headwater/core/services/Derivation"
import { Secp256k1 } from "@headwater/core/services/Secp256k1"
import { layerTiny } from "@headwater/core/services/Secp256k1Tiny"
import { Sighash } from "@headwater/core/services/Sighash"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { build, type Rolldown } from "vite"
import * as Chromium from "./Chromium.ts"
import { differences, type Vector } from "./vectors/Answers.ts"
import * as Vectors from "./vectors/Vectors.ts"

const vectors = Vectors.all()

it.skipIf(!Vectors.shared)("the shared fixtures have vectors of every kind", () => {
  const counts: Record<string, number> = {}
  for (const { kind } of vectors) counts[kind] = (counts[kind] ?? 0) + 1
  console.log(`vectors: ${JSON.stringify(counts)}`)
  const fewest: Readonly<Record<Vector["kind"], number>> = {
    ...{ addresses: 90, child: 5, extendedKey: 15, refused: 40, script: 60, evm: 4_500, evmRefused: 1, tron: 26 },
    ...{ unlocking: 100, witness: 1 }
  }
  for (const [kind, least] of Object.entries(fewest)) assert.isAtLeast(counts[kind] ?? 0, least, kind)
})

/** One that is wrong shows that the others are looked at. */
const asked = [...vectors, { kind: "refused", question: { key: "xpub" }, expected: false } as const]
const onlyWrong = ['refused {"key":"xpub"}: true, not false']

describe("core says what every vector says", () => {
  for (const [name, curve, vectors] of [
    ["@noble/curves", Secp256k1.layerNoble, asked],
    // Those that ask for the curve.
    ["tiny-secp256k1", layerTiny, asked.filter(({ kind }) => /^(addresses|child|extendedKey|refused)$/.test(kind))]
  ] as const) {
    it.effect(`on Node, with ${name}`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* differences(vectors), onlyWrong)
      }).pipe(Effect.provide(Layer.provideMerge(Layer.merge(Derivation.layer, Sighash.layer), curve)))
    )
  }

  it.live.skipIf(Chromium.path === undefined)("in a page of Chromium", () =>
    Effect.gen(function* () {
      const browser = yield* Chromium.launch
      const page = yield* Effect.promise(() => browser.newPage())
      yield* Effect.promise(async () => {
        const folder = fileURLToPath(new URL("./vectors", import.meta.url))
        const [{ output }] = (await build({
          ...{ root: folder, configFile: false, logLevel: "error" },
          build: {
            write: false,
            target: "es2022",
            lib: { entry: `${folder}/page.ts`, formats: ["iife"], name: "page" }
          }
        })) as [Rolldown.RolldownOutput]
        const [{ code: content }] = output
        assert.strictEqual(output.length, 1)
        assert.notMatch(content, /WebAssembly|\bimport\(/)
        await page.addScriptTag({ content })
        const said = await page.evaluate(
          (text) => (globalThis as unknown as Page).differences(text),
          JSON.stringify(asked)
        )
        assert.deepStrictEqual(said, onlyWrong)
      })
    }).pipe(Effect.scoped)
  )
})

interface Page {
  readonly differences: (vectors: string) => Promise<ReadonlyArray<string>>
}
