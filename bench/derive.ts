/**
 * Addresses from one extended public key against bip32 and bitcoinjs-lib used the obvious way: derive a child, make a
 * payment of it, take its address. In turns, in one process; both have to give the same addresses.
 *
 *     node bench/derive.ts [addresses] [rounds]
 */
import { deepStrictEqual } from "node:assert"
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"
import * as Chain from "@headwater/core/chains/Chain"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import * as KeysKernel from "@headwater/core/keys/KeysKernel"
import * as Result from "effect/Result"
import * as Comparison from "./Comparison.ts"
import { median } from "./Samples.ts"

// They are dependencies of core's tests only.
const { resolve } = createRequire(new URL("../packages/core/package.json", import.meta.url))
const load = (name: string) => import(pathToFileURL(resolve(name)).href)
const { BIP32Factory } = await load("bip32")
const bitcoinjs = await load("bitcoinjs-lib")
const ecc = await load("tiny-secp256k1")

const [count = 1_000, rounds = 7] = process.argv.slice(2).map(Number)
const xpub =
  "xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V"
const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
const bip32 = BIP32Factory(ecc)

const obvious = (): ReadonlyArray<string> => {
  const branch = bip32.fromBase58(xpub).derive(0)
  return Array.from(
    { length: count },
    (_, index) => bitcoinjs.payments.p2wpkh({ pubkey: branch.derive(index).publicKey }).address
  )
}

const headwater = (): ReadonlyArray<string> => {
  const key = Result.getOrThrow(ExtendedPublicKey.decode(bitcoin, xpub))
  const branch = Result.getOrThrow(Derivation.branch(bitcoin, key, { format: "P2WPKH" }))
  return Derivation.derive(branch, 0, count, KeysKernel.addBaseMultiples).map(
    (result) => Result.getOrThrow(result).address
  )
}

deepStrictEqual(headwater(), obvious())
const timed = (run: () => unknown) => {
  const before = process.cpuUsage()
  run()
  const { system, user } = process.cpuUsage(before)
  return (system + user) / 1000
}
const times = { obvious: [] as Array<number>, headwater: [] as Array<number> }
for (let round = 0; round < rounds; round++) {
  times.obvious.push(timed(obvious))
  times.headwater.push(timed(headwater))
}
const [a, b] = [median(times.obvious), median(times.headwater)]
console.log(`${count} P2WPKH addresses, medians of ${rounds} rounds, CPU:`)
console.log(`bip32 + bitcoinjs-lib  ${a.toFixed(0)} ms`)
console.log(`headwater              ${b.toFixed(0)} ms, ${(a / b).toFixed(1)} times as fast`)
Comparison.report({
  ...{ work: `${count} addresses of an extended key`, unit: "ms CPU", better: "less", ours: times.headwater },
  peer: { name: "bip32, bitcoinjs-lib", values: times.obvious }
})
