/** Starts one PostgreSQL server for the whole run where its binaries are installed; `DATABASE_URL` names another one. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
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
      await new Promise((resolve) => setTimeout(resolve, 50))
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
  readonly remove: () => void
}

/** A server of its own, whose data are in a new folder there; undefined where PostgreSQL is not installed. */
export const start = async (folder = tmpdir()): Promise<PostgresServer | undefined> => {
  const bin = binaries()
  if (bin === undefined) return undefined
  const data = mkdtempSync(join(folder, "headwater-postgres-"))
  if (process.getuid?.() === 0) execFileSync("chown", ["postgres", data])
  const run = (command: string, args: ReadonlyArray<string>) => {
    const [file, list] = asOwner(join(bin, command), args)
    execFileSync(file, list, { stdio: "ignore", cwd: data })
  }
  run("initdb", ["-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8"])
  const port = String(await Effect.runPromise(freePort))
  const [file, args] = asOwner(join(bin, "postgres"), [
    ...["-D", data, "-k", data, "-p", port, "-c", "listen_addresses=127.0.0.1"],
    ...["-c", "fsync=off", "-c", "max_connections=200"]
  ])
  const launch = () => {
    const server = spawn(file, args, { stdio: "ignore", cwd: data })
    return waitFor(() => run("pg_isready", ["-h", "127.0.0.1", "-p", port]), server)
  }
  const stop = (mode: "fast" | "immediate") => run("pg_ctl", ["-D", data, "-m", mode, "stop"])
  await launch()
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    stop: () => stop("fast"),
    kill: () => process.kill(Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]), "SIGKILL"),
    launch,
    remove: () => {
      stop("immediate")
      rmSync(data, { recursive: true, force: true })
    }
  }
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
