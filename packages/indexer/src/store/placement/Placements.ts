/**
 * The daemons that share a store, and which of them follows each chain: rows by which daemons find one another, with times
 * of the store's own clock. A daemon that has been silent for {@link silentMillis} counts as dead, and its chains go to
 * others. That it is dead is a guess: the fence of each chain (`Fence.ts`) refuses what it may yet write.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { sql } from "kysely"
import { Database, type DatabaseError } from "../database/Database.ts"
import type { Row } from "../database/Tables.ts"
import * as Assignment from "./Assignment.ts"

/** How long a daemon may be silent, in milliseconds. */
export const silentMillis = 8_000

/**
 * How long the session of a daemon may ask nothing in the midst of a transaction, in milliseconds, once some daemon is gone
 * and somebody waits for what the session has locked: a daemon that is held up has been silent for longer by then.
 */
const silentHolderMillis = 5_000

export interface Daemon {
  readonly id: number
  readonly name: string
  readonly version: string
  readonly roles: ReadonlyArray<string>
  /** Names of the chains that the daemon may follow. */
  readonly chains: ReadonlyArray<string>
  /** Milliseconds since the Unix epoch, by the store's clock. */
  readonly started: number
  readonly heartbeat: number
  /** Milliseconds since the heartbeat, by the store's clock. */
  readonly silence: number
}

export interface Placements {
  /** Those that are not silent, the oldest first. */
  readonly daemons: ReadonlyArray<Daemon>
  readonly placed: ReadonlyArray<Row<"placement">>
}

/** What a daemon says of itself. */
export type Registration = Pick<Daemon, "name" | "version" | "roles" | "chains">

const listed = (text: string) => (text === "" ? [] : text.split(","))

const readDaemons = Effect.gen(function* () {
  const { now, query } = yield* Database
  const rows = yield* query((db) =>
    db.selectFrom("daemon").selectAll().select(sql<number>`${now} - heartbeat`.as("silence")).orderBy("id")
  )
  return rows.map(({ chains, roles, ...row }): Daemon => ({ ...row, chains: listed(chains), roles: listed(roles) }))
})

const speaking = (daemons: ReadonlyArray<Daemon>) => daemons.filter(({ silence }) => silence < silentMillis)

/** The daemons, and where each chain is. */
export const read: Effect.Effect<Placements, DatabaseError, Database> = Effect.gen(function* () {
  const { read } = yield* Database
  const readPlaced = read((db) => db.selectFrom("placement").selectAll().orderBy("chain"))
  const [daemons, placed] = yield* Effect.all([readDaemons, readPlaced], { concurrency: "unbounded" })
  return { daemons: speaking(daemons), placed }
}).pipe(Effect.withSpan("Placements.read"))

/** Where the chains would be, and how they are on the way there: the rows that have to change. */
const changes = (daemons: ReadonlyArray<Daemon>, placed: Placements["placed"]) => {
  const assigned = Assignment.assign(daemons, placed)
  return placed.flatMap((row) => {
    const wanted = assigned.get(row.chain) ?? null
    // Who follows at present ends that first; nobody has to wait for who is gone.
    const isHeld = daemons.some(({ id }) => id === row.daemon)
    const daemon = isHeld ? row.daemon : wanted
    const successor = daemon === wanted ? null : wanted
    return daemon === row.daemon && successor === row.successor ? [] : [{ chain: row.chain, daemon, successor }]
  })
}

/** Whether {@link settle} would change anything. */
export const isSettled = ({ daemons, placed }: Placements): boolean => changes(daemons, placed).length === 0

/** Locks where the chains are, until the transaction ends. */
const lockPlaced = Effect.gen(function* () {
  const { forUpdate, query } = yield* Database
  return yield* query((db) => db.selectFrom("placement").selectAll().orderBy("chain").modifyEnd(forUpdate))
})

const move = Effect.fnUntraced(function* (chain: string, daemon: number | null, successor: number | null) {
  const { now, query, signals } = yield* Database
  yield* signals.send("placement")
  yield* query((db) =>
    db
      .updateTable("placement")
      .set({
        successor,
        since: sql<number>`case when daemon is not null and daemon = ${daemon} then since else ${now} end`,
        daemon
      })
      .where("chain", "=", chain)
  )
})

const settleLocked = Effect.gen(function* () {
  const { query } = yield* Database
  const placed = yield* lockPlaced
  const known = yield* readDaemons
  const daemons = speaking(known)
  const silent = known.filter((daemon) => !daemons.includes(daemon)).map(({ id }) => id)
  if (silent.length > 0) yield* query((db) => db.deleteFrom("daemon").where("id", "in", silent))
  for (const { chain, daemon, successor } of changes(daemons, placed)) yield* move(chain, daemon, successor)
})

/** Forgets daemons that are silent, and gives every chain a daemon, or a successor to the daemon that has it. */
export const settle = Effect.fn("Placements.settle")(function* () {
  const { transaction } = yield* Database
  yield* transaction(settleLocked)
})

/**
 * Enters a daemon, and gives its id. A daemon that is `restarted` takes the place of one of its name, whose process has
 * ended without a word: the chains stay with it.
 */
export const register = Effect.fn("Placements.register")(function* (
  { chains, name, roles, version }: Registration,
  { restarted }: { readonly restarted: boolean }
) {
  const { insertMany, now, query, transaction } = yield* Database
  return yield* transaction(
    Effect.gen(function* () {
      yield* insertMany(
        "placement",
        [...chains].sort().map((chain) => ({ chain })),
        "on conflict (chain) do nothing"
      )
      yield* lockPlaced
      const [row] = yield* query((db) =>
        db
          .insertInto("daemon")
          .values({ name, version, roles: roles.join(), chains: chains.join(), started: now, heartbeat: now })
          .returning("id")
      )
      const id = row!.id
      if (restarted) {
        const before = yield* query((db) =>
          db.deleteFrom("daemon").where("name", "=", name).where("id", "<", id).returning("id")
        )
        const ids = before.map(({ id }) => id)
        if (ids.length > 0) {
          yield* query((db) => db.updateTable("placement").set({ daemon: id }).where("daemon", "in", ids))
        }
      }
      yield* settleLocked
      return id
    })
  )
})

/**
 * Ends what daemons that are gone have left locked, as a process that is stopped within a transaction does: the chain that
 * was its own would stand still until PostgreSQL ends the transaction.
 */
export const freeLocks = Effect.gen(function* () {
  const { endSilentHolders } = yield* Database
  const ended = yield* endSilentHolders(silentHolderMillis)
  if (ended > 0) yield* Effect.logWarning(`Ended ${ended} transactions of a daemon that has stood still in their midst`)
})

/** Says that a daemon runs; whether it is still known. */
export const beat = Effect.fn("Placements.beat")(function* (id: number) {
  const { now, query } = yield* Database
  const rows = yield* query((db) =>
    db.updateTable("daemon").set({ heartbeat: now }).where("id", "=", id).returning("id")
  )
  return rows.length > 0
})

/**
 * Says that a daemon follows these chains no more: others may begin at once. A daemon that is `leaving` gets no chain any
 * more. In few statements, since the chains stand still meanwhile.
 */
export const release = Effect.fn("Placements.release")(function* (
  id: number,
  chains: ReadonlyArray<string>,
  { leaving }: { readonly leaving: boolean }
) {
  const { query, transaction } = yield* Database
  yield* transaction(
    Effect.gen(function* () {
      const placed = yield* lockPlaced
      if (leaving) yield* query((db) => db.updateTable("daemon").set({ chains: "" }).where("id", "=", id))
      const isReleased = ({ chain, daemon }: Row<"placement">) => daemon === id && chains.includes(chain)
      const left = placed.map((row) => (isReleased(row) ? { ...row, daemon: row.successor, successor: null } : row))
      const changed = changes(speaking(yield* readDaemons), left)
      const others = left.filter(
        (row, i) => isReleased(placed[i]!) && changed.every(({ chain }) => chain !== row.chain)
      )
      for (const { chain, daemon, successor } of [...changed, ...others]) yield* move(chain, daemon, successor)
    })
  )
})

/** Forgets a daemon that ends. */
export const leave = Effect.fn("Placements.leave")(function* (id: number) {
  const { query, transaction } = yield* Database
  yield* transaction(
    Effect.gen(function* () {
      yield* lockPlaced
      yield* query((db) => db.deleteFrom("daemon").where("id", "=", id))
      yield* settleLocked
    })
  )
})

/** A chain cannot be moved so. */
export class CannotMove extends Schema.TaggedError<CannotMove>()("CannotMove", { message: Schema.String }) {}

/** Wants a chain to be followed by the daemon of a name, while such a daemon runs; by any, where there is no name. */
export const pin = Effect.fn("Placements.pin")(function* (chain: string, name: string | undefined) {
  const { query, transaction } = yield* Database
  yield* transaction(
    Effect.gen(function* () {
      const placed = yield* lockPlaced
      if (placed.every((row) => row.chain !== chain)) {
        return yield* new CannotMove({
          message: `No daemon has shared ${chain} with others yet: daemons do so on one PostgreSQL store`
        })
      }
      const able = speaking(yield* readDaemons).filter(({ chains }) => chains.includes(chain))
      if (name !== undefined && able.every((daemon) => daemon.name !== name)) {
        const names = able.map((daemon) => daemon.name).join(", ")
        return yield* new CannotMove({
          message:
            `No daemon ${JSON.stringify(name)} runs that may follow ${chain}: ` +
            (names === "" ? "start one with the role follow and the chain in its settings" : `use one of ${names}`)
        })
      }
      yield* query((db) =>
        db
          .updateTable("placement")
          .set({ pinned: name ?? null })
          .where("chain", "=", chain)
      )
      yield* settleLocked
    })
  )
})

/** A chain and its daemon, by names. */
export interface ShownChain {
  readonly chain: string
  /** Null where no daemon that runs may follow the chain. */
  readonly daemon: string | null
  /** Milliseconds since the Unix epoch. */
  readonly since: number | null
  /** The daemon to which the chain is on its way. */
  readonly successor: string | null
  readonly pinned: string | null
}

/** A daemon, and the chains that it follows, by names. */
export interface ShownDaemon extends Pick<Daemon, "name" | "version" | "roles" | "started"> {
  /** Seconds for which the daemon has said nothing; 0 where that is no longer than it should be. */
  readonly silentSeconds: number
  readonly follows: ReadonlyArray<string>
}

/** A daemon says once a second that it runs. */
const usualSilence = 3_000

/** As operators see daemons and chains. */
export const shown = ({ daemons, placed }: Placements) => {
  const nameOf = (id: number | null) => daemons.find((daemon) => daemon.id === id)?.name ?? null
  return {
    daemons: daemons.map(
      ({ id, name, roles, silence, started, version }): ShownDaemon => ({
        ...{ name, version, roles, started },
        silentSeconds: silence < usualSilence ? 0 : Math.floor(silence / 1_000),
        follows: placed.filter(({ daemon }) => daemon === id).map(({ chain }) => chain)
      })
    ),
    chains: placed.map(
      ({ chain, daemon, pinned, since, successor }): ShownChain => ({
        ...{ chain, daemon: nameOf(daemon), since, successor: nameOf(successor), pinned }
      })
    )
  }
}
