/** Raw transactions decoded as a real node decodes them: of each form of address, paid to and spent. */
import { assert, describe, it } from "@effect/vitest"
import { networks } from "bitcoinjs-lib"
import * as Effect from "effect/Effect"
import * as Headwater from "./Headwater.ts"
import * as Litecoind from "./Litecoind.ts"
import { scan } from "./NodeRpc.ts"
import { locations } from "./Stores.ts"
import * as UtxoOracle from "./UtxoOracle.ts"

/** The first store; with HEADWATER_EVERY_WAY every one. Lists of UTXO chains are on the last one in Explore.bcoin.test.ts. */
const sample = process.env.HEADWATER_EVERY_WAY === undefined ? locations.slice(0, 1) : locations
const { location } = locations[0]!
const place = "litecoin/regtest"
const unit = {
  network: { ...networks.regtest, bech32: "rltc", scriptHash: 0x3a },
  unit: "LTC",
  hidesWaitingSpends: true
}

interface Decoded {
  readonly txid: string
  readonly hash: string
  readonly size: number
  readonly vsize: number
  readonly weight: number
  readonly version: number
  readonly locktime: number
  readonly vin: ReadonlyArray<{
    readonly txid: string
    readonly vout: number
    readonly sequence: number
    readonly scriptSig: { readonly hex: string }
    readonly txinwitness?: ReadonlyArray<string>
  }>
  readonly vout: ReadonlyArray<{
    readonly value: number
    readonly scriptPubKey: { readonly hex: string; readonly type: string; readonly addresses?: ReadonlyArray<string> }
  }>
}

interface Signed {
  readonly hex: string
  readonly complete: boolean
  readonly errors?: unknown
}

interface Shown extends Decoded {
  readonly hex: string
  readonly blockhash?: string
}

interface ShownBlock {
  readonly hash: string
  readonly tx: ReadonlyArray<string>
  readonly time: number
  readonly nextblockhash?: string
  readonly previousblockhash: string
  readonly [field: string]: unknown
}

type Get = Effect.Success<ReturnType<typeof Headwater.start>>["get"]

const satoshis = (coins: number) => Math.round(coins * 1e8)
const coins = (amount: number) => ({ amount: (amount / 1e8).toFixed(8).replace(/\.?0+$/, ""), unit: "LTC" })

/** Sums by address, in the order of the first. */
const sums = (moved: ReadonlyArray<readonly [string | undefined, number]>) => {
  const found = new Map<string, number>()
  for (const [address, amount] of moved)
    if (address !== undefined) found.set(address, (found.get(address) ?? 0) + amount)
  return [...found].map(([address, amount]) => ({ address, addresses: address, value: coins(amount) }))
}

/** A transaction in the words of the interface, from the node's own. */
const expected = Effect.fnUntraced(function* (rpc: Litecoind.Litecoind["rpc"], id: string) {
  const shown = yield* rpc<Shown>("getrawtransaction", id, true)
  const block = shown.blockhash === undefined ? undefined : yield* rpc<ShownBlock>("getblock", shown.blockhash)
  const inputs = yield* Effect.forEach(shown.vin, ({ txid, vout }) =>
    txid === undefined
      ? Effect.undefined
      : Effect.map(rpc<Shown>("getrawtransaction", txid, true), (spent) => spent.vout[vout]!)
  )
  const isSpent = yield* Effect.forEach(shown.vout, (_, index) =>
    Effect.map(rpc<unknown>("gettxout", id, index, true), (coin) => coin === null)
  )
  const isCoinbase = inputs[0] === undefined
  const sumOf = (all: ReadonlyArray<{ readonly value: number } | undefined>) =>
    all.reduce((sum, output) => sum + satoshis(output?.value ?? 0), 0)
  const waiting = block === undefined ? yield* rpc<{ readonly time: number }>("getmempoolentry", id) : undefined
  const addressOf = (output: Shown["vout"][number] | undefined) =>
    output?.scriptPubKey.type === "nulldata" ? undefined : output?.scriptPubKey.addresses?.[0]
  const addresses = (output: Shown["vout"][number] | undefined) =>
    addressOf(output) === undefined ? {} : { addresses: [addressOf(output)!] }
  return {
    ...{ id, transactionID: id, hash: shown.hash, isConfirmed: block !== undefined },
    ...{ locktime: shown.locktime, size: shown.size, version: shown.version },
    fee: coins(isCoinbase ? 0 : sumOf(inputs) - sumOf(shown.vout)),
    inputs: shown.vin.map((input, index) => {
      const output = inputs[index]
      const outputIndex = isCoinbase ? 0xffff_ffff : input.vout
      return {
        ...addresses(output),
        ...(isCoinbase ? { coinbase: (input as unknown as { coinbase: string }).coinbase } : {}),
        ...{ outputIndex, oututIndex: outputIndex, transactionId: input.txid ?? "0".repeat(64) },
        witnesses: input.txinwitness ?? [],
        script: { type: output?.scriptPubKey.type ?? "nonstandard" },
        ...(output === undefined ? {} : { value: coins(satoshis(output.value)) })
      }
    }),
    outputs: shown.vout.map((output, index) => ({
      ...addresses(output),
      isSpent: output.scriptPubKey.type !== "nulldata" && isSpent[index],
      script: { type: output.scriptPubKey.type },
      value: coins(satoshis(output.value))
    })),
    positionInBlock: block === undefined ? -1 : block.tx.indexOf(id),
    recipients: sums(shown.vout.map((output) => [addressOf(output), satoshis(output.value)])),
    senders: sums(inputs.map((output) => [addressOf(output), satoshis(output?.value ?? 0)])),
    timestamp: block?.time ?? waiting?.time,
    minedInBlock: { hash: block?.hash ?? "", height: block?.height ?? -1 }
  }
})

/** Blocks and transactions as the node shows them: of the newest blocks, one that left the chain, one that waits. */
const checkExplorer = Effect.fnUntraced(function* (node: Litecoind.Litecoind, get: Get, waiting: string) {
  const ask = Effect.fnUntraced(function* (path: string) {
    const { body, status } = yield* get(path)
    assert.strictEqual(status, 200, `${path} ${JSON.stringify(body)}`)
    return body.data
  })
  const { rpc } = node
  const tip = yield* rpc<number>("getblockcount")
  const newest = yield* ask(`/blocks/utxo/${place}/latest?count=3`)
  // What the node says is held to what another program reads from its bytes.
  const oracle = yield* UtxoOracle.read(rpc, unit)
  let compared = 0
  for (const height of [0, tip - 2, tip - 1, tip]) {
    const block = yield* rpc<ShownBlock>("getblock", yield* rpc<string>("getblockhash", height))
    const details = {
      bits: Number.parseInt(String(block.bits), 16),
      ...{ chainwork: block.chainwork, difficulty: Math.floor(Number(block.difficulty)), merkleRoot: block.merkleroot },
      ...{ size: block.size, version: block.version, hash: block.hash, height, strippedSize: block.strippedsize },
      previousBlockHash: block.previousblockhash ?? "0".repeat(64),
      ...{ timestamp: block.time, transactionsCount: block.nTx, versionHex: block.versionHex, weight: block.weight }
    }
    const whole = { ...details, merkleroot: block.merkleroot, nextBlockHash: block.nextblockhash ?? "" }
    assert.deepStrictEqual((yield* ask(`/blocks/utxo/${place}/height/${height}/details`)).item, whole)
    assert.deepStrictEqual((yield* ask(`/blocks/utxo/${place}/hash/${block.hash}/details`)).item, whole)
    const listing = block.nextblockhash === undefined ? details : { ...details, nextBlockHash: block.nextblockhash }
    if (height > tip - 3) assert.deepStrictEqual(newest.items[tip - height], listing)
    if (height === 0) continue
    const listed = yield* ask(`/blocks/utxo/${place}/hash/${block.hash.toUpperCase()}/transactions`)
    const items = yield* Effect.forEach(block.tx, (id) => expected(rpc, id))
    assert.deepStrictEqual([details, items], [yield* oracle.details(height), oracle.transactionsAt(height)])
    assert.deepStrictEqual([listed.total, listed.items], [block.tx.length, items])
    const page = yield* ask(`/blocks/utxo/${place}/height/${height}/transactions?offset=1&limit=2`)
    assert.deepStrictEqual(page.items, items.slice(1, 3))
    for (const [index, id] of block.tx.entries()) {
      assert.deepStrictEqual((yield* ask(`/transactions/utxo/${place}/${id}`)).item, items[index])
      const { transactionHex } = (yield* ask(`/transactions/utxo/${place}/${id}/raw-data`)).item
      assert.strictEqual(transactionHex, (yield* rpc<Shown>("getrawtransaction", id, true)).hex)
      compared++
    }
  }
  assert.isAbove(compared, 5)
  assert.deepStrictEqual((yield* ask(`/transactions/utxo/${place}/${waiting}`)).item, yield* expected(rpc, waiting))

  const orphan = yield* rpc<string>("getblockhash", tip)
  const [coinbase] = (yield* rpc<ShownBlock>("getblock", orphan)).tx
  yield* rpc("invalidateblock", orphan)
  yield* node.mine(2)
  const code = (path: string) => Effect.map(get(path), ({ body, status }) => `${status} ${body.error?.code}`)
  for (const path of [`hash/${orphan}/details`, `hash/${orphan}/transactions`, "height/99999/details"]) {
    assert.strictEqual(yield* code(`/blocks/utxo/${place}/${path}`), "404 blockchain_data_block_not_found")
  }
  for (const path of [coinbase, `${coinbase}/raw-data`, "12".repeat(32)]) {
    assert.strictEqual(yield* code(`/transactions/utxo/${place}/${path}`), "404 blockchain_data_transaction_not_found")
  }
})

/** What is recorded of an address, held to the node's blocks from where the list says to be whole, and to its coins. */
const checkAddress = Effect.fnUntraced(function* (
  { rpc }: Litecoind.Litecoind,
  ask: Headwater.Headwater["data"],
  address: string
) {
  const tip = yield* rpc<number>("getblockcount")
  const [latest, historical] = ["latest", "historical"].map((when) => `/addresses-${when}/utxo/${place}/${address}`)
  const { completeFrom = 0 } = yield* ask(`${historical}/transactions?limit=1`)
  const mined: Array<Effect.Success<ReturnType<typeof expected>>> = []
  for (let height = completeFrom; height <= tip; height++) {
    const { tx } = yield* rpc<ShownBlock>("getblock", yield* rpc<string>("getblockhash", height))
    for (const id of tx) mined.push(yield* expected(rpc, id))
  }
  type Item = (typeof mined)[number]
  const names = ({ recipients, senders }: Item) => [...recipients, ...senders].some((each) => each.address === address)
  const oldestFirst = mined.filter(names)
  const listed = Effect.fnUntraced(function* (path: string, limit: number) {
    const found: Array<Item> = []
    for (let after = ""; ; ) {
      const page = yield* ask(`${path}limit=${limit}${after}`)
      assert.strictEqual(page.answeredFrom, "record")
      found.push(...page.items)
      if (!page.hasMore) break
      after = `&startingAfter=${page.nextStartingAfter}`
    }
    return found.filter(({ minedInBlock: { height } }) => height >= completeFrom)
  })
  const newestFirst = [...oldestFirst].reverse()
  // An answer may be some blocks behind for as long as they are being read.
  for (let i = 0; (yield* ask(`${latest}/transactions?limit=1`)).items[0]?.id !== newestFirst[0]?.id; i++) {
    assert.isBelow(i, 600)
    yield* Effect.sleep("200 millis")
  }
  assert.deepStrictEqual(yield* listed(`${latest}/transactions?sortingOrder=ascending&`, 2), oldestFirst)
  assert.deepStrictEqual(yield* listed(`${latest}/transactions?`, 3), newestFirst)
  const historic = newestFirst.map((item) => ({ ...item, blockchaiSpecific: { versionGroupId: "" } }))
  assert.deepStrictEqual(yield* listed(`${historical}/transactions?`, 50), historic)
  const moment = newestFirst[1]!.timestamp
  assert.deepStrictEqual(
    yield* listed(`${historical}/transactions/from-timestamp/${moment}?`, 50),
    historic.filter(({ timestamp }) => timestamp! >= moment!)
  )

  interface Coin {
    readonly txid: string
    readonly vout: number
    readonly amount: number
    readonly height: number
  }
  const { unspents } = yield* scan<{ readonly unspents: ReadonlyArray<Coin> }>(rpc, [`addr(${address})`])
  const value = (amount: number) => ({ ...coins(satoshis(amount)), denomination: 8 })
  const total = value(unspents.reduce((sum, { amount }) => sum + amount, 0))
  for (const path of [latest, historical]) {
    assert.deepStrictEqual((yield* ask(`${path}/balance`)).item, { confirmedBalance: total })
  }
  const unspent = yield* Effect.forEach(
    [...unspents].sort((a, b) => a.height - b.height || (a.txid < b.txid ? -1 : 1) || a.vout - b.vout),
    Effect.fnUntraced(function* ({ amount, height, txid, vout }) {
      const { time } = yield* rpc<ShownBlock>("getblock", yield* rpc<string>("getblockhash", height))
      const isAvailable = (yield* rpc<unknown>("gettxout", txid, vout, true)) !== null
      return {
        address,
        index: vout,
        isAvailable,
        isConfirmed: true,
        timestamp: time,
        transactionId: txid,
        value: value(amount)
      }
    })
  )
  const shown = yield* ask(`${historical}/unspent-outputs`)
  assert.deepStrictEqual([shown.total, shown.items], [unspent.length, unspent])
  assert.deepStrictEqual((yield* ask(`${historical}/unspent-outputs?offset=1&limit=1`)).items, unspent.slice(1, 2))

  const ids = yield* rpc<ReadonlyArray<string>>("getrawmempool")
  const waiting = (yield* Effect.forEach(ids, (id) => expected(rpc, id))).filter(names)
  const unconfirmed = yield* ask(`${latest}/unconfirmed-transactions`)
  const byId = (a: { readonly id: string }, b: { readonly id: string }) => (a.id < b.id ? -1 : 1)
  assert.deepStrictEqual([...unconfirmed.items].sort(byId), waiting.sort(byId))
  return { mined: oldestFirst.length, unspent: unspent.length, waiting: waiting.length }
})

describe.skipIf(!Litecoind.installed)("raw transactions of litecoind", () => {
  it.live.each(sample)(
    "are decoded as the node decodes them, and inputs show whose coins they spend, $name",
    ({ location }) =>
      Effect.gen(function* () {
        const node = yield* Litecoind.start("-vbparams=mweb:4000000000:4000000000")
        yield* node.mine(110)
        const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
          chains: { [place]: { nodes: [node.url], start: "latest", pollMillis: 200 } }
        })
        const decode = (rawTransactionHex: string) =>
          headwater.post(`/utils/utxo/${place}/decode-raw-transaction`, { rawTransactionHex })
        const kinds = ["legacy", "p2sh-segwit", "bech32"] as const
        const own = yield* Effect.forEach(kinds, (kind) => node.rpc<string>("getnewaddress", "", kind))
        const paid = yield* Effect.forEach(own, (address) => node.rpc<string>("sendtoaddress", address, 1))
        yield* node.mine(1)
        const to = yield* node.rpc<string>("getnewaddress")
        // A daemon that has just been started may not have asked its node yet.
        const balance = headwater.get(`/addresses-historical/utxo/${place}/${to}/balance`)
        const unknown = yield* Headwater.until(balance, ({ status }) => status !== 503)
        assert.strictEqual(unknown.body.error?.code ?? unknown.status, "address_not_synced")
        yield* node.rpc("sendtoaddress", to, 3)
        yield* node.mine(1)
        const watched = yield* headwater.post(`/blockchain-events/${place}/address-coins-transactions-confirmed`, {
          ...{ address: to, callbackUrl: "https://receiver.test/", allowDuplicates: false }
        })
        assert.strictEqual(watched.status, 201)
        yield* Headwater.until(balance, ({ status }) => status === 200)
        for (const [i, address] of own.entries()) {
          const { hex: payment } = yield* node.rpc<{ readonly hex: string }>("gettransaction", paid[i])
          const { vout } = yield* node.rpc<Decoded>("decoderawtransaction", payment)
          const n = vout.findIndex(({ scriptPubKey }) => scriptPubKey.addresses?.includes(address))
          const outputs = [{ [to]: 0.5 }, { data: "68656164776174657220" }]
          const unsigned = yield* node.rpc<string>("createrawtransaction", [{ txid: paid[i], vout: n }], outputs)
          const { complete, errors, hex: signed } = yield* node.rpc<Signed>("signrawtransactionwithwallet", unsigned)
          assert.isTrue(complete, JSON.stringify(errors))
          for (const raw of [payment, unsigned, signed]) {
            const { body, status } = yield* decode(raw)
            assert.strictEqual(status, 200, JSON.stringify(body))
            const { item } = body.data
            const shown = yield* node.rpc<Decoded>("decoderawtransaction", raw)
            assert.deepStrictEqual(
              [item.id, item.hash, item.size, item.vsize, item.weight, item.version, item.locktime],
              [shown.txid, shown.hash, shown.size, shown.vsize, shown.weight, shown.version, shown.locktime]
            )
            assert.deepStrictEqual(
              // biome-ignore lint/suspicious/noExplicitAny: an answer of the server
              item.inputs.map((input: any) => [
                ...[input.transactionId, input.outputIndex, input.script.hex, input.sequence, input.witnesses]
              ]),
              shown.vin.map(({ scriptSig, sequence, txid, txinwitness, vout }) => [
                ...[txid, vout, scriptSig.hex, sequence, txinwitness]
              ])
            )
            assert.deepStrictEqual(
              // biome-ignore lint/suspicious/noExplicitAny: an answer of the server
              item.outputs.map(({ address, script, value }: any) => [
                ...[address, script.hex, script.type, Number(value.amount), value.unit]
              ]),
              shown.vout.map(({ scriptPubKey: { addresses, hex, type }, value }) => [
                ...[addresses?.[0], hex, type, value, "LTC"]
              ])
            )
          }
          const [{ address: spent }] = (yield* decode(signed)).body.data.item.inputs
          assert.strictEqual(spent, address)
          yield* node.rpc("sendrawtransaction", signed, 0)
        }
        yield* node.mine(2)
        const waiting = yield* node.rpc<string>("sendtoaddress", to, 2)
        const before = yield* checkAddress(node, headwater.data, to)
        assert.isAbove(before.mined, 2)
        assert.isAbove(before.unspent, 1)
        assert.isAbove(before.waiting, 0)
        yield* checkExplorer(node, headwater.get, waiting)
        // The newest blocks were others meanwhile.
        const after = yield* checkAddress(node, headwater.data, to)
        const spend = yield* node.rpc<ReadonlyArray<{ readonly txid: string; readonly vout: number }>>(
          ...(["listunspent", 1, 999, [to]] as const)
        )
        const spending = yield* node.rpc<string>("createrawtransaction", spend.slice(0, 2), [{ [own[0]!]: 0.9 }])
        const { hex: signed } = yield* node.rpc<Signed>("signrawtransactionwithwallet", spending)
        yield* node.rpc("sendrawtransaction", signed, 0)
        assert.strictEqual((yield* checkAddress(node, headwater.data, to)).waiting, after.waiting + 1)
        yield* node.mine(1)
        const last = yield* checkAddress(node, headwater.data, to)
        assert.isAtLeast(last.mined, after.mined + 1)
        assert.isBelow(last.unspent, after.unspent + after.waiting)
        for (const wrong of ["00", "zz", "0".repeat(60)]) assert.strictEqual((yield* decode(wrong)).status, 400)
        for (const address of [
          ...own,
          to,
          ...own.map((text) => `${text.slice(0, -1)}${text.endsWith("q") ? "p" : "q"}`)
        ]) {
          const { isvalid } = yield* node.rpc<{ readonly isvalid: boolean }>("validateaddress", address)
          const { body } = yield* headwater.post(`/utils/utxo/${place}/validate-address`, { address })
          assert.deepStrictEqual(body.data.item, { address, isValid: isvalid })
        }
      }).pipe(Effect.scoped)
  )

  it.live("are priced as the node says, and by what it takes at the least while it says nothing", () =>
    Effect.gen(function* () {
      const node = yield* Litecoind.start("-vbparams=mweb:4000000000:4000000000", "-txconfirmtarget=6")
      yield* node.mine(110)
      const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
        chains: { [place]: { nodes: [node.url], start: "latest", pollMillis: 200 } }
      })
      const fees = (kind: string) => headwater.get(`/blockchain-fees/utxo/${place}/${kind}`)
      const connected = Effect.gen(function* () {
        for (let i = 0; i < 1_200; i++) {
          const answer = yield* fees("mempool")
          if (answer.status !== 503) return answer
          yield* Effect.sleep("100 millis")
        }
        return yield* Effect.die(new Error("not connected"))
      })
      // 0.00001 for 1,000 bytes.
      const least = { slow: "0.00000001", standard: "0.00000001", fast: "0.00000001", unit: "LTC" }
      assert.deepStrictEqual((yield* connected).body.data.item, least)
      assert.strictEqual((yield* fees("smart")).status, 501)

      // What the node learns of blocks with transactions.
      const estimate = (blocks: number) =>
        node.rpc<{ readonly feerate?: number; readonly blocks: number }>("estimatesmartfee", blocks, "ECONOMICAL")
      yield* node.rpc("settxfee", 0.0005)
      for (let i = 0; i < 40 && (yield* estimate(6)).feerate === undefined; i++) {
        for (let k = 0; k < 8; k++) yield* node.rpc("sendtoaddress", yield* node.rpc<string>("getnewaddress"), 0.1)
        yield* node.mine(1)
      }
      const { blocks, feerate } = yield* estimate(6)
      assert.isDefined(feerate)
      const smart = (yield* fees("smart?confirmationTarget=6&estimateMode=economical")).body.data.item
      assert.deepStrictEqual(
        { ...smart, feeRate: Number(smart.feeRate) },
        { confirmationTarget: blocks, feeRate: feerate, unit: "LTC" }
      )
      const { standard } = (yield* connected).body.data.item
      assert.closeTo(Number(standard) * 1_000, feerate!, 1e-12)
      assert.strictEqual((yield* fees("smart?confirmationTarget=0")).status, 400)
    }).pipe(Effect.scoped)
  )
})
