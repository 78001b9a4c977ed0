/** `headwater doctor` on nodes that are odd in one way each: it says what to do, and its exit code what `serve` would do. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Folder from "../../../../test/Folder.ts"
import * as Litecoind from "../../../../test/Litecoind.ts"
import * as FakeNode from "../../../indexer/test/FakeNode.ts"
import * as EvmBlocks from "../../../indexer/test/families/evm/EvmBlocks.ts"
import * as EvmNode from "../../../indexer/test/families/evm/EvmNode.ts"
import * as Utxo from "../../../indexer/test/families/utxo/UtxoBlocks.ts"
import * as UtxoNode from "../../../indexer/test/families/utxo/UtxoNode.ts"
import { doctor } from "./RunDoctor.ts"

describe.skipIf(!Litecoind.installed)("headwater doctor on litecoind", () => {
  it.live(
    "finds another network, a user that is refused, a cookie that is missing, no index, and a node that stands still",
    () =>
      Effect.gen(function* () {
        const cwd = yield* Folder.scoped
        const litecoind = yield* Litecoind.start("-txindex=0")
        const hourAgo = Math.floor(Date.parse(new Date().toUTCString()) / 1000) - 3_600
        yield* litecoind.rpc("setmocktime", hourAgo)
        yield* litecoind.mine(3)
        yield* litecoind.rpc("setmocktime", 0)
        const bare = new URL(litecoind.url).origin
        const of = Effect.fnUntraced(function* (name: string, settings: object) {
          const { code, findings, problems } = yield* doctor(cwd, { chains: { [name]: settings } })
          for (const { advice, level, message } of findings) if (level !== "ok") assert.isDefined(advice, message)
          const about = (words: RegExp) => findings.find(({ message }) => words.test(message))
          return { code, about, problems: problems.map(({ advice, message }) => `${message} → ${advice}`) }
        })

        const well = yield* of("litecoin/regtest", { nodes: [litecoind.url], start: 0, silentSeconds: 600 })
        assert.deepStrictEqual([well.code, well.problems], [0, []])
        assert.strictEqual(well.about(/^txindex: no$/)?.level, "ok")
        assert.strictEqual(well.about(/^coin search: the node searches the coins/)?.level, "ok")
        assert.strictEqual(well.about(/^prevouts: /)?.level, "unknown")
        const still = well.about(/^block 3 is read, 3\d\d\d s old$/)
        assert.strictEqual(still?.level, "warning")
        assert.match(still!.advice!, /^see whether the node has peers and synchronises/)

        const other = yield* of("litecoin/mainnet", { nodes: [litecoind.url] })
        assert.strictEqual(other.code, 1)
        assert.match(
          other.problems.join(),
          /^the node is on litecoin\/regtest.*, not on litecoin\/mainnet.* → correct the URL of the node$/
        )

        const refused = yield* of("litecoin/regtest", { nodes: [bare], user: "user", password: "of another" })
        assert.strictEqual(refused.code, 1)
        assert.match(refused.problems.join(), /HTTP 401.* → see whether .* user and password$/)

        const missing = yield* of("litecoin/regtest", { nodes: [bare], cookie: join(cwd, "none") })
        assert.strictEqual(missing.code, 1)
        assert.match(
          missing.problems.join(),
          /the cookie file .*none cannot be read \(ENOENT\): the node writes it when it starts →/
        )
        writeFileSync(join(cwd, "old"), "__cookie__:of an earlier start")
        const old = yield* of("litecoin/regtest", { nodes: [bare], cookie: join(cwd, "old") })
        assert.strictEqual(old.code, 1)
        assert.match(old.problems.join(), /HTTP 401/)
        assert.notInclude(old.problems.join(), "of an earlier start")
      }).pipe(Effect.scoped),
    { timeout: 300_000 }
  )
})

describe("headwater doctor", () => {
  it.live(
    "finds a UTXO node that searches no coins",
    () =>
      Effect.gen(function* () {
        const answers = UtxoNode.answers("core", Utxo.part)
        const { url } = yield* FakeNode.make((method, params) =>
          method === "getblockchaininfo"
            ? { ...(answers(method, params) as object), chain: "regtest" }
            : answers(method, params)
        )
        const settings = { nodes: [url], start: 99, silentSeconds: 604_800 }
        const { code, findings } = yield* doctor(yield* Folder.scoped, { chains: { "bitcoin/regtest": settings } })
        assert.strictEqual(code, 0)
        const search = findings.find(({ message }) => message.startsWith("coin search: "))!
        assert.strictEqual(search.level, "warning")
        assert.match(search.message, /neither scantxoutset nor an index of addresses/)
        assert.match(search.advice!, /follow the chain anew with start = 0/)
      }).pipe(Effect.scoped),
    { timeout: 300_000 }
  )

  it.live(
    "finds a node that has traces of the newest block and none of the block that is read next",
    () =>
      Effect.gen(function* () {
        const first = EvmBlocks.recorded([{}])
        const second = EvmBlocks.recorded([{}], {
          ...{ number: "0x65", hash: EvmBlocks.word("b2"), parentHash: first.block.hash }
        })
        const answers = EvmNode.answers([first, second], {
          without: ["trace_block"]
        })
        const { url } = yield* FakeNode.make((method, params) => {
          if (method === "debug_traceBlockByHash" && params[0] === first.block.hash) {
            throw new FakeNode.RpcError(-32000, "required historical state unavailable (reexec=128)")
          }
          return answers(method, params)
        })
        const { code, findings } = yield* doctor(yield* Folder.scoped, {
          chains: {
            "ethereum/devnet": { nodes: [url], start: 100, newHeads: [`${url.replace("http:", "ws:")}/hunter2`] }
          }
        })
        assert.strictEqual(code, 0)
        const silent = findings.filter((finding) => finding.code === "no_new_heads")
        assert.lengthOf(silent, 1)
        assert.strictEqual(silent[0]!.level, "warning")
        assert.match(silent[0]!.advice!, /^see whether newHeads names the node's WebSocket port/)
        assert.notInclude(JSON.stringify(findings), "hunter2")
        const lack = findings.find(({ message }) => message.includes("read next"))!
        assert.strictEqual(lack.level, "warning")
        assert.match(
          lack.message,
          /^block 100, which is read next, is read without internal transactions: .*state unavailable/
        )
        assert.match(lack.advice!, /add a node that keeps the state of that block; what the blocks lack is filled in/)
      }).pipe(Effect.scoped),
    { timeout: 300_000 }
  )
})
