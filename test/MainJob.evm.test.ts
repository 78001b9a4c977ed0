/** The main job on a real EVM node: a block, its commit, a signed callback at a real HTTPS receiver. */
import { assert, layer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Wallet } from "ethers"
import * as Anvil from "./Anvil.ts"
import * as Headwater from "./Headwater.ts"
import * as Receiver from "./Receiver.ts"
import { type locations, taken } from "./Stores.ts"
import { half } from "./Turn.ts"

const events = "/blockchain-events/ethereum/devnet"
const secret = "a secret of the test"

/** The first of anvil's well-known accounts. */
const funded = new Wallet("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80")

const setup = (location: (typeof locations)[number]["location"]) =>
  Effect.gen(function* () {
    const anvil = yield* Anvil.start({})
    const receiver = yield* Receiver.start()
    const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
      chains: { "ethereum/devnet": { nodes: [anvil.url], start: 0, pollMillis: 200 } },
      callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca }
    })

    const send = Effect.fnUntraced(function* (to: string, value: bigint) {
      const nonce = Number(yield* anvil.rpc("eth_getTransactionCount", [funded.address, "pending"]))
      const raw = yield* Effect.promise(() =>
        funded.signTransaction({
          ...{ chainId: 31337, type: 2, nonce, to, value, gasLimit: 21_000 },
          ...{ maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n }
        })
      )
      // This one answers when the transaction is in a block.
      const { transactionHash: hash } = yield* anvil.rpc<{ readonly transactionHash: string }>(
        "eth_sendRawTransactionSync",
        [raw]
      )
      return { hash, raw }
    })
    const subscribe = Effect.fnUntraced(function* (path: string, item: Record<string, unknown>) {
      const { body, status } = yield* headwater.post(`${events}/${path}`, {
        callbackSecretKey: secret,
        callbackUrl: `${receiver.url}/callbacks`,
        ...item
      })
      assert.strictEqual(status, 201, JSON.stringify(body))
      return body.data.item.referenceId as string
    })
    const tip = Effect.map(anvil.rpc("eth_blockNumber", []), Number)
    /** Waits until a block-mined subscription has heard of the node's tip. */
    const witness = yield* subscribe("block-mined", { callbackUrl: `${receiver.url}/witness` })
    const caughtUp = Effect.gen(function* () {
      const block = (yield* anvil.rpc("eth_getBlockByNumber", ["latest", false])) as { readonly hash: string }
      yield* receiver.until((accepted) => accepted.some(({ body }) => body.data.item.hash === block.hash))
    })
    const mine = (blocks: number) => Effect.andThen(anvil.rpc("anvil_mine", [`0x${blocks.toString(16)}`]), caughtUp)
    const received = (reference: string) => receiver.accepted().filter(({ body }) => body.referenceId === reference)
    /** Long enough for a callback that should not come to have come. */
    const settle = Effect.sleep("400 millis")
    return { anvil, headwater, receiver, send, subscribe, tip, witness, caughtUp, mine, received, settle }
  })

/** A daemon and a chain that tests share: each of them has addresses of its own, and orphans no block but its own. */
class Shared extends Context.Service<Shared, Effect.Success<ReturnType<typeof setup>>>()("MainJob/Shared") {}

for (const { location, name } of taken(import.meta.url)) {
  const shared = Layer.effect(Shared, setup(location))
  layer(shared, { excludeTestServices: true })(`the main job on anvil, ${name}`, (it) => {
    it.effect("delivers a signed callback with the right body, for each direction", () =>
      Effect.gen(function* () {
        const { anvil, receiver, received, send, subscribe } = yield* Shared
        const target = Wallet.createRandom().address
        const incoming = yield* subscribe("address-coins-transactions-confirmed", { address: target })
        const outgoing = yield* subscribe("address-coins-transactions-confirmed", { address: funded.address })
        const { hash } = yield* send(target, 1_250_000_000_000_000_000n)
        const receipt = (yield* anvil.rpc("eth_getTransactionReceipt", [hash])) as Record<string, string>
        const block = (yield* anvil.rpc("eth_getBlockByHash", [receipt.blockHash, false])) as Record<string, string>
        yield* receiver.until(() => received(incoming).length === 1 && received(outgoing).length === 1)
        const [callback] = received(incoming)
        assert.deepStrictEqual(callback!.body, {
          apiVersion: "2024-12-12",
          referenceId: incoming,
          idempotencyKey: callback!.headers["webhook-id"],
          data: {
            product: "BLOCKCHAIN_EVENTS",
            event: "ADDRESS_COINS_TRANSACTION_CONFIRMED",
            item: {
              blockchain: "ethereum",
              network: "devnet",
              address: target,
              minedInBlock: {
                height: Number(receipt.blockNumber),
                hash: receipt.blockHash,
                timestamp: Number(block.timestamp)
              },
              transactionId: hash,
              amount: "1.25",
              unit: "ETH",
              direction: "incoming"
            }
          }
        })
        Receiver.verify(callback!, secret)
        assert.throws(() => Receiver.verify(callback!, "another secret"))
        assert.strictEqual(received(outgoing)[0]!.body.data.item.direction, "outgoing")

        const self = yield* send(funded.address, 5n)
        yield* receiver.until(() => received(outgoing).length === 3)
        const both = received(outgoing).slice(1)
        assert.deepStrictEqual(
          both.map(({ body }) => [body.data.item.transactionId, body.data.item.direction]),
          [
            [self.hash, "outgoing"],
            [self.hash, "incoming"]
          ]
        )
        assert.strictEqual(new Set(both.map(({ body }) => body.idempotencyKey)).size, 2)
      })
    )

    it.effect("calls back at the third confirmation, not before", () =>
      Effect.gen(function* () {
        const { caughtUp, mine, receiver, received, send, settle, subscribe } = yield* Shared
        const target = Wallet.createRandom().address
        const reference = yield* subscribe("address-coins-transactions-confirmed", {
          address: target,
          receiveCallbackOn: 3
        })
        yield* send(target, 1n)
        yield* caughtUp
        yield* mine(1)
        yield* settle
        assert.strictEqual(received(reference).length, 0)
        yield* mine(1)
        yield* receiver.until(() => received(reference).length === 1)
        yield* mine(3)
        yield* settle
        assert.strictEqual(received(reference).length, 1)
      })
    )

    for (const depth of half("depths", [1, 6, 40])) {
      it.effect(
        `sends nothing of a block that is orphaned before it was due, ${depth} deep, and once what is mined again`,
        () =>
          Effect.gen(function* () {
            const { anvil, caughtUp, mine, receiver, received, send, settle, subscribe } = yield* Shared
            yield* mine(3)
            const target = Wallet.createRandom().address
            const late = yield* subscribe("address-coins-transactions-confirmed", {
              address: target,
              receiveCallbackOn: depth + 1
            })
            const early = yield* subscribe("address-coins-transactions-confirmed", { address: target })
            const { hash, raw } = yield* send(target, 7n)
            yield* caughtUp
            if (depth > 1) yield* mine(depth - 1)
            yield* receiver.until(() => received(early).length === 1)

            yield* anvil.rpc("anvil_reorg", [depth, []])
            yield* caughtUp
            yield* mine(depth + 2)
            yield* settle
            assert.strictEqual(received(late).length, 0)
            assert.strictEqual(yield* anvil.rpc("eth_getTransactionReceipt", [hash]), null)

            yield* anvil.rpc("eth_sendRawTransactionSync", [raw])
            yield* mine(depth + 2)
            yield* receiver.until(() => received(late).length === 1 && received(early).length === 2)
            yield* settle
            assert.strictEqual(received(late).length, 1)
            const [orphaned, again] = received(early).map(({ body }) => body)
            assert.strictEqual(again.data.item.transactionId, hash)
            assert.notStrictEqual(again.idempotencyKey, orphaned.idempotencyKey)
            assert.notStrictEqual(again.data.item.minedInBlock.hash, orphaned.data.item.minedInBlock.hash)
            assert.strictEqual(received(late)[0]!.body.data.item.minedInBlock.hash, again.data.item.minedInBlock.hash)
          })
      )
    }
  })
}
