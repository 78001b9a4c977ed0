/**
 * The primary of a PostgreSQL store is killed, and its standby promoted, while blocks, callbacks and requests flow: the
 * daemon goes on by itself. Where commits have waited for the standby, nothing is lost, and nothing comes or is charged
 * twice. Where they have not, what the standby lacks is lost, and the blocks are read again: each event comes, under the
 * key that it had; a replay afterwards changes nothing of that. `HEADWATER_FAILOVERS=5` plays each story five times, with
 * one daemon and with three that have a role each; `npm test` has the first alone, once.
 */
import { assert, describe, it } from "@effect/vitest"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Credits } from "@headwater/indexer/store/accounts/Credits"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { Wallet } from "ethers"
import * as Anvil from "./Anvil.ts"
import * as Headwater from "./Headwater.ts"
import * as PostgresServer from "./PostgresServer.ts"
import * as Receiver from "./Receiver.ts"
import * as SeededRandom from "./SeededRandom.ts"
import { locations } from "./Stores.ts"
import * as Traffic from "./Traffic.ts"
import { isInTurn } from "./Turn.ts"

const stories = Number(process.env.HEADWATER_FAILOVERS ?? 0)
const events = "/blockchain-events/ethereum/devnet"
const standbyName = "standby"

const ask = <Row>(server: PostgresServer.PostgresServer, statement: string) =>
  Effect.promise(() => PostgresServer.ask(server.url, statement) as Promise<ReadonlyArray<Row>>)

const references = (server: PostgresServer.PostgresServer) =>
  Effect.map(
    ask<{ readonly reference_id: string }>(server, "select reference_id from subscription"),
    (rows) => new Set(rows.map(({ reference_id }) => reference_id))
  )

const removed = (started: () => Promise<PostgresServer.PostgresServer>) =>
  Effect.acquireRelease(Effect.promise(started), ({ remove }) => Effect.sync(remove))

const grant = (place: Location) =>
  Effect.gen(function* () {
    const { id } = yield* (yield* Accounts).find("test")
    yield* (yield* Credits).grant({ account: id, amount: 100_000_000, detail: "start" })
  }).pipe(
    Effect.provide(Layer.mergeAll(Accounts.layer, Credits.layer).pipe(Layer.provide(Database.layer(place)))),
    Effect.orDie
  )

/** The roles of each daemon; the last one answers requests. */
const together = [["follow", "deliver", "api", "market"]]
const apart = [["follow", "market"], ["deliver"], ["api"]]

const failover = Effect.fnUntraced(function* (synchronous: boolean, daemons: typeof apart) {
  const anvil = yield* Anvil.start()
  const receiver = yield* Receiver.start()
  const primary = yield* removed(async () => (await PostgresServer.start())!)
  const standby = yield* removed(() => primary.standby(standbyName))
  if (synchronous) {
    yield* ask(primary, `alter system set synchronous_standby_names = '${standbyName}'`)
    yield* ask(primary, "select pg_reload_conf()")
  }
  const [first, second] = [primary, standby].map(({ url }) => new URL(url).host)
  const place = {
    kind: "postgres",
    url: Redacted.make(`postgres://postgres@${first},${second}/postgres`),
    connections: 5,
    secretKeys: Redacted.make(Buffer.alloc(32, 7).toString("base64"))
  } as const
  const settings = {
    chains: { "ethereum/devnet": { nodes: [anvil.url], start: 0, pollMillis: 50 } },
    callbacks: {
      ...{ allowHosts: ["localhost"], extraCa: receiver.ca, retry: "standard-webhooks" },
      // An attempt whose outcome was not recorded is made again when its lease ends, after twice this time.
      timeoutMillis: 1_000
    },
    credits: { enabled: true }
  }
  const started: Array<Headwater.Headwater> = []
  for (const roles of daemons) {
    const options = started[0] === undefined ? {} : { apiKey: started[0].apiKey }
    started.push(yield* Headwater.start(place, { ...settings, roles, name: roles.join("-") }, options))
  }
  const headwater = started.at(-1)!
  yield* grant(place)
  const pids = started.map((one) => one.pid())

  /** References of subscriptions that were answered 201, with their addresses. */
  const created = new Map<string, string>()
  const statuses = new Set<number>()
  /** Asks again as clients do, where no answer came or one that says to. */
  const subscribe = Effect.gen(function* () {
    const { address } = Wallet.createRandom()
    while (true) {
      const answer = yield* headwater
        .post(`${events}/address-coins-transactions-confirmed`, { address, callbackUrl: `${receiver.url}/` })
        .pipe(Effect.catchDefect(() => Effect.succeed({ status: 0, body: undefined })))
      statuses.add(answer.status)
      if (answer.status === 201) created.set(answer.body.data.item.referenceId, address)
      if (answer.status === 201 || answer.status === 409) return
      yield* Effect.sleep("20 millis")
    }
  })
  for (let i = 0; i < 3; i++) yield* subscribe
  const told = new Map([...created].map(([id, address]) => [id, { address: address.toLowerCase(), confirmations: 1 }]))
  const targets = [...created.values()]
  const subscribing = yield* subscribe.pipe(Effect.andThen(Effect.sleep("50 millis")), Effect.forever, Effect.forkChild)
  const traffic = yield* Traffic.start(anvil, targets, SeededRandom.make(7))

  const more = Effect.fnUntraced(function* (count: number) {
    const before = receiver.accepted().length
    const createdBefore = created.size
    yield* receiver.until((accepted) => accepted.length >= before + count, 60)
    while (created.size < createdBefore + 3) yield* Effect.sleep("20 millis")
  })
  yield* more(5)
  const kept = [...created.keys()]
  if (!synchronous) {
    const present = Effect.map(references(standby), (present) => kept.every((one) => present.has(one)))
    yield* Effect.repeat(present, { until: (all) => all, schedule: Schedule.spaced("20 millis") })
    yield* Effect.promise(standby.holdBack)
    yield* more(5)
  }
  yield* more(5)
  yield* Effect.sync(primary.kill)
  const killedAt = Date.now()
  yield* Effect.sync(standby.promote)
  const isLater = ({ body }: Receiver.Delivery) => traffic.minedAt.get(body.data.item.transactionId)! > killedAt
  yield* receiver.until((accepted) => accepted.some(isLater), 60)
  console.log(`the next block's callback came ${Date.now() - killedAt} ms after the primary was killed`)
  yield* more(5)
  yield* Fiber.interrupt(subscribing)
  // The store may have gone back: what is watched since is watched all the same.
  const [latest, to] = [...created].at(-1)!
  told.set(latest, { address: to.toLowerCase(), confirmations: 1 })
  yield* traffic.stop
  const [, , , from] = yield* anvil.rpc<ReadonlyArray<string>>("eth_accounts", [])
  const paid = yield* anvil.rpc("eth_sendTransaction", [{ from, to, value: "0x1" }])
  // The oracle reads what is mined.
  while ((yield* anvil.rpc("eth_getTransactionReceipt", [paid])) === null) yield* Effect.sleep("10 millis")

  const expected = yield* Traffic.expected(anvil, told)
  const allCame = (accepted: ReadonlyArray<Receiver.Delivery>) => {
    const seen = new Set(accepted.map(Traffic.eventOf))
    return [...expected].every((event) => seen.has(event))
  }
  yield* receiver.until(allCame, 120).pipe(Effect.tapDefect(() => Effect.logError(headwater.log().slice(-5_000))))
  yield* Traffic.check(anvil, receiver.deliveries, expected)

  const present = yield* references(standby)
  const lost = [...created.keys()].filter((reference) => !present.has(reference))
  if (synchronous) assert.lengthOf(lost, 0, "what was answered 201 is there")
  else {
    assert.isNotEmpty(lost, "the standby has lacked something")
    for (const reference of kept) assert.notInclude(lost, reference, "what the standby has had is there")
  }
  const [{ charges }] = (yield* ask<{ readonly charges: number }>(
    standby,
    "select count(*)::int as charges from credit_entry where kind = 'request' and amount < 0"
  )) as [{ readonly charges: number }]
  assert.strictEqual(charges, present.size, "each subscription was charged once")
  for (const status of statuses) assert.include([0, 201, 409, 503], status)

  for (const [i, daemon] of started.entries()) {
    while ((yield* daemon.get("/ready")).status !== 200) yield* Effect.sleep("100 millis")
    const begun = daemon.log().split("Everything begins anew there").length - 1
    assert.strictEqual(begun, 1, daemon.log().slice(-5_000))
    // The process is the one that was started.
    assert.strictEqual(daemon.pid(), pids[i])
  }
  if (!synchronous) {
    const { code, printed } = yield* headwater.command("replay", "ethereum/devnet", "--from", "0", "--callbacks")
    assert.strictEqual(code, 0, printed)
    yield* receiver.until(allCame, 120)
    yield* Traffic.check(anvil, receiver.deliveries, expected)
  }
  for (const daemon of started) assert.strictEqual(yield* daemon.terminate, 0)
}, Effect.scoped)

for (const _ of locations.filter(({ name }) => name === "postgres")) {
  describe.skipIf(!isInTurn(import.meta.url, process.env.HEADWATER_FAILOVERS))("a standby that is promoted", () => {
    for (let i = 0; i < Math.max(1, stories); i++) {
      it.live(
        `has all that was answered where commits waited for it, and nothing twice (${i + 1})`,
        () => failover(true, together),
        180_000
      )
    }
    for (let i = 0; i < stories; i++) {
      it.live(
        `lacks the last of it otherwise, and each event comes all the same (${i + 1})`,
        () => failover(false, together),
        180_000
      )
      for (const synchronous of [true, false]) {
        it.live(
          `is found by three daemons with a role each, with ${synchronous ? "synchronous" : "asynchronous"} commits (${i + 1})`,
          () => failover(synchronous, apart),
          300_000
        )
      }
    }
  })
}
