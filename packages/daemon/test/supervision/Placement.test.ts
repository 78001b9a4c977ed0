import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import { nameOf } from "@headwater/daemon/supervision/Placement"
import * as Settings from "@headwater/daemon/settings/Settings"
import { Placement } from "@headwater/daemon/supervision/Placement"
import * as ChainRow from "@headwater/indexer/store/database/ChainRow"
import { Database, type DatabaseError, type Location } from "@headwater/indexer/store/database/Database"
import * as Placements from "@headwater/indexer/store/placement/Placements"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { locations } from "../../../../test/Stores.ts"

const postgres = locations.find(({ name }) => name === "postgres")

const chains = ["base/mainnet", "tron/mainnet", "dash/mainnet", "zcash/mainnet"]

const settingsOf = (location: Extract<Location, { kind: "postgres" }>, name: string, roles: ReadonlyArray<string>) =>
  Schema.decodeUnknownSync(Settings.schema)({
    ...{ name, roles, store: { postgres: Redacted.value(location.url), connections: 2 } },
    chains: Object.fromEntries(chains.map((chain) => [chain, { nodes: ["http://127.0.0.1:1"] }]))
  })

/** Daemons of one store, whose work on each chain is a note of who does it. */
const cluster = Effect.gen(function* () {
  const location = (yield* postgres!.location) as Extract<Location, { kind: "postgres" }>
  const scope = yield* Effect.scope
  /** Chain and daemon, each for as long as the daemon follows the chain. */
  const following = new Set<string>()
  let mostAtOnce = 0
  const start = Effect.fnUntraced(function* (
    name: string,
    roles: ReadonlyArray<string> = ["follow", "deliver"],
    stopped: ReadonlyArray<string> = []
  ) {
    const own = yield* Scope.fork(scope)
    const work = Effect.gen(function* () {
      const placement = yield* Placement
      for (const chain of chains) {
        const follow = Effect.acquireUseRelease(
          Effect.sync(() => {
            following.add(`${chain} ${name}`)
            mostAtOnce = Math.max(mostAtOnce, [...following].filter((one) => one.startsWith(`${chain} `)).length)
          }),
          () => (stopped.includes(chain) ? Effect.fail("stopped") : Effect.never),
          () => Effect.sync(() => following.delete(`${chain} ${name}`))
        )
        if (roles.includes("follow")) {
          yield* Effect.forkScoped(placement.run(Chain.ofName(chain)!, { follow, observe: Effect.never }))
        }
      }
    })
    const layer = Layer.effectDiscard(work).pipe(
      Layer.provide(Placement.layerCluster),
      Layer.provide(
        Layer.merge(Database.layer(location), Layer.succeed(Settings.Settings, settingsOf(location, name, roles)))
      )
    )
    yield* Layer.buildWithScope(layer, own)
    return { end: Scope.close(own, Exit.void) }
  })
  const context = yield* Layer.build(Database.layer(location))
  const at = () => Object.fromEntries([...following].map((one) => one.split(" ") as [string, string]))
  /** Waits until each chain has one follower, and the followers are such; how long that took, in milliseconds. */
  const until = (holds: (at: Readonly<Record<string, string>>) => boolean) =>
    Effect.gen(function* () {
      const [took] = yield* Effect.sync(at).pipe(
        Effect.delay("20 millis"),
        Effect.repeat({ until: (found) => following.size === chains.length && holds(found) }),
        Effect.timeout("20 seconds"),
        Effect.tapError(() => Effect.logError([...following])),
        Effect.orDie,
        Effect.timed
      )
      return took
    })
  const stored = <A, E>(effect: Effect.Effect<A, E, Database>) => Effect.provideContext(effect, context)
  return { location, start, until, at, stored, mostAtOnce: () => mostAtOnce }
})

const heavyApart = (at: Readonly<Record<string, string>>) => at["base/mainnet"] !== at["tron/mainnet"]
const daemonsOf = (at: Readonly<Record<string, string>>) => new Set(Object.values(at)).size

describe.skipIf(postgres === undefined)("Placement of several daemons on one PostgreSQL", () => {
  it.live("gives each chain one daemon, by weight, when daemons join and end", () =>
    Effect.gen(function* () {
      const { mostAtOnce, start, stored, until } = yield* cluster
      const a = yield* start("a")
      yield* until((at) => daemonsOf(at) === 1)
      const b = yield* start("b")
      yield* until((at) => heavyApart(at) && daemonsOf(at) === 2)
      yield* start("answers", ["api"])
      const { daemons, placed } = yield* stored(Placements.read)
      assert.deepStrictEqual(
        daemons.map(({ name }) => name),
        ["a", "b", "answers"]
      )
      assert.isTrue(
        placed.every(({ daemon, pinned, successor }) => daemon !== null && pinned === null && successor === null)
      )

      // Those of a daemon that ends are followed elsewhere at once, before the daemon has ended.
      yield* a.end
      yield* until((at) => daemonsOf(at) === 1 && at["base/mainnet"] === "b")
      assert.deepStrictEqual(
        (yield* stored(Placements.read)).daemons.map(({ name }) => name),
        ["b", "answers"]
      )
      yield* b.end
      assert.isTrue((yield* stored(Placements.read)).placed.every(({ daemon }) => daemon === null))
      assert.strictEqual(mostAtOnce(), 1)
    }).pipe(Effect.scoped)
  )

  it.live("moves a chain where an operator wants it, and back to where it fits", () =>
    Effect.gen(function* () {
      const { mostAtOnce, start, stored, until } = yield* cluster
      yield* start("a")
      yield* start("b")
      yield* until((at) => heavyApart(at) && daemonsOf(at) === 2)
      for (const name of ["a", "b"]) {
        for (const chain of chains) yield* stored(Placements.pin(chain, name))
        yield* until((at) => Object.values(at).every((one) => one === name))
      }
      // Who looks once a second is told of the change.
      const told = yield* stored(Effect.flatMap(Database, ({ signals }) => signals.next("placement")))
      yield* stored(Placements.pin("base/mainnet", undefined))
      yield* Effect.timeout(told, "5 seconds")
      yield* until((at) => at["base/mainnet"] === "a" && at["tron/mainnet"] === "b")
      assert.strictEqual(mostAtOnce(), 1)
    }).pipe(Effect.scoped)
  )

  it.live("moves a chain away that has stopped at its daemon", () =>
    Effect.gen(function* () {
      const { at, start, stored, until } = yield* cluster
      yield* start("a", ["follow", "deliver"], ["dash/mainnet"])
      yield* start("b")
      yield* stored(Placements.pin("dash/mainnet", "a"))
      yield* Effect.repeat(Effect.delay(Effect.sync(at), "20 millis"), {
        until: (at) => Object.keys(at).length === chains.length - 1 && heavyApart(at)
      })
      yield* stored(Placements.pin("dash/mainnet", "b"))
      yield* until((at) => at["dash/mainnet"] === "b")
    }).pipe(Effect.scoped)
  )

  it.live("gives the chains of a daemon that died to others, and takes in one that was thought dead", () =>
    Effect.gen(function* () {
      const { start, stored, until } = yield* cluster
      const settings = { version: "0.1.0", roles: ["follow"], chains }
      const dead = yield* stored(Placements.register({ ...settings, name: "dead" }, { restarted: true }))
      yield* start("a")
      // Nobody follows what the dead one has got, until its silence has lasted.
      yield* Effect.sleep("1 second")
      assert.isTrue((yield* stored(Placements.read)).placed.some(({ daemon }) => daemon === dead))
      const silence = (name: string) =>
        stored(
          Effect.flatMap(Database, ({ query }) =>
            query((db) =>
              db
                .updateTable("daemon")
                .set((set) => ({ heartbeat: set("heartbeat", "-", Placements.silentMillis) }))
                .where("name", "=", name)
            )
          )
        )
      yield* silence("dead")
      yield* until((at) => daemonsOf(at) === 1)

      yield* start("b")
      yield* until((at) => daemonsOf(at) === 2)
      const before = (yield* stored(Placements.read)).daemons.find(({ name }) => name === "a")!
      yield* silence("a")
      yield* stored(Placements.settle())
      yield* Effect.repeat(Effect.delay(stored(Placements.read), "50 millis"), {
        until: ({ daemons }) => daemons.some(({ id, name }) => name === "a" && id !== before.id)
      })
      yield* until((at) => heavyApart(at) && daemonsOf(at) === 2)
    }).pipe(Effect.scoped)
  )

  it.live("gives the chains of a daemon away that was stopped in the midst of a transaction, with its locks", () =>
    Effect.gen(function* () {
      const { location, start, stored, until } = yield* cluster
      const stopped = yield* Layer.build(Database.layer(location))
      const settings = { version: "0.1.0", roles: ["follow"], chains }
      yield* stored(Placements.register({ ...settings, name: "stopped" }, { restarted: true }))
      const chain = Chain.ofName(chains[0]!)!
      const { chain: id } = yield* stored(ChainRow.follow(chain))
      const locks: ReadonlyArray<Effect.Effect<unknown, DatabaseError, Database>> = [
        Effect.flatMap(Database, ({ query }) => query((db) => db.updateTable("placement").set({ pinned: null }))),
        ChainRow.lock(id)
      ]
      const locked = Latch.makeUnsafe()
      for (const lock of locks) {
        yield* Effect.flatMap(Database, ({ transaction }) =>
          transaction(lock.pipe(Effect.andThen(locked.open), Effect.andThen(Effect.never)))
        ).pipe(Effect.provideContext(stopped), Effect.forkScoped)
        yield* locked.await
        yield* locked.close
      }
      yield* start("a")
      yield* until((at) => daemonsOf(at) === 1)
      yield* stored(ChainRow.follow(chain)).pipe(Effect.timeout("5 seconds"))
    }).pipe(Effect.scoped)
  )

  it.live("gives a daemon that is started again what its killed process had, without waiting for the silence", () =>
    Effect.gen(function* () {
      const { start, stored, until } = yield* cluster
      const killed = { name: "a", version: "0.1.0", roles: ["follow"], chains }
      yield* stored(Placements.register(killed, { restarted: true }))
      yield* start("a")
      yield* until((at) => daemonsOf(at) === 1)
      assert.strictEqual((yield* stored(Placements.read)).daemons.length, 1)
    }).pipe(Effect.scoped)
  )
})

describe("a daemon's name", () => {
  const nameWith = (settings: object) =>
    nameOf(Schema.decodeSync(Settings.schema)({ chains: { "dash/mainnet": { nodes: ["http://a:1"] } }, ...settings }))

  it("is that of the settings, else its host and port", () => {
    assert.strictEqual(nameWith({ name: "north" }), "north")
    assert.match(nameWith({ http: { port: 9000 } }), /.:9000$/)
    assert.throws(() => nameWith({ name: "two words" }), /must be a name of 1 to 64 letters/)
  })
})
