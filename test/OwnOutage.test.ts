/**
 * The daemon's own outages, real ones, each for longer than all retries of a callback: its clock is moved by hours. Nothing
 * is deactivated, everything arrives afterwards, once but for what is under way as the clock is moved, and `/ready` and the
 * metrics say what is lacking. `npm test` has the network cut; `HEADWATER_OUTAGES=1` has the others too.
 */
import { execFileSync } from "node:child_process"
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import type { Lack } from "@headwater/daemon/supervision/OwnOutages"
import * as Effect from "effect/Effect"
import { Wallet } from "ethers"
import * as Anvil from "./Anvil.ts"
import * as Folder from "./Folder.ts"
import * as Headwater from "./Headwater.ts"
import * as Namespace from "./Namespace.ts"
import * as Receiver from "./Receiver.ts"

const token = "a token for metrics"
const events = "/blockchain-events/ethereum/devnet"
const movedTime = fileURLToPath(new URL("MovedTime.mjs", import.meta.url))
const all = process.env.HEADWATER_OUTAGES !== undefined
const { impossible } = Namespace
if (impossible !== undefined) console.warn(`The daemon's own outages are not tested here: ${impossible}`)
/** Moves of twenty minutes: all retries of the profile `hosted` are over in 155 minutes, or a fifth more. */
const [moves, moveMillis] = [12, 20 * 60_000]

/** A small disk. */
const disk = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = mkdtempSync(join(tmpdir(), "headwater-disk-"))
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=32m", "tmpfs", folder])
    return folder
  }),
  (folder) =>
    Effect.sync(() => {
      execFileSync("umount", ["-l", folder])
      rmSync(folder, { recursive: true, force: true })
    })
)

/** Writes to a file until there is no room. */
const fill = (folder: string) =>
  Effect.sync(() => {
    const descriptor = openSync(join(folder, "filler"), "w")
    try {
      for (let size = 65_536; size >= 1; ) {
        try {
          if (writeSync(descriptor, Buffer.alloc(size)) < size) size = Math.floor(size / 2)
        } catch {
          size = Math.floor(size / 2)
        }
      }
    } finally {
      closeSync(descriptor)
    }
  })

const until = Effect.fnUntraced(function* (wanted: string, condition: Effect.Effect<boolean>, log: () => string) {
  for (let i = 0; i < 1_200; i++) {
    if (yield* condition) return
    yield* Effect.sleep("50 millis")
  }
  return yield* Effect.die(new Error(`Not so within a minute: ${wanted}\n${log().slice(-10_000)}`))
})

interface World {
  readonly headwater: Headwater.Headwater
  readonly receivers: ReadonlyArray<Receiver.Receiver>
  /** Pays every watched address once. */
  readonly pay: Effect.Effect<void>
  readonly references: ReadonlyArray<string>
}

/** The daemon in a network of its own, with subscriptions at two receivers. */
const worldOf = Effect.fnUntraced(function* (
  space: Namespace.Namespace,
  receivers: ReadonlyArray<Receiver.Receiver>,
  options: { readonly folder: string; readonly command?: ReadonlyArray<string>; readonly subscriptions?: number }
) {
  const anvil = yield* Anvil.start()
  const port = yield* Namespace.forward(space.outside, Number(new URL(anvil.url).port))
  const headwater = yield* Headwater.start(
    { kind: "sqlite", file: join(options.folder, "store.db") },
    {
      chains: { "ethereum/devnet": { nodes: [`http://${space.outside}:${port}`], start: 0, pollMillis: 200 } },
      callbacks: {
        allowHosts: receivers.map(({ url }) => new URL(url).hostname),
        extraCa: receivers.map(({ ca }) => ca).join("\n"),
        // A busy machine's receivers may take a while.
        timeoutMillis: 15_000
      },
      metrics: { token }
    },
    {
      host: space.inside,
      command: [...space.command, ...(options.command ?? [])],
      node: ["--import", movedTime]
    }
  )
  const addresses = Array.from({ length: options.subscriptions ?? 2 }, () => Wallet.createRandom().address)
  const references: Array<string> = []
  for (const address of addresses) {
    for (const { url } of receivers) {
      const path = `${events}/address-coins-transactions-confirmed`
      // A signature says when the attempt began, by the daemon's clock.
      const target = { address, callbackUrl: `${url}/`, callbackSecretKey: "secret" }
      const { body, status } = yield* headwater.post(path, target)
      assert.strictEqual(status, 201, JSON.stringify(body))
      references.push(body.data.item.referenceId)
    }
  }
  const [from] = yield* anvil.rpc<ReadonlyArray<string>>("eth_accounts", [])
  const pay = Effect.forEach(addresses, (to) => anvil.rpc("eth_sendTransaction", [{ from, to, value: "0x1" }]), {
    discard: true
  })
  return { headwater, receivers, pay, references } satisfies World
})

/** Whether the metrics say so. */
const measured = (headwater: Headwater.Headwater, lack: Lack, value: 0 | 1) =>
  Effect.promise(() =>
    fetch(`${headwater.url}/metrics`, { headers: { authorization: `Bearer ${token}`, connection: "close" } }).then(
      async (response) => (await response.text()).includes(`headwater_own_outage{lack="${lack}"} ${value}`),
      () => false
    )
  )

/** An answer, or nothing where the machine lacks what an answer takes. */
const ready = (headwater: Headwater.Headwater) =>
  Effect.promise(() =>
    fetch(`${headwater.url}/ready`, { headers: { authorization: `Bearer ${token}`, connection: "close" } }).then(
      (response) => response.json() as Promise<{ readonly ready: boolean; readonly reasons: ReadonlyArray<string> }>,
      () => ({ ready: false, reasons: [] })
    )
  )

const keyOf = ({ body }: Receiver.Delivery): string => body.idempotencyKey

/** Moves of the clock before an attempt began: what is left of the difference between the clocks took no such time. */
const movesBefore = ({ at, headers }: Receiver.Delivery): number =>
  Math.round((Number(headers["webhook-timestamp"]) * 1_000 - at) / moveMillis)

/** Begins an outage, lets it last, ends it, and looks at what has come of that. */
const lasting = Effect.fnUntraced(function* (
  { headwater, pay, receivers, references }: World,
  outage: { readonly lack: Lack; readonly begin: Effect.Effect<void>; readonly end: Effect.Effect<void> }
) {
  const { lack } = outage
  const each = references.length / receivers.length
  const arrived = (times: number) =>
    Effect.forEach(
      receivers,
      (receiver) => receiver.until((accepted) => new Set(accepted.map(keyOf)).size >= times * each),
      { discard: true }
    )
  const attemptsOf = Effect.forEach(references, (reference) =>
    Effect.map(headwater.get(`${events}/${reference}/callbacks`), ({ body }) =>
      (body.data.items as ReadonlyArray<{ readonly attempts: ReadonlyArray<unknown> }>).map(({ attempts }) => attempts)
    )
  )
  yield* pay
  yield* arrived(1)
  // No answer may come where the machine lacks what an answer takes.
  const recorded = (times: number) =>
    attemptsOf.pipe(
      Effect.map((all) => all.flat()),
      Effect.map((all) => all.length === times * references.length && all.every(({ length }) => length === 1)),
      Effect.catchDefect(() => Effect.succeed(false))
    )
  yield* until("the outcome of each first callback is recorded", recorded(1), headwater.log)
  const before = new Set(receivers.flatMap((receiver) => receiver.accepted().map(keyOf)))
  yield* outage.begin
  yield* pay
  const begun = Date.now()
  let noticed = Number.POSITIVE_INFINITY
  const said = Effect.gen(function* () {
    const asked = Date.now()
    const reason = (yield* ready(headwater)).reasons.find((reason) => reason.startsWith(`${lack}: `))
    const [, seconds] = /\(for (\d+) s\)$/.exec(reason ?? "") ?? []
    if (seconds !== undefined) noticed = asked - Number(seconds) * 1_000 - begun
    return seconds !== undefined
  })
  yield* until(`/ready says ${lack}`, said, headwater.log)
  console.log(`${lack}: said by /ready ${Date.now() - begun} ms after the outage began`)
  // By the daemon's own word, so that the test's own slowness does not count.
  assert.isBelow(noticed, 10_000)
  yield* until(`the metrics say ${lack}`, measured(headwater, lack, 1), headwater.log)
  for (let i = 0; i < moves; i++) {
    process.kill(headwater.pid(), "SIGUSR2")
    yield* Effect.sleep("400 millis")
  }
  yield* outage.end
  const ended = Date.now()
  yield* arrived(2).pipe(
    Effect.tapDefect(() =>
      Effect.flatMap(attemptsOf, (attempts) => Effect.logError(headwater.log().slice(-3_000), JSON.stringify(attempts)))
    )
  )
  console.log(`everything has arrived ${Date.now() - ended} ms after the outage ended`)
  yield* until(
    "/ready has no reasons",
    Effect.map(ready(headwater), (answer) => answer.ready),
    headwater.log
  )
  yield* until(`the metrics say that ${lack} is there`, measured(headwater, lack, 0), headwater.log)
  for (const reference of references) {
    const { body } = yield* headwater.get(`${events}/${reference}`)
    assert.isTrue(body.data.item.isActive, JSON.stringify(body))
  }
  yield* until("each callback has one attempt", recorded(2), headwater.log)
  for (const receiver of receivers) {
    const deliveries = receiver.accepted()
    assert.strictEqual(new Set(deliveries.map(keyOf)).size, 2 * each)
    for (const [key, same] of Map.groupBy(deliveries, keyOf)) {
      // An attempt that is under way while the clock is moved loses its lease, and is made again: of the two either arrives first.
      const counted = same.filter((delivery) => before.has(key) || movesBefore(delivery) >= moves)
      const times = same.map(({ at, headers }) => [at - ended, headers["webhook-timestamp"]])
      assert.isAtMost(counted.length, 1, `${key} came more than once: ${JSON.stringify(times)}`)
    }
  }
  const log = headwater.log()
  assert.notInclude(log, "is deactivated")
  // A lack of descriptors comes back with each attempt to send more.
  if (lack !== "descriptors") assert.lengthOf(log.split("has begun: "), 2, "it is said once")
  assert.include(log, "is over")
})

describe("an outage of the daemon's own", () => {
  it.live.skipIf(impossible !== undefined)("of the network", () =>
    Effect.gen(function* () {
      const space = yield* Namespace.make
      const [a, b] = space.receivers
      const receivers = [yield* Receiver.start(Receiver.accept, a), yield* Receiver.start(Receiver.accept, b)]
      const world = yield* worldOf(space, receivers, { folder: yield* Folder.scoped })
      yield* lasting(world, { lack: "network", begin: space.cut, end: space.mend })
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(impossible !== undefined || !all)("of the resolver", () =>
    Effect.gen(function* () {
      const space = yield* Namespace.make
      const [a, b] = space.receivers
      const names = { "a.receiver.test": a, "b.receiver.test": b }
      const { start, stop } = yield* Namespace.nameServer(a, names)
      const receivers = yield* Effect.forEach(Object.entries(names), ([name, address]) =>
        Receiver.start(Receiver.accept, name, address)
      )
      const world = yield* worldOf(space, receivers, { folder: yield* Folder.scoped })
      // A connection that is kept needs no name.
      const begin = Effect.andThen(stop, Effect.sleep("5 seconds"))
      yield* lasting(world, { lack: "resolver", begin, end: start })
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(impossible !== undefined || !all)("of descriptors, of which there are 64", () =>
    Effect.gen(function* () {
      const space = yield* Namespace.make
      const slow: Receiver.Behaviour = () => ({ status: 200, afterMillis: 300 })
      const receivers = yield* Effect.forEach(space.receivers, (address) => Receiver.start(slow, address))
      const world = yield* worldOf(space, receivers, {
        folder: yield* Folder.scoped,
        command: ["prlimit", "--nofile=64:64"],
        subscriptions: 60
      })
      const none = Effect.void
      yield* lasting(world, { lack: "descriptors", begin: none, end: none })
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(impossible !== undefined || !all)("of room on the store's disk", () =>
    Effect.gen(function* () {
      const space = yield* Namespace.make
      const receivers = yield* Effect.forEach(space.receivers, (address) => Receiver.start(Receiver.accept, address))
      const small = yield* disk
      const world = yield* worldOf(space, receivers, { folder: small })
      const { headwater } = world
      const begin = fill(small)
      const end = Effect.gen(function* () {
        const answer = yield* headwater.post(`${events}/block-mined`, { callbackUrl: `${receivers[0]!.url}/` })
        assert.strictEqual(answer.status, 503, JSON.stringify(answer.body))
        assert.strictEqual(answer.body.error.code, "node_unavailable")
        rmSync(join(small, "filler"))
      })
      yield* lasting(world, { lack: "store", begin, end })
    }).pipe(Effect.scoped)
  )
})
