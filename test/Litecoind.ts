/** A real litecoind on an empty regtest chain, for tests: own folder, own ports, a wallet, gone with the scope. */
import { spawn } from "node:child_process"
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
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
}

const mwebActivation = 432

/** Starts the node; more flags than the usual ones (`-txindex=0`) may be given. */
export const start = (...flags: ReadonlyArray<string>): Effect.Effect<Litecoind, never, Scope.Scope> =>
  Effect.gen(function* () {
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "headwater-litecoind-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    )
    const port = yield* freePort
    const node = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const child = spawn(
          binary!,
          [
            ...["-regtest", `-datadir=${folder}`, "-server", "-listen=0", "-dnsseed=0", "-printtoconsole=0"],
            ...["-rpcuser=user", "-rpcpassword=password", `-rpcport=${port}`, "-rpcbind=127.0.0.1"],
            ...["-rpcallowip=127.0.0.1", "-rpcworkqueue=64", "-txindex=1", "-fallbackfee=0.0002", ...flags]
          ],
          { stdio: "ignore" }
        )
        const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()))
        return { child, exited }
      }),
      ({ child, exited }) =>
        Effect.promise(() => {
          child.kill("SIGKILL")
          return exited
        })
    )
    const url = `http://user:password@127.0.0.1:${port}`

    const wallet = (name: string, ...options: ReadonlyArray<unknown>) =>
      Effect.as(rpcAt(url)("createwallet", name, ...options), rpcAt(url, `/wallet/${name}`))

    // By the real clock, so that the node also starts in tests that run on a test clock.
    yield* Effect.promise(async () => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await caller(url)("/", "getblockcount", [])
        } catch (error) {
          if (attempt === 2_400 || node.child.exitCode !== null) throw error
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
      }
    })
    const rpc = yield* wallet("headwater")

    const mine = (blocks: number, address?: string) =>
      Effect.flatMap(address === undefined ? rpc<string>("getnewaddress") : Effect.succeed(address), (to) =>
        rpc<ReadonlyArray<string>>("generatetoaddress", blocks, to)
      )
    return {
      url,
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
      stop: Effect.promise(() => {
        node.child.kill("SIGTERM")
        return node.exited
      })
    }
  })
