/**
 * What it costs PostgreSQL that callbacks are kept for 30 days: a day's callbacks made past, to go with their partition, beside
 * a day's callbacks deleted from a table that has all of them; vacuums included, which look through every index of the table.
 *
 *     node bench/retention.ts [callbacks a day] [days]
 *
 * Both ways in turns, each in a database of its own. CPU is of this process and of the server; the server has `fsync = off`.
 */
import * as CallbackPartitions from "@headwater/indexer/store/subscriptions/internal/CallbackPartitions"
import * as Pruning from "@headwater/indexer/store/subscriptions/internal/Pruning"
import type pg from "pg"
import * as PostgresCosts from "./PostgresCosts.ts"
import * as RetentionCosts from "./RetentionCosts.ts"

const [count = 20_000, rounds = 5] = process.argv.slice(2).map(Number)
const dayMillis = 86_400_000
const kept = 30
const subscriptions = 500

let filled = 0

/** Delivered callbacks of the usual size, which ended so many days and some hours ago. */
const day = (daysAgo: number) => {
  const first = filled * count
  filled++
  const ended = Date.now() - (daysAgo + 0.5) * dayMillis
  return `
    insert into callback (subscription, host, account, chain, height, idempotency_key, event, body, state, due, attempts,
      attempt_log, sequence, created, delivered)
    select 1 + n % ${subscriptions}, 'host.test', 1, 1, n, md5(n::text), 'ADDRESS_COINS_TRANSACTION_CONFIRMED',
      (select string_agg(md5((n * 30 + part)::text), '') from generate_series(1, 22) part), 'delivered', ${ended.toFixed(0)}, 1,
      '[{"at":1700000000000,"duration":20,"status":200}]', 1 + n / ${subscriptions}, ${ended.toFixed(0)}, ${ended.toFixed(0)}
    from generate_series(${first + 1}, ${first + count}) n`
}

const rowsOf = `
  insert into chain (name) values ('ethereum/mainnet');
  insert into subscription (reference_id, account, chain, event, address, callback_url, host, secret, confirmations, created,
    from_height, active, revision)
  select 'r' || n, 1, 1, 'BLOCK_MINED', null, 'https://host.test/', 'host.test', null, 1, 1, null, 1, n
  from generate_series(1, ${subscriptions}) n`

const main = async () => {
  const { end, open, postmaster } = await RetentionCosts.start()

  const left = async (client: pg.Client) =>
    Number((await client.query("select count(*) as left from callback")).rows[0].left)
  const expect = (found: number, days: number) => {
    if (found !== days * count) throw new Error(`${found} callbacks, not ${days} days of ${count}`)
  }

  const inPartitions = await open("in_partitions")
  const inOneTable = await open("in_one_table")
  // 30 days, one more of which is to be forgotten each time.
  for (const { client } of [inPartitions, inOneTable]) {
    await client.query(rowsOf)
    for (let daysAgo = kept; daysAgo > 0; daysAgo--) await client.query(day(daysAgo))
  }
  const keeping = { finishedMillis: 40 * dayMillis, restMillis: dayMillis }
  await inPartitions.run(CallbackPartitions.move(keeping))

  const ours: Array<RetentionCosts.Cost> = []
  const peers: Array<RetentionCosts.Cost> = []
  for (let round = 0; round < rounds; round++) {
    await inPartitions.client.query(day(2))
    ours.push(
      await inPartitions.measured(count, async () => {
        await inPartitions.run(CallbackPartitions.move(keeping))
        // Of what is past, the pages that are new since the last one.
        await inPartitions.client.query("vacuum callback")
        await inPartitions.client.query("vacuum every_callback")
      })
    )
    expect(await left(inPartitions.client), 0)
    peers.push(
      await inOneTable.measured(count, async () => {
        await inOneTable.run(Pruning.prune({ finishedMillis: (kept - round) * dayMillis }))
        await inOneTable.client.query("vacuum callback")
      })
    )
    expect(await left(inOneTable.client), kept - 1)
    await inOneTable.client.query(day(1))
    for (const [name, cost] of [["made past", ours.at(-1)!] as const, ["deleted", peers.at(-1)!] as const]) {
      const { own, server: ofServer, wal } = cost
      console.log(
        `${name}: ${own.toFixed(3)} + ${ofServer.toFixed(3)} ms of CPU, ${wal.toFixed(0)} bytes of WAL a callback`
      )
    }
  }
  const seconds = async (work: () => Promise<unknown>) => {
    const before = PostgresCosts.cpuOf(postmaster)
    await work()
    return PostgresCosts.cpuOf(postmaster) - before
  }
  await inPartitions.client.query("update past_callback_partition set to_day = from_day - 50")
  const drop = await seconds(() => inPartitions.run(CallbackPartitions.drop(keeping)))
  console.log(`A partition of ${kept + rounds} days dropped: ${(drop * 1000).toFixed(0)} ms of the server`)
  RetentionCosts.report("a callback kept and forgotten, PostgreSQL", "a callback", ours, {
    ...{ as: "peer", name: "deleted", costs: peers }
  })
  await end()
}

await main()
