import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { assert, describe, it } from "@effect/vitest"
import { type AddressBytes, fromBytes } from "@headwater/core/address/Address"
import { hash160 } from "@headwater/core/utxo/BitcoinHash"
import * as LockingScript from "@headwater/core/utxo/LockingScript"
import { mayUnlock, type Unlocking } from "@headwater/core/utxo/Unlocking"
import * as WaitingTransactions from "@headwater/indexer/families/utxo/WaitingTransactions"
import type { Mempool, MempoolTransaction } from "@headwater/indexer/families/SideSources"
import * as Effect from "effect/Effect"

const bytes = (length: number, fill: number) => new Uint8Array(length).fill(fill)
const idOf = (number: number) => number.toString(16).padStart(64, "0")

/** A mempool of transactions by their ids. */
const mempoolOf = (transactions: ReadonlyArray<MempoolTransaction>) => {
  const byId = new Map(transactions.map((one) => [Buffer.from(one.id).toString("hex"), one]))
  return {
    ids: Effect.sync(() => [...byId.keys()]),
    transactions: (ids: ReadonlyArray<string>) => Effect.succeed(ids.flatMap((id) => byId.get(id) ?? []))
  } as unknown as Mempool
}

/** A transaction that pays a script, and spends an output which its node does not show. */
const transactionOf = (number: number, to: Uint8Array, input: Unlocking | undefined): MempoolTransaction => ({
  id: Buffer.from(idOf(number), "hex"),
  transfers: [{ kind: "coin", transaction: 0, position: 0, from: undefined, to: fromBytes(to), amount: 1n }],
  spends: [
    {
      ...{ transaction: 0, position: 0, outpoint: { transactionId: bytes(32, 9), index: 0 } },
      ...(input === undefined ? {} : { unlocking: () => input })
    }
  ]
})

const key = bytes(33, 2)
const inputs: ReadonlyArray<Unlocking | undefined> = [
  undefined,
  { scriptSig: bytes(0, 0), witness: [bytes(72, 1), key] },
  { scriptSig: bytes(0, 0), witness: [bytes(64, 1)] },
  { scriptSig: Uint8Array.of(72, ...bytes(72, 1), 33, ...key), witness: [] },
  { scriptSig: Uint8Array.of(22, ...LockingScript.witness(0, hash160(key))), witness: [bytes(72, 1), key] },
  { scriptSig: Uint8Array.of(0x76), witness: [] }
]

const scripts: ReadonlyArray<Uint8Array> = [
  ...[LockingScript.pubKeyHash(hash160(key)), LockingScript.pubKeyHash(bytes(20, 7))],
  ...[LockingScript.witness(0, hash160(key)), LockingScript.witness(0, bytes(20, 7))],
  ...[
    LockingScript.scriptHash(hash160(LockingScript.witness(0, hash160(key)))),
    LockingScript.scriptHash(bytes(20, 7))
  ],
  ...[
    LockingScript.scriptHash(bytes(32, 7)),
    LockingScript.witness(0, bytes(32, 7)),
    LockingScript.witness(1, bytes(32, 7))
  ],
  ...[LockingScript.witness(2, bytes(32, 7)), LockingScript.witness(1, bytes(2, 7)), Uint8Array.of(0x51)]
]

describe("WaitingTransactions", () => {
  it.effect("names what transactions pay, and what their inputs may spend by what they show", () =>
    Effect.gen(function* () {
      const elsewhere = LockingScript.pubKeyHash(bytes(20, 8))
      const all = inputs.map((input, number) => transactionOf(number, number === 1 ? scripts[1]! : elsewhere, input))
      const waiting = WaitingTransactions.make(mempoolOf(all))
      for (const script of scripts) {
        const { ids, left } = yield* waiting.naming(fromBytes(script), 100)
        assert.strictEqual(left, 0)
        const expected = inputs.flatMap((input, number) =>
          (number === 1 && script === scripts[1]) || mayUnlock([input])(script as AddressBytes) ? idOf(number) : []
        )
        assert.deepStrictEqual(ids, expected, Buffer.from(script).toString("hex"))
      }
    })
  )

  it.effect("keeps little of each, since hundreds of thousands may wait", () =>
    Effect.gen(function* () {
      const count = 5_000
      const made = (id: string) => {
        const number = Number.parseInt(id, 16)
        const input = { scriptSig: bytes(0, 0), witness: [new Uint8Array(72), new Uint8Array(33)] }
        return transactionOf(number, LockingScript.pubKeyHash(Buffer.alloc(20, String(number))), input)
      }
      const ids = Array.from({ length: count }, (_, number) => idOf(number))
      const mempool = {
        ids: Effect.succeed(ids),
        transactions: (some: ReadonlyArray<string>) => Effect.sync(() => some.map(made))
      } as unknown as Mempool
      const waiting = WaitingTransactions.make(mempool)
      setFlagsFromString("--expose-gc")
      const gc = runInNewContext("gc") as () => void
      const used = () => {
        gc()
        const { arrayBuffers, heapUsed } = process.memoryUsage()
        return arrayBuffers + heapUsed
      }
      const before = used()
      yield* waiting.naming(fromBytes(LockingScript.pubKeyHash(bytes(20, 1))), count)
      assert.isBelow((used() - before) / count, 700)
      assert.strictEqual((yield* waiting.naming(fromBytes(scripts[0]!), 0)).left, 0)
    })
  )
})
