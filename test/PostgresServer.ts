/** Starts one PostgreSQL server for the whole run where its binaries are installed; `DATABASE_URL` names another one. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import * as Effect from "effect/Effect"
import pg from "pg"
import { freePort } from "./FreePort.ts"

const root = "/usr/lib/postgresql"

const binaries = (): string | undefined =>
  existsSync(root)
    ? readdirSync(root)
        .map((version) => join(root, version, "bin"))
        .find((folder) => existsSync(join(folder, "initdb")))
    : undefined

/** PostgreSQL refuses to run as root. */
const asOwner = (command: string, args: ReadonlyArray<string>): [string, Array<string>] =>
  process.getuid?.() === 0 ? ["runuser", ["-u", "postgres", "--", command, ...args]] : [command, [...args]]

const waitFor = async (ready: () => void, child: ChildProcess) => {
  for (let i = 0; i < 1_200 && child.exitCode === null; i++) {
    try {
      return ready()
    } catch {
      await sleep(50)
    }
  }
  throw new Error("PostgreSQL did not start")
}

export interface PostgresServer {
  readonly url: string
  /** Ends the server as an administrator does who starts it again: connections are ended, and what runs is undone. */
  readonly stop: () => void
  /** `kill -9` of the server. */
  readonly kill: () => void
  /** Starts the server again, on the same port and with the same data. */
  readonly launch: () => Promise<void>
  /** A standby of this server that has what the server has; it asks for what comes under this name. */
  readonly standby: (name: string) => Promise<PostgresServer>
  /** Keeps a standby as it is: nothing more is asked of its primary. */
  readonly holdBack: () => Promise<void>
  /** Makes a standby a primary. */
  readonly promote: () => void
  readonly remove: () => void
}

interface Binaries {
  readonly run: (command: string, args: ReadonlyArray<string>, folder: string) => void
  readonly spawn: (args: ReadonlyArray<string>, folder: string) => ChildProcess
}

/** Runs one statement at the server. */
export const ask = async (
  url: string,
  statement: string
): Promise<ReadonlyArray<Readonly<Record<string, unknown>>>> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

/** A server whose data are there already, in a folder that goes with the server. */
const serve = async ({ run, spawn }: Binaries, data: string): Promise<PostgresServer> => {
  const port = String(await Effect.runPromise(freePort))
  const args = [
    ...["-D", data, "-k", data, "-p", port, "-c", "listen_addresses=127.0.0.1"],
    ...["-c", "fsync=off", "-c", "max_connections=200"]
  ]
  const launch = () => {
    const server = spawn(args, data)
    return waitFor(() => run("pg_isready", ["-h", "127.0.0.1", "-p", port], data), server)
  }
  const control = (...action: ReadonlyArray<string>) => run("pg_ctl", ["-D", data, ...action], data)
  await launch()
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  return {
    url,
    stop: () => control("-m", "fast", "stop"),
    kill: () => process.kill(Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]), "SIGKILL"),
    launch,
    standby: async (name) => {
      const copy = emptyFolder(dirname(data))
      const from = `host=127.0.0.1 port=${port} user=postgres application_name=${name}`
      run("pg_basebackup", ["-D", copy, "-d", from, "-R", "-c", "fast", "--no-sync"], copy)
      return serve({ run, spawn }, copy)
    },
    holdBack: async () => {
      await ask(url, "alter system set primary_conninfo = ''")
      await ask(url, "select pg_reload_conf()")
      while ((await ask(url, "select 1 from pg_stat_wal_receiver")).length > 0) await sleep(20)
    },
    promote: () => control("promote"),
    remove: () => {
      // A server that was killed is not there to be stopped.
      if (existsSync(join(data, "postmaster.pid"))) ignoring(() => control("-m", "immediate", "stop"))
      rmSync(data, { recursive: true, force: true })
    }
  }
}

const ignoring = (act: () => void) => {
  try {
    act()
  } catch {}
}

const emptyFolder = (folder: string) => {
  const data = mkdtempSync(join(folder, "headwater-postgres-"))
  if (process.getuid?.() === 0) execFileSync("chown", ["postgres", data])
  return data
}

/** A server of its own, whose data are in a new folder there; undefined where PostgreSQL is not installed. */
export const start = async (folder = tmpdir()): Promise<PostgresServer | undefined> => {
  const bin = binaries()
  if (bin === undefined) return undefined
  const run: Binaries["run"] = (command, args, cwd) => {
    const [file, list] = asOwner(join(bin, command), args)
    execFileSync(file, list, { stdio: "ignore", cwd })
  }
  const data = emptyFolder(folder)
  run("initdb", ["-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8"], data)
  return serve(
    {
      run,
      spawn: (args, cwd) => {
        const [file, list] = asOwner(join(bin, "postgres"), args)
        return spawn(file, list, { stdio: "ignore", cwd })
      }
    },
    data
  )
}

export default async function setup() {
  if (process.env.DATABASE_URL !== undefined) return
  const server = await start()
  if (server === undefined) {
    console.warn("PostgreSQL is not installed: the store tests run on SQLite only")
    return
  }
  process.env.DATABASE_URL = server.url
  return server.remove
}
