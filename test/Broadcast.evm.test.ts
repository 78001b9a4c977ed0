/** Signed transactions on a real node: sent once, followed, and told; wrong ones refused; a node that dies in the middle. */
import { assert, layer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { HDNodeWallet, Signature, SigningKey, Transaction, type TransactionLike, Wallet } from "ethers"
import * as FakeNode from "../packages/indexer/test/FakeNode.ts"
import * as Anvil from "./Anvil.ts"
import * as BroadcastClient from "./BroadcastClient.ts"
import * as Headwater from "./Headwater.ts"
import * as Receiver from "./Receiver.ts"
import { taken } from "./Stores.ts"

const path = "/broadcast-transactions/ethereum/devnet"
const gwei = 1_000_000_000n

/** A node before anvil that counts what it is given, and may die before or behind that. */
const between = (url: string) =>
  Effect.gen(function* () {
    const state = { dies: "never" as "never" | "before" | "after", sent: [] as Array<string> }
    const node = yield* FakeNode.http(async (request, response) => {
      const body = await FakeNode.bodyOf(request)
      const calls = [JSON.parse(body)].flat() as ReadonlyArray<FakeNode.Call>
      const sends = calls.filter(({ method }) => method === "eth_sendRawTransaction")
      state.sent.push(...sends.map(({ params }) => String(params[0])))
      if (sends.length > 0 && state.dies === "before") return request.socket.destroy()
      const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body })
      const text = await answer.text()
      if (sends.length > 0 && state.dies === "after") return request.socket.destroy()
      return response.writeHead(200, { "content-type": "application/json" }).end(text)
    })
    return { url: node.url, state }
  })

const setup = (location: Effect.Effect<never>) =>
  Effect.gen(function* () {
    const anvil = yield* Anvil.start({ args: ["--no-mining"] })
    const node = yield* between(anvil.url)
    const receiver = yield* Receiver.start()
    const headwater = yield* Headwater.start(yield* location, {
      chains: { "ethereum/devnet": { nodes: [node.url], start: 0, pollMillis: 200 } },
      callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca }
    })
    const mine = anvil.rpc("evm_mine", [])
    const sign = (fields: TransactionLike, wallet: Pick<Wallet, "signingKey">) => {
      const transaction = Transaction.from({
        ...{ type: 2, chainId: 31337, nonce: 0, gasLimit: 21_000, to: Wallet.createRandom().address, value: 1n },
        ...{ maxFeePerGas: 2n * gwei, maxPriorityFeePerGas: gwei },
        ...fields
      })
      transaction.signature = wallet.signingKey.sign(transaction.unsignedHash)
      return transaction
    }
    const { becomes, broadcast, outcomeOf, post, told, until } = yield* BroadcastClient.make(headwater, receiver, {
      place: "ethereum/devnet",
      grow: mine
    })
    const of = ({ hash, serialized }: Transaction) => ({ id: hash!, hex: serialized })
    return {
      ...{ anvil, headwater, mine, node, post, receiver, sign },
      becomes: (transaction: Transaction, outcome: string) => becomes(of(transaction), outcome),
      broadcast: (transaction: Transaction) => broadcast(of(transaction)),
      events: (transaction: Transaction) => told(of(transaction)).map(({ body }) => body.data.event),
      outcomeOf: (transaction: Transaction) => outcomeOf(of(transaction)),
      told: (transaction: Transaction) => told(of(transaction)),
      until: (transaction: Transaction, ...wanted: ReadonlyArray<string>) => until(of(transaction), ...wanted)
    }
  })

const { fail, success } = BroadcastClient

/** A daemon and a chain that tests share. */
class Shared extends Context.Service<Shared, Effect.Success<ReturnType<typeof setup>>>()("Broadcast/Shared") {}

const accounts = HDNodeWallet.fromPhrase(
  "test test test test test test test test test test test junk",
  "",
  "m/44'/60'/0'/0"
)

/** They as one of the accounts has them that have coins on anvil, each of which is one test's own, and has sent nothing. */
const as = (account: number) =>
  Effect.map(Shared, (shared) => {
    Object.assign(shared.node.state, { dies: "never", sent: [] })
    const sender = accounts.deriveChild(account)
    return {
      ...shared,
      sender,
      sign: (fields: TransactionLike = {}, wallet: Pick<Wallet, "signingKey"> = sender) => shared.sign(fields, wallet)
    }
  })

for (const { location, name } of taken(import.meta.url)) {
  const shared = Layer.effect(Shared, setup(location as unknown as Effect.Effect<never>))

  layer(shared, { excludeTestServices: true })(`broadcast on anvil, ${name}`, (it) => {
    it.effect("sends what was prepared and signed, once, tells it, and follows it into a block and out of it", () =>
      Effect.gen(function* () {
        const { anvil, becomes, broadcast, events, headwater, mine, node, sender, sign, told, until } = yield* as(1)
        const prepared = yield* headwater.post("/prepare-transactions/evm/ethereum/devnet/native-coins", {
          ...{ fee: { priority: "standard" }, recipient: Wallet.createRandom().address },
          ...{ sender: sender.address, amount: "0.1" }
        })
        const { fee, gasLimit, nonce, recipient, value } = prepared.body.data.item
        const transaction = sign({
          ...{ nonce, gasLimit, to: recipient, value: BigInt(Number(value.amount) * 10) * 10n ** 17n },
          ...{ maxFeePerGas: fee.maxFeePerGas, maxPriorityFeePerGas: fee.maxPriorityFeePerGas }
        })
        yield* broadcast(transaction)
        yield* until(transaction, success)
        const [first] = told(transaction)
        Receiver.verify(first!, BroadcastClient.secret)
        assert.deepStrictEqual(first!.body.data.item, {
          ...{ blockchain: "ethereum", network: "devnet", transactionId: transaction.hash }
        })
        assert.strictEqual(first!.headers["x-callback-sequence"], "1")
        const sent = yield* becomes(transaction, "sent")
        assert.hasAllKeys(sent, ["createdTimestamp", "outcome", "transactionId", "updatedTimestamp"])

        yield* mine
        const mined = yield* becomes(transaction, "mined")
        const block = yield* anvil.rpc<{ hash: string; number: string }>("eth_getBlockByNumber", ["latest", false])
        assert.deepStrictEqual(mined.minedInBlock, { hash: block.hash, height: Number(block.number) })
        // The same again is the same, and sends nothing.
        yield* broadcast(transaction)
        assert.deepStrictEqual(node.state.sent, [transaction.serialized])

        yield* anvil.rpc("anvil_reorg", [1, []])
        // Anvil forgets the transactions of a block that leaves.
        const lost = yield* becomes(transaction, "dropped")
        assert.notProperty(lost, "minedInBlock")
        yield* until(transaction, success, fail)
        yield* broadcast(transaction)
        yield* until(transaction, success, fail, success)
        assert.deepStrictEqual(events(transaction), [success, fail, success])
        assert.deepStrictEqual(
          told(transaction).map(({ headers }) => headers["x-callback-sequence"]),
          ["1", "2", "3"]
        )
        assert.lengthOf(new Set(told(transaction).map(({ body }) => body.idempotencyKey)), 3)
        assert.lengthOf(node.state.sent, 2)

        const { referenceId } = first!.body
        const read = yield* headwater.get(`/blockchain-events/ethereum/devnet/${referenceId}`)
        assert.deepInclude(read.body.data.item, { eventType: "BROADCAST_TRANSACTION", isActive: true })
        const feed = yield* headwater.get(`/blockchain-events/ethereum/devnet/${referenceId}/callbacks`)
        assert.deepStrictEqual(feed.body.data.items.map(({ event }: { event: string }) => event).sort(), [
          fail,
          success,
          success
        ])
        const unknown = yield* headwater.get(`${path}/${sign({ nonce: 99 }).hash}`)
        assert.deepStrictEqual([unknown.status, unknown.body.error.code], [404, "resource_not_found"])
      })
    )

    it.effect("tells what was replaced, refused or reverted, each with its reason", () =>
      Effect.gen(function* () {
        const { anvil, becomes, broadcast, events, mine, node, post, receiver, sign, told, until } = yield* as(2)
        const replaced = sign()
        yield* broadcast(replaced)
        yield* until(replaced, success)
        const instead = sign({ maxFeePerGas: 4n * gwei, maxPriorityFeePerGas: 2n * gwei })
        yield* anvil.rpc("eth_sendRawTransaction", [instead.serialized])
        yield* mine
        const { errorMessage } = yield* becomes(replaced, "replaced")
        assert.include(errorMessage, "nonce 0 was mined")
        yield* until(replaced, success, fail)
        assert.strictEqual(told(replaced)[1]!.body.data.item.errorMessage, errorMessage)

        // What the node's pool alone knows: a price that does not replace.
        const waiting = sign({ nonce: 1 })
        yield* broadcast(waiting)
        const underpriced = sign({ nonce: 1, value: 2n })
        const refused = yield* post(underpriced.serialized, { callbackUrl: `${receiver.url}/` })
        assert.deepStrictEqual([refused.status, refused.body.error.code], [409, "invalid_data"])
        assert.match(refused.body.error.message, /signedTransactionHex: the nodes refuse it: .*underpriced/)
        yield* until(underpriced, fail)
        yield* becomes(underpriced, "failed")

        // A creation whose code reverts (`revert(0, 0)`).
        const reverting = sign({ nonce: 2, to: null, value: 0n, data: "0x60006000fd", gasLimit: 100_000 })
        yield* broadcast(reverting)
        yield* until(reverting, success)
        yield* mine
        const failed = yield* becomes(reverting, "failed")
        assert.strictEqual(failed.errorMessage, "the transaction was reverted")
        assert.hasAllKeys(failed.minedInBlock, ["hash", "height"])
        assert.deepStrictEqual(events(reverting), [success])
        assert.lengthOf(node.state.sent, 4)
      })
    )

    it.effect("gives the nodes again what they have forgotten, however short a time ago", () =>
      Effect.gen(function* () {
        const { anvil, becomes, broadcast, events, mine, node, outcomeOf, post, sign, until } = yield* as(5)
        const transaction = sign()
        yield* broadcast(transaction)
        yield* until(transaction, success)
        yield* anvil.rpc("anvil_dropTransaction", [transaction.hash])
        yield* broadcast(transaction)
        assert.strictEqual((yield* outcomeOf(transaction)).outcome, "sent")
        assert.deepStrictEqual(node.state.sent, [transaction.serialized, transaction.serialized])

        // Another one has its place meanwhile: the same again is refused, and what becomes of it is found out as ever.
        yield* anvil.rpc("anvil_dropTransaction", [transaction.hash])
        const instead = sign({ maxFeePerGas: 4n * gwei, maxPriorityFeePerGas: 2n * gwei })
        yield* anvil.rpc("eth_sendRawTransaction", [instead.serialized])
        const refused = yield* post(transaction.serialized)
        assert.deepStrictEqual([refused.status, refused.body.error?.code], [409, "invalid_data"])
        yield* anvil.rpc("anvil_dropTransaction", [instead.hash])
        yield* broadcast(transaction)
        yield* mine
        yield* becomes(transaction, "mined")
        assert.deepStrictEqual(events(transaction), [success])
      })
    )

    it.effect("refuses what is wrong by a rule that it names, and sends none of it", () =>
      Effect.gen(function* () {
        const { anvil, headwater, mine, node, post, sign } = yield* as(3)
        yield* anvil.rpc("eth_sendRawTransaction", [sign().serialized])
        yield* mine
        // Numbers that begin with a zero byte are shorter in the bytes of a transaction than in its signature.
        const next = [1n, 2n, 3n, 4n, 5n]
          .map((value) => sign({ nonce: 1, value }))
          .find(({ signature }) => !`${signature!.r} ${signature!.s}`.includes("0x00"))!
        /** The other signature over the same message, which has the other half of s. */
        const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
        const { r, s, yParity } = next.signature!
        const high = `0x${(order - BigInt(s)).toString(16)}`
        const malleated = next.serialized.replace(s.slice(2), high.slice(2))
        assert.notStrictEqual(malleated, next.serialized)
        const noCurvePoint = next.serialized.replace(r.slice(2), "5".padStart(64, "5"))
        assert.notStrictEqual(noCurvePoint, next.serialized)
        const legacy = sign({
          type: 0,
          nonce: 1,
          chainId: 0,
          gasPrice: 2n * gwei,
          maxFeePerGas: null,
          maxPriorityFeePerGas: null
        })
        const poor = { signingKey: new SigningKey(`0x${"11".repeat(32)}`) }
        const cases: ReadonlyArray<readonly [string, number, RegExp]> = [
          [next.unsignedSerialized, 400, /must be signed/],
          [`${next.serialized}00`, 400, /must be a transaction of an EVM chain/],
          [next.serialized.slice(0, -8), 400, /must be a transaction of an EVM chain/],
          ["0xzz", 400, /hexadecimal/],
          ["0x7f", 400, /must be a transaction of an EVM chain/],
          [sign({ nonce: 1, chainId: 1 }).serialized, 400, /must be of the chain 31337, and is of the chain 1/],
          [legacy.serialized, 400, /EIP-155/],
          [malleated, 400, /s must be|canonical|signed transaction/],
          [noCurvePoint, 400, /signature|balance/],
          [sign({ nonce: 1, maxFeePerGas: 2_000n * gwei, maxPriorityFeePerGas: gwei }).serialized, 400, /maximumFee/],
          [sign({ nonce: 0 }).serialized, 409, /nonce must be 1 or above, and is 0/],
          [sign({ nonce: 0 }, poor).serialized, 409, /the sender has 0 Wei/],
          [sign({ nonce: 1, value: 10n ** 23n }).serialized, 409, /the sender has \d+ Wei/]
        ]
        assert.isTrue(Signature.from({ r, s, yParity }).isValid())
        for (const [hex, wanted, rule] of cases) {
          const { body, status } = yield* post(hex)
          // Any r that is on the curve is of some sender, who has no coins.
          const expected = hex === noCurvePoint && status === 409 ? 409 : wanted
          assert.deepStrictEqual(
            [status, body.error?.code],
            [expected, "invalid_data"],
            `${rule} ${JSON.stringify(body)}`
          )
          assert.match(body.error.message, rule)
          assert.strictEqual(body.error.details[0].attribute, "signedTransactionHex")
        }
        const url = yield* post(next.serialized, { callbackUrl: "http://127.0.0.1/" })
        assert.deepStrictEqual([url.status, url.body.error.details[0].attribute], [400, "callbackUrl"])
        const read = yield* headwater.get(`${path}/${next.hash}`)
        assert.strictEqual(read.status, 404)
        assert.deepStrictEqual(node.state.sent, [])
      })
    )

    it.effect("takes the place of its own behind a missing nonce at a node that does not show it, for more", () =>
      Effect.gen(function* () {
        const { broadcast, headwater, mine, becomes, sender, sign } = yield* as(6)
        const waiting = sign({ nonce: 1, maxFeePerGas: 20n * gwei, maxPriorityFeePerGas: 3n * gwei })
        yield* broadcast(waiting)
        const prepare = (item: object) =>
          headwater.post("/prepare-transactions/evm/ethereum/devnet/native-coins", {
            ...{ fee: { priority: "standard" }, recipient: Wallet.createRandom().address },
            ...{ sender: sender.address, amount: "1" },
            ...item
          })
        const { body, status } = yield* prepare({ nonce: "1" })
        assert.strictEqual(status, 201, JSON.stringify(body))
        const { fee, gasLimit, nonce, recipient } = body.data.item
        assert.deepStrictEqual([fee.maxFeePerGas, fee.maxPriorityFeePerGas], [22e9, 3.3e9])
        const low = yield* prepare({ nonce: "1", fee: { priority: "slow", exactAmount: String(21_000n * 21n * gwei) } })
        assert.deepStrictEqual([low.status, low.body.error?.code], [409, "invalid_data"])
        const { maxFeePerGas, maxPriorityFeePerGas } = fee
        const instead = sign({ nonce, gasLimit, to: recipient, value: 10n ** 18n, maxFeePerGas, maxPriorityFeePerGas })
        yield* broadcast(instead)
        // What either may cost counts until one is mined.
        const rest = yield* prepare({ amount: "9999" })
        assert.match(
          rest.body.error.message,
          /^amount: the sender can spend 10000 ETH, of which .* may take 1\.000462 ETH/
        )
        yield* broadcast(sign({ nonce: 0 }))
        yield* mine
        yield* becomes(instead, "mined")
        yield* becomes(waiting, "replaced")
      })
    )

    it.effect("finds out what a node has that died in the middle, and sends nothing twice", () =>
      Effect.gen(function* () {
        const { becomes, broadcast, events, headwater, mine, node, outcomeOf, sender, sign, until } = yield* as(4)
        node.state.dies = "after"
        const taken = sign()
        yield* broadcast(taken)
        node.state.dies = "before"
        const never = sign({ nonce: 5 })
        yield* broadcast(never)
        assert.strictEqual((yield* outcomeOf(never)).outcome, "unknown")
        // Nobody else gets its nonce while it may have arrived, though no node counts it.
        const nonces: Array<number> = []
        for (let i = 0; i < 5; i++) {
          const { body } = yield* headwater.post("/prepare-transactions/evm/ethereum/devnet/native-coins", {
            ...{ fee: { priority: "standard" }, recipient: Wallet.createRandom().address, reserve: true },
            ...{ sender: sender.address, amount: "0.1" }
          })
          nonces.push(body.data.item.nonce)
        }
        assert.deepStrictEqual(nonces, [1, 2, 3, 4, 6])
        // Neither does a daemon send again that was killed before it knew.
        yield* headwater.kill
        yield* headwater.launch
        yield* mine
        yield* until(taken, success)
        yield* becomes(taken, "mined")
        yield* becomes(never, "dropped")
        yield* until(never, fail)
        assert.deepStrictEqual(node.state.sent, [taken.serialized, never.serialized])
        assert.deepStrictEqual(events(taken), [success])

        // Whoever asks again has it sent again.
        node.state.dies = "never"
        yield* broadcast(never)
        yield* until(never, fail, success)
        assert.lengthOf(node.state.sent, 3)
      })
    )
  })
}
