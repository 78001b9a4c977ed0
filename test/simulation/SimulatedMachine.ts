/**
 * The machine below a SQLite store: the writing thread, which answers in its time, and the disk. The statements are run
 * by SQLite itself on a file in memory. The disk may refuse to write; a process that is killed leaves what it has
 * committed, and a loss of power what was brought onto the disk.
 */
import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync, truncateSync } from "node:fs"
import { join } from "node:path"
import { SqliteMachine } from "@headwater/indexer/store/database/internal/SqliteMachine"
import * as SqliteExecution from "@headwater/indexer/store/database/internal/SqliteExecution"
import { pragmas } from "@headwater/indexer/store/database/internal/sqlitePragmas"
import { DatabaseError } from "@headwater/indexer/store/database/DatabaseError"
import BetterSqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Chance } from "./Chance.ts"
import type { SimulatedStore } from "./SimulatedStore.ts"
import type { SimulatedTime } from "./SimulatedTime.ts"

type Machine = typeof SqliteMachine.Service
type Thread = ReturnType<Machine["thread"]>

export interface SimulatedMachine extends SimulatedStore {
  /** The store's file in the present life. */
  readonly file: () => string
}

const full = { message: "database or disk is full", code: "SQLITE_FULL" }

/** As a thread's message would have them: bytes of the receiver's own. */
const received = (reply: SqliteExecution.Reply): SqliteExecution.Reply => {
  for (const row of reply.error === undefined ? (reply.result.rows as Array<unknown>) : []) {
    if (typeof row !== "object" || row === null) continue
    const record = row as Record<string, unknown>
    for (const name in record) {
      const value = record[name]
      if (Buffer.isBuffer(value)) record[name] = new Uint8Array(value)
    }
  }
  return reply
}

export const make = (template: string, time: SimulatedTime, chance: Chance): SimulatedMachine => {
  const folder = mkdtempSync("/dev/shm/headwater-simulation-")
  let life = 0
  const fileOf = (life: number) => join(folder, `${life}.db`)
  copyFileSync(template, fileOf(0))
  let fullness = 0
  /** Bytes of the log that are on the disk. */
  let flushed = 0
  let looking: BetterSqlite.Database | undefined

  const sizeOfLog = (file: string) => (existsSync(`${file}-wal`) ? statSync(`${file}-wal`).size : 0)

  const thread: Machine["thread"] = (options) => {
    const db = new BetterSqlite(options.file)
    for (const pragma of pragmas(options)) db.pragma(pragma)
    const execute = SqliteExecution.make(db)
    let answer: ((reply: SqliteExecution.Reply) => void) | undefined
    let busyUntil = 0
    let isOver = false
    return {
      ref: () => {},
      unref: () => {},
      on: ((event: string, listener: typeof answer) => {
        if (event === "message") answer = listener
      }) as Thread["on"],
      postMessage: (request) => {
        const millis = chance.happens(0.02) ? chance.between(5, 60) : chance.next()
        busyUntil = Math.max(busyUntil, time.now()) + millis
        time.after(busyUntil - time.now(), () => {
          if (isOver) return
          const last = request.packed.statements.at(-1)!
          const isUndone = "sql" in last && last.sql === "rollback"
          if (!isUndone && chance.happens(fullness)) answer!({ id: request.id, error: full })
          else answer!(received(execute(request)))
        })
      },
      terminate: async () => {
        isOver = true
        db.close()
      }
    }
  }

  const flush: Machine["flush"] = (file) =>
    Effect.succeed(
      Effect.callback((resume) => {
        const size = sizeOfLog(file)
        time.after(chance.between(1, 8), () => {
          if (chance.happens(fullness))
            return resume(Effect.fail(new DatabaseError({ cause: new Error("EIO: fdatasync") })))
          if (file === fileOf(life)) flushed = Math.max(flushed, size)
          resume(Effect.void)
        })
      })
    )

  return {
    file: () => fileOf(life),
    settings: () => ({ sqlite: fileOf(life) }),
    layer: () => Layer.succeed(SqliteMachine, { thread, flush }),
    look: <A>(sql: string) => {
      if (looking?.name !== fileOf(life)) {
        looking?.close()
        looking = new BetterSqlite(fileOf(life), { readonly: true })
      }
      return looking.prepare(sql).all() as ReadonlyArray<A>
    },
    setTrouble: (probability) => {
      fullness = probability
    },
    isTroubled: () => fullness > 0,
    mend: () => {
      fullness = 0
    },
    crash: (how) => {
      const from = fileOf(life++)
      const to = fileOf(life)
      copyFileSync(from, to)
      if (!existsSync(`${from}-wal`)) return
      copyFileSync(`${from}-wal`, `${to}-wal`)
      if (how !== "power") return
      // The disk may have more of it than it was told to bring there.
      const size = sizeOfLog(to)
      flushed = chance.between(Math.min(flushed, size), size)
      truncateSync(`${to}-wal`, flushed)
    },
    isShared: false,
    losesCommitted: true,
    remove: () => {
      looking?.close()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
