/** HD wallets, the newest block and unconfirmed coins through the daemon's endpoints, over kills and a lost node. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HdWallet from "./HdWallet.ts"
import * as Headwater from "./Headwater.ts"
import * as Litecoind from "./Litecoind.ts"
import { scan } from "./NodeRpc.ts"
import * as Receiver from "./Receiver.ts"
import { taken } from "./Stores.ts"
import { half } from "./Turn.ts"

const wallets = "/hd-wallets/utxo/litecoin/regtest"
const latest = "/blocks/utxo/litecoin/regtest/latest/details"

interface Output {
  readonly address: string
  readonly addressPath: string
  readonly index: number
  readonly isAvailable: boolean
  readonly transactionId: string
  readonly value: { readonly amount: string }
}

interface Moved {
  readonly id: string
  readonly minedInBlock: { readonly height: number }
  readonly recipients: ReadonlyArray<{ readonly address: string; readonly isMember: boolean }>
  readonly senders: ReadonlyArray<{ readonly address: string; readonly isMember: boolean }>
}

interface Item {
  readonly index: number
  readonly address: string
}

/** Addresses, unspent outputs and transactions of a wallet, against the node's. */
const checkLists = Effect.fnUntraced(function* (
  { rpc }: Litecoind.Litecoind,
  headwater: Headwater.Headwater,
  { addresses: [receive, change], extendedPublicKey }: Effect.Success<ReturnType<typeof HdWallet.make>>
) {
  const path = `${wallets}/${extendedPublicKey}`
  const ask = (rest: string) => headwater.data(`${path}/${rest}`, [422, 503])
  for (const [isChange, own, word] of [
    // As the description of the hosted service has the word in its example for this list, too.
    [false, receive, "standard"],
    [true, change, "p2wpkh"]
  ] as const) {
    const page = `isChangeAddress=${isChange}&limit=50&offset=30&addressFormat=${word}`
    const { items, total } = yield* ask(`addresses?${page}`)
    assert.isAbove(total, 100)
    assert.deepStrictEqual(
      items,
      Array.from({ length: 50 }, (_, i) => ({ address: own[30 + i], index: 30 + i }))
    )
  }
  const derived = yield* headwater.post(`${path}/addresses/derive-and-sync-change`, {})
  assert.strictEqual(derived.status, 201, JSON.stringify(derived.body))
  const { items: fresh } = derived.body.data
  assert.deepStrictEqual([fresh.length, fresh[0].type], [100, "change"])
  for (const { address, index } of fresh) assert.strictEqual(address, change[index])

  interface Coin {
    readonly txid: string
    readonly vout: number
    readonly amount: number
    readonly height: number
    readonly scriptPubKey: string
  }
  const all = [...receive.slice(0, 300), ...change.slice(0, 300)]
  const { unspents } = yield* scan<{ readonly unspents: ReadonlyArray<Coin> }>(
    rpc,
    all.map((address) => `addr(${address})`)
  )
  const outputs = yield* ask("unspent-outputs?limit=50")
  assert.strictEqual(outputs.total, unspents.length)
  assert.deepStrictEqual(
    outputs.items.map(({ addressPath, address, index, isAvailable, transactionId, value: { amount } }: Output) => {
      const [branch, at] = addressPath.split("/").map(Number) as [number, number]
      assert.strictEqual([receive, change][branch]![at], address)
      return [transactionId, index, Number(amount), isAvailable]
    }),
    yield* Effect.forEach(
      [...unspents].sort((a, b) => a.height - b.height || (a.txid < b.txid ? -1 : 1) || a.vout - b.vout),
      ({ amount, txid, vout }) =>
        Effect.map(rpc<unknown>("gettxout", txid, vout, true), (coin) => [txid, vout, amount, coin !== null])
    )
  )

  const { completeFrom } = yield* ask("transactions?limit=1")
  interface Shown {
    readonly txid: string
    readonly vin: ReadonlyArray<{ readonly txid?: string; readonly vout: number }>
    readonly vout: ReadonlyArray<{
      readonly value: number
      readonly scriptPubKey: { addresses?: ReadonlyArray<string> }
    }>
  }
  const own = new Set(all)
  const newestFirst: Array<readonly [string, ReadonlyArray<string>, ReadonlyArray<string>]> = []
  const tip = yield* rpc<number>("getblockcount")
  for (let height = tip; height >= completeFrom; height--) {
    const block = yield* rpc<{ readonly tx: ReadonlyArray<Shown> }>(
      "getblock",
      yield* rpc<string>("getblockhash", height),
      2
    )
    for (const { txid, vin, vout } of block.tx.toReversed()) {
      const addressOf = (output: Shown["vout"][number]) => output.scriptPubKey.addresses?.[0]
      const spent = yield* Effect.forEach(vin, ({ txid, vout }) =>
        txid === undefined
          ? Effect.undefined
          : Effect.map(rpc<Shown>("getrawtransaction", txid, true), (from) => addressOf(from.vout[vout]!))
      )
      const ours = (found: ReadonlyArray<string | undefined>) =>
        [...new Set(found)].filter((address): address is string => address !== undefined && own.has(address))
      const [senders, recipients] = [ours(spent), ours(vout.map(addressOf))]
      if (senders.length + recipients.length > 0) newestFirst.push([txid, senders, recipients])
    }
  }
  const { items } = yield* ask("transactions?limit=50")
  const membersOf = (moved: ReadonlyArray<{ readonly address: string; readonly isMember: boolean }>) =>
    moved.filter(({ isMember }) => isMember).map(({ address }) => address)
  assert.isAbove(newestFirst.length, 0)
  assert.deepStrictEqual(
    items
      .filter(({ minedInBlock }: Moved) => minedInBlock.height >= completeFrom)
      .map(({ id, recipients, senders }: Moved) => [id, membersOf(senders), membersOf(recipients)]),
    newestFirst
  )
})

for (const { location, name } of taken(import.meta.url)) {
  describe.skipIf(!Litecoind.installed)(`UTXO endpoints, ${name}`, () => {
    it.live(
      "derives and syncs over kills, and tells balances, blocks and unconfirmed coins",
      () =>
        Effect.gen(function* () {
          const node = yield* Litecoind.start()
          yield* node.mine(110)
          const wallet = yield* HdWallet.make(node, "hd", 7)
          const [receive, change] = wallet.addresses
          for (const index of [0, 19, 38, 57]) yield* node.rpc("sendtoaddress", receive[index], 1)
          yield* node.rpc("sendtoaddress", change[30], 0.5)
          yield* node.mine(1)
          const receiver = yield* Receiver.start()
          const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
            chains: { "litecoin/regtest": { nodes: [node.url], start: "latest", record: "watched", pollMillis: 200 } },
            callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca }
          })
          const xpub = wallet.extendedPublicKey
          const derive = (query = "") => headwater.post(`${wallets}/${xpub}/addresses/derive-and-sync${query}`, {})
          const until = (path: string, fits: (answer: Headwater.Answer) => boolean) =>
            Headwater.until(headwater.get(path), fits)
          const balance = Effect.fnUntraced(function* (expected: string) {
            const answer = yield* until(
              `${wallets}/${xpub}/assets`,
              ({ body, status }) => status === 200 && body.data.item.confirmedBalance.amount === expected
            )
            const { completeFrom, ...item } = answer.body.data.item
            assert.deepStrictEqual(item, { confirmedBalance: { amount: expected, unit: "LTC" } })
            // What was emptied before the search looks unused.
            assert.isAtLeast(completeFrom, 112)
          })

          const unsynced = yield* headwater.get(`${wallets}/${xpub}/assets`)
          assert.deepStrictEqual([unsynced.status, unsynced.body.error.code], [400, "xpub_not_synced"])
          const invalid = yield* headwater.post(`${wallets}/${xpub.slice(0, -1)}1/addresses/derive-and-sync`, {})
          assert.deepStrictEqual([invalid.status, invalid.body.error.code], [400, "invalid_xpub"])

          // Killed while it derives, again and again: the answer that arrives is the first hundred, each once.
          for (const millis of half("moments of kills", [0, 7, 14, 21])) {
            const asked = yield* Effect.forkChild(Effect.exit(derive()))
            yield* Effect.sleep(`${millis} millis`)
            yield* headwater.kill
            yield* Fiber.join(asked)
            yield* headwater.launch
          }
          yield* until(`${wallets}/${xpub}/status`, ({ body }) => body.data?.item.status !== "syncing")
          // A daemon that has just been started may not have asked its node yet.
          const { body, status } = yield* Headwater.until(derive(), ({ status }) => status !== 503)
          assert.strictEqual(status, 201, JSON.stringify(body))
          const { items, limit, offset, total } = body.data
          assert.deepStrictEqual([limit, offset, total], [100, 0, 100])
          // An address that was used and emptied before leaves no coin.
          assert.strictEqual(body.data.completeFrom, 112)
          const first: number = items[0].index
          assert.include([0, 58], first, "0 where no call had got through, else one past the last that was paid")
          assert.deepStrictEqual(
            items,
            Array.from({ length: 100 }, (_, i) => ({
              ...{ address: receive[first + i], format: "P2WPKH", index: first + i },
              ...{ derivationType: "account", type: "receiving" }
            }))
          )
          yield* balance("4.5")
          const state = yield* headwater.get(`${wallets}/${xpub}/status`)
          assert.deepStrictEqual(state.body.data.item, {
            status: "synced",
            completeFrom: { height: 111, unspentOutputs: true }
          })
          const again = yield* derive()
          assert.deepStrictEqual(
            again.body.data.items.map(({ index }: Item) => index),
            Array.from({ length: 100 }, (_, i) => 58 + i)
          )
          yield* balance("4.5")
          const other = yield* headwater.get(`${wallets}/${xpub}/assets?derivation=bip32`)
          assert.strictEqual(other.body.error.code, "xpub_not_synced")
          assert.strictEqual((yield* derive("?derivation=BIP32")).body.data.items[0].derivationType, "bip32")

          const subscription = yield* headwater.post(
            "/blockchain-events/litecoin/regtest/address-coins-transactions-unconfirmed",
            { address: receive[60], callbackUrl: `${receiver.url}/`, callbackSecretKey: "s", allowDuplicates: false }
          )
          assert.strictEqual(subscription.status, 201, JSON.stringify(subscription.body))
          yield* Effect.sleep("200 millis")
          const sent = yield* node.rpc<string>("sendtoaddress", receive[60], 0.25)
          const [delivery] = yield* receiver.until((accepted) => accepted.length > 0)
          const { firstSeenInMempoolTimestamp, ...item } = delivery!.body.data.item
          assert.deepStrictEqual(item, {
            ...{ blockchain: "litecoin", network: "regtest", address: receive[60], transactionId: sent },
            ...{ amount: "0.25", unit: "LTC", direction: "incoming" }
          })
          const { time } = yield* node.rpc<{ readonly time: number }>("getmempoolentry", sent)
          assert.strictEqual(firstSeenInMempoolTimestamp, time)
          yield* headwater.kill
          yield* headwater.launch
          yield* balance("4.5")
          yield* wallet.pay(yield* node.rpc<string>("getnewaddress"), 0.75)
          yield* node.mine(1)
          yield* balance(String((yield* wallet.balance).toFixed(8)).replace(/0+$/, ""))
          yield* checkLists(node, headwater, wallet)
          // A kill may have come before the outcome was written: then it was sent twice, under the same key.
          const told = receiver.deliveries.filter(({ body }) => body.data.item.transactionId === sent)
          assert.strictEqual(new Set(told.map(({ body }) => body.idempotencyKey)).size, 1, "once, over a restart")

          // A coin far beyond the gap, where nobody watches; then the gap comes near it. No answer is less than the truth.
          const before = (yield* headwater.get(`${wallets}/${xpub}/assets`)).body.data.item.confirmedBalance.amount
          yield* node.rpc("sendtoaddress", receive[290], 1)
          yield* node.mine(1)
          yield* node.rpc("sendtoaddress", receive[240], 0.5)
          yield* node.mine(1)
          const all = String((yield* wallet.balance).toFixed(8)).replace(/0+$/, "")
          const beyond = yield* until(`${wallets}/${xpub}/assets`, ({ body, status }) => {
            if (status !== 200) return false
            const { amount } = body.data.item.confirmedBalance
            assert.include([before, all], amount)
            return amount === all
          })
          assert.strictEqual(beyond.status, 200, JSON.stringify(beyond.body))
          assert.strictEqual((yield* derive()).body.data.items[0].index, 291)

          const tip = yield* node.rpc<string>("getbestblockhash")
          const block = yield* node.rpc<Record<string, never>>("getblock", tip)
          const details = yield* headwater.get(latest)
          assert.deepStrictEqual(details.body.data.item, {
            bits: Number.parseInt(block.bits!, 16),
            chainwork: block.chainwork,
            difficulty: Math.floor(block.difficulty!),
            merkleRoot: block.merkleroot,
            size: block.size,
            version: block.version,
            hash: tip,
            height: block.height,
            previousBlockHash: block.previousblockhash,
            strippedSize: block.strippedsize,
            timestamp: block.time,
            transactionsCount: block.nTx,
            versionHex: block.versionHex,
            weight: block.weight
          })
          yield* node.stop
          for (const path of [latest, `${wallets}/${xpub}/assets`]) {
            const lost = yield* headwater.get(path)
            assert.deepStrictEqual([lost.status, lost.body.error.code], [503, "node_unavailable"], path)
          }
        }).pipe(Effect.scoped),
      600_000
    )
  })
}
