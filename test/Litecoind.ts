/** A real litecoind on an empty regtest chain, for tests: own folder, own ports, a wallet, gone with the scope. */
import { type ChildProcess, spawn } from "node:child_process"
import { createHmac } from "node:crypto"
import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Folder from "./Folder.ts"
import { freePort } from "./FreePort.ts"
import { caller, type Rpc, rpcAt } from "./NodeRpc.ts"

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const binary = ["/usr/bin", ...(process.env.PATH ?? "").split(delimiter)]
  .map((folder) => join(folder, "litecoind"))
  .find(isExecutable)

/** Whether there is a litecoind to start: tests that need one are skipped where there is none. */
export const installed: boolean = binary !== undefined

export interface Litecoind {
  /** With user and password. */
  readonly url: string
  /** File with the user and password of this run of the node, beside those of `url`. */
  readonly cookie: string
  /** Calls the node and its first wallet. */
  readonly rpc: Rpc
  /** Makes another wallet, with further arguments of `createwallet`; calls go to it and the node. */
  readonly wallet: (name: string, ...options: ReadonlyArray<unknown>) => Effect.Effect<Rpc>
  /** Mines blocks, to an address of the wallet unless said otherwise; the hashes of the new blocks. */
  readonly mine: (blocks: number, address?: string) => Effect.Effect<ReadonlyArray<string>>
  /**
   * Brings the chain past block 432, from which on every block ends with a HogEx: block 432 itself cannot be mined
   * before a peg-in waits. Returns the MWEB address that was paid 10 LTC.
   */
  readonly mweb: Effect.Effect<string>
  /** Ends the process now; the scope does it at the latest. */
  readonly stop: Effect.Effect<void>
  /** Ends the process and starts it again on the same port, with the same chain, a new cookie, and maybe other flags. */
  readonly restart: (...flags: ReadonlyArray<string>) => Effect.Effect<void>
}

const mwebActivation = 432

/** `user` and `password` as `-rpcauth` takes them: with `-rpcpassword` the node would write no cookie. */
const rpcauth = `user:5a17$${createHmac("sha256", "5a17").update("password").digest("hex")}`

/** Starts the node; more flags than the usual ones (`-txindex=0`) may be given. */
export const start = (...flags: ReadonlyArray<string>): Effect.Effect<Litecoind, never, Scope.Scope> =>
  Effect.gen(function* () {
    const folder = yield* Folder.scoped
    const port = yield* freePort
    let child: ChildProcess
    const launch = (...more: ReadonlyArray<string>) =>
      Effect.sync(() => {
        child = spawn(
          binary!,
          [
            ...["-regtest", `-datadir=${folder}`, "-server", "-listen=0", "-dnsseed=0", "-printtoconsole=0"],
            ...[`-rpcauth=${rpcauth}`, `-rpcport=${port}`, "-rpcbind=127.0.0.1"],
            ...["-rpcallowip=127.0.0.1", "-rpcworkqueue=64", "-txindex=1", "-fallbackfee=0.0002"],
            // A new wallet makes 2,000 keys, unless told so: more than one and a half seconds of CPU.
            ...["-keypool=10", ...flags, ...more]
          ],
          { stdio: "ignore" }
        )
      })
    const end = (signal: NodeJS.Signals) =>
      Effect.callback<void>((resume) => {
        if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
        child.once("exit", () => resume(Effect.void))
        child.kill(signal)
      })
    yield* Effect.acquireRelease(launch(), () => end("SIGKILL"))
    const url = `http://user:password@127.0.0.1:${port}`

    const wallet = (name: string, ...options: ReadonlyArray<unknown>) =>
      Effect.as(rpcAt(url)("createwallet", name, ...options), rpcAt(url, `/wallet/${name}`))

    // By the real clock, so that the node also starts in tests that run on a test clock.
    const answers = Effect.promise(async () => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await caller(url)("/", "getblockcount", [])
        } catch (error) {
          if (attempt === 2_400 || child.exitCode !== null) throw error
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
      }
    })
    yield* answers
    const rpc = yield* wallet("headwater")

    const mine = (blocks: number, address?: string) =>
      Effect.flatMap(address === undefined ? rpc<string>("getnewaddress") : Effect.succeed(address), (to) =>
        rpc<ReadonlyArray<string>>("generatetoaddress", blocks, to)
      )
    return {
      url,
      cookie: join(folder, "regtest", ".cookie"),
      rpc,
      wallet,
      mine,
      mweb: Effect.gen(function* () {
        const height = yield* rpc<number>("getblockcount")
        yield* mine(Math.max(0, mwebActivation - 1 - height))
        const address = yield* rpc<string>("getnewaddress", "", "mweb")
        yield* rpc("sendtoaddress", address, 10)
        yield* mine(1)
        return address
      }),
      stop: end("SIGTERM"),
      restart: Effect.fnUntraced(function* (...more: ReadonlyArray<string>) {
        yield* end("SIGTERM")
        yield* launch(...more)
        yield* answers
        yield* rpcAt(url)("loadwallet", "headwater")
      })
    }
  })
