/** HD wallets that were used before they were synced, on a node that shows its coins and on one that does not. */
import { text } from "node:stream/consumers"
import { assert, describe, it } from "@effect/vitest"
import * as Amount from "@headwater/core/Amount"
import * as Chain from "@headwater/core/chains/Chain"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { HDNodeWallet } from "ethers"
import * as HdWallet from "./HdWallet.ts"
import * as Headwater from "./Headwater.ts"
import * as Litecoind from "./Litecoind.ts"
import * as LocalServer from "./LocalServer.ts"
import { locations } from "./Stores.ts"

interface Scan {
  readonly params: readonly ["start" | "status", ReadonlyArray<{ readonly desc: string }>?]
}

/** A proxy before a node that notes the descriptors of each scan, which it refuses, or keeps back until something has come. */
const proxy = (target: string, permission: "denied" | Promise<unknown>) =>
  Effect.gen(function* () {
    const { origin, password, username } = new URL(target)
    const scans: Array<ReadonlyArray<string>> = []
    const url = yield* LocalServer.http(async (request, response) => {
      const body = await text(request)
      if (body.includes('"scantxoutset"')) {
        const [action, sought] = (JSON.parse(body) as Scan).params
        if (action === "start") scans.push(sought!.map(({ desc }) => desc))
        if (permission === "denied") {
          response.setHeader("content-type", "application/json")
          const { id } = JSON.parse(body) as { readonly id: unknown }
          response.end(JSON.stringify({ id, result: null, error: { code: -32601, message: "Method not found" } }))
          return
        }
        if (action === "start") await permission
      }
      const answer = await fetch(origin, {
        method: "POST",
        headers: { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` },
        body
      })
      response.statusCode = answer.status
      response.setHeader("content-type", "application/json")
      response.end(await answer.text())
    })
    return { scans, url }
  })

const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))

/** An account's key that nobody has signed with, and its receiving addresses. */
const keyOf = (seed: number) => {
  const mainnet = Result.getOrThrow(
    ExtendedPublicKey.decode(
      bitcoin,
      HDNodeWallet.fromSeed(Buffer.alloc(32, seed)).derivePath("m/84'/1'/0'").neuter().extendedKey
    )
  )
  const text = ExtendedPublicKey.encode(HdWallet.chain, mainnet)
  const key = Result.getOrThrow(ExtendedPublicKey.decode(HdWallet.chain, text))
  const branch = Result.getOrThrow(Derivation.branch(HdWallet.chain, key, { format: "P2WPKH" }))
  return { text, addresses: (count: number) => Derivation.derive(branch, 0, count).map(Result.getOrThrow) }
}

const path = (xpub: string) => `/hd-wallets/utxo/litecoin/regtest/${xpub}`
const derive = (headwater: Headwater.Headwater, xpub: string) =>
  headwater.post(`${path(xpub)}/addresses/derive-and-sync`, {})

describe.skipIf(!Litecoind.installed)("HD wallets with old coins", () => {
  it.live(
    "are known from our own record or refused where the node shows no coins, and cost one scan where it does",
    () =>
      Effect.gen(function* () {
        const node = yield* Litecoind.start()
        yield* node.mine(130)
        const used = 1_000
        const key = keyOf(1)
        const addresses = key.addresses(used)
        let total = 0n
        for (let from = 0; from < used; from += 250) {
          const some = addresses.slice(from, from + 250)
          const amounts = some.map(({ index }) => Number((0.001 + index / 1e6).toFixed(8)))
          for (const amount of amounts) total += BigInt(Math.round(amount * 1e8))
          yield* node.rpc("sendmany", "", Object.fromEntries(some.map(({ address }, i) => [address, amounts[i]])))
        }
        yield* node.mine(1)
        const balance = { confirmedBalance: { amount: Amount.format(total, 8), unit: "LTC" } }
        const settings = (url: string, record: string, start: number | "latest") => ({
          chains: { "litecoin/regtest": { nodes: [url], start, record, pollMillis: 200 } },
          callbacks: { allowHosts: ["localhost"] }
        })
        const [{ location }] = locations as [(typeof locations)[number]]
        const store = location as Effect.Effect<never>
        const isRead = (headwater: Headwater.Headwater) =>
          Headwater.until(headwater.get("/blocks/utxo/litecoin/regtest/latest/details"), ({ status }) => status === 200)

        const denying = yield* proxy(node.url, "denied")
        const refusing = yield* Headwater.start(yield* store, settings(denying.url, "watched", "latest"))
        yield* isRead(refusing)
        for (const look of [derive(refusing, key.text), refusing.get(`${path(key.text)}/assets`)]) {
          const { body, status } = yield* Headwater.until(look, ({ status }) => status !== 503)
          assert.deepStrictEqual([status, body.error?.code], [400, "xpub_not_synced"])
        }
        const { body: refused } = yield* derive(refusing, key.text)
        assert.match(refused.error.message, /scantxoutset.*record = "all"/)
        const subscription = yield* refusing.post(
          "/blockchain-events/litecoin/regtest/address-coins-transactions-confirmed",
          { address: addresses[0]!.address, callbackUrl: "https://localhost/", allowDuplicates: false }
        )
        assert.strictEqual(subscription.status, 201, "a subscription needs no search")
        yield* refusing.terminate

        const recording = yield* Headwater.start(yield* store, settings(denying.url, "all", 0))
        // Refused while the chain is being read: what is not recorded yet may be used.
        const first = yield* Headwater.until(
          derive(recording, key.text),
          ({ body, status }) => status !== 503 && body.error?.code !== "xpub_not_synced"
        )
        assert.strictEqual(first.status, 201, JSON.stringify(first.body))
        assert.strictEqual(first.body.data.items[0].index, used)
        const known = yield* recording.get(`${path(key.text)}/assets`)
        assert.deepStrictEqual(known.body.data?.item, balance, JSON.stringify(known.body))
        assert.deepStrictEqual(denying.scans, [])
        yield* recording.terminate

        const all = Promise.withResolvers<void>()
        const counting = yield* proxy(node.url, all.promise)
        const searching = yield* Headwater.start(yield* store, settings(counting.url, "watched", "latest"))
        yield* isRead(searching)
        const others = [2, 3, 4].map(keyOf)
        const wallets = [key, ...others]
        // Refused before the first block: where the record of the addresses begins is not known yet.
        const derived = yield* Effect.forEach(
          wallets,
          ({ text }) => Headwater.until(derive(searching, text), ({ status }) => status !== 503),
          { concurrency: "unbounded" }
        )
        for (const { body, status } of derived) assert.strictEqual(status, 201, JSON.stringify(body))
        all.resolve()
        const found = yield* Headwater.until(searching.get(`${path(key.text)}/assets`), ({ status }) => status === 200)
        // What was emptied before the search looks unused.
        const since = { ...balance, completeFrom: 132 }
        assert.deepStrictEqual(found.body.data?.item, since, JSON.stringify(found.body))
        for (const { text } of others) {
          const { body } = yield* Headwater.until(searching.get(`${path(text)}/assets`), ({ status }) => status === 200)
          assert.strictEqual(body.data?.item.confirmedBalance.amount, "0", JSON.stringify(body))
        }
        // On a busy machine some come so much later than the first that its scan has begun.
        assert.isAtMost(counting.scans.length, 2, "all that wait cost one scan")
        const branches = counting.scans.flat()
        assert.deepStrictEqual([branches.length, new Set(branches).size], [8, 8], "two of each of the four wallets")
        const next = yield* derive(searching, key.text)
        assert.strictEqual(next.body.data.items[0].index, used)
        const during = yield* searching.get(`${path(key.text)}/assets`)
        assert.deepStrictEqual(during.body.data?.item, since, "known all the while")
      }).pipe(Effect.scoped),
    600_000
  )
})
