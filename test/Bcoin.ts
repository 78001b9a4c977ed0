/**
 * A real bcoin on an empty regtest chain, for tests: in memory, own port, gone with the scope. Its `getblock` takes
 * booleans. It has no wallet that signs for a test's keys, no replacement of transactions and no way to leave a chain
 * that another miner's blocks would not be: `bcoin/node.cjs` makes these of its parts.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { orElse, rpcAt } from "./NodeRpc.ts"
import type { PayingNode, PayingWallet } from "./RandomWallets.ts"

const program = fileURLToPath(new URL("bcoin/node.cjs", import.meta.url))

/** As bcoin shows it. */
export interface Coin {
  readonly hash: string
  readonly index: number
  /** In satoshis. */
  readonly value: number
  /** −1 where it waits. */
  readonly height: number
  readonly coinbase: boolean
}

const maturity = 100
/** Of a payment, in satoshis, whatever its size. */
const fee = 20_000

const coinsOf = (satoshis: number) => Number((satoshis / 1e8).toFixed(8))

/** Starts a node that is at its first block; its program says what the arguments are. */
export const launch = (...args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, [program, ...args], {
          stdio: ["pipe", "pipe", "inherit"],
          env: { ...process.env, NODE_BACKEND: "js", NODE_NO_WARNINGS: "1" }
        })
      ),
      (child) =>
        Effect.promise(async () => {
          const exited = once(child, "exit")
          child.kill("SIGKILL")
          if (child.exitCode === null && child.signalCode === null) await exited
        })
    )
    const [line] = yield* Effect.promise(() =>
      Promise.race([
        once(child.stdout, "data"),
        once(child, "exit").then(() => Promise.reject(new Error("bcoin did not start")))
      ])
    )
    const url = `http://x:password@127.0.0.1:${String(line).trim()}`
    return { url, rpc: rpcAt(url) }
  })

/** Starts the node and mines until segwit is active and its coins are mature; its wallets have as many `addresses` on each branch. */
export const start = (addresses = 150, ...args: ReadonlyArray<string>): Effect.Effect<PayingNode, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { rpc, url } = yield* launch(...args)

    const make = Effect.fnUntraced(function* (name: string, seed: number, count: number) {
      const bytes = Buffer.alloc(32)
      bytes.writeUInt32BE(seed + 1)
      const { addresses, extendedPublicKey } = yield* rpc<Pick<PayingWallet, "addresses" | "extendedPublicKey">>(
        "headwaterwallet",
        bytes.toString("hex"),
        count
      )
      const all = addresses.flat()
      const used: [number, number] = [0, 0]
      const next = (branch: 0 | 1) => addresses[branch][used[branch]++]!
      const sign = (raw: string) => rpc<string>("headwatersign", raw)
      /** Pays with these coins, the rest to the wallet's own address; undefined where they are not enough. */
      const signed = Effect.fnUntraced(function* (coins: ReadonlyArray<Coin>, to: string, amount: number, fee: number) {
        const rest = coins.reduce((sum, { value }) => sum + value, 0) - amount - fee
        if (rest < 0) return undefined
        const outputs = { [to]: coinsOf(amount), ...(rest > 1_000 ? { [next(1)]: coinsOf(rest) } : {}) }
        const inputs = coins.map(({ hash, index }) => ({ txid: hash, vout: index }))
        return yield* sign(yield* rpc<string>("createrawtransaction", inputs, outputs))
      })
      /** What may be spent, mined or waiting, in an order that means nothing. */
      const spendable = Effect.gen(function* () {
        const height = yield* rpc<number>("getblockcount")
        const coins = yield* rpc<ReadonlyArray<Coin>>("headwaterspendable", all)
        return coins
          .filter((coin) => !coin.coinbase || height - coin.height >= maturity)
          .sort((a, b) => (a.hash < b.hash ? -1 : 1))
      })
      const sent = new Map<
        string,
        { readonly coins: ReadonlyArray<Coin>; readonly to: string; readonly amount: number }
      >()
      return {
        ...{ name, addresses, extendedPublicKey, next: () => next(0), sign },
        pay: Effect.fnUntraced(function* (to: string, coin: number) {
          const amount = Math.round(coin * 1e8)
          const coins: Array<Coin> = []
          for (const coin of yield* spendable) {
            if (coins.reduce((sum, { value }) => sum + value, 0) >= amount + fee) break
            coins.push(coin)
          }
          const hex = yield* signed(coins, to, amount, fee)
          if (hex === undefined) return undefined
          const id = yield* orElse<string | undefined>(rpc("headwatersend", hex), undefined)
          if (id !== undefined) sent.set(id, { coins, to, amount })
          return id
        }),
        replace: Effect.fnUntraced(function* (id: string) {
          const payment = sent.get(id)
          const hex = payment && (yield* signed(payment.coins, payment.to, payment.amount, 2 * fee))
          return hex === undefined ? false : yield* orElse(Effect.as(rpc("headwaterreplace", id, hex), true), false)
        }),
        balance: Effect.map(rpc<ReadonlyArray<Coin>>("headwatercoins", all), (coins) =>
          coins.reduce((sum, { value }) => sum + BigInt(value), 0n)
        )
      } satisfies PayingWallet
    })

    const miner = yield* make("miner", 0xfffffe, 50)
    const pool = yield* make("pool", 0xffffff, 1)
    const generate = (blocks: number, { addresses }: PayingWallet) => rpc("generatetoaddress", blocks, addresses[0][0])
    const mine = (blocks: number) => generate(blocks, pool)
    // Few coins, so that its payments need not look through many.
    yield* generate(10, miner)
    yield* mine(maturity)
    return {
      chain: Result.getOrThrow(Chain.find("bitcoin", "regtest")),
      ...{ url, rpc, mine, fund: miner.pay, decoded: [true, true], findsCoins: false },
      wallet: (name, seed) => make(name, seed, addresses),
      mineOnly: (hex) => rpc("headwatermine", [hex]),
      fork: (depth, meanwhile) => Effect.andThen(rpc("headwaterfork", depth), meanwhile)
    } satisfies PayingNode
  })
