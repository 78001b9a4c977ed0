/**
 * Finding a block's watched addresses: 20,000 touches, 1 % of them watched, against one and ten million addresses, beside
 * a plain `Set` of hex strings in the same run; and the ids of as many transactions, which are looked through where any
 * subscription is for one. Memory is what the process holds above its idle self.
 *
 *     node --expose-gc bench/matching.ts [millions …]
 */
import { randomBytes } from "node:crypto"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import * as Matcher from "@headwater/core/events/Matcher"
import * as MinedTransactions from "@headwater/core/events/MinedTransactions"
import * as Watched from "@headwater/core/events/Watched"
import * as Steps from "@headwater/core/Steps"
import * as Comparison from "./Comparison.ts"
import { median } from "./Samples.ts"

const millions = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1, 10]
const touches = 20_000
const rounds = 9

const memory = () => {
  globalThis.gc?.()
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return { held: (arrayBuffers + heapUsed) / 1e6, rss: process.memoryUsage.rss() / 1e6 }
}

/** The address with this number: spread over all its bytes, as real ones are. */
const scratch = Buffer.allocUnsafe(20)
const address = (number: number): Buffer => {
  let x = number + 1
  for (let i = 0; i < 20; i += 4) {
    x = Math.imul(x ^ (x >>> 15), 0x2c1b3c6d) + i
    x ^= x >>> 13
    scratch.writeInt32LE(x | 0, i)
  }
  return scratch
}

/** A block with half as many transfers as touches. */
const blockOf = (size: number): Block => {
  const side = (): AddressBytes =>
    (Math.random() < 0.01
      ? Buffer.from(address(Math.floor(Math.random() * size)))
      : randomBytes(20)) as Uint8Array as AddressBytes
  const id = randomBytes(32)
  return {
    ...{ height: 1, hash: id, parent: id, time: 0, transactions: [id], spends: [] },
    transfers: Array.from({ length: touches / 2 }, () => ({
      ...{ kind: "coin", transaction: 0, position: 0, amount: 1n },
      ...{ from: side(), to: side() }
    }))
  }
}

const timed = (run: () => number) => {
  const times: Array<number> = []
  let found = 0
  for (let round = 0; round < rounds; round++) {
    const begin = performance.now()
    found = run()
    times.push(((performance.now() - begin) * 1e6) / touches)
  }
  return { nanoseconds: median(times), times, found }
}

for (const million of millions) {
  const size = million * 1_000_000
  const blocks = Array.from({ length: rounds }, () => blockOf(size))
  const idle = memory()

  const begin = performance.now()
  const watched = Watched.make([0x1d2c3b4a, 0x5f6e7d8c])
  for (let i = 0; i < size; i++) watched.add(address(i))
  const built = (performance.now() - begin) / 1000
  const full = memory()
  let next = 0
  const compact = timed(() => Matcher.addressesSeen(blocks[next++ % rounds]!, watched).size)
  console.log(
    `${million} M watched: ${compact.nanoseconds.toFixed(0)} ns a touch, ${compact.found} found; ` +
      `${(full.held - idle.held).toFixed(0)} MB held, ${(full.rss - idle.rss).toFixed(0)} MB resident over idle; built in ${built.toFixed(1)} s`
  )

  const ids = { transactions: Array.from({ length: touches }, () => randomBytes(32)) }
  for (let i = 0; i < ids.transactions.length; i += 100) watched.add(ids.transactions[i]!)
  const mined = timed(() => Steps.atOnce(MinedTransactions.seenInSteps(ids, watched)).size)
  console.log(`${million} M watched: ${mined.nanoseconds.toFixed(0)} ns a transaction, ${mined.found} found`)

  if (million > 2) continue
  const plain = new Set<string>()
  const setBegin = memory()
  for (let i = 0; i < size; i++) plain.add(address(i).toString("hex"))
  const setFull = memory()
  const set = timed(() => {
    let found = 0
    for (const { from, to } of blocks[next++ % rounds]!.transfers) {
      if (plain.has(Buffer.from(from!).toString("hex"))) found++
      if (plain.has(Buffer.from(to!).toString("hex"))) found++
    }
    return found
  })
  Comparison.report({
    ...{ work: `a block's addresses among ${million} M watched`, unit: "ns a touch", better: "less" },
    ...{ ours: compact.times, peer: { name: "a Set of hex", values: set.times } }
  })
  console.log(
    `${million} M in a Set of hex: ${set.nanoseconds.toFixed(0)} ns a touch; ${(setFull.held - setBegin.held).toFixed(0)} MB held`
  )
}
