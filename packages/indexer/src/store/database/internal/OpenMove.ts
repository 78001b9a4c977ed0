/** The two stores of a move, opened: a move begins there, or goes on. Whatever stands in its way is refused here. */
import { randomBytes } from "node:crypto"
import { existsSync } from "node:fs"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Location } from "../Location.ts"
import * as SecretKeys from "../SecretKeys.ts"
import * as Migrations from "./Migrations.ts"
import * as MoveSource from "./MoveSource.ts"
import * as MoveTarget from "./MoveTarget.ts"
import { attempt } from "./SqliteFile.ts"

/** The store cannot be moved, or not yet. */
export class CannotMove extends Schema.TaggedError<CannotMove>()("CannotMove", { message: Schema.String }) {}

/** The store was moved to this very database: nothing is left to do. */
export class MovedAlready extends Schema.TaggedError<MovedAlready>()("MovedAlready", {}) {
  override get message() {
    return "The store was moved already: start the daemon with the new settings"
  }
}

export const cannot = (message: string) => new CannotMove({ message })

/** Sees to it that the daemon will find the keys that callback secrets are encrypted with; the file that was made for that. */
export const bringKeys = Effect.fnUntraced(function* (from: Location, to: Location, needed: ReadonlyArray<string>) {
  const keys = yield* SecretKeys.read(to)
  const missing = needed.filter((id) => keys.every((key) => key.id !== id))
  if (missing.length === 0) return undefined
  if (keys.length > 0 || to.secretKeys !== undefined || from.secretKeys !== undefined) {
    return yield* cannot(
      `Callback secrets in the store are encrypted with the key ${missing.join(", ")}, which is in ${SecretKeys.placeOf(from)} ` +
        `and not in ${SecretKeys.placeOf(to)} of the new settings: put it there too`
    )
  }
  yield* SecretKeys.copy(from, to)
  return SecretKeys.fileOf(to)
})

/** Compares what was applied to both with what this program knows. */
const checkSchema = (source: ReadonlyArray<string>, target: ReadonlyArray<string>) => {
  const known = Migrations.known
  if (source.some((name) => !known.includes(name))) {
    return cannot("A newer headwater has changed the store: move it by that version, or by a newer one")
  }
  if (known.some((name) => !source.includes(name))) {
    return cannot("The store is of an older headwater: start the daemon of this version on it once, and move it then")
  }
  if (target.length !== known.length || known.some((name) => !target.includes(name))) {
    return cannot(
      "The move was begun by another version of headwater: end it by headwater migrate-store --cancel, and begin again with an " +
        "empty database"
    )
  }
  return Effect.void
}

const beginAgain = "end that move by headwater migrate-store --cancel, and begin again with an empty database"

/** Opens both, begins the move or finds where it is. */
export const open = Effect.fnUntraced(function* (from: Location, to: Location) {
  if (from.kind !== "sqlite") return yield* cannot("The store is PostgreSQL already: a SQLite file is what is moved")
  if (to.kind !== "postgres") return yield* cannot("The new settings must name a database in store.postgres")
  if (!existsSync(from.file)) return yield* cannot(`There is no store ${from.file} yet: nothing is to be moved`)
  const unopened = (name: string) => (error: { readonly message: string }) =>
    cannot(`Cannot open ${name}: ${error.message}`)
  const source = yield* Effect.mapError(MoveSource.open(from.file), unopened(`the SQLite file ${from.file}`))
  const isMoved = yield* attempt(source.isMoved)
  const { epoch, isFillable, names, target } = yield* Effect.mapError(
    MoveTarget.open(to),
    unopened("PostgreSQL, which store.postgres of the new settings names")
  )
  if (!isFillable) {
    if (isMoved && epoch !== undefined && epoch === (yield* attempt(source.epoch))) return yield* new MovedAlready()
    return yield* cannot(
      isMoved
        ? "The store was moved already, as it seems to another database: start the daemon with the settings that name that one"
        : "The database is a store of its own, or of a move that has ended: name an empty database"
    )
  }
  const withoutMark = (all: ReadonlyArray<string>, mark: string) => all.filter((name) => name !== mark)
  yield* checkSchema(
    withoutMark(yield* attempt(source.migrations), Migrations.moved),
    withoutMark(names, Migrations.beingFilled)
  )
  if (!(yield* target.claim)) return yield* cannot("Another headwater migrate-store is at work on the database")

  const columns = yield* target.columns
  const tables = source.tables.filter(({ name }) => columns.has(name))
  for (const table of tables) {
    const there = new Set(columns.get(table.name)!.map(({ column }) => column))
    const missing = table.columns.find(({ name }) => !there.has(name))
    if (missing !== undefined) return yield* cannot(`The database has no column ${missing.name} in ${table.name}`)
  }

  const state = yield* target.state
  const token = state.get("token") ?? randomBytes(8).toString("hex")
  const earlier = yield* attempt(source.journal.begun)
  if (!state.has("token")) {
    if (earlier !== undefined) {
      return yield* cannot(
        `The store is being moved to another database, or was: go on with that one. Where it is lost, ${beginAgain}`
      )
    }
    yield* target.transaction(
      Effect.andThen(Effect.forEach(tables, target.empty, { discard: true }), target.setState("token", token))
    )
  }
  if (earlier === undefined && state.has("change")) {
    return yield* cannot("The database holds a part of another store, or of a copy of this one: name an empty database")
  }
  if (earlier !== undefined && earlier.token !== token) {
    return yield* cannot("The database holds a part of another store: name an empty database")
  }
  const keyFile = yield* bringKeys(from, to, yield* attempt(source.secretKeys))
  const begun = earlier ?? (yield* attempt(() => source.journal.begin(token)))
  if (!(yield* attempt(() => source.journal.isNoted(begun)))) {
    return yield* cannot(`The schema of the store was changed since the move began: ${beginAgain}`)
  }
  const last = yield* attempt(source.journal.lastChange)
  const change = Number(state.get("change") ?? last)
  if (last < change) return yield* cannot(`The store was put back from a copy since the move began: ${beginAgain}`)
  if (!state.has("change")) yield* target.setState("change", String(last))
  return {
    source,
    target,
    tables,
    /** Tables of the file that are none of Headwater's. */
    foreign: source.tables.filter(({ name }) => !columns.has(name)).map(({ name }) => name),
    begun,
    /** The last change of the file that the database has. */
    change,
    /** What the database says of the move, by names. */
    state,
    keyFile,
    isMoved
  }
})

export type OpenMove = Effect.Success<ReturnType<typeof open>>
