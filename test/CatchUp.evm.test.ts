/**
 * A chain whose past is read by worker threads, by the program as its package holds it: killed meanwhile, started again, and
 * replayed.
 */
import { buffer } from "node:stream/consumers"
import { setTimeout } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Anvil from "./Anvil.ts"
import * as Headwater from "./Headwater.ts"
import * as LocalServer from "./LocalServer.ts"
import * as NodeHttp from "./NodeHttp.ts"
import { taken } from "./Stores.ts"
import { isInTurn } from "./Turn.ts"

const blocks = 1_000
/** Of the node for each answer, so that there is enough left to read for threads to start. */
const delayMillis = 60
/** A machine a hundred times slower, for which the same blocks are worth threads: they start by CPU. */
const slowMachine = `data:text/javascript,${encodeURIComponent(
  "const { cpuUsage } = process; process.cpuUsage = () => { const { system, user } = cpuUsage(); return { system: 100 * system, user: 100 * user } }"
)}`
const token = "a token for metrics"

describe.each(taken(import.meta.filename))("on $name", ({ location }) => {
  it.live.skipIf(!isInTurn(import.meta.url))("threads read the past, and lose nothing when the daemon is killed", () =>
    Effect.gen(function* () {
      const anvil = yield* Anvil.start()
      const [from] = yield* anvil.rpc<ReadonlyArray<string>>("eth_accounts", [])
      const to = `0x${"71".repeat(20)}`
      yield* anvil.rpc("anvil_mine", [`0x${(blocks / 2).toString(16)}`])
      yield* anvil.rpc("eth_sendTransaction", [{ from, to, value: "0x7" }])
      yield* anvil.rpc("anvil_mine", [`0x${(blocks / 2).toString(16)}`])
      const node = yield* LocalServer.http(async (request, response) => {
        const [body] = await Promise.all([buffer(request), setTimeout(delayMillis)])
        const answer = await NodeHttp.post(anvil.url, { "content-type": "application/json" }, body)
        response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.body)
      })
      const settings = {
        threads: 2,
        metrics: { token },
        chains: { "ethereum/devnet": { nodes: [node], start: 0, parallel: 4, record: "all" } }
      }
      const headwater = yield* Headwater.start(yield* location, settings, { node: ["--import", slowMachine] })
      const metric = (name: string) =>
        Effect.promise(async () => {
          const response = await fetch(`${headwater.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
          const line = (await response.text()).split("\n").find((line) => line.startsWith(`${name}{`))
          return Number(line?.split(" ").at(-1) ?? 0)
        })
      while ((yield* metric("headwater_blocks_read_by_threads_total")) === 0) {
        assert.isBelow(yield* metric("headwater_chain_height_blocks"), blocks, headwater.log())
        yield* Effect.sleep("20 millis")
      }
      yield* headwater.kill
      yield* headwater.launch
      while ((yield* metric("headwater_chain_height_blocks")) < blocks + 1) yield* Effect.sleep("100 millis")
      const committed = yield* metric("headwater_blocks_total")
      assert.isAtMost(committed, blocks + 1)
      assert.notInclude(headwater.log(), "A thread that reads blocks has ended")
      const replayed = yield* headwater.command("replay", "ethereum/devnet", "--from", "1", "--to", "400", "--json")
      assert.strictEqual(replayed.code, 0, replayed.printed)
      assert.include(replayed.printed, '"blocks":400')
      assert.strictEqual(yield* headwater.terminate, 0)
    }).pipe(Effect.scoped)
  )
})
