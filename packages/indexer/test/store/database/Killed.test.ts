/**
 * Programs that are killed at a statement of their first start or of an upgrade: the next start finds a store that it
 * can bring up to date. A few statements of each; `HEADWATER_EVERY_STATEMENT=1` takes all of them.
 */
import { spawn } from "node:child_process"
import { closeSync, fstatSync, mkdtempSync, openSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { takenUnmigrated } from "../../../../../test/Stores.ts"
import { half } from "../../../../../test/Turn.ts"
import * as Released from "./Released.ts"
import * as fanOut from "./killed/fanOutStory.ts"
import * as secrets from "./killed/secretStory.ts"
import { readsRight } from "./released/readsRight.ts"

const every = process.env.HEADWATER_EVERY_STATEMENT !== undefined
const sampleSize = 2

const pathOf = (name: string) => fileURLToPath(new URL(`./killed/${name}`, import.meta.url))

/** Opens the store in a program of its own, to be killed at a statement; how many it ran, and whether it ended by itself. */
const opened = (location: Location, killAt = 0, name = "Open") =>
  Effect.callback<{ readonly statements: number; readonly killed: boolean }>((resume) => {
    const store = location.kind === "sqlite" ? location.file : Redacted.value(location.url)
    // A file, since a pipe may be full for a moment, and the program cannot wait.
    const directory = mkdtempSync(join(tmpdir(), "headwater-killed-"))
    const dots = openSync(join(directory, "dots"), "w")
    const child = spawn(process.execPath, ["--import", pathOf("AtStatement.ts"), pathOf(`${name}.ts`), store], {
      env: { ...process.env, KILL_AT: String(killAt), SECRET_KEYS: keysOf(location) },
      stdio: ["ignore", dots, "inherit"]
    })
    child.on("close", (code, signal) => {
      const statements = fstatSync(dots).size
      closeSync(dots)
      rmSync(directory, { recursive: true })
      assert.isTrue(code === 0 || signal === "SIGKILL", `exit ${code} ${signal}`)
      resume(Effect.succeed({ statements, killed: signal === "SIGKILL" }))
    })
    return Effect.sync(() => child.kill("SIGKILL"))
  })

const keysOf = ({ secretKeys }: Location) => (secretKeys === undefined ? "" : Redacted.value(secretKeys))

/** Statements to be killed at, of those from `first` to `last`. */
const picked = (last: number, first = 1) =>
  every
    ? Array.from({ length: last - first + 1 }, (_, i) => first + i)
    : Array.from(
        { length: sampleSize },
        (_, i) => first + Math.round(((i + Math.random()) * (last - first)) / sampleSize)
      )

const cases = [
  { name: "first start", before: () => Effect.void, after: () => Effect.void },
  ...Released.releases.map((release) => ({
    name: `upgrade from ${release}`,
    before: (location: Location) => Released.load(release, location),
    after: readsRight
  }))
]

const stories = [
  {
    name: "in the middle of a change of the secrets' key leaves every secret readable, and the change goes on",
    ...{ program: "ChangeSecretKey", before: secrets.make, after: secrets.isWhole }
  },
  {
    name: "between and in steps that write callbacks loses none, and writes none twice",
    ...{ program: "FanOut", before: fanOut.begin, after: fanOut.isWhole }
  },
  {
    name: "between and in steps that take back what blocks told takes each callback back once, before what comes instead",
    ...{ program: "FanOut", before: fanOut.beginUndone, after: fanOut.isTakenBack }
  }
]

for (const { location, name: store } of takenUnmigrated(import.meta.url)) {
  describe(`A start killed on ${store}`, () => {
    for (const { after, before, name } of half("starts with kills", cases)) {
      it.live(
        `leaves a store for the next start: ${name}`,
        () =>
          Effect.gen(function* () {
            const whole = yield* location
            yield* before(whole)
            const { statements } = yield* opened(whole)
            const schema = yield* Released.schemaOf(whole)
            assert.isAbove(statements, 10)
            const killAt = picked(statements)
            yield* Effect.forEach(
              killAt,
              (at) =>
                Effect.gen(function* () {
                  const killed = yield* location
                  yield* before(killed)
                  assert.deepStrictEqual(yield* opened(killed, at), { statements: at - 1, killed: true })
                  yield* Effect.scoped(Layer.build(Database.layer(killed)))
                  assert.deepStrictEqual(yield* Released.schemaOf(killed), schema, `killed at statement ${at}`)
                  yield* after(killed)
                }).pipe(Effect.scoped),
              { concurrency: 2, discard: true }
            )
            yield* Effect.logInfo(`${store}, ${name}: killed at ${killAt.length} of ${statements} statements`)
          }).pipe(Effect.scoped),
        every ? 3_600_000 : 300_000
      )
    }

    const killedIn = Effect.fnUntraced(function* (
      name: string,
      before: (location: Location) => Effect.Effect<void, unknown>,
      after: (location: Location) => Effect.Effect<void, unknown>
    ) {
      const whole = yield* location
      yield* before(whole)
      const { statements: ofOpening } = yield* opened(whole)
      const { statements } = yield* opened(whole, 0, name)
      assert.isAbove(statements, ofOpening)
      yield* after(whole)
      // What runs beside may end a program a statement or two earlier.
      const killAt = picked(statements - 2, ofOpening + 1).slice(every ? 0 : 1)
      let kills = 0
      for (const at of killAt) {
        const killed = yield* location
        yield* before(killed)
        if ((yield* opened(killed, at, name)).killed) kills++
        yield* after(killed)
      }
      assert.isAbove(kills, 0)
      yield* Effect.logInfo(`${store}, ${name}: killed at ${killAt.length} of ${statements - ofOpening} statements`)
    })

    for (const { after, before, name, program } of half("stories with kills", stories, 2)) {
      it.live(name, () => killedIn(program, before, after).pipe(Effect.scoped), every ? 3_600_000 : 300_000)
    }
  })
}
