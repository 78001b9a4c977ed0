import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { runCommand as run } from "../RunCommand.ts"

describe("headwater explain", () => {
  it.live("says what a code means, what causes it and what to do, in every spelling", () =>
    Effect.gen(function* () {
      const error = yield* run(["explain", "node_unavailable"])
      assert.strictEqual(error.code, 0, error.stderr)
      assert.match(error.stdout, /^node_unavailable \(error, status 503\)$/m)
      assert.match(error.stdout, /^Usual causes\n {2}- [\s\S]*^What to do\n {2}- /m)
      assert.notInclude(error.stdout, "\x1b")
      assert.strictEqual((yield* run(["explain", "Node Unavailable"])).stdout, error.stdout)

      const finding = yield* run(["explain", "wrong_network", "--json"])
      const [only, ...others] = JSON.parse(finding.stdout)
      assert.deepStrictEqual(others, [])
      assert.strictEqual(only.code, "wrong_network")
      assert.strictEqual(only.origin, "doctor, node")

      const status = JSON.parse((yield* run(["explain", "409", "--json"])).stdout)
      assert.deepStrictEqual(
        status.map(({ code }: { readonly code: string }) => code),
        ["invalid_data", "already_exists", "sync_address_already_active", "xpub_already_active"]
      )
      const coloured = yield* run(["explain", "wrong_network"], { canColor: true })
      assert.include(coloured.stdout, "\x1b[1mwrong_network\x1b[0m")
    })
  )

  it.live("lists every code, and names the nearest of one that does not exist", () =>
    Effect.gen(function* () {
      const { stdout } = yield* run(["explain"])
      assert.match(stdout, /^invalid_data +error, status 400 or 409$/m)
      assert.match(stdout, /^disk_space +doctor, store$/m)
      for (const [asked, near] of [
        ["unreachable", "near it: node_unreachable"],
        ["invalid_dta", "near it: invalid_data"],
        ["qqqqqqqqqqqq", 'No code is called "qqqqqqqqqqqq". npm start -- explain lists them all']
      ] as const) {
        const { code, stderr } = yield* run(["explain", asked])
        assert.strictEqual(code, 1)
        assert.include(stderr, near)
      }
    })
  )
})
