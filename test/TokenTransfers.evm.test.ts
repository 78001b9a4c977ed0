/** What surrounds a transaction on a real node: fees, gas and nonces, transfers of tokens prepared, raw transactions decoded. */
import { assert, layer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { formatEther, id, parseEther, Transaction, Wallet } from "ethers"
import * as Anvil from "./Anvil.ts"
import { funded, sender } from "./Contracts.ts"
import * as Headwater from "./Headwater.ts"
import { locations } from "./Stores.ts"

const { location } = locations[0]!
const place = "ethereum/devnet"

const setup = Effect.gen(function* () {
  const anvil = yield* Anvil.start({})
  const chain = { nodes: [anvil.url], start: 0, pollMillis: 200 }
  const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, { chains: { [place]: chain } })
  const receiptOf = Effect.fnUntraced(function* (hash: string) {
    for (let i = 0; i < 6_000; i++) {
      const receipt = yield* anvil.rpc<Record<string, string> | null>("eth_getTransactionReceipt", [hash])
      if (receipt !== null) return receipt
      yield* Effect.sleep("10 millis")
    }
    return yield* Effect.die(new Error("The transaction was not mined"))
  })
  const callOf = (
    method: string,
    contract: { readonly abi: import("ethers").Interface },
    to: string,
    args: unknown[]
  ) =>
    Effect.map(
      anvil.rpc<string>("eth_call", [{ to, data: contract.abi.encodeFunctionData(method, args) }, "latest"]),
      (answer) => contract.abi.decodeFunctionResult(method, answer)[0] as unknown
    )
  /** Waits until the daemon has connected to its node. */
  for (let i = 0; i < 1_200; i++) {
    const { status } = yield* headwater.get(`/blockchain-fees/evm/${place}/mempool`)
    if (status !== 503) break
    yield* Effect.sleep("100 millis")
  }
  const prepare = (kind: "fungible-tokens" | "non-fungible-tokens", item: Record<string, unknown>) =>
    headwater.post(`/prepare-transactions/evm/${place}/${kind}`, {
      ...{ fee: { priority: "standard" }, sender: funded.address, recipient: Wallet.createRandom().address },
      ...item
    })
  return { anvil, callOf, headwater, prepare, receiptOf }
})

const types = ["legacy-transaction", "access-list-transaction", "gas-fee-market-transaction"] as const

// biome-ignore lint/suspicious/noExplicitAny: an answer of the server
const signed = (item: any, wallet: Pick<Wallet, "signingKey"> = funded) => {
  const type = types.indexOf(item.type)
  const { maxFeePerGas, maxPriorityFeePerGas, gasPrice } = item.fee
  const transaction = Transaction.from({
    ...{ type, chainId: 31337, nonce: item.nonce, gasLimit: item.gasLimit, to: item.recipient, value: 0 },
    ...{ data: item.inputData, ...(type === 2 ? { maxFeePerGas, maxPriorityFeePerGas } : { gasPrice }) }
  })
  assert.strictEqual(transaction.unsignedHash, item.sigHash)
  transaction.signature = wallet.signingKey.sign(item.sigHash)
  return transaction
}

/** A daemon and a chain that tests share, each of which begins where a transaction is mined at once. */
class Shared extends Context.Service<Shared, Effect.Success<typeof setup>>()("TokenTransfers/Shared") {
  static readonly layer = Layer.effect(Shared, setup)
}
const shared = Effect.gen(function* () {
  const { anvil, ...daemon } = yield* Shared
  yield* anvil.rpc("evm_setAutomine", [true])
  return { ...daemon, anvil, account: yield* sender(anvil) }
})

layer(Shared.layer, { excludeTestServices: true })("around a transaction on anvil", (it) => {
  it.effect("moves tokens of both standards exactly as prepared, for each type", () =>
    Effect.gen(function* () {
      const { account, anvil, callOf, prepare, receiptOf } = yield* shared
      const coin = yield* account.deploy("Coin")
      const collectible = yield* account.deploy("Collectible")
      yield* receiptOf(yield* account.send(collectible.call("mint", [funded.address, 4711])))
      for (const type of types) {
        const recipient = Wallet.createRandom().address
        // Six decimals.
        const { body, status } = yield* prepare("fungible-tokens", {
          ...{ amount: "2.500001", contract: coin.address, recipient, type }
        })
        assert.strictEqual(status, 201, JSON.stringify(body))
        const { item } = body.data
        assert.deepStrictEqual([item.recipient, item.value, item.type], [coin.address, { amount: "0" }, type])
        const transaction = signed(item)
        yield* anvil.rpc("eth_sendRawTransaction", [transaction.serialized])
        assert.strictEqual((yield* receiptOf(transaction.hash!)).status, "0x1")
        assert.strictEqual(yield* callOf("balanceOf", coin, coin.address, [recipient]), 2_500_001n)
      }
      const recipient = Wallet.createRandom().address
      const { body } = yield* prepare("non-fungible-tokens", {
        contract: collectible.address,
        recipient,
        tokenId: "4711"
      })
      const transaction = signed(body.data.item)
      yield* anvil.rpc("eth_sendRawTransaction", [transaction.serialized])
      yield* receiptOf(transaction.hash!)
      assert.strictEqual(yield* callOf("ownerOf", collectible, collectible.address, [4711]), recipient)

      // Somebody else's token, no contract, more than there is, more decimals than the token has, an id beyond 256 bits.
      const refused = [
        ["non-fungible-tokens", { contract: collectible.address, tokenId: "4711" }, 409, "recipient"],
        ["fungible-tokens", { contract: recipient, amount: "1" }, 409, "contract"],
        ["fungible-tokens", { contract: coin.address, amount: "1", sender: recipient }, 409, "recipient"],
        ["fungible-tokens", { contract: coin.address, amount: "0.0000001" }, 400, "amount"],
        ["non-fungible-tokens", { contract: collectible.address, tokenId: "9".repeat(78) }, 400, "tokenId"],
        ["fungible-tokens", { contract: "0x1", amount: "1" }, 400, "contract"]
      ] as const
      for (const [kind, item, status, attribute] of refused) {
        const answer = yield* prepare(kind, item)
        assert.deepStrictEqual(
          [answer.status, answer.body.error?.details?.[0]?.attribute],
          [status, attribute],
          JSON.stringify(answer.body)
        )
      }
    })
  )

  it.effect("refuses a transfer that would move nothing, and not revert", () =>
    Effect.gen(function* () {
      const { anvil, prepare } = yield* shared
      const contract = "0x00000000000000000000000000000000000f0001"
      // Returns 32 bytes of zero: `false`, as some tokens of 2017 do.
      yield* anvil.rpc("anvil_setCode", [contract, "0x60206000f3"])
      const { body, status } = yield* prepare("fungible-tokens", { contract, amount: "1" })
      assert.deepStrictEqual([status, body.error.details[0].attribute], [409, "amount"])
      // Moves the tokens, and says `false` even so, as Tether Gold does.
      const topic = id("Transfer(address,address,uint256)").slice(2)
      yield* anvil.rpc("anvil_setCode", [contract, `0x602435600052600435337f${topic}60206000a3600060005260206000f3`])
      assert.strictEqual((yield* prepare("fungible-tokens", { contract, amount: "1" })).status, 201)
      // Moves the tokens, and says nothing, as Tether does; then a contract that takes every call and moves none, as a wallet does.
      yield* anvil.rpc("anvil_setCode", [contract, `0x602435600052600435337f${topic}60206000a3`])
      assert.strictEqual((yield* prepare("fungible-tokens", { contract, amount: "1" })).status, 201)
      yield* anvil.rpc("anvil_setCode", [contract, "0x00"])
      for (const [kind, wanted] of [
        ["fungible-tokens", { amount: "1" }],
        ["non-fungible-tokens", { tokenId: "1" }]
      ] as const) {
        const { body, status } = yield* prepare(kind, { contract, ...wanted })
        assert.deepStrictEqual([status, body.error?.details[0].attribute], [409, Object.keys(wanted)[0]])
        assert.include(body.error.message, "would move nothing")
      }
    })
  )

  it.effect("shows fees, gas and the next nonce as the node has them, and decodes what was signed", () =>
    Effect.gen(function* () {
      const { account, anvil, headwater, receiptOf } = yield* shared
      const coin = yield* account.deploy("Coin")
      yield* receiptOf(yield* account.send({ to: funded.address, value: 1n }))
      const fees = (yield* headwater.get(`/blockchain-fees/evm/${place}/eip-1559`)).body.data.item
      const block = yield* anvil.rpc<{ readonly number: string }>("eth_getBlockByNumber", ["latest", false])
      assert.strictEqual(fees.lastBlock, Number(block.number))
      const history = yield* anvil.rpc<{ readonly baseFeePerGas: ReadonlyArray<string> }>("eth_feeHistory", [
        ...["0x1", "latest", []]
      ])
      assert.strictEqual(fees.baseFeePerGas.value, String(BigInt(history.baseFeePerGas.at(-1)!)))
      for (const priority of ["slow", "standard", "fast"]) {
        assert.isTrue(BigInt(fees.maxFeePerGas[priority]) >= 2n * BigInt(fees.baseFeePerGas.value))
        assert.isTrue(BigInt(fees.maxPriorityFeePerGas[priority]) <= BigInt(fees.maxFeePerGas[priority]))
      }
      const prices = (yield* headwater.get(`/blockchain-fees/evm/${place}/mempool`)).body.data.item
      assert.isTrue(BigInt(prices.slow) >= BigInt(fees.baseFeePerGas.value))
      assert.strictEqual(prices.unit, "Wei")

      const recipient = Wallet.createRandom().address
      const parties = { recipient, sender: funded.address }
      const estimate = (kind: string, item: object) =>
        headwater.post(`/blockchain-fees/evm/${place}/estimate-${kind}-transfer-gas-limit`, { ...parties, ...item })
      assert.deepStrictEqual((yield* estimate("native-coin", { amount: "1" })).body.data.item, { gasLimit: 21_000 })
      const contract = { contract: coin.address, amount: "1" }
      const { gasLimit } = (yield* estimate("token", { ...contract, contractType: "ERC20" })).body.data.item
      const data = coin.abi.encodeFunctionData("transfer", [recipient, 1_000_000])
      const taken = Number(yield* anvil.rpc("eth_estimateGas", [{ from: funded.address, to: coin.address, data }]))
      assert.isTrue(gasLimit >= taken && gasLimit <= taken * 1.31, `${gasLimit} for ${taken}`)
      assert.strictEqual((yield* estimate("token", { ...contract, contractType: "ERC-1155" })).status, 400)

      // A transaction that waits for a block counts.
      yield* anvil.rpc("evm_setAutomine", [false])
      yield* anvil.rpc("evm_setIntervalMining", [0])
      const nonceOf = Effect.map(
        headwater.get(`/addresses-latest/evm/${place}/${funded.address}/next-available-nonce`),
        ({ body }) => body.data.item.nextAvailableNonce as number
      )
      const before = yield* nonceOf
      yield* account.send({ to: recipient, value: 1n })
      assert.strictEqual(yield* nonceOf, before + 1)
      assert.strictEqual(before + 1, Number(yield* anvil.rpc("eth_getTransactionCount", [funded.address, "pending"])))

      for (const type of [0, 1, 2]) {
        const made = Transaction.from(
          yield* Effect.promise(() =>
            funded.signTransaction({
              ...{ type, chainId: 1, nonce: 7, gasLimit: 65_000, to: coin.address, value: 5n * 10n ** 17n, data },
              ...(type === 2 ? { maxFeePerGas: 31n, maxPriorityFeePerGas: 1n } : { gasPrice: 31n })
            })
          )
        )
        const decode = (rawTransactionHex: string) =>
          headwater.post(`/utils/evm/${place}/decode-raw-transaction`, { rawTransactionHex })
        const { item } = (yield* decode(made.serialized)).body.data
        assert.deepStrictEqual(
          [item.id, item.sender, item.recipient, item.nonce, item.gasLimit, item.inputData, item.type],
          [made.hash, funded.address, coin.address, 7, 65_000, data, type]
        )
        assert.deepStrictEqual(
          [item.value, item.gasPrice, item.r, item.s, item.v],
          [
            { amount: "0.5", unit: "ETH" },
            { amount: "31", unit: "Wei" },
            made.signature!.r,
            made.signature!.s,
            String(type === 0 ? made.signature!.networkV : made.signature!.yParity)
          ]
        )
        const unsigned = (yield* decode(made.unsignedSerialized.slice(2))).body.data.item
        assert.deepStrictEqual([unsigned.sender, unsigned.r, unsigned.nonce], ["", "", 7])
        const broken = yield* decode(made.serialized.slice(0, -2))
        assert.deepStrictEqual(
          [broken.status, broken.body.error.details[0].attribute],
          [400, "rawTransactionHex"],
          JSON.stringify(broken.body)
        )
      }
    })
  )

  it.effect("tells what a raw transaction costs at the least, with which the node takes it, and at the most", () =>
    Effect.gen(function* () {
      const { account, anvil, headwater, receiptOf } = yield* shared
      const coin = yield* account.deploy("Coin")
      const accessList = [{ address: coin.address, storageKeys: [`0x${"11".repeat(32)}`, `0x${"12".repeat(32)}`] }]
      const price = 1_000_000_000_000n
      // Of an old nonce: nothing comes of the authorization, and of what was paid for it nothing back.
      const authority = yield* Effect.promise(() =>
        funded.authorize({ chainId: 31_337, nonce: 0, address: coin.address })
      )
      const to = Wallet.createRandom().address
      for (const wanted of [
        { type: 0, to },
        { type: 1, to, accessList },
        { type: 2, data: `0x${"00".repeat(65)}` },
        { type: 2, to, accessList, data: "0x00" },
        { type: 2, to, data: `0x00${"11".repeat(100)}` },
        { type: 4, to, authorizationList: [authority] }
      ]) {
        const prices = wanted.type < 2 ? { gasPrice: price } : { maxFeePerGas: price, maxPriorityFeePerGas: 1n }
        const nonce = Number(yield* anvil.rpc("eth_getTransactionCount", [funded.address, "pending"]))
        const sign = (gasLimit: bigint) =>
          Effect.promise(() =>
            funded.signTransaction({ ...{ ...wanted, ...prices }, ...{ chainId: 31_337, nonce, gasLimit } })
          )
        const { body } = yield* headwater.post(`/utils/evm/${place}/decode-raw-transaction`, {
          rawTransactionHex: yield* sign(100_000n)
        })
        const { approximateAmount, approximateMinimumRequiredAmount } = body.data.item.fee
        assert.strictEqual(parseEther(approximateAmount), 100_000n * price)
        const least = parseEther(approximateMinimumRequiredAmount) / price
        const { gasUsed, status } = yield* receiptOf(
          yield* anvil.rpc<string>("eth_sendRawTransaction", [yield* sign(least)])
        )
        assert.strictEqual(status, "0x1", `type ${wanted.type}`)
        assert.strictEqual(BigInt(gasUsed!), least, `type ${wanted.type}`)
      }
      // Blobs are paid beside gas (EIP-4844).
      const blobs = Transaction.from({
        ...{ type: 3, chainId: 31_337, nonce: 0, gasLimit: 100_000n, to, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
        ...{ maxFeePerBlobGas: 5n, blobVersionedHashes: [`0x01${"22".repeat(31)}`, `0x01${"23".repeat(31)}`] }
      })
      const { body } = yield* headwater.post(`/utils/evm/${place}/decode-raw-transaction`, {
        rawTransactionHex: blobs.unsignedSerialized
      })
      const { approximateAmount, approximateMinimumRequiredAmount } = body.data.item.fee
      const paid = 2n * 131_072n * 5n
      assert.deepStrictEqual(
        [parseEther(approximateAmount), parseEther(approximateMinimumRequiredAmount)],
        [100_000n + paid, 21_000n + paid]
      )
    })
  )

  it.effect("runs a transaction without sending it, as it then is when it is sent", () =>
    Effect.gen(function* () {
      const { account, anvil, headwater, receiptOf } = yield* shared
      const coin = yield* account.deploy("Coin")
      const mover = yield* account.deploy("Mover")
      yield* receiptOf(yield* account.send({ to: funded.address, value: 1n }))
      const simulate = (item: Record<string, unknown>) =>
        headwater.post(`/simulate-transactions/evm/${place}`, {
          ...{ amount: "0", gasLimit: 500_000, sender: funded.address, maxFeePerGas: "3000000000" },
          ...item
        })
      const others = [Wallet.createRandom().address, Wallet.createRandom().address]
      const nonce = Effect.map(anvil.rpc("eth_getTransactionCount", [funded.address, "latest"]), Number)

      const before = yield* nonce
      const split = mover.call("split", [others], 10n ** 18n)
      const moved = yield* simulate({ amount: "1", recipient: mover.address, inputData: split.data })
      assert.strictEqual(moved.status, 201, JSON.stringify(moved.body))
      const { item } = moved.body.data
      assert.deepInclude(item, { status: "success", contract: mover.address, tokenTransfers: [] })
      assert.deepStrictEqual(
        // biome-ignore lint/suspicious/noExplicitAny: an answer of the server
        item.internalTransactions.map(({ depth, recipient, value }: any) => [depth, recipient, value.amount]),
        others.map((other) => [1, other, "0.5"])
      )
      const sent = yield* receiptOf(yield* account.send({ ...split, gasLimit: 500_000n }))
      assert.strictEqual(item.gasUsed, Number(sent.gasUsed))
      assert.strictEqual(item.fee.amount, formatEther(BigInt(item.gasUsed) * 3_000_000_000n))

      const paid = coin.call("transfer", [others[0], 2_500_000])
      const token = (yield* simulate({ recipient: coin.address, inputData: paid.data })).body.data.item
      assert.deepStrictEqual(
        token.tokenTransfers.map(({ recipient, sender, tokenData }: typeof token) => [
          ...[sender, recipient, tokenData.symbol, tokenData.fungibleValues, tokenData.contractAddress]
        ]),
        [[funded.address, others[0], "COIN", { amount: "2.5", decimals: 6 }, coin.address]]
      )
      // The chain is as before: nobody was paid, no nonce is used.
      assert.strictEqual(yield* nonce, before + 1, "only what was sent")

      // More tokens than the sender has; and a price without its parts.
      const failed = yield* simulate({
        sender: others[0],
        recipient: coin.address,
        inputData: paid.data,
        maxFeePerGas: "0"
      })
      assert.deepInclude(failed.body.data.item, { status: "failed", internalTransactions: [], tokenTransfers: [] })
      for (const [attribute, wrong] of [
        ["gasPrice", { gasPrice: "1" }],
        ["maxPriorityFeePerGas", { maxPriorityFeePerGas: "3000000001" }],
        ["maxFeePerGas", { maxFeePerGas: undefined, maxPriorityFeePerGas: "1" }]
      ] as const) {
        const { body, status } = yield* simulate({ recipient: coin.address, ...wrong })
        assert.deepStrictEqual([status, body.error?.details?.[0]?.attribute], [400, attribute], JSON.stringify(body))
      }
    })
  )

  it.effect("leaves a transfer gas enough for a recipient who has spent all tokens by then", () =>
    Effect.gen(function* () {
      const { account, anvil, callOf, headwater, prepare, receiptOf } = yield* shared
      const coin = yield* account.deploy("Coin")
      const wallet = Wallet.createRandom()
      const recipient = Wallet.createRandom()
      for (const { address } of [wallet, recipient]) {
        yield* anvil.rpc("anvil_setBalance", [address, `0x${parseEther("10").toString(16)}`])
        yield* receiptOf(yield* account.send(coin.call("transfer", [address, 10_000_000n])))
      }
      const transfer = { contract: coin.address, recipient: recipient.address, amount: "1" }
      const { item } = (yield* prepare("fungible-tokens", { ...transfer, sender: wallet.address })).body.data
      const estimate = yield* headwater.post(`/blockchain-fees/evm/${place}/estimate-token-transfer-gas-limit`, {
        ...{ ...transfer, sender: wallet.address, contractType: "ERC20" }
      })
      assert.strictEqual(estimate.body.data?.item.gasLimit, item.gasLimit, JSON.stringify(estimate.body))
      // As a deposit address that is emptied meanwhile: the first tokens take a new place in the contract's storage.
      const all = yield* prepare("fungible-tokens", {
        ...{ contract: coin.address, sender: recipient.address, recipient: wallet.address, amount: "10" }
      })
      for (const transaction of [signed(all.body.data.item, recipient), signed(item, wallet)]) {
        yield* anvil.rpc("eth_sendRawTransaction", [transaction.serialized])
        assert.strictEqual((yield* receiptOf(transaction.hash!)).status, "0x1")
      }
      assert.strictEqual(yield* callOf("balanceOf", coin, coin.address, [recipient.address]), 1_000_000n)
    })
  )

  it.effect("keeps the tokens that prepared and sent transfers move, so that none of them fails in its block", () =>
    Effect.gen(function* () {
      const { account, anvil, headwater, prepare, receiptOf } = yield* shared
      const coin = yield* account.deploy("Coin")
      const wallet = Wallet.createRandom()
      yield* anvil.rpc("anvil_setBalance", [wallet.address, `0x${parseEther("10").toString(16)}`])
      yield* receiptOf(yield* account.send(coin.call("transfer", [wallet.address, 10_000_000n])))
      const next = (item: Record<string, unknown>) =>
        prepare("fungible-tokens", { contract: coin.address, sender: wallet.address, reserve: true, ...item })
      const taken = Effect.fnUntraced(function* (item: Record<string, unknown>) {
        const { body, status } = yield* next(item)
        assert.strictEqual(status, 201, JSON.stringify(body))
        return body.data.item
      })
      const refused = Effect.fnUntraced(function* (item: Record<string, unknown>, numbers = "0") {
        const { body, status } = yield* next(item)
        assert.deepStrictEqual([status, body.error?.code], [409, "invalid_data"], JSON.stringify(body))
        assert.match(body.error.message, new RegExp(`^amount: the sender can spend .* tokens, .*numbers ${numbers}\\)`))
      })
      const first = yield* taken({ amount: "6" })
      yield* refused({ amount: "6" })
      yield* refused({ amount: "4.000001", reserve: false, nonce: "1" })
      assert.strictEqual((yield* taken({ amount: "10", nonce: "0" })).nonce, 0)
      yield* taken({ amount: "6", nonce: "0" })
      assert.strictEqual((yield* taken({ amount: "4" })).nonce, 1)
      // Sent, it waits for a block, and the balance of its tokens is that of the newest one.
      yield* anvil.rpc("evm_setAutomine", [false])
      const transaction = signed(first, wallet)
      const sent = yield* headwater.post(`/broadcast-transactions/${place}`, {
        signedTransactionHex: transaction.serialized
      })
      assert.strictEqual(sent.status, 200, JSON.stringify(sent.body))
      yield* refused({ amount: "0.000001" }, "0, 1")
      yield* anvil.rpc("evm_mine", [])
      assert.strictEqual((yield* receiptOf(transaction.hash!)).status, "0x1")
      yield* refused({ amount: "0.000001" }, "1")
      assert.strictEqual((yield* taken({ amount: "4", nonce: "1" })).nonce, 1)
    })
  )

  it.effect("keeps nonces for transactions that wait to be sent, where that is asked for", () =>
    Effect.gen(function* () {
      const { anvil, headwater } = yield* shared
      // Whose nonces nobody else takes.
      const sender = Wallet.createRandom().address
      yield* anvil.rpc("anvil_setBalance", [sender, `0x${parseEther("10").toString(16)}`])
      const prepare = (item: Record<string, unknown> = {}) =>
        Effect.map(
          headwater.post(`/prepare-transactions/evm/${place}/native-coins`, {
            ...{ amount: "0.1", fee: { priority: "standard" }, recipient: Wallet.createRandom().address },
            ...{ sender, ...item }
          }),
          ({ body }) => body.data.item
        )
      // As clients of the hosted service know it: the next one, however often.
      for (const item of [yield* prepare(), yield* prepare()]) {
        assert.deepStrictEqual([item.nonce, item.reservedUntil], [0, undefined])
      }
      const kept = yield* Effect.forEach([1, 2, 3, 4], () => prepare({ reserve: true }), { concurrency: "unbounded" })
      assert.deepStrictEqual(kept.map(({ nonce }) => nonce as number).sort(), [0, 1, 2, 3])
      for (const item of kept) {
        assert.closeTo(item.reservedUntil, Date.now() / 1_000 + 600, 60)
        const { maxFeePerGas, maxPriorityFeePerGas } = item.fee
        const transaction = Transaction.from({
          ...{ type: 2, chainId: 31337, nonce: item.nonce, gasLimit: item.gasLimit, to: item.recipient },
          ...{ value: parseEther("0.1"), data: "0x", maxFeePerGas, maxPriorityFeePerGas }
        })
        assert.strictEqual(transaction.unsignedHash, item.sighash)
      }
      assert.strictEqual((yield* prepare({ nonce: "2", reserve: true })).nonce, 2)
      assert.strictEqual((yield* prepare()).nonce, 0)
    })
  )
})
