import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Callback from "@headwater/core/events/Callback"
import BetterSqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as Folder from "../../../../test/Folder.ts"
import * as Headwater from "../../../../test/Headwater.ts"
import * as Litecoind from "../../../../test/Litecoind.ts"
import * as Receiver from "../../../../test/Receiver.ts"
import { run } from "../Program.ts"

const name = "litecoin/regtest"
const event = "ADDRESS_COINS_TRANSACTION_CONFIRMED"

interface Stored {
  readonly id: number
  readonly idempotency_key: string
  readonly event: string
  readonly body: string
}

describe.skipIf(!Litecoind.installed)("headwater audit", () => {
  it.live(
    "finds the callback that release 0.1 told wrong at a real node, and corrects that once",
    () =>
      Effect.gen(function* () {
        const node = yield* Litecoind.start()
        yield* node.mine(110)
        const address = yield* node.rpc<string>("getnewaddress", "", "bech32")
        const txid = yield* node.rpc<string>("sendtoaddress", address, 5)
        const stranger = yield* node.rpc<string>("getnewaddress", "", "bech32")
        yield* node.mine(1)

        const cwd = yield* Folder.scoped
        const store = join(cwd, "store.db")
        const receiver = yield* Receiver.start()
        const settings = {
          chains: { [name]: { nodes: [node.url], start: 0, record: "watched", pollMillis: 200 } },
          callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca }
        }
        writeFileSync(join(cwd, "headwater.json"), JSON.stringify({ ...settings, store: { sqlite: store } }))
        const audit = (...flags: ReadonlyArray<string>) =>
          run(["audit", name, "--config", "headwater.json", ...flags], { cwd })
        const headwater = yield* Headwater.start({ kind: "sqlite", file: store }, settings)
        const reached = Effect.fnUntraced(function* (height: number) {
          for (let i = 0; (yield* headwater.get("/ready")).body.chains[name].height !== height; i++) {
            assert.isBelow(i, 2_400, headwater.log())
            yield* Effect.sleep("50 millis")
          }
        })
        yield* reached(111)
        const subscribed = yield* headwater.post(`/blockchain-events/${name}/address-coins-transactions-confirmed`, {
          ...{ callbackUrl: receiver.url, address, receiveCallbackOn: 1 }
        })
        assert.strictEqual(subscribed.status, 201, JSON.stringify(subscribed.body))

        // Pays 1 with 3.999 of change; the deposit from others is told rightly by any release.
        const { vout } = yield* node.rpc<{
          readonly vout: ReadonlyArray<{ readonly n: number; readonly value: number }>
        }>("getrawtransaction", txid, true)
        const input = { txid, vout: vout.find(({ value }) => value === 5)!.n }
        const raw = yield* node.rpc<string>("createrawtransaction", [input], [{ [stranger]: 1 }, { [address]: 3.999 }])
        const signed = yield* node.rpc<{ readonly hex: string }>("signrawtransactionwithwallet", raw)
        const paid = yield* node.rpc<string>("sendrawtransaction", signed.hex)
        const [hash] = yield* node.mine(1)
        yield* reached(112)
        const [right] = yield* receiver.until((accepted) => accepted.length === 1)
        assert.deepInclude(right!.body.data.item, { transactionId: paid, direction: "outgoing", amount: "1.001" })
        assert.strictEqual(yield* headwater.terminate, 0)

        const clean = yield* audit()
        assert.strictEqual(clean.code, 0, clean.stderr)
        assert.match(clean.stdout, /1 right, 0 wrong, 0 corrected, 0 missing, 0 undecided/)

        // As release 0.1 told, which left the input out.
        const { referenceId } = right!.body
        const wrongKey = Callback.idempotencyKey({
          ...{ referenceId, event, blockHash: Buffer.from(hash!, "hex"), confirmation: 1 },
          occurrence: `coin:${paid}:0:incoming`
        })
        const item = { ...right!.body.data.item, direction: "incoming", amount: "3.999" }
        const body = Callback.body({ referenceId, idempotencyKey: wrongKey, event, item })
        const stored = () => {
          const db = new BetterSqlite(store, { readonly: true })
          const rows = db.prepare("select id, idempotency_key, event, body from callback order by id").all()
          db.close()
          return rows as ReadonlyArray<Stored>
        }
        const db = new BetterSqlite(store)
        db.prepare("update callback set idempotency_key = ?, body = ?").run(wrongKey, body)
        db.close()
        const before = stored()
        assert.lengthOf(before, 1)

        const found = yield* audit()
        assert.strictEqual(found.code, 1, found.stderr)
        assert.match(found.stdout, new RegExp(`112 +wrong +${paid} +${address} .* incoming 3.999 +outgoing 1.001`))
        assert.match(found.stdout, /0 right, 1 wrong, 0 corrected, 0 missing, 0 undecided/)
        assert.include(found.stderr, "--correct")
        assert.include(found.stderr, "--every-block")
        assert.deepStrictEqual(stored(), before)

        const corrected = yield* audit("--correct", "--json", "--every-block")
        assert.strictEqual(corrected.code, 0, corrected.stderr)
        const report = JSON.parse(corrected.stdout)
        assert.deepInclude(report, { chain: name, from: 0, to: 112, balances: [] })
        assert.deepInclude(report.callbacks, { blocks: 113, wrong: 0, corrected: 1, missing: 0, undecided: 0 })
        assert.deepInclude(report.findings[0], { height: 112, idempotencyKey: wrongKey, corrected: true, referenceId })
        const after = stored()
        assert.lengthOf(after, 2)
        assert.deepStrictEqual(after[0], before[0])
        const again = yield* audit("--correct")
        assert.strictEqual(again.code, 0, again.stderr)
        assert.match(again.stdout, /112 +corrected/)
        assert.deepStrictEqual(stored(), after)

        yield* headwater.launch
        const accepted = yield* receiver.until((accepted) => accepted.length === 2)
        const { body: sent, headers } = accepted[1]!
        assert.strictEqual(sent.data.event, `${event}_CORRECTED`)
        assert.deepStrictEqual(sent.data.item, { ...right!.body.data.item, correctedIdempotencyKey: wrongKey })
        assert.strictEqual(headers["x-callback-sequence"], "2")
      }).pipe(Effect.scoped),
    300_000
  )

  it.live(
    "refuses chains and blocks that it cannot audit",
    () =>
      Effect.gen(function* () {
        const cwd = yield* Folder.scoped
        const nodes = ["http://127.0.0.1:1"]
        const chains = { [name]: { nodes }, "ethereum/devnet": { nodes } }
        writeFileSync(join(cwd, "headwater.json"), JSON.stringify({ store: { sqlite: "store.db" }, chains }))
        const audit = (...args: ReadonlyArray<string>) => run(["audit", ...args, "--config", "headwater.json"], { cwd })
        const evm = yield* audit("ethereum/devnet")
        assert.strictEqual(evm.code, 1)
        assert.include(evm.stderr, "Only chains of the Bitcoin family are audited")
        assert.include((yield* audit(name)).stderr, "Nothing of litecoin/regtest is stored yet")
        assert.include((yield* audit("--help")).stdout, "--every-block")
      }).pipe(Effect.scoped),
    60_000
  )
})
