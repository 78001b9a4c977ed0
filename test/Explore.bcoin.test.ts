/**
 * Every list and every part that can be read of a UTXO chain, on bcoin: blocks, transactions, addresses, an HD wallet and
 * forms of addresses are what bitcoinjs-lib reads from the node's bytes, before and after a fork.
 */
import { assert, describe, it } from "@effect/vitest"
import { networks } from "bitcoinjs-lib"
import * as Effect from "effect/Effect"
import * as Bcoin from "./Bcoin.ts"
import * as Headwater from "./Headwater.ts"
import type { PayingNode, PayingWallet } from "./RandomWallets.ts"
import { locations } from "./Stores.ts"
import { isInTurn } from "./Turn.ts"
import * as UtxoOracle from "./UtxoOracle.ts"

const place = "bitcoin/regtest"
const unit = { network: networks.regtest, unit: "BTC", hidesWaitingSpends: false }

/** Daemon, node and wallet of a test, and what the tests ask of them. */
const setup = Effect.fnUntraced(function* (location: Effect.Effect<never>) {
  const node = yield* Bcoin.start()
  const headwater = yield* Headwater.start(yield* location, {
    chains: { [place]: { nodes: [node.url], start: 0, pollMillis: 200 } },
    callbacks: { allowHosts: ["localhost"] }
  })
  /** The data of an answer; what the daemon still reads is waited for. */
  const ask = (path: string) => headwater.data(path, [422, 503])
  /** Every item of a list by cursor. */
  const pages = Effect.fnUntraced(function* (path: string) {
    // biome-ignore lint/suspicious/noExplicitAny: answers of the server
    const items: Array<any> = []
    for (let after = ""; ; ) {
      const page = yield* ask(`${path}${after}`)
      assert.strictEqual(page.answeredFrom, "record")
      items.push(...page.items)
      if (!page.hasMore) return items
      after = `&startingAfter=${page.nextStartingAfter}`
    }
  })
  const caughtUp = Effect.gen(function* () {
    const height = yield* node.rpc<number>("getblockcount")
    yield* Headwater.until(headwater.get("/ready"), ({ body }) => body.chains?.[place]?.height === height)
  })
  return { node, headwater, ask, pages, caughtUp }
})

type Setup = Effect.Success<ReturnType<typeof setup>>

const code = ({ headwater }: Setup, path: string) =>
  Effect.map(headwater.get(path), ({ body, status }) => `${status} ${body.error?.code}`)

/** The newest blocks, their transactions, and what waits. */
const checkBlocks = Effect.fnUntraced(function* ({ ask }: Setup, oracle: UtxoOracle.UtxoOracle, waiting: string) {
  const blocks = `/blocks/utxo/${place}`
  const { tip } = oracle
  const newest = yield* ask(`${blocks}/latest?count=8`)
  let compared = 0
  for (let height = tip - 7; height <= tip; height++) {
    const details = yield* oracle.details(height)
    const next = height === tip ? "" : oracle.hashAt(height + 1)
    const whole = { ...details, merkleroot: details.merkleRoot, nextBlockHash: next }
    assert.deepStrictEqual((yield* ask(`${blocks}/height/${height}/details`)).item, whole)
    assert.deepStrictEqual((yield* ask(`${blocks}/hash/${details.hash.toUpperCase()}/details`)).item, whole)
    const shown = next === "" ? details : { ...details, nextBlockHash: next }
    assert.deepStrictEqual(newest.items[tip - height], shown)
    if (height === tip) assert.deepStrictEqual((yield* ask(`${blocks}/latest/details`)).item, details)
    const items = oracle.transactionsAt(height)
    const listed = yield* ask(`${blocks}/hash/${details.hash}/transactions`)
    assert.deepStrictEqual([listed.total, listed.items], [items.length, items])
    const page = yield* ask(`${blocks}/height/${height}/transactions?offset=1&limit=2`)
    assert.deepStrictEqual([page.total, page.items], [items.length, items.slice(1, 3)])
    for (const item of items) {
      assert.deepStrictEqual((yield* ask(`/transactions/utxo/${place}/${item.id}`)).item, item)
      const raw = (yield* ask(`/transactions/utxo/${place}/${item.id.toUpperCase()}/raw-data`)).item
      assert.deepStrictEqual(raw, { transactionHex: oracle.raw(item.id) })
      compared++
    }
  }
  assert.deepStrictEqual((yield* ask(`/transactions/utxo/${place}/${waiting}`)).item, oracle.item(waiting))
  return compared
})

/** What is recorded of addresses that were watched from the first block on, and what waits. */
const checkAddresses = Effect.fnUntraced(function* (
  { ask, pages }: Setup,
  oracle: UtxoOracle.UtxoOracle,
  addresses: ReadonlyArray<string>
) {
  const denominated = (amount: bigint) => ({ ...oracle.value(amount), denomination: 8 })
  const counts = { mined: 0, unspent: 0, waiting: 0 }
  for (const address of addresses) {
    const [latest, historical] = ["latest", "historical"].map((when) => `/addresses-${when}/utxo/${place}/${address}`)
    const mined = oracle.minedOf(address)
    assert.deepStrictEqual(yield* pages(`${latest}/transactions?sortingOrder=ascending&limit=2`), mined)
    const newestFirst = mined.toReversed()
    assert.deepStrictEqual(yield* pages(`${latest}/transactions?sortingOrder=descending&limit=50`), newestFirst)
    const historic = newestFirst.map((item) => ({ ...item, blockchaiSpecific: { versionGroupId: "" } }))
    assert.deepStrictEqual(yield* pages(`${historical}/transactions?limit=3`), historic)
    const moment = historic[Math.floor(historic.length / 2)]?.timestamp ?? 1
    assert.deepStrictEqual(
      yield* pages(`${historical}/transactions/from-timestamp/${moment}?limit=50`),
      historic.filter(({ timestamp }) => timestamp >= moment)
    )

    const coins = oracle.unspentOf(new Set([address]))
    const confirmedBalance = denominated(coins.reduce((sum, { value }) => sum + value, 0n))
    for (const path of [latest, historical]) {
      assert.deepStrictEqual((yield* ask(`${path}/balance`)).item, { confirmedBalance })
    }
    const unspent = coins.map(({ id, index, isAvailable, time, value }) => ({
      ...{ address, index, isAvailable, isConfirmed: true, timestamp: time, transactionId: id },
      value: denominated(value)
    }))
    const outputs = yield* ask(`${historical}/unspent-outputs`)
    assert.deepStrictEqual([outputs.total, outputs.items], [unspent.length, unspent])
    assert.deepStrictEqual((yield* ask(`${historical}/unspent-outputs?offset=1&limit=1`)).items, unspent.slice(1, 2))

    const byId = (a: UtxoOracle.Item, b: UtxoOracle.Item) => (a.id < b.id ? -1 : 1)
    const waiting = oracle.waitingOf(address).toSorted(byId)
    const unconfirmed = yield* ask(`${latest}/unconfirmed-transactions`)
    assert.deepStrictEqual([unconfirmed.total, unconfirmed.items.toSorted(byId)], [waiting.length, waiting])
    counts.mined += mined.length
    counts.unspent += unspent.length
    counts.waiting += waiting.length
  }
  return counts
})

/** Lists and sums of a wallet that was synced before its first coin. */
const checkWallet = Effect.fnUntraced(function* (
  { ask }: Setup,
  oracle: UtxoOracle.UtxoOracle,
  { addresses: [receive, change], extendedPublicKey }: PayingWallet
) {
  const path = `/hd-wallets/utxo/${place}/${extendedPublicKey}`
  const own = new Set([...receive, ...change])
  const coins = oracle.unspentOf(own)
  const { amount, unit } = oracle.value(coins.reduce((sum, { value }) => sum + value, 0n))
  const { completeFrom, ...assets } = (yield* ask(`${path}/assets`)).item
  assert.deepStrictEqual(assets, { confirmedBalance: { amount, unit } })
  assert.deepInclude((yield* ask(`${path}/details`)).item, { confirmedBalance: amount, unit })
  assert.strictEqual(completeFrom, undefined, "synced before its first coin")

  const outputs = yield* ask(`${path}/unspent-outputs?limit=50`)
  assert.deepStrictEqual(
    [outputs.total, outputs.items],
    [
      coins.length,
      coins.map(({ address, id, index, isAvailable, value }) => {
        const branch = receive.includes(address) ? 0 : 1
        return {
          ...{
            address,
            addressPath: `${branch}/${(branch === 0 ? receive : change).indexOf(address)}`,
            derivation: "account"
          },
          ...{ index, isAvailable, isConfirmed: true, transactionId: id },
          value: { amount: oracle.value(value).amount }
        }
      })
    ]
  )

  const mined = new Map([...own].flatMap((address) => oracle.minedOf(address).map((item) => [item.id, item] as const)))
  const members = (moved: UtxoOracle.Item["senders"]) =>
    moved.map(({ address, value: { amount } }) => ({ address, isMember: own.has(address), value: { amount } }))
  const expected = [...mined.values()]
    .sort((a, b) => b.minedInBlock.height - a.minedInBlock.height || b.positionInBlock - a.positionInBlock)
    .map(({ fee, hash, id, minedInBlock, positionInBlock, recipients, senders, timestamp }) => ({
      ...{ hash, id, minedInBlock, positionInBlock, timestamp, fee: { amount: fee.amount } },
      ...{ recipients: members(recipients), senders: members(senders) }
    }))
  const listed = []
  for (let offset = 0; offset < expected.length; offset += 4) {
    const page = yield* ask(`${path}/transactions?limit=4&offset=${offset}`)
    assert.deepInclude(page, { total: expected.length, answeredFrom: "record" })
    listed.push(...page.items)
  }
  assert.deepStrictEqual(listed, expected)

  for (const [isChange, branch] of [
    [false, receive],
    [true, change]
  ] as const) {
    const page = yield* ask(`${path}/addresses?isChangeAddress=${isChange}&limit=50&offset=10`)
    assert.deepStrictEqual(
      page.items,
      branch.slice(10, 60).map((address, i) => ({ address, index: 10 + i }))
    )
    const derived = yield* ask(
      `/utils/${place}/xpubs/${extendedPublicKey}/derive-addresses?isChange=${isChange}&startIndex=5&addressesCount=9&addressFormat=p2wpkh`
    )
    assert.deepStrictEqual(
      derived.item.addresses,
      branch.slice(5, 14).map((address, i) => ({ address, index: 5 + i }))
    )
  }
  const status = yield* ask(`/hd-wallets/manage/${place}/${extendedPublicKey}/status`)
  assert.deepInclude(status.item, { extendedPublicKey, isActive: true, syncStatus: "synced" })
  return expected.length
})

interface Checked {
  readonly isvalid: boolean
}

/** Raw transactions as bcoin decodes them, and whether a text is an address. */
const checkForms = Effect.fnUntraced(function* (
  { headwater, node: { rpc } }: Setup,
  oracle: UtxoOracle.UtxoOracle,
  ids: ReadonlyArray<string>,
  addresses: ReadonlyArray<string>
) {
  interface Decoded {
    readonly vin: ReadonlyArray<{
      readonly txid: string
      readonly sequence: number
      readonly scriptSig: { readonly hex: string }
    }>
    readonly vout: ReadonlyArray<{
      readonly scriptPubKey: { readonly hex: string; readonly addresses?: ReadonlyArray<string> }
    }>
    readonly vsize: number
  }
  for (const id of ids) {
    const rawTransactionHex = oracle.raw(id)
    const { body } = yield* headwater.post(`/utils/utxo/${place}/decode-raw-transaction`, { rawTransactionHex })
    const shown = oracle.item(id)
    const decoded = yield* rpc<Decoded>("decoderawtransaction", rawTransactionHex)
    const { item } = body.data
    const { hash, locktime, size, version } = shown
    assert.deepInclude(item, { id, hash, locktime, size, version, vsize: decoded.vsize })
    assert.deepStrictEqual(
      // biome-ignore lint/suspicious/noExplicitAny: an answer of the server
      item.inputs.map((input: any) => [input.transactionId, input.sequence, input.script.hex, input.address]),
      decoded.vin.map(({ scriptSig, sequence, txid }, i) => [
        txid,
        sequence,
        scriptSig.hex,
        shown.inputs[i]!.addresses?.[0]
      ])
    )
    assert.deepStrictEqual(
      // biome-ignore lint/suspicious/noExplicitAny: an answer of the server
      item.outputs.map(({ address, script, value }: any) => [address, script.hex, script.type, value]),
      decoded.vout.map(({ scriptPubKey }, i) => [
        ...[scriptPubKey.addresses?.[0], scriptPubKey.hex, shown.outputs[i]!.script.type, shown.outputs[i]!.value]
      ])
    )
  }
  const wrong = addresses.flatMap((address) => [`${address.slice(0, -1)}${address.endsWith("q") ? "p" : "q"}`])
  for (const address of [...addresses, ...wrong, "nonsense"]) {
    const { body } = yield* headwater.post(`/utils/utxo/${place}/validate-address`, { address })
    const { isvalid } = yield* rpc<Checked>("validateaddress", address)
    assert.deepStrictEqual(body.data.item, { address, isValid: isvalid })
  }
})

/** Pays from the wallet and to addresses of every form; what stays unmined waits. */
const activity = Effect.fnUntraced(function* (node: PayingNode, wallet: PayingWallet, forms: ReadonlyArray<string>) {
  for (let round = 0; round < 4; round++) {
    yield* node.fund(wallet.addresses[0][round * 3]!, 0.5)
    yield* node.fund(forms[round % forms.length]!, 0.25)
    yield* node.mine(1)
    yield* wallet.pay(forms[(round + 1) % forms.length]!, 0.3)
    yield* wallet.pay(wallet.addresses[0][round]!, 0.1)
    yield* node.mine(1)
  }
  yield* node.fund(forms[0]!, 0.125)
  const waiting = yield* wallet.pay(forms[2]!, 0.2)
  assert.isDefined(waiting)
  return waiting
})

/** The last store; with HEADWATER_EVERY_WAY every one. */
const sample = process.env.HEADWATER_EVERY_WAY === undefined ? locations.slice(-1) : locations

for (const { location, name } of sample) {
  describe.skipIf(!isInTurn(import.meta.url))(`A UTXO chain on bcoin, ${name}`, () => {
    it.live(
      "shows blocks, transactions, addresses and a wallet as bitcoinjs-lib reads them, before and after a fork",
      () =>
        Effect.gen(function* () {
          const test = yield* setup(location as Effect.Effect<never>)
          const { caughtUp, headwater, node } = test
          const { rpc } = node
          yield* caughtUp
          const wallet = yield* node.wallet("hd", 7)
          const path = `/hd-wallets/utxo/${place}/${wallet.extendedPublicKey}`
          assert.strictEqual(yield* code(test, `${path}/transactions`), "400 xpub_not_synced")
          for (const [kind, type] of [
            ["", "receiving"],
            ["-change", "change"]
          ] as const) {
            const { body, status } = yield* headwater.post(`${path}/addresses/derive-and-sync${kind}`, {})
            assert.strictEqual(status, 201, JSON.stringify(body))
            const branch = wallet.addresses[type === "change" ? 1 : 0]
            assert.deepStrictEqual(
              // biome-ignore lint/suspicious/noExplicitAny: an answer of the server
              body.data.items.map(({ address, index, ...item }: any) => [address, index, item.type]),
              branch.slice(0, 100).map((address, index) => [address, index, type])
            )
          }
          const forms = yield* Effect.forEach(["legacy", "p2sh-segwit", "bech32"], (type, i) =>
            rpc<string>("headwateraddress", String(i + 1).padStart(64, "0"), type)
          )
          const watched = [...forms, ...wallet.addresses[0].slice(0, 4), ...wallet.addresses[1].slice(0, 2)]
          for (const address of watched) {
            assert.strictEqual(
              yield* code(test, `/addresses-latest/utxo/${place}/${address}/transactions`),
              "403 address_not_synced"
            )
            const { status } = yield* headwater.post(
              `/blockchain-events/${place}/address-coins-transactions-confirmed`,
              {
                ...{ address, callbackUrl: "https://receiver.test/", allowDuplicates: false }
              }
            )
            assert.strictEqual(status, 201)
          }

          const check = Effect.fnUntraced(function* (waiting: string) {
            yield* caughtUp
            const oracle = yield* UtxoOracle.read(rpc, unit)
            const shown = yield* checkBlocks(test, oracle, waiting)
            const counts = yield* checkAddresses(test, oracle, watched)
            const listed = yield* checkWallet(test, oracle, wallet)
            const decoded = oracle.transactionsAt(oracle.tip).map(({ id }) => id)
            yield* checkForms(test, oracle, [waiting, ...decoded.slice(1)], forms)
            return { shown, listed, ...counts }
          })
          const before = yield* check(yield* activity(node, wallet, forms))
          // Over what waits while it leaves a block bcoin stumbles.
          yield* node.mine(1)
          const orphan = yield* rpc<string>("getbestblockhash")
          const [coinbase] = (yield* rpc<{ readonly tx: ReadonlyArray<string> }>("getblock", orphan)).tx
          // What was in the blocks is not mined again.
          yield* node.fork(3, Effect.void)
          for (const block of [`hash/${orphan}/details`, `hash/${orphan}/transactions`, "height/99999/details"]) {
            assert.strictEqual(
              yield* code(test, `/blocks/utxo/${place}/${block}`),
              "404 blockchain_data_block_not_found"
            )
          }
          for (const id of [coinbase, `${coinbase}/raw-data`, "12".repeat(32)]) {
            assert.strictEqual(
              yield* code(test, `/transactions/utxo/${place}/${id}`),
              "404 blockchain_data_transaction_not_found"
            )
          }
          const after = yield* check(yield* activity(node, wallet, forms.toReversed()))
          for (const [count, least] of Object.entries({ shown: 15, listed: 10, mined: 10, unspent: 5, waiting: 1 })) {
            assert.isAbove(before[count as keyof typeof before], least, count)
            assert.isAbove(after[count as keyof typeof after], least, count)
          }
          console.log(`bcoin on ${name}: ${JSON.stringify({ before, after })} compared, 0 wrong`)
        }).pipe(Effect.scoped)
    )
  })
}
