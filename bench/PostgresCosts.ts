/** What a PostgreSQL server on this machine has cost: CPU of all its processes from `/proc`, and its own counts. */
import { readdirSync, readFileSync } from "node:fs"
import type pg from "pg"

/** Clock ticks a second, as Linux shows them in `/proc`. */
const ticks = 100

/** What follows the name in `/proc/PID/stat`, whose third field is the first here. */
const statOf = (pid: number) =>
  readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ")

const parentOf = (stat: ReadonlyArray<string>) => Number(stat[1])
const secondsOf = (stat: ReadonlyArray<string>, fields: ReadonlyArray<number>) =>
  fields.reduce((sum, field) => sum + Number(stat[field]), 0) / ticks

/** The process that every process of the server is a child of. */
export const postmaster = async (client: pg.Client): Promise<number> => {
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid")
  return parentOf(statOf(rows[0]!.pid))
}

/** CPU seconds of the server since its start, with those of connections that have ended. */
export const cpuOf = (postmaster: number): number => {
  let sum = secondsOf(statOf(postmaster), [11, 12, 13, 14])
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue
    try {
      const stat = statOf(Number(name))
      if (parentOf(stat) === postmaster) sum += secondsOf(stat, [11, 12])
    } catch {
      // The process has ended meanwhile, and counts with the postmaster.
    }
  }
  return sum
}

export interface Counts {
  /** Bytes that were written to the log since the server was set up. */
  readonly wal: number
  readonly commits: number
  readonly rollbacks: number
  readonly deadlocks: number
}

/** Of the client's database, but for the log, which is the server's. */
export const countsOf = async (client: pg.Client): Promise<Counts> => {
  const { rows } = await client.query<Record<keyof Counts, string>>(`
    select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as wal, xact_commit as commits, xact_rollback as rollbacks, deadlocks
    from pg_stat_database where datname = current_database()`)
  const { commits, deadlocks, rollbacks, wal } = rows[0]!
  return { wal: Number(wal), commits: Number(commits), rollbacks: Number(rollbacks), deadlocks: Number(deadlocks) }
}
