/** A node that misbehaves in every way harms nothing: no wrong block, a status that names the trouble, other chains go on. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Anvil from "./Anvil.ts"
import * as Headwater from "./Headwater.ts"
import * as LocalServer from "./LocalServer.ts"
import * as Receiver from "./Receiver.ts"
import { locations } from "./Stores.ts"

interface Answer {
  readonly id: number
  result: unknown
}

/** `undefined` passes everything through; `silent` never answers; a function changes an answer in place. */
type Fault = undefined | "silent" | ((call: LocalServer.Call, answer: Answer) => Promise<void> | void)

/** A proxy before a real node that can be told to lie. */
const proxy = (target: string) =>
  Effect.gen(function* () {
    const state: { fault: Fault } = { fault: undefined }
    const url = yield* LocalServer.jsonRpc(async (call) => {
      if (state.fault === "silent") return new Promise(() => {})
      const answer = (await LocalServer.ask(target, call)) as Answer
      if (typeof state.fault === "function") await state.fault(call, answer)
      return answer
    })
    return { state, url }
  })

const [{ location }] = locations as [(typeof locations)[number]]

describe("a broken node", () => {
  it.live(
    "commits nothing wrong, says what is the matter, and stops no other chain",
    () =>
      Effect.gen(function* () {
        const good = yield* Anvil.start({})
        const bad = yield* Anvil.start({})
        yield* bad.rpc("anvil_mine", ["0xa"])
        const between = yield* proxy(bad.url)
        const receiver = yield* Receiver.start()
        const settings = { start: 0, pollMillis: 200, timeoutMillis: 500 }
        const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
          chains: {
            "ethereum/devnet": { ...settings, nodes: [between.url] },
            "polygon/devnet": { ...settings, nodes: [good.url] }
          },
          callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca }
        })
        for (const blockchain of ["ethereum", "polygon"]) {
          yield* headwater.post(`/blockchain-events/${blockchain}/devnet/block-mined`, {
            callbackUrl: `${receiver.url}/${blockchain}`
          })
        }
        const heard = (blockchain: string) =>
          receiver.accepted().flatMap(({ body: { data } }) => (data.item.blockchain === blockchain ? [data.item] : []))
        const status = Effect.map(headwater.get("/ready"), ({ body }) => body.chains["ethereum/devnet"])
        const untilStatus = Effect.fnUntraced(function* (matches: (status: never) => boolean) {
          for (let i = 0; i < 2_400; i++) {
            const now = yield* status
            if (matches(now as never)) return now
            yield* Effect.sleep("50 millis")
          }
          return yield* Effect.die(new Error(`The status stays ${JSON.stringify(yield* status)}`))
        })
        const tip = Effect.map(bad.rpc("eth_blockNumber", []), Number)
        const caughtUp = Effect.flatMap(tip, (height) =>
          untilStatus((now: { state: string; height: number }) => now.state === "following" && now.height === height)
        )
        const goesOn = Effect.gen(function* () {
          yield* good.rpc("anvil_mine", ["0x1"])
          const height = Number(yield* good.rpc("eth_blockNumber", []))
          yield* receiver.until(() => heard("polygon").some((item) => item.height === height))
        })
        yield* caughtUp

        const faults: ReadonlyArray<readonly [string, Fault, RegExp]> = [
          ["silent", "silent", /time|answer/i],
          [
            "null",
            ({ method }, answer) => {
              if (/^eth_get(Block|Transaction)/.test(method)) answer.result = null
            },
            /block|answer|does not have|null/i
          ],
          [
            "5 back",
            async ({ method, params }, answer) => {
              const [block] = params
              if (method !== "eth_getBlockByNumber" || block !== "latest") return
              const height = Number((answer.result as { number: string }).number) - 5
              const call = { jsonrpc: "2.0", id: 1, method, params: [`0x${height.toString(16)}`, params[1]] }
              answer.result = ((await LocalServer.ask(bad.url, call)) as Answer).result
            },
            /went back/
          ],
          [
            "foreign parent",
            ({ method, params }, answer) => {
              const block = answer.result as { parentHash?: string } | null
              if (method === "eth_getBlockByNumber" && params[1] === true && block !== null) {
                block.parentHash = `0x${"ee".repeat(32)}`
              }
            },
            /does not hash to the block's hash/
          ]
        ]
        for (const [name, fault, message] of faults) {
          const before = (yield* status).height as number
          between.state.fault = fault
          yield* bad.rpc("anvil_mine", ["0x3"])
          const failing = yield* untilStatus(
            (now: { state: string; message: string | null }) =>
              now.state === "failing" && message.test(now.message ?? "")
          )
          assert.strictEqual(failing.height, before, `${name}: nothing is committed`)
          yield* goesOn
          between.state.fault = undefined
          yield* caughtUp
        }

        // In the end every block was heard of once, and all of them are the node's.
        const height = yield* tip
        yield* receiver.until(() => heard("ethereum").some((item) => item.height === height))
        const mined = heard("ethereum").filter((item) => item.height > 10)
        assert.deepStrictEqual(
          mined.map((item) => item.height),
          Array.from({ length: height - 10 }, (_, i) => i + 11)
        )
        for (const item of mined) {
          const block = yield* bad.rpc("eth_getBlockByNumber", [`0x${item.height.toString(16)}`, false])
          assert.strictEqual((block as { hash: string }).hash, item.hash)
        }
      }).pipe(Effect.scoped),
    600_000
  )
})
