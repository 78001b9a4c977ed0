import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it, layer } from "@effect/vitest"
import * as Callback from "@headwater/core/events/Callback"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database, type DatabaseError } from "@headwater/indexer/store/database/Database"
import { rows } from "@headwater/indexer/store/database/Statements"
import type { Row } from "@headwater/indexer/store/database/Tables"
import * as CallbackState from "@headwater/indexer/store/subscriptions/CallbackState"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import { Domains, hostPermission } from "@headwater/indexer/store/subscriptions/Domains"
import type { Rule } from "@headwater/indexer/store/subscriptions/internal/TransitionSql"
import type { HostCapacity, OutboxMessage, Outcome } from "@headwater/indexer/store/subscriptions/Lease"
import { Outbox, Retention } from "@headwater/indexer/store/subscriptions/Outbox"
import { type Subscription, Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import { sql } from "kysely"
import { takenStores } from "../../../../../test/Stores.ts"
import { address, FakeChain } from "../../sync/FakeChain.ts"
import * as Seed from "../Seed.ts"

type CallbackRow = Row<"callback">
type Transition = CallbackState.Transition

const transitionNames = Object.keys(CallbackState.transitions) as ReadonlyArray<Transition>
const states = Object.keys(CallbackState.states) as ReadonlyArray<CallbackState.State>
const ruleOf = (transition: Transition): Rule => CallbackState.transitions[transition]

const given = {
  attempt_log: "[1]",
  attempts: 8,
  delivered: 81,
  due: 82,
  leased_until: 83,
  sequence: 84,
  feed_position: 85
} as const

/** The values that a statement of this transition needs. */
const valuesOf = (transition: Transition) =>
  Object.fromEntries(
    Object.entries(ruleOf(transition).changes).flatMap(([column, value]) =>
      value === "given" ? [[column, given[column as keyof typeof given]]] : []
    )
  )

/** What the table says that becomes of a row; undefined where it is deleted. */
const after = (transition: Transition, row: CallbackRow): CallbackRow | undefined => {
  const { changes, from, numbered, to, unmoved = [] }: Rule = ruleOf(transition)
  const happens =
    [...from, ...unmoved].includes(row.state) && (numbered === undefined || numbered === (row.sequence !== null))
  if (!happens) return row
  if (to === "gone") return undefined
  const state = to === undefined || unmoved.includes(row.state) ? row.state : to
  const fixed = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== "given"))
  return { ...row, state, ...fixed, ...valuesOf(transition) }
}

for (const store of takenStores(import.meta.url)) {
  layer(Subscriptions.layer.pipe(Layer.provideMerge(store.layer)))(`CallbackState on ${store.name}`, (it) => {
    /** Two callbacks in each state with a number, and two without: the first of each two, and all. */
    const everyKind = Effect.gen(function* () {
      const { insertMany, query } = yield* Database
      const subscription = yield* Seed.subscription(yield* Seed.account, "https://a.test/")
      const body = Callback.body({ ...subscription, idempotencyKey: "", event: "E", item: {} })
      yield* query((db) => db.deleteFrom("callback"))
      yield* insertMany(
        "callback",
        states.flatMap((state) =>
          [1, 2, null, null].map((sequence, i) => ({
            ...{ subscription: subscription.id, host: "a.test", chain: 1, height: 1, event: "E", body },
            ...{ idempotency_key: `${state} ${i}`, state, sequence, due: 1, created: 1, attempts: 3, leased_until: 9 }
          }))
        )
      )
      const all = yield* Seed.rows(subscription.id)
      return { subscription, all, chosen: new Set(all.filter((_, i) => i % 2 === 0).map(({ id }) => id)) }
    })

    for (const transition of transitionNames) {
      it.effect(`changes what the table says, and nothing else: ${transition}`, () =>
        Effect.gen(function* () {
          const { numbers } = yield* Database
          const values = valuesOf(transition) as object
          const apply = CallbackState.apply as (
            ...all: ReadonlyArray<unknown>
          ) => Effect.Effect<void, DatabaseError, Database>
          const applyEach = CallbackState.applyEach as typeof apply
          const hasOwnValues = Object.keys(values).length > 0
          const statements = [
            (ids: ReadonlyArray<number>) => apply(transition, sql`id in ${numbers(ids)}`, values),
            (ids: ReadonlyArray<number>) =>
              applyEach(
                transition,
                ids.map((id) => ({ id, ...values }))
              )
          ].slice(0, hasOwnValues ? 2 : 1)
          for (const statement of statements) {
            const { all, chosen, subscription } = yield* everyKind
            yield* statement([...chosen])
            const expected = all.flatMap((row) => (chosen.has(row.id) ? (after(transition, row) ?? []) : row))
            assert.notDeepEqual(expected, all)
            assert.deepStrictEqual(yield* Seed.rows(subscription.id), expected)
          }
        })
      )
    }

    it.effect("is born once, and again only as the table says", () =>
      Effect.gen(function* () {
        for (const birth of ["added", "matched"] as const) {
          const { all, subscription } = yield* everyKind
          const again = all.map(
            ({ subscription, host, account, chain, height, idempotency_key, event, body, created }) => ({
              ...{ subscription, host, account, chain, height, idempotency_key, event, body, created },
              ...{ state: "due" as const, due: given.due, original: null }
            })
          )
          yield* CallbackState.enter(birth, again)
          const expected = all.flatMap((row) => (birth === "added" ? row : (after("return", row) ?? [])))
          const found = yield* Seed.rows(subscription.id)
          assert.deepStrictEqual(found.slice(0, expected.length), expected)
          // A retraction has ended the key: another callback restores the event, under a key of its own.
          const ended = birth === "added" ? [] : all.filter(({ state }) => state === "retracted")
          assert.deepStrictEqual(
            found.slice(expected.length).map(({ body, idempotency_key, sequence, state }) => {
              assert.strictEqual(JSON.parse(body).idempotencyKey, idempotency_key)
              return [idempotency_key, Callback.itemOf(body).restoresIdempotencyKey, state, sequence]
            }),
            ended.map(({ idempotency_key: key }) => [Callback.keyOfTelling(key, 2), key, "due", null])
          )
        }
      })
    )
  })
}

/** The changes of state that the table has, as `from → to`. */
const known = new Set([
  "new → due",
  "new → held",
  ...transitionNames.flatMap((transition) => {
    const { from, to } = ruleOf(transition)
    return to === undefined ? [] : from.filter((state) => state !== to).map((state) => `${state} → ${to}`)
  })
])

/** Has the store note each change of a callback's state, whoever makes it. */
const noting = {
  sqlite: [
    "create table noted (was text, became text)",
    "create trigger born after insert on callback begin insert into noted values ('new', new.state); end",
    `create trigger changed after update on callback when old.state <> new.state
     begin insert into noted values (old.state, new.state); end`,
    "create trigger died after delete on callback begin insert into noted values (old.state, 'gone'); end"
  ],
  postgres: [
    "create table noted (was text, became text)",
    `create function note() returns trigger language plpgsql as $$ begin
       insert into noted values (coalesce(to_jsonb(old)->>'state', 'new'), coalesce(to_jsonb(new)->>'state', 'gone'));
       return null;
     end $$`,
    "create trigger born after insert on callback for each row execute function note()",
    `create trigger changed after update on callback for each row
     when (old.state is distinct from new.state) execute function note()`,
    "create trigger died after delete on callback for each row execute function note()"
  ]
} as const

const seed = Number(process.env.HEADWATER_SEED ?? 1)
const hosts = ["allowed.test", "late.test"]

const operations = {
  mine: 5,
  undo: 3,
  lease: 6,
  accept: 6,
  retry: 2,
  refuse: 1,
  release: 1,
  wait: 3,
  feed: 2,
  redeliver: 3,
  test: 1,
  park: 2,
  activate: 2,
  verify: 1,
  expire: 2,
  prune: 1,
  remove: 1,
  endLeases: 1
} as const
type Operation = keyof typeof operations
type Failure = { readonly _tag: string }

/** What an account may not do as things are. */
const refusals: ReadonlySet<string> = new Set(["CallbackNotSendable", "SubscriptionActive"])

const life = fc.array(
  fc.record({
    operation: fc.oneof(
      ...Object.entries(operations).map(([name, weight]) => ({ weight, arbitrary: fc.constant(name as Operation) }))
    ),
    which: fc.nat(1000)
  }),
  { minLength: 50, maxLength: 50 }
)

/** Leaves nothing to the next life. */
const ending = [0, 1, 2, 3].map((number) => ({ operation: "end" as const, which: number }))

const services = Callbacks.layer.pipe(
  Layer.provideMerge(Outbox.layer),
  Layer.provideMerge(Subscriptions.layer),
  Layer.provideMerge(hostPermission(new Set([hosts[0]!]))),
  Layer.provideMerge(Domains.layer),
  Layer.provideMerge(Accounts.layer),
  Layer.provideMerge(Layer.succeed(Retention, { finishedMillis: 2000, parkedMillis: 500, parkedCount: 3 }))
)

/** An account with subscriptions on both hosts, and what can happen to them on their chain. */
const world = Effect.fnUntraced(function* (fake: FakeChain, store: ChainStore.ChainStore, retractions: boolean) {
  const accounts = yield* Accounts
  const callbacks = yield* Callbacks
  const domains = yield* Domains
  const outbox = yield* Outbox
  const subscriptions = yield* Subscriptions
  const account = yield* Seed.account
  yield* accounts.setRetractions(account, retractions)
  yield* domains.add(account, hosts[1]!)

  const made: Array<Subscription> = []
  const subscribe = Effect.fnUntraced(function* (number: number) {
    const event = ["ADDRESS_COINS_TRANSACTION_CONFIRMED", "BLOCK_MINED"] as const
    made[number] = yield* subscriptions.create({
      ...{ account, chain: Seed.chain, event: event[number % 2]!, confirmations: 1 + (number >> 1) },
      address: number % 2 === 0 ? address(0) : undefined,
      ...{ callbackUrl: `https://${hosts[number >> 1]}/`, secret: undefined, allowDuplicates: true }
    })
  })
  for (const number of [0, 1, 2, 3]) yield* subscribe(number)
  const keyOf = (number: number) => ({ account, chain: Seed.chain, referenceId: made[number % 4]!.referenceId })

  const leased: Array<{ readonly subscription: number; readonly callback: OutboxMessage }> = []
  const answer = Effect.fnUntraced(function* (
    which: number,
    outcome: (of: (typeof leased)[number], at: number) => Outcome
  ) {
    const [of] = leased.splice(which % Math.max(leased.length, 1), 1)
    if (of !== undefined) yield* outbox.acknowledge([outcome(of, which)])
  })
  const capacity = (host: string): HostCapacity => ({
    ...{ host, limit: 3, batchSize: 2, followOns: [], retriesFirst: true },
    ...{ accountCursor: 0, accounts: new Map(), accountLimit: 100, callbacks: 10_000 }
  })

  const happen: Readonly<
    Record<Operation | "end", (which: number) => Effect.Effect<unknown, Failure, Database | Subscriptions>>
  > = {
    // What was undone may be committed again, or give way to another block.
    mine: Effect.fnUntraced(function* (which) {
      const { height } = (yield* store.cursor)!
      if (which % 3 === 0) fake.drop(fake.tip.height - height)
      const next = fake.blocks[height + 1] ?? fake.mine([{ from: 9, to: 0 }])
      yield* store.commit([next])
    }),
    undo: Effect.fnUntraced(function* (which) {
      const { height } = (yield* store.cursor)!
      yield* store.undo(Math.max(0, height - 1 - (which % 3)))
    }),
    lease: Effect.fnUntraced(function* (which) {
      for (const { callbacks, subscription } of yield* outbox.lease(hosts.map(capacity), 1 + (which % 2) * 1000)) {
        leased.push(...callbacks.map((callback) => ({ callback, subscription })))
      }
    }),
    accept: (which) =>
      answer(which, ({ callback }, at) => ({ kind: "delivered", callback, attempt: { at, duration: 1, status: 200 } })),
    retry: (which) =>
      answer(which, ({ callback }, at) => ({ kind: "retry", callback, due: at, attempt: { at, duration: 1 } })),
    refuse: (which) =>
      answer(which, ({ callback, subscription }, at) => ({
        ...{ kind: "refused", callback, attempt: { at, duration: 1 }, subscription, reason: "gone" }
      })),
    release: (which) => answer(which, ({ callback }) => ({ kind: "released", callback })),
    wait: (which) => TestClock.adjust(which),
    feed: (which) => callbacks.list(keyOf(which), { after: 0, limit: 5 }),
    redeliver: Effect.fnUntraced(function* (which) {
      const ended = ({ state }: CallbackRow) => which % 2 === 0 || state === "delivered" || state === "expired"
      const all = (yield* Seed.rows(made[which % 4]!.id)).filter(ended)
      const row = all[which % Math.max(all.length, 1)]
      if (row !== undefined) yield* callbacks.redeliver(keyOf(which), row.idempotency_key)
    }),
    test: (which) => callbacks.test(keyOf(which)),
    park: (which) => subscriptions.deactivate(made[which % 4]!.id, "test"),
    activate: (which) => subscriptions.activate(keyOf(which)),
    verify: (which) => (which % 4 === 0 ? domains.setVerified(account, hosts[1]!) : Effect.void),
    expire: () => outbox.expire,
    prune: () => outbox.prune,
    remove: Effect.fnUntraced(function* (which) {
      if (which % 4 !== 0) return
      yield* subscriptions.remove(keyOf(which >> 2))
      yield* subscribe((which >> 2) % 4)
    }),
    endLeases: () => outbox.endLeases,
    end: (which) => subscriptions.remove(keyOf(which))
  }
  return happen
})

for (const store of takenStores(import.meta.url)) {
  describe(`A callback's life on ${store.name}`, () => {
    it.effect(`has no transition that the table lacks, whatever happens (seed ${seed})`, () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        for (const statement of noting[store.name]) yield* query(rows(sql.raw(statement)))
        const fake = new FakeChain(Seed.chain)
        const chain = yield* ChainStore.open(Seed.chain, { record: "watched", undoDepth: 64 })
        yield* chain.commit([fake.tip])
        for (const [number, events] of fc.sample(life, { numRuns: 16, seed }).entries()) {
          yield* TestClock.adjust("1 hour")
          const happen = yield* world(fake, chain, number % 2 === 0)
          for (const { operation, which } of [...events, ...ending]) {
            yield* Effect.catchIf(
              happen[operation](which),
              ({ _tag }) => refusals.has(_tag),
              () => Effect.void
            )
          }
        }
        const noted = yield* query(
          rows(sql<{ was: string; became: string }>`select distinct was, became from noted order by 1, 2`)
        )
        const seen = noted.map(({ became, was }) => `${was} → ${became}`)
        assert.deepStrictEqual(
          seen.filter((change) => !known.has(change)),
          []
        )
        // The lives are long and varied enough to show nearly every change that the table has.
        assert.isAbove(seen.length, known.size - 3)
      }).pipe(Effect.scoped, Effect.provide(services.pipe(Layer.provideMerge(store.layer))))
    )
  })
}

describe("CallbackState", () => {
  it("makes every statement that writes callbacks", () => {
    const sources = fileURLToPath(new URL("../../../../", import.meta.url))
    const writes = [
      /\b(?:insertInto|updateTable|deleteFrom|insertMany|updateEach|takeEach)\(\s*"callback"/,
      /\b(?:insert into|update|delete from)\s+"?callback"?\s/
    ]
    // What a migration writes is the state of before.
    const files = globSync("*/src/**/*.ts", { cwd: sources, exclude: ["**/migrations/**"] })
    const writing = files.filter((file) => {
      const text = readFileSync(join(sources, file), "utf8")
      return writes.some((write) => write.test(text))
    })
    assert.deepStrictEqual(writing.sort(), [
      "indexer/src/store/subscriptions/CallbackState.ts",
      "indexer/src/store/subscriptions/internal/TransitionSql.ts"
    ])
  })
})
