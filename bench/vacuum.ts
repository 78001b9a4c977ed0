/**
 * What a vacuum visits of the tables that are kept for good, and so have no partitions: blocks and transfers.
 *
 *     node bench/vacuum.ts [blocks] [blocks more] [rounds]
 *
 * Each round commits more blocks, of which a reorganisation takes three back, and vacuums: pages that were visited, and those
 * that the table has. A transfer's row is a block's chunk of some 1,000 bytes, eight of them a block.
 */
import * as RetentionCosts from "./RetentionCosts.ts"

const [count = 100_000, more = 1_000, rounds = 3] = process.argv.slice(2).map(Number)
const undone = 3
const tables = ["packed_transfers", "block"]

const main = async () => {
  const { admin, end, open } = await RetentionCosts.start()
  await admin.query("alter system set autovacuum = off")
  await admin.query("select pg_reload_conf()")
  const { client } = await open("history")
  let said: Array<string> = []
  client.on("notice", ({ message }) => said.push(message ?? ""))
  const write = async (from: number, to: number) => {
    const heights = `generate_series(${from}::bigint, ${to}) height`
    await client.query(`
      insert into block select 1, height, sha256(height::text::bytea), sha256((height - 1)::text::bytea), height from ${heights}`)
    await client.query(`
      insert into packed_transfers
      select 5, height * 1048576 + n, (
        select decode(string_agg(md5(random()::text), ''), 'hex') from generate_series(1, 60 + 0 * n)
      ) from ${heights}, generate_series(0, 7) n`)
  }
  const vacuum = async (table: string) => {
    said = []
    await client.query(`vacuum (verbose) ${table}`)
    const [, pages, visited] = /(\d+) remain, (\d+) scanned/.exec(said.join("\n"))!.map(Number)
    const indexScans = Number(/index scans: (\d+)/.exec(said.join("\n"))![1])
    return { pages: pages!, visited: visited!, indexScans }
  }

  await write(1, count)
  for (const table of tables) await vacuum(table)
  for (let round = 0; round < rounds; round++) {
    const tip = count + (round + 1) * more
    await write(tip - more + 1, tip + undone)
    await client.query(`delete from block where height > ${tip}`)
    await client.query(`delete from packed_transfers where position >= ${tip + 1}::bigint * 1048576`)
    for (const table of tables) {
      const { indexScans, pages, visited } = await vacuum(table)
      console.log(`${table}: ${visited} of ${pages} pages visited, its index ${indexScans} times`)
    }
  }
  await end()
}

await main()
