import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import BetterSqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as Anvil from "../../../../test/Anvil.ts"
import * as Folder from "../../../../test/Folder.ts"
import * as Headwater from "../../../../test/Headwater.ts"
import { run } from "../Program.ts"
import { runCommand } from "../RunCommand.ts"

const watched = "0x90F79bf6EB2c4f870365E785982E1f101E93b906"
const name = "ethereum/devnet"

/** What blocks leave in a store, without row ids and times of day. */
const recordOf = (file: string) => {
  const db = new BetterSqlite(file, { readonly: true })
  const all = (statement: string) => db.prepare(statement).all()
  const record = {
    blocks: all("select height, hex(hash) hash, hex(parent) parent, time from block order by height"),
    chunks: all("select log, position, hex(data) data from packed_transfers order by log, position"),
    postings: all("select log, height, hex(data) data from staged_postings order by log, height"),
    waiting: all("select height, confirmation, target, hex(block_hash) h, occurrence from waiting order by 1, 5"),
    callbacks: all("select height, event, body from callback order by height, event, body") as ReadonlyArray<object>,
    keys: all("select count(*) n, count(distinct idempotency_key) keys from callback")
  }
  db.close()
  return record
}

const blocks = 400

const setup = Effect.gen(function* () {
  // Mined at a word alone: a transaction mined by itself may come into the blocks asked for, which are one fewer then.
  const anvil = yield* Anvil.start({ args: ["--no-mining"] })
  const [from] = yield* anvil.rpc<ReadonlyArray<string>>("eth_accounts", [])
  const cwd = yield* Folder.scoped
  const store = join(cwd, "store.db")
  const headwater = yield* Headwater.start(
    { kind: "sqlite", file: store },
    { chains: { [name]: { nodes: [anvil.url], start: 0, pollMillis: 50 } }, callbacks: { allowHosts: ["localhost"] } }
  )
  const subscribe = (event: string, item: object) =>
    headwater.post(`/blockchain-events/${name}/${event}`, { callbackUrl: "https://localhost:1/", ...item })
  for (const item of [{ address: watched }, { address: watched, receiveCallbackOn: 12 }]) {
    assert.strictEqual((yield* subscribe("address-coins-transactions-confirmed", item)).status, 201)
  }
  yield* subscribe("address-coins-transactions-confirmed-each-confirmation", {
    ...{ address: watched, confirmationsCount: 3, callbackSecretKey: "s" }
  })
  yield* subscribe("block-mined", {})
  for (let i = 0; i < 20; i++) {
    yield* anvil.rpc("eth_sendTransaction", [{ from, to: watched, value: "0x1" }])
    yield* anvil.rpc("anvil_mine", [`0x${(blocks / 20).toString(16)}`])
  }
  yield* Headwater.until(headwater.get("/ready"), ({ body }) => body.chains[name].height >= blocks)
  writeFileSync(
    join(cwd, "headwater.json"),
    JSON.stringify({
      store: { sqlite: store },
      // Nobody listens there: at the default one another test's daemon may.
      http: { port: 1 },
      chains: { [name]: { nodes: [anvil.url], start: 0, parallel: 1 } }
    })
  )
  const config = ["--config", join(cwd, "headwater.json")]
  return { anvil, cwd, store, headwater, config }
})

describe("headwater replay, rewind and status", () => {
  it.live(
    "rewound only while no daemon has the store, followed from there, replayed twice, and killed on the way: the record is the one that was, callbacks are there once",
    () =>
      Effect.gen(function* () {
        const { config, cwd, headwater, store } = yield* setup
        const running = yield* runCommand(["status", ...config, "--json"])
        assert.strictEqual(running.code, 1, "the settings name another port than the test's daemon")
        const first = recordOf(store)
        assert.isAbove(first.callbacks.length, blocks + 60)

        const refused = yield* run(["rewind", name, "300", ...config], { cwd })
        assert.strictEqual(refused.code, 1)
        assert.match(refused.stderr, /store\.db is in use by another headwater \(serve, rewind or skip\)/)
        yield* headwater.kill
        const unknown = yield* runCommand(["rewind", "ethereum/mainnet", "300", ...config])
        assert.include(unknown.stderr, "The settings have no chain ethereum/mainnet, only ethereum/devnet")
        const done = yield* run(["rewind", name, "300", ...config], { cwd })
        assert.strictEqual(done.code, 0, done.stderr)
        assert.include(done.stdout, "ethereum/devnet is at block 300; 100 blocks are undone")
        assert.strictEqual((yield* runCommand(["rewind", name, "300", ...config])).code, 1)
        const rewound = JSON.parse((yield* runCommand(["status", ...config, "--json"])).stdout)
        assert.isFalse(rewound.running)
        assert.deepInclude(rewound.chains[0], { chain: name, firstHeight: 0, height: 300 })
        yield* headwater.launch
        // The node is reached through this process: to read the whole record each time would hold it up.
        const isAgain = Effect.map(headwater.get("/ready"), ({ body }) => body.chains[name].height === blocks)
        while (!(yield* isAgain)) yield* Effect.sleep("50 millis")
        const now = recordOf(store)
        assert.deepStrictEqual([now.blocks, now.chunks, now.callbacks], [first.blocks, first.chunks, first.callbacks])
        yield* headwater.terminate
        const fresh = recordOf(store)

        const db = new BetterSqlite(store)
        db.exec(`delete from packed_transfers; delete from staged_postings where height > 100;
          delete from callback where height > 50; delete from block where height between 120 and 180;
          update block set time = 1 where height = 200;
          insert into missing_parts select id, 'internal', 390, 390, 'no state' from chain;
          insert into missing_parts select id, 'internal', 396, 396, 'no state' from chain;
          insert into unresolved_event (chain, height, transaction_id, address, reason)
            select chain, 390, x'01', address, 'no output' from subscription
            where event = 'ADDRESS_COINS_TRANSACTION_CONFIRMED' limit 1`)
        db.close()
        assert.notDeepEqual(recordOf(store), fresh)

        const none = yield* runCommand(["replay", name, ...config])
        assert.strictEqual(none.code, 1)
        assert.include(none.stderr, "--from <height>")
        const gap = "2 blocks lack their internal transactions: 390, 396 (no state)"
        const elsewhere = yield* runCommand(["replay", name, "--from", "0", "--to", "1", ...config])
        assert.include(elsewhere.stderr, gap)
        const range = ["replay", name, "--from", "0", "--to", String(blocks), "--callbacks", ...config]
        let killed = false
        const read = () => {
          const db = new BetterSqlite(store, { readonly: true })
          const row = db.prepare("select next_height from replay").get() as { next_height: number } | undefined
          db.close()
          return row?.next_height ?? 0
        }
        const killedRun = yield* Effect.raceFirst(
          run(range, { cwd }),
          Effect.gen(function* () {
            while (read() < 64) yield* Effect.sleep("10 millis")
            killed = true
            return { code: null, stdout: "", stderr: "" }
          })
        )
        assert.isNull(killedRun.code, killedRun.stderr)
        assert.isTrue(killed)
        assert.notDeepEqual(recordOf(store), fresh)
        const status = yield* runCommand(["status", ...config])
        assert.match(status.stderr, /a replay of blocks 0 to 400 is at block \d+/)
        assert.include(status.stderr, `${name}: ${gap}. They are filled in`)
        const json = JSON.parse((yield* runCommand(["status", ...config, "--json"])).stdout)
        const ranges = [390, 396].map((height) => ({ from: height, to: height }))
        assert.deepInclude(json.chains[0].withoutInternal, {
          blocks: 2,
          from: 390,
          to: 396,
          ranges,
          reason: "no state"
        })
        assert.deepInclude(json.chains[0].unresolved, { events: 1, from: 390, to: 390 })
        const doubt = `${name}: 1 movement of coins in block 390 is in doubt and has no callback yet: `
        assert.include(status.stderr, doubt)
        const { stdout: advice } = yield* runCommand(["doctor", ...config])
        assert.include(advice, `warning  ${doubt}`)
        assert.include(advice, `warning  ${name}: ${gap}`)
        const second = yield* run(range, { cwd })
        assert.strictEqual(second.code, 0, second.stderr)
        assert.match(second.stderr, /Going on at block (6[4-9]|[7-9]\d|\d{3}) of 0 to 400/)
        assert.match(second.stderr, /Replaying ethereum\/devnet 100% \d+\/\d+ [\d.]+\/s done/)
        assert.match(second.stdout, /^\d+ blocks replayed; \d+ callbacks added\n$/)
        assert.deepStrictEqual(recordOf(store), fresh)
        assert.notInclude(second.stderr, "internal transactions")
        const whole = JSON.parse((yield* runCommand(["status", ...config, "--json"])).stdout)
        assert.isNull(whole.chains[0].withoutInternal)
        assert.isNull(whole.chains[0].unresolved)

        const interrupted = new BetterSqlite(store)
        interrupted.exec(`insert into replay (chain, from_height, to_height, next_height, callbacks)
          select id, 398, 398, 398, 0 from chain`)
        interrupted.close()
        const toTheLast = yield* runCommand(["replay", name, "--from", "398", "--callbacks", ...config])
        assert.match(toTheLast.stdout, /^3 blocks replayed; 0 callbacks added\n$/)
        const again = yield* runCommand([...range, "--json"])
        assert.deepStrictEqual(JSON.parse(again.stdout), {
          ...{ chain: name, from: 0, to: blocks, blocks: blocks + 1, callbacks: 0, blocksWithoutCallbacks: 0 }
        })
        assert.deepStrictEqual(recordOf(store), fresh)
      }).pipe(Effect.scoped),
    { timeout: 240_000 }
  )
})
