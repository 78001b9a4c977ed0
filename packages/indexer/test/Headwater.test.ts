/** The form without Effect, on a real node; what it runs is `embedded/Indexer`. */
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { type Acknowledgeable, Headwater, type Settings } from "@headwater/indexer/Headwater"
import * as Effect from "effect/Effect"
import { type Kysely, sql } from "kysely"
import * as Anvil from "../../../test/Anvil.ts"
import * as Folder from "../../../test/Folder.ts"
import * as LocalServer from "../../../test/LocalServer.ts"

const [rich, alice, bob] = [
  "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
  "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
] as const

const started = Effect.fnUntraced(function* (args: ReadonlyArray<string> = []) {
  const anvil = yield* Anvil.start({ args })
  const settings: Settings = {
    chains: { "ethereum/devnet": { nodes: [anvil.url], start: 0, pollMillis: 50 } },
    store: { sqlite: join(yield* Folder.scoped, "store.db") },
    addresses: [alice],
    log: "Error"
  }
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  const call = (method: string, params: ReadonlyArray<unknown>) => run(anvil.rpc(method, params))
  const pay = (to: string, wei: number) =>
    call("eth_sendTransaction", [{ from: rich, to, value: `0x${wei.toString(16)}` }])
  return { anvil, settings, call, pay }
})

/** A node in front of another one that refuses some methods. */
const proxy = (url: string, refuses: (method: string) => boolean) =>
  LocalServer.jsonRpc((call) =>
    refuses(call.method)
      ? { jsonrpc: "2.0", id: call.id, error: { code: -32000, message: "refused" } }
      : LocalServer.ask(url, call)
  )

/** Iterates until something holds. */
const iterate = (events: AsyncIterable<Acknowledgeable>) => {
  const iterator = events[Symbol.asyncIterator]()
  return {
    until: async (holds: (one: Acknowledgeable) => boolean): Promise<Acknowledgeable> => {
      for (;;) {
        const { done, value } = await iterator.next()
        assert.isFalse(done ?? false)
        if (holds(value)) return value
      }
    },
    end: async () => (await iterator.next()).done,
    leave: () => iterator.return!()
  }
}

/** What a promise is rejected with. */
const refusal = (promise: Promise<unknown>): Promise<{ readonly _tag?: string; readonly message: string }> =>
  promise.then(
    () => assert.fail("not refused"),
    (error) => error
  )

const amounts = ({ events }: Pick<Acknowledgeable, "events">) =>
  events.map(({ item, kind }) => (kind === "coin" ? `${item.direction} ${item.amount}` : kind))

describe("Headwater", () => {
  it.live("tells consumers what they have not acknowledged, both sides of what was undone meanwhile", () =>
    Effect.gen(function* () {
      const { call, pay, settings } = yield* started()
      yield* Effect.promise(async () => {
        await pay(alice, 1_000)
        const first = await Headwater.start(settings)
        const one = iterate(first.events("one"))
        const paid = await one.until(({ events }) => events.length > 0)
        assert.deepStrictEqual(amounts(paid), ["incoming 0.000000000000001"])
        await paid.acknowledge()
        // Another consumer acknowledges nothing, and an address is added while blocks come.
        await iterate(first.events("two")).until(({ events }) => events.length > 0)
        await first.watch([bob])
        await pay(bob, 2_000)
        const bobs = await one.until(({ events }) => events.length > 0)
        assert.deepStrictEqual(amounts(bobs), ["incoming 0.000000000000002"])
        const refused = await refusal(Headwater.start(settings))
        assert.strictEqual(refused._tag, "StoreInUse")
        await first.close()
        assert.isTrue(await one.end())

        await call("anvil_reorg", [2, []])
        await pay(alice, 3_000)
        const second = await Headwater.start({ ...settings, addresses: [alice, bob] })
        // The block of Bob's payment, which was told and not acknowledged, may be told again before it is undone.
        const table = new Map(paid.events.map((event) => [event.id, event]))
        const takenBack: Array<Acknowledgeable["events"][number]> = []
        await iterate(second.events("one")).until(({ events, undone }) => {
          for (const event of undone.events) {
            assert.isTrue(table.delete(event.id))
            takenBack.push(event)
          }
          for (const event of events) table.set(event.id, event)
          return takenBack.length > 0 && table.size > 0
        })
        assert.deepStrictEqual(takenBack[0], paid.events[0])
        assert.deepStrictEqual(amounts({ events: [...table.values()] }), ["incoming 0.000000000000003"])
        // What a consumer was told and has not acknowledged, it may have: it is taken back as well.
        const again = await iterate(second.events("two")).until(({ events }) => events.length > 0)
        assert.deepStrictEqual(again.undone.events[0], paid.events[0])
        assert.deepStrictEqual(amounts(again), ["incoming 0.000000000000003"])
        await second.close()
      })
    }).pipe(Effect.scoped)
  )

  it.live(
    "writes in the transaction that moves the position, and nothing of what the program's function throws at",
    () =>
      Effect.gen(function* () {
        const { pay, settings } = yield* started()
        interface Tables {
          readonly deposit: { readonly id: string }
        }
        yield* Effect.promise(async () => {
          const headwater = await Headwater.start(settings)
          await headwater.transaction((db) => sql`create table deposit (id text primary key)`.execute(db))
          const stored = () =>
            headwater.transaction<Tables, ReadonlyArray<unknown>>((db) =>
              db.selectFrom("deposit").selectAll().execute()
            )
          await pay(alice, 1_000)
          const failure = new Error("the program's own")
          const insert = async (db: Kysely<Tables>, ids: ReadonlyArray<string>) => {
            for (const id of ids) await db.insertInto("deposit").values({ id }).execute()
          }
          const failed = await refusal(
            headwater.inCommit<Tables>("exactly once", async ({ db, events }) => {
              await insert(
                db,
                events.map(({ id }) => id)
              )
              if (events.length > 0) throw failure
            })
          )
          assert.strictEqual(failed, failure)
          assert.deepStrictEqual(await stored(), [])
          let wake = () => {}
          const waited = new Promise<void>((resolve) => {
            wake = resolve
          })
          // Of one consumer in two places, each notification is handled in one: an id that comes twice would be refused.
          const handle = async ({ db, events }: Pick<Acknowledgeable, "events"> & { readonly db: Kysely<Tables> }) => {
            await insert(
              db,
              events.map(({ id }) => id)
            )
            if (events.length > 0) setTimeout(wake)
          }
          const running = [1, 2].map(() => headwater.inCommit<Tables>("exactly once", handle))
          await waited
          await pay(alice, 2_000)
          while ((await stored()).length < 2) await new Promise((resolve) => setTimeout(resolve, 20))
          // What the function asks of Headwater is of its transaction: another one would wait for this one's end.
          const undone = await refusal(
            headwater.inCommit<Tables>("another", async () => {
              await headwater.watch([bob])
              await headwater.transaction<Tables, void>((db) => insert(db, ["in a transaction of a transaction"]))
              throw failure
            })
          )
          assert.strictEqual(undone, failure)
          assert.strictEqual((await stored()).length, 2)
          await headwater.transaction((db) => sql`create table customer (address text)`.execute(db))
          await headwater.transaction((db) => sql`insert into customer values (${bob})`.execute(db))
          await headwater.close()
          await Promise.all(running)

          // Addresses may stand in the store: no block is committed before they are read, however long that takes.
          await pay(bob, 4_000)
          const customers = async (db: Kysely<{ readonly customer: { readonly address: string } }>) => {
            await new Promise((resolve) => setTimeout(resolve, 200))
            return (await db.selectFrom("customer").selectAll().execute()).map(({ address }) => address)
          }
          const again = await Headwater.start({ ...settings, addresses: customers })
          await iterate(again.events("customers")).until((told) => amounts(told).includes("incoming 0.000000000000004"))
          await again.close()
          const broken = await refusal(Headwater.start({ ...settings, addresses: () => Promise.reject(failure) }))
          assert.strictEqual(broken, failure)
          const { chains, store } = settings
          const without = await refusal(Headwater.start({ chains, store } as Settings))
          assert.match(without.message, /addresses is missing/)
          const nobody = await refusal(Headwater.start({ ...settings, addresses: async () => ["x"] }))
          assert.strictEqual(nobody._tag, "InvalidIndexerSettings")
          await (await Headwater.start(settings)).close()
        })
      }).pipe(Effect.scoped)
  )

  it.live("holds the node where a consumer does not acknowledge, and goes on once it does or has left", () =>
    Effect.gen(function* () {
      const { call, settings } = yield* started()
      yield* Effect.promise(async () => {
        const headwater = await Headwater.start({ ...settings, ahead: 10 })
        const events = iterate(headwater.events("slow"))
        const height = async () => (await headwater.status())[0]?.height ?? -1
        let last = await events.until(() => true)
        await last.acknowledge()
        await call("anvil_mine", ["0x28"])
        while (last.blocks.at(-1)!.height < 10) last = await events.until(() => true)
        assert.strictEqual(await height(), 10)
        await last.acknowledge()
        last = await events.until(() => true)
        assert.isAbove(last.blocks.at(-1)!.height, 10)
        // A consumer that has left holds nothing.
        await events.leave()
        while ((await height()) < 40) await new Promise((resolve) => setTimeout(resolve, 20))
        // What was asked before the end is waited for, and what is asked later is refused.
        const acknowledged = last.acknowledge()
        await headwater.close()
        await acknowledged
        assert.strictEqual((await refusal(last.acknowledge()))._tag, "Closed")
        assert.strictEqual((await refusal(headwater.watch([alice])))._tag, "Closed")
      })
    }).pipe(Effect.scoped)
  )

  it.live("tells what a block lacked once the node gives it", () =>
    Effect.gen(function* () {
      // The node tries long to trace what is young.
      const { anvil, pay, settings } = yield* started(["--timestamp", "1700000000"])
      let isTracing = true
      const node = yield* proxy(anvil.url, (method) => !isTracing && method.startsWith("debug_trace"))
      yield* Effect.promise(async () => {
        const headwater = await Headwater.start({
          ...settings,
          chains: { "ethereum/devnet": { nodes: [node], start: 0, pollMillis: 50 } }
        })
        const events = iterate(headwater.events("one"))
        // The node is known to trace by then.
        await events.until(() => true)
        isTracing = false
        await pay(alice, 1_000)
        const first = await events.until(({ events }) => events.length > 0)
        const block = first.blocks.at(-1)!
        assert.isTrue(block.incomplete)
        isTracing = true
        const then = await events.until(({ completed }) => completed.length > 0)
        assert.strictEqual(then._tag, "Completed")
        assert.deepStrictEqual(then.completed, [{ ...block, events: [], incomplete: false }])
        await headwater.close()
      })
    }).pipe(Effect.scoped)
  )

  it.live("throws tagged errors: of settings, and of a chain that is followed no more", () =>
    Effect.gen(function* () {
      const { anvil, settings } = yield* started()
      yield* Effect.promise(async () => {
        const wrong = {
          ...settings,
          chains: { "ethereum/devnet": { nodes: ["ftp://host"], strat: 0 } },
          addresses: ["x"],
          threads: 65
        }
        const refused = await refusal(Headwater.start(wrong as unknown as Settings))
        assert.strictEqual(refused._tag, "InvalidIndexerSettings")
        assert.match(refused.message, /chains\.ethereum\/devnet\.nodes/)
        assert.match(refused.message, /ethereum\/devnet\.strat is not a setting/)
        assert.match(refused.message, /threads must be a whole number from 0 to 64/)
        assert.notInclude(refused.message, "ftp://host")
        const { store } = settings
        const without = await refusal(Headwater.start({ store, addresses: [] } as unknown as Settings))
        assert.match(without.message, /chains is missing/)
        for (const [store, problem] of [
          [{}, "store must name a sqlite file or a postgres URL, and not both"],
          [
            { sqlite: "a.db", postgres: "postgres://a/b" },
            "store must name a sqlite file or a postgres URL, and not both"
          ],
          [{ sqlite: "" }, "store.sqlite must not be empty"],
          [{ sqlite: "a.db", connections: 3 }, "store has connections with a postgres URL alone"]
        ] as const) {
          const { message } = await refusal(Headwater.start({ ...settings, store } as unknown as Settings))
          assert.strictEqual(message, `The settings of the indexer are not right: ${problem}`)
        }
        const nobody = await refusal(Headwater.start({ ...settings, addresses: ["x"] }))
        assert.match(nobody.message, /addresses\.0 is no address/)
        const other = { ...settings, chains: { "ethereum/mainnet": { nodes: [anvil.url] as const } } }
        const headwater = await Headwater.start({ ...other, log: "None" })
        const stopped = await refusal(iterate(headwater.events("one")).until(() => true))
        assert.strictEqual(stopped._tag, "ChainStopped")
        const asked = [{ chains: ["xrp/mainnet"] }, { chains: [] }, { from: "lastest" }, { from: 1.5 }, { form: 1 }]
        for (const options of asked as ReadonlyArray<object>) {
          const unknown = await refusal(iterate(headwater.events("one", options)).until(() => true))
          assert.strictEqual(unknown._tag, "InvalidIndexerSettings", JSON.stringify(options))
        }
        const nameless = await refusal(headwater.inCommit("", async () => {}))
        assert.strictEqual(nameless._tag, "InvalidIndexerSettings")
        assert.match(nameless.message, /consumer must not be empty/)
        await headwater.close()
      })
    }).pipe(Effect.scoped)
  )
})
