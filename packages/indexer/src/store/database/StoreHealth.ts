/** What a store says of itself to its operator. */
import { stat, statfs } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ChainRow from "./ChainRow.ts"
import { Database, DatabaseError } from "./Database.ts"
import type { Location } from "./Location.ts"

export interface StoreHealth {
  /** Chains of which at least one block was committed. */
  readonly chains: number
  /** Of a store on a server. */
  readonly server:
    | {
        readonly version: string
        /** How far its clock is ahead of this machine's, in seconds. */
        readonly clockAhead: number
      }
    | undefined
  /** Of a store in a file. */
  readonly file:
    | {
        readonly name: string
        /** Permission bits. */
        readonly mode: number
        readonly folder: string
        /** Bytes that this user may still write in the folder. */
        readonly free: number
      }
    | undefined
}

/** Reads a few rows, as a request would; fails where the store does not answer. */
export const answers = Effect.asVoid(ChainRow.all)

const server = Effect.gen(function* () {
  const { read } = yield* Database
  const [row] = yield* read((db) =>
    db.selectNoFrom(({ fn }) => [fn<string>("version", []).as("version"), fn<Date>("now", []).as("now")])
  )
  const clockAhead = Math.round((row!.now.getTime() - (yield* Clock.currentTimeMillis)) / 1000)
  return { version: row!.version.split(" on ")[0]!, clockAhead }
})

const file = (name: string) =>
  Effect.tryPromise({
    try: async () => {
      const folder = dirname(resolve(name))
      const { bavail, bsize } = await statfs(folder)
      const { mode } = await stat(name)
      return { name, mode: mode & 0o777, folder, free: bavail * bsize }
    },
    catch: (cause) => new DatabaseError({ cause })
  })

/** What there is to say of an open store. */
export const inspect = Effect.fn("StoreHealth.inspect")(function* (location: Location) {
  const chains = yield* ChainRow.all
  return {
    chains: chains.filter(({ height }) => height !== null).length,
    server: location.kind === "postgres" ? yield* server : undefined,
    file: location.kind === "sqlite" ? yield* file(location.file) : undefined
  } satisfies StoreHealth
})

const sizeOf = (file: string) =>
  Effect.promise(() =>
    stat(file).then(
      ({ size }) => size,
      () => 0
    )
  )

/** Bytes on disk: of the SQLite file with the log beside it, or of the PostgreSQL database. */
export const size = Effect.fn("StoreHealth.size")(function* (location: Location) {
  if (location.kind === "sqlite") return (yield* sizeOf(location.file)) + (yield* sizeOf(`${location.file}-wal`))
  const { read } = yield* Database
  const [row] = yield* read((db) =>
    db.selectNoFrom(({ fn }) => fn<number>("pg_database_size", [fn("current_database", [])]).as("bytes"))
  )
  return row!.bytes
})
