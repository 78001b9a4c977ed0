/** Prepared transactions on a real node: signed elsewhere, mined, and paid for exactly as announced. */
import { assert, describe, it, layer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { formatEther, HDNodeWallet, parseEther, recoverAddress, Transaction, Wallet } from "ethers"
import * as FakeNode from "../packages/indexer/test/FakeNode.ts"
import * as Anvil from "./Anvil.ts"
import { deployedCode, funded } from "./Contracts.ts"
import * as Headwater from "./Headwater.ts"
import { locations } from "./Stores.ts"

const types = ["legacy-transaction", "access-list-transaction", "gas-fee-market-transaction"] as const
const { location } = locations[0]!

/** Transactions by their senders and nonces, as `txpool_content` has them. */
interface Pool {
  readonly result: Readonly<Record<"pending" | "queued", Readonly<Record<string, object>>>>
}

/** A node before this one, which answers some calls in its own way. */
const before = (
  url: string,
  answerTo: (call: FakeNode.Call, ask: (call: object) => Promise<Pool>) => Promise<object>
) =>
  FakeNode.http(async (request, response) => {
    const ask = async (call: object) => {
      const body = JSON.stringify(call)
      const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body })
      return answer.json() as Promise<Pool>
    }
    const answer = (call: FakeNode.Call) => answerTo(call, ask)
    const body = JSON.parse(await FakeNode.bodyOf(request))
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify(Array.isArray(body) ? await Promise.all(body.map(answer)) : await answer(body)))
  })

const asLatest = (param: unknown) => (param === "pending" ? "latest" : param)

/** A node that is this one, but knows nothing of what waits for a block except how many transactions do. */
const withoutPending = (url: string) =>
  before(url, async (call, ask) => {
    if (call.method === "txpool_contentFrom") {
      return { jsonrpc: "2.0", id: call.id, error: { code: -32601, message: "the method does not exist" } }
    }
    const params = call.method === "eth_getTransactionCount" ? call.params : call.params.map(asLatest)
    return ask({ ...call, params })
  })

/** A node that is this one, and lists what waits of one sender, as geth does and anvil does not. */
const withListOfSender = (url: string) =>
  before(url, async (call, ask) => {
    if (call.method !== "txpool_contentFrom") return ask(call)
    const { result } = await ask({ ...call, method: "txpool_content", params: [] })
    const sender = String(call.params[0]).toLowerCase()
    const own = { pending: result.pending[sender] ?? {}, queued: result.queued[sender] ?? {} }
    return { jsonrpc: "2.0", id: call.id, result: own }
  })

/** Three chains of different rules on one node. */
const setup = setupOn(({ url }) => Effect.succeed({ url }))

function setupOn(node: (anvil: Anvil.Anvil) => Effect.Effect<{ readonly url: string }, never, Scope.Scope>) {
  return Effect.gen(function* () {
    const anvil = yield* Anvil.start({})
    const { url } = yield* node(anvil)
    const chain = { nodes: [url], start: 0, pollMillis: 200, timeoutMillis: 1_000 }
    const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
      chains: { "ethereum/devnet": chain, "ethereum-classic/devnet": chain, "base/devnet": chain }
    })
    const prepare = (item: Record<string, unknown>, blockchain = "ethereum") =>
      headwater.post(`/prepare-transactions/evm/${blockchain}/devnet/native-coins`, {
        fee: { priority: "standard" },
        recipient: Wallet.createRandom().address,
        sender: funded.address,
        amount: "0.1",
        ...item
      })
    /** Waits until the daemon has connected to its node. */
    const connected = Effect.gen(function* () {
      for (let i = 0; i < 1_200; i++) {
        const answers = yield* Effect.forEach(["ethereum", "ethereum-classic", "base"], (name) =>
          prepare({ type: "legacy-transaction" }, name)
        )
        if (answers.every(({ status }) => status !== 503)) return
        yield* Effect.sleep("100 millis")
      }
    })
    yield* connected
    const send = (signed: Transaction) => anvil.rpc("eth_sendRawTransaction", [signed.serialized])
    /** The receipt of a transaction once it is mined. */
    const receiptOf = Effect.fnUntraced(function* (signed: Transaction) {
      for (let i = 0; i < 6_000; i++) {
        const receipt = yield* anvil.rpc<Record<string, string> | null>("eth_getTransactionReceipt", [signed.hash])
        if (receipt !== null) return receipt
        yield* Effect.sleep("10 millis")
      }
      return yield* Effect.die(new Error("The transaction was not mined"))
    })
    /** Gives the node a signed transaction, and its receipt back. */
    const mined = (signed: Transaction) => Effect.andThen(send(signed), receiptOf(signed))
    const balance = (address: string) => Effect.map(anvil.rpc<string>("eth_getBalance", [address, "latest"]), BigInt)
    const fund = (address: string, wei: bigint) => anvil.rpc("anvil_setBalance", [address, `0x${wei.toString(16)}`])
    return { anvil, headwater, prepare, send, receiptOf, mined, balance, fund }
  })
}

/** The transaction that a prepared one describes, as ethers understands it. */
// biome-ignore lint/suspicious/noExplicitAny: an answer of the server
const described = (item: any): Transaction => {
  const type = types.indexOf(item.type)
  return Transaction.from({
    type,
    chainId: 31337,
    nonce: item.nonce,
    gasLimit: item.gasLimit,
    to: item.recipient,
    value: parseEther(item.value.amount),
    data: item.inputData,
    ...(type === 2
      ? { maxFeePerGas: item.fee.maxFeePerGas, maxPriorityFeePerGas: item.fee.maxPriorityFeePerGas }
      : { gasPrice: item.fee.gasPrice })
  })
}

// biome-ignore lint/suspicious/noExplicitAny: an answer of the server
const sign = (wallet: Pick<Wallet, "signingKey" | "address">, item: any) => {
  const transaction = described(item)
  assert.strictEqual(transaction.unsignedHash, item.sighash)
  const signature = wallet.signingKey.sign(item.sighash)
  assert.strictEqual(recoverAddress(item.sighash, signature), wallet.address)
  transaction.signature = signature
  return transaction
}

/** A daemon that tests share: each of them has senders of its own, and begins where a transaction is mined at once. */
class Shared extends Context.Service<Shared, Effect.Success<typeof setup>>()("Prepare/Shared") {
  static readonly layer = Layer.effect(Shared, setup)
}
const shared = Effect.tap(Shared, ({ anvil }) => anvil.rpc("evm_setAutomine", [true]))

layer(Shared.layer, { excludeTestServices: true })("prepare on anvil", (it) => {
  it.effect("leaves a contract more gas than the estimate, though so much data takes as much of any account", () =>
    Effect.gen(function* () {
      const { anvil, mined, prepare } = yield* shared
      const recipient = Wallet.createRandom().address
      const note = "a".repeat(100)
      const plain = yield* prepare({ recipient, additionalData: note })
      assert.strictEqual(plain.body.data?.item.gasLimit, 21_000 + 40 * note.length, JSON.stringify(plain.body))
      // Reads one more slot where the first one is not zero.
      yield* anvil.rpc("anvil_setCode", [recipient, "0x600054600757005b6001545000"])
      const { body, status } = yield* prepare({ recipient, additionalData: note })
      assert.strictEqual(status, 201, JSON.stringify(body))
      yield* anvil.rpc("anvil_setStorageAt", [recipient, `0x${"0".repeat(64)}`, `0x${"0".repeat(63)}1`])
      assert.strictEqual((yield* mined(sign(funded, body.data.item))).status, "0x1")
    })
  )

  it.effect("takes a type from the query where the body names none", () =>
    Effect.gen(function* () {
      const { headwater } = yield* shared
      const path = "/prepare-transactions/evm/ethereum/devnet/native-coins?type=legacy-transaction"
      const item = { fee: { priority: "standard" }, recipient: funded.address, sender: funded.address, amount: "0.1" }
      assert.strictEqual((yield* headwater.post(path, item)).body.data?.item.type, "legacy-transaction")
      const type = "access-list-transaction"
      assert.strictEqual((yield* headwater.post(path, { ...item, type })).body.data?.item.type, type)
    })
  )

  it.effect("is mined for each type, at each priority, and recovers to the sender", () =>
    Effect.gen(function* () {
      const { balance, mined, prepare } = yield* shared
      for (const type of [...types, undefined]) {
        for (const priority of ["slow", "standard", "fast"]) {
          const recipient = Wallet.createRandom().address
          const { body, status } = yield* prepare({
            type,
            recipient,
            amount: "1.000000000000000001",
            fee: { priority }
          })
          assert.strictEqual(status, 201, JSON.stringify(body))
          const { item } = body.data
          assert.strictEqual(item.type, type ?? "gas-fee-market-transaction")
          assert.deepStrictEqual(
            [item.value, item.gasLimit, item.inputData, item.sender, item.fee.unit],
            [{ amount: "1.000000000000000001", unit: "ETH" }, 21_000, "0x", funded.address, "Wei"]
          )
          const receipt = yield* mined(sign(funded, item))
          assert.deepStrictEqual(
            [receipt.status, receipt.from, receipt.type],
            ["0x1", funded.address.toLowerCase(), `0x${types.indexOf(item.type)}`]
          )
          assert.strictEqual(yield* balance(recipient), 1_000_000_000_000_000_001n)
        }
      }
    })
  )

  it.effect("is prepared from an address of a synced wallet, whose place it tells", () =>
    Effect.gen(function* () {
      const { balance, fund, headwater, mined } = yield* shared
      const root = HDNodeWallet.fromSeed(`0x${"5a".repeat(32)}`).derivePath("m/44'/60'/0'")
      const xpub = root.neuter().extendedKey
      const wallet = `/hd-wallets/evm/ethereum/devnet/${xpub}/transactions/prepare`
      const sender = root.derivePath("1/4")
      const recipient = Wallet.createRandom().address
      const request = { amount: "1.000000000000000001", fee: {}, recipient, sender: sender.address }
      yield* fund(sender.address, 2_000_000_000_000_000_000n)
      const unsynced = yield* headwater.post(wallet, request)
      assert.deepStrictEqual([unsynced.status, unsynced.body.error.code], [400, "xpub_not_synced"])
      yield* headwater.post(`/hd-wallets/manage/ethereum/devnet/${xpub}/sync`, {})
      const { body, status } = yield* headwater.post(wallet, request)
      assert.strictEqual(status, 200, JSON.stringify(body))
      const { item } = body.data
      assert.deepStrictEqual([item.change, item.derivationIndex, item.nonce], [1, 4, 0])
      // Above 2^53 a number of JSON would be another amount to many readers.
      assert.deepStrictEqual(item.value, { amount: "1000000000000000001", unit: "Wei" })
      assert.deepStrictEqual(
        [item.gasLimit, item.gasPrice, item.fee.gasLimit, item.fee.gasPrice, item.fee.unit],
        [21_000, 0, 21_000, 0, "Wei"]
      )
      const signed = sign(sender, { ...item, sighash: item.sigHash, value: { amount: formatEther(item.value.amount) } })
      assert.strictEqual((yield* mined(signed)).status, "0x1")
      assert.strictEqual(yield* balance(recipient), 1_000_000_000_000_000_001n)

      const small = yield* headwater.post(wallet, { ...request, amount: "0.000000000000000007" })
      assert.strictEqual(small.body.data.item.value.amount, 7)
      const legacy = yield* headwater.post(wallet, { ...request, amount: "0", transactionType: "legacy-transaction" })
      assert.notProperty(legacy.body.data.item.fee, "maxFeePerGas")
      assert.strictEqual(legacy.body.data.item.fee.gasPrice, legacy.body.data.item.gasPrice)
      for (const [change, attribute] of [
        [{ sender: funded.address }, "sender"],
        [{ amount: 2 ** 60 }, "amount"],
        [{ transactionType: "legacy" }, "transactionType"]
      ] as const) {
        const refused = yield* headwater.post(wallet, { ...request, ...change })
        assert.deepStrictEqual(
          [refused.status, refused.body.error.details[0].attribute.split(".").at(-1)],
          [400, attribute]
        )
      }
    })
  )

  it.effect("leaves exactly nothing where the fee comes out of the whole balance, for each type", () =>
    Effect.gen(function* () {
      const { balance, fund, mined, prepare } = yield* shared
      for (const type of types) {
        for (const place of ["beside", "inside"]) {
          const wallet = Wallet.createRandom()
          const recipient = Wallet.createRandom().address
          yield* fund(wallet.address, 123_456_789_012_345_678n)
          const { body, status } = yield* prepare({
            ...{ type, sender: wallet.address, recipient, amount: "0.123456789012345678" },
            ...(place === "beside"
              ? { substractFromAmount: true }
              : { fee: { priority: "fast", substractFromAmount: true } })
          })
          assert.strictEqual(status, 201, JSON.stringify(body))
          yield* mined(sign(wallet, body.data.item))
          assert.strictEqual(yield* balance(wallet.address), 0n)
          assert.strictEqual(yield* balance(recipient), parseEther(body.data.item.value.amount))
        }
      }
    })
  )

  it.effect("takes the caller's nonce, an exact fee and a note, and counts what is pending", () =>
    Effect.gen(function* () {
      const { anvil, prepare } = yield* shared
      const chosen = yield* prepare({ nonce: "77" })
      assert.strictEqual(chosen.body.data.item.nonce, 77)

      const exact = yield* prepare({ fee: { priority: "slow", exactAmount: String(21_000n * 123_456_789_012n) } })
      const { fee, gasLimit } = exact.body.data.item
      assert.strictEqual(BigInt(fee.maxFeePerGas) * BigInt(gasLimit), 21_000n * 123_456_789_012n)

      const note = yield* prepare({ additionalData: "Grüße" })
      assert.strictEqual(note.body.data.item.inputData, `0x${Buffer.from("Grüße").toString("hex")}`)
      assert.isAbove(note.body.data.item.gasLimit, 21_000)
      const signed = sign(funded, note.body.data.item)
      yield* anvil.rpc("evm_setAutomine", [false])
      yield* anvil.rpc("eth_sendRawTransaction", [signed.serialized])
      assert.strictEqual((yield* prepare({})).body.data.item.nonce, signed.nonce + 1)
      yield* anvil.rpc("evm_mine", [])
      const receipt = yield* anvil.rpc<Record<string, string>>("eth_getTransactionReceipt", [signed.hash])
      assert.strictEqual(receipt.status, "0x1")

      const used = yield* prepare({ nonce: "0" })
      assert.deepStrictEqual([used.status, used.body.error.code], [409, "invalid_data"])
      assert.include(used.body.error.message, "nonce")
    })
  )

  it.effect("refuses what cannot be paid, naming what there is and what it takes", () =>
    Effect.gen(function* () {
      const { anvil, fund, prepare } = yield* shared
      const poor = Wallet.createRandom().address
      yield* fund(poor, 10n ** 15n)
      const refusal = Effect.fnUntraced(function* (item: Record<string, unknown>) {
        const { body, status } = yield* prepare({ sender: poor, ...item })
        assert.deepStrictEqual([status, body.error?.code], [409, "invalid_data"], JSON.stringify(body))
        return body.error.message as string
      })
      assert.match(
        yield* refusal({ amount: "2" }),
        /the sender has 0\.001 ETH and needs 2\.0.*, fee up to 0\.0000[1-9]/
      )
      assert.match(yield* refusal({ amount: "0.001" }), /the sender has 0\.001 ETH and needs 0\.0010/)
      assert.match(
        yield* refusal({ amount: "0.002", substractFromAmount: true }),
        /has 0\.001 ETH and needs 0\.002 ETH, of which the fee takes up to 0\.0000[1-9]/
      )
      assert.match(yield* refusal({ amount: "0.000000000000000001", substractFromAmount: true }), /the fee/)
      assert.match(yield* refusal({ amount: "0.0001", fee: { priority: "slow", exactAmount: "1" } }), /1 Wei is 0/)
      // A contract that takes no coins: PUSH0 PUSH0 REVERT.
      const recipient = Wallet.createRandom().address
      yield* anvil.rpc("anvil_setCode", [recipient, "0x5f5ffd"])
      assert.match(
        yield* refusal({ recipient, amount: "2" }),
        /needs 2 ETH and the fee, which the node does not estimate/
      )
      assert.match(yield* refusal({ recipient, amount: "0.0001" }), /the transaction would fail: .*revert/)
    })
  )

  it.effect("names the field that is wrong, and the types that a chain has", () =>
    Effect.gen(function* () {
      const { prepare } = yield* shared
      for (const [attribute, item, blockchain] of [
        ["sender", { sender: "0x12" }, "ethereum"],
        ["recipient", { recipient: funded.address.replace("f", "F") }, "ethereum"],
        ["amount", { amount: "0.1234567890123456789" }, "ethereum"],
        ["type", { type: "gas-fee-market-transaction" }, "ethereum-classic"],
        ["type", { type: "no-such-type" }, "ethereum"]
      ] as const) {
        const { body, status } = yield* prepare(item, blockchain)
        assert.deepStrictEqual([status, body.error?.code], [400, "invalid_data"], JSON.stringify(body))
        assert.strictEqual(body.error.details[0].attribute, attribute)
      }
      const classic = yield* prepare({}, "ethereum-classic")
      assert.deepStrictEqual([classic.status, classic.body.data.item.type], [201, "legacy-transaction"])
      assert.strictEqual(classic.body.data.item.value.unit, "ETC")
    })
  )

  it.effect("reserves what the OP stack takes for the layer below", () =>
    Effect.gen(function* () {
      const { anvil, fund, prepare } = yield* shared
      const sender = Wallet.createRandom().address
      yield* fund(sender, 10n ** 18n)
      yield* anvil.rpc("anvil_setCode", ["0x420000000000000000000000000000000000000F", deployedCode("GasPriceOracle")])
      const { body, status } = yield* prepare({ sender, amount: "1", substractFromAmount: true }, "base")
      assert.strictEqual(status, 201, JSON.stringify(body))
      const { fee, gasLimit, value } = body.data.item
      const bytes = BigInt((described(body.data.item).unsignedSerialized.length - 2) / 2)
      const left = 10n ** 18n - parseEther(value.amount) - BigInt(fee.maxFeePerGas) * BigInt(gasLimit)
      const charged = 1_000_000_000n * bytes + 7n * BigInt(gasLimit)
      assert.strictEqual(left, (charged * 81n + 63n) / 64n)

      // Of the second no bytes can be made.
      for (const amount of ["0.9999999999", `1${"0".repeat(60)}`]) {
        const refused = yield* prepare({ sender, amount }, "base")
        assert.deepStrictEqual([refused.status, refused.body.error?.code], [409, "invalid_data"], amount)
      }
    })
  )

  it.effect("prepares everything beside what waits for a block, and the transaction is mined behind it", () =>
    Effect.gen(function* () {
      const { anvil, balance, fund, prepare, receiptOf, send } = yield* shared
      yield* anvil.rpc("evm_setAutomine", [false])
      for (const type of types) {
        const wallet = Wallet.createRandom()
        yield* fund(wallet.address, parseEther("1"))
        const first = yield* prepare({ type, sender: wallet.address, amount: "0.1" })
        yield* send(sign(wallet, first.body.data.item))
        // Coins that wait to come are not spent before they are there.
        const donation = yield* prepare({ recipient: wallet.address, amount: "5" })
        yield* send(sign(funded, donation.body.data.item))

        const all = yield* prepare({ type, sender: wallet.address, amount: "1", substractFromAmount: true })
        assert.deepStrictEqual([all.status, all.body.error?.code], [409, "invalid_data"], JSON.stringify(all.body))
        const [, left] = /the sender has (0\.8\d+) ETH beside what its waiting transactions take/.exec(
          all.body.error.message
        )!
        const rest = yield* prepare({ type, sender: wallet.address, amount: left, substractFromAmount: true })
        assert.strictEqual(rest.status, 201, JSON.stringify(rest.body))
        const { item } = rest.body.data
        assert.strictEqual(item.nonce, 1)
        yield* send(sign(wallet, item))
        yield* anvil.rpc("evm_mine", [])
        for (const { body } of [first, rest]) {
          assert.strictEqual((yield* receiptOf(sign(wallet, body.data.item))).status, "0x1")
        }
        assert.strictEqual(yield* balance(item.recipient), parseEther(item.value.amount))
        // The whole price is paid but by the first transaction of the fee market, which got some of its own back.
        const kept = (yield* balance(wallet.address)) - parseEther("5")
        assert.isTrue(type === "gas-fee-market-transaction" ? kept >= 0n && kept < parseEther("0.0001") : kept === 0n)
      }
    })
  )

  it.effect(
    "takes the place of a waiting transaction, at a price that nodes take for that, with what it would have taken",
    () =>
      Effect.gen(function* () {
        const { anvil, fund, prepare, receiptOf, send } = yield* shared
        yield* anvil.rpc("evm_setAutomine", [false])
        for (const type of types) {
          const wallet = Wallet.createRandom()
          yield* fund(wallet.address, parseEther("10"))
          const next = (item: Record<string, unknown>) => prepare({ type, sender: wallet.address, ...item })
          for (const amount of ["1", "8"]) yield* send(sign(wallet, (yield* next({ amount })).body.data.item))
          const low = yield* next({ nonce: "1", fee: { priority: "slow", exactAmount: String(21_000n * 10n ** 9n) } })
          assert.deepStrictEqual([low.status, low.body.error?.code], [409, "invalid_data"], JSON.stringify(low.body))
          assert.match(low.body.error.message, /^fee\.exactAmount: .*in the place of the waiting transaction/)

          for (const substractFromAmount of [false, true]) {
            const { body, status } = yield* next({ amount: "8.9", nonce: "1", substractFromAmount })
            assert.strictEqual(status, 201, JSON.stringify(body))
            const instead = sign(wallet, body.data.item)
            yield* send(instead)
            if (!substractFromAmount) continue
            yield* anvil.rpc("evm_mine", [])
            assert.strictEqual((yield* receiptOf(instead)).status, "0x1")
          }
        }
      })
  )

  it.effect("keeps what prepared transactions may cost, so that all of them can be paid", () =>
    Effect.gen(function* () {
      const { fund, mined, prepare } = yield* shared
      for (const type of types) {
        const wallet = Wallet.createRandom()
        yield* fund(wallet.address, parseEther("10"))
        const next = (item: Record<string, unknown>) =>
          prepare({ type, sender: wallet.address, reserve: true, ...item })
        const taken = Effect.fnUntraced(function* (item: Record<string, unknown>) {
          const { body, status } = yield* next(item)
          assert.strictEqual(status, 201, JSON.stringify(body))
          return body.data.item
        })
        const refused = Effect.fnUntraced(function* (item: Record<string, unknown>) {
          const { body, status } = yield* next(item)
          assert.deepStrictEqual([status, body.error?.code], [409, "invalid_data"], JSON.stringify(body))
          return body.error.message
        })
        const prepared = [yield* taken({ amount: "6" })]
        assert.match(
          yield* refused({ amount: "6" }),
          /^amount: the sender can spend 10 ETH, of which .* \(numbers 0\) may take 6\.00\d+ ETH, and needs 6\.00\d+ ETH/
        )
        prepared.push(yield* taken({ amount: "3.9" }))
        // What has the number of one of them takes its place, and may spend what that one might have.
        assert.strictEqual((yield* taken({ amount: "6.05", reserve: false })).nonce, 0)
        assert.strictEqual((yield* taken({ amount: "3.99", nonce: "1", reserve: false })).nonce, 1)
        // Where that one is to be kept, what it costs is kept instead.
        const instead = yield* taken({ amount: "1", nonce: "1" })
        assert.closeTo(instead.reservedUntil, Date.now() / 1_000 + 600, 60)
        prepared[1] = yield* taken({ amount: "3.9", nonce: "1" })
        yield* refused({ amount: "6.2", reserve: false })
        yield* refused({ amount: "0.2", nonce: "2" })
        yield* refused({ amount: "0.2", substractFromAmount: true })
        prepared.push(yield* taken({ amount: "0.09", substractFromAmount: true }))
        assert.deepStrictEqual(
          prepared.map(({ nonce }) => nonce),
          [0, 1, 2]
        )
        for (const item of prepared) assert.strictEqual((yield* mined(sign(wallet, item))).status, "0x1")
        // Mined, they are in the balance.
        yield* taken({ amount: "0.009" })
      }
    })
  )

  it.effect("gives a contract's gas a margin, which is not paid where it is not used", () =>
    Effect.gen(function* () {
      const { anvil, mined, prepare } = yield* shared
      // Takes coins and writes to its storage: PUSH1 1 PUSH0 SSTORE.
      const recipient = Wallet.createRandom().address
      yield* anvil.rpc("anvil_setCode", [recipient, "0x60015f55"])
      const { body } = yield* prepare({ recipient })
      const estimate = BigInt(
        yield* anvil.rpc<string>("eth_estimateGas", [{ from: funded.address, to: recipient, value: "0x1" }])
      )
      assert.strictEqual(BigInt(body.data.item.gasLimit), (estimate * 130n) / 100n)
      const receipt = yield* mined(sign(funded, body.data.item))
      assert.strictEqual(receipt.status, "0x1")
      assert.isAtMost(Number(receipt.gasUsed), Number(estimate))
    })
  )
})

describe("prepare on an anvil of a test's own", () => {
  it.live(
    "takes the place of a transaction that waits behind a missing nonce, at a price that nodes take for that",
    () =>
      Effect.gen(function* () {
        const { anvil, fund, prepare, receiptOf, send } = yield* setupOn(({ url }) => withListOfSender(url))
        yield* anvil.rpc("evm_setAutomine", [false])
        for (const type of types) {
          const wallet = Wallet.createRandom()
          yield* fund(wallet.address, parseEther("10"))
          const next = (item: Record<string, unknown>) => prepare({ type, sender: wallet.address, ...item })
          yield* send(sign(wallet, (yield* next({ nonce: "1", amount: "1" })).body.data.item))
          const low = yield* next({ nonce: "1", fee: { priority: "slow", exactAmount: String(21_000n * 10n ** 9n) } })
          assert.deepStrictEqual([low.status, low.body.error?.code], [409, "invalid_data"], JSON.stringify(low.body))
          const { body } = yield* next({ nonce: "1", amount: "2" })
          const instead = sign(wallet, body.data.item)
          yield* send(instead)
          yield* send(sign(wallet, (yield* next({ nonce: "0", amount: "1" })).body.data.item))
          yield* anvil.rpc("evm_mine", [])
          assert.strictEqual((yield* receiptOf(instead)).status, "0x1")
        }
      }).pipe(Effect.scoped)
  )

  it.live("refuses to guess what waiting transactions leave where the node does not say it", () =>
    Effect.gen(function* () {
      const { anvil, prepare, send } = yield* setupOn(({ url }) => withoutPending(url))
      yield* anvil.rpc("evm_setAutomine", [false])
      const first = yield* prepare({})
      yield* send(sign(funded, first.body.data.item))
      const next = first.body.data.item.nonce + 1
      const refused = yield* prepare({})
      assert.deepStrictEqual([refused.status, refused.body.error?.code], [409, "invalid_data"])
      assert.match(refused.body.error.message, /^nonce: the sender has transactions that wait for a block \(1\)/)
      assert.include(refused.body.error.message, `(${next} is the next)`)
      // Who names the nonce knows what waits: another transaction behind it, or in its place.
      for (const nonce of [next, next - 1]) {
        const { body, status } = yield* prepare({ nonce: String(nonce) })
        assert.deepStrictEqual([status, body.data?.item.nonce], [201, nonce])
      }
    }).pipe(Effect.scoped)
  )

  it.live("answers 503 while the node is down", () =>
    Effect.gen(function* () {
      const { anvil, headwater, prepare } = yield* setup
      process.kill(anvil.pid, "SIGSTOP")
      let stopped = yield* prepare({})
      // The signal may come while the node still answers.
      for (let i = 0; i < 1_200 && stopped.status === 201; i++) {
        yield* Effect.sleep("50 millis")
        stopped = yield* prepare({})
      }
      assert.deepStrictEqual([stopped.status, stopped.body.error.code], [503, "node_unavailable"])
      process.kill(anvil.pid, "SIGCONT")
      process.kill(anvil.pid, "SIGKILL")
      const { body, status } = yield* prepare({})
      assert.deepStrictEqual([status, body.error.code], [503, "node_unavailable"])
      const logs = yield* Effect.promise(() =>
        fetch(`${headwater.url}/transactions/evm/ethereum/devnet/0x${"00".repeat(32)}/logs`, {
          headers: { "x-api-key": headwater.apiKey }
        })
      )
      assert.strictEqual(logs.status, 503)
      assert.match(logs.headers.get("retry-after") ?? "", /^\d+$/)
    }).pipe(Effect.scoped)
  )
})
