/**
 * How soon a daemon that takes a chain over enters the chain's next block, by the number of watched addresses: with the set
 * of these filled before the first block, and with the set filled beside the blocks, as the daemon does. On PostgreSQL,
 * subscriptions to one address each; blocks of 200 transfers, two of which pay watched addresses.
 *
 *     node bench/takeover.ts [addresses …]
 *
 * Time passes with what else the machine does: CPU is of this process and of the server.
 */
import { randomBytes } from "node:crypto"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, Transfer } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as WatchedAddresses from "@headwater/indexer/store/chain/WatchedAddresses"
import * as ChainRow from "@headwater/indexer/store/database/ChainRow"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as Result from "effect/Result"
import pg from "pg"
import * as PostgresServer from "../test/PostgresServer.ts"
import * as PostgresCosts from "./PostgresCosts.ts"

const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [100_000, 2_000_000, 5_000_000]
const chain = Result.getOrThrow(Chain.find("ethereum", "mainnet"))
const blocks = 20

/** As PostgreSQL makes them below. */
const address = (number: number) => Buffer.from(String(number).padStart(20, "0")) as Uint8Array as AddressBytes

const blockOf = (height: number, parent: Uint8Array, size: number): Block => {
  const random = () => randomBytes(20) as Uint8Array as AddressBytes
  const transfers = Array.from({ length: 200 }, (_, transaction): Transfer => {
    const to = transaction % 100 === 0 ? address(1 + Math.floor(Math.random() * size)) : random()
    return { kind: "coin", transaction, position: 0, from: random(), to, amount: 1n }
  })
  const transactions = transfers.map(() => randomBytes(32))
  return { height, hash: randomBytes(32), parent, time: height, transactions, transfers, spends: [] }
}

const fillRows = (from: number, to: number) => `
  insert into subscription (reference_id, account, chain, event, address, callback_url, host, secret, confirmations, created,
    from_height, active, revision)
  select 'r' || n, 1, 1, 'ADDRESS_COINS_TRANSACTION_CONFIRMED', convert_to(lpad(n::text, 20, '0'), 'UTF8'),
    'https://example.com/', 'example.com', null, 1, 1, null, 1, n
  from generate_series(${from}, ${to}) n`

const seconds = (millis: number) => `${(millis / 1000).toFixed(2)} s`

const main = async () => {
  const server = (await PostgresServer.start())!
  const client = new pg.Client({ connectionString: server.url })
  const location = { kind: "postgres", url: Redacted.make(server.url), connections: 4 } as const
  const run = <A, E>(effect: Effect.Effect<A, E, Database>) =>
    Effect.runPromise(
      effect.pipe(
        Effect.provide(Database.layer(location)),
        Effect.provideService(References.MinimumLogLevel, "Warn" as const)
      )
    )
  try {
    await client.connect()
    const postmaster = await PostgresCosts.postmaster(client)
    await run(
      Effect.gen(function* () {
        const { query } = yield* Database
        yield* query((db) => db.insertInto("account").values({ id: 1, name: "a", created: 1 }))
        yield* query((db) => db.insertInto("chain").values({ id: 1, name: Chain.nameOf(chain) }))
      })
    )
    let [height, present] = [1_000, 0]
    let parent: Uint8Array = randomBytes(32)
    for (const size of sizes) {
      await client.query(fillRows(present + 1, size))
      await client.query(`update chain set revision = ${size}`)
      await client.query("vacuum analyze subscription")
      present = size
      for (const [way, filling] of [
        ["before the first block", { atOnce: Number.POSITIVE_INFINITY, pause: Effect.yieldNow }],
        ["beside the blocks", undefined]
      ] as const) {
        const began = performance.now()
        const cpuBefore = process.cpuUsage()
        const serverBefore = PostgresCosts.cpuOf(postmaster)
        await run(
          Effect.gen(function* () {
            const opening = ChainStore.open(chain, { record: "watched", undoDepth: 64 })
            yield* ChainRow.follow(chain)
            const store = yield* filling === undefined
              ? opening
              : Effect.provideService(opening, WatchedAddresses.Filling, filling)
            const times: Array<number> = []
            let callbacks = 0
            const enter = Effect.gen(function* () {
              const block = blockOf(++height, parent, size)
              parent = block.hash
              const began = performance.now()
              yield* store.unknownTokens([block])
              callbacks += (yield* store.commit([block], [])).callbacks
              times.push(performance.now() - began)
            })
            yield* enter
            const first = performance.now() - began
            for (let i = 1; i < blocks; i++) yield* enter
            const median = times.toSorted((a, b) => a - b)[blocks / 2]!
            const { system, user } = process.cpuUsage(cpuBefore)
            console.log(
              `${size} addresses, set filled ${way}: first block after ${seconds(first)}; ` +
                `${blocks} blocks, median ${median.toFixed(1)} ms, ${callbacks} callbacks; ` +
                `CPU ${seconds((user + system) / 1000)} + ${seconds((PostgresCosts.cpuOf(postmaster) - serverBefore) * 1000)}`
            )
          }).pipe(Effect.scoped)
        )
      }
    }
  } finally {
    await client.end()
    server.remove()
  }
}

await main()
