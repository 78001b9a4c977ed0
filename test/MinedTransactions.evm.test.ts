/** Subscriptions to transactions on a real anvil: made before the block and behind it, of what failed, and where blocks leave. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { HDNodeWallet, Transaction, type TransactionLike, Wallet } from "ethers"
import * as Anvil from "./Anvil.ts"
import * as Headwater from "./Headwater.ts"
import * as Receiver from "./Receiver.ts"
import { taken } from "./Stores.ts"
import { isInTurn } from "./Turn.ts"

const place = "ethereum/devnet"
const path = `/blockchain-events/${place}`
const mnemonic = "test test test test test test test test test test test junk"

for (const { location, name } of taken(import.meta.url)) {
  describe.skipIf(!isInTurn(import.meta.url))(`transaction-mined on anvil, ${name}`, () => {
    it.live("tells each transaction once with its block, whichever comes first, and whatever becomes of it", () =>
      Effect.gen(function* () {
        const anvil = yield* Anvil.start({ args: ["--no-mining"] })
        const receiver = yield* Receiver.start()
        const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
          chains: { [place]: { nodes: [anvil.url], start: 0, record: "watched", verify: "links", pollMillis: 200 } },
          callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca }
        })
        const mine = anvil.rpc("evm_mine", [])
        const wallet = HDNodeWallet.fromPhrase(mnemonic)
        let nonce = 0
        const send = Effect.fnUntraced(function* (fields: TransactionLike = {}) {
          const transaction = Transaction.from({
            ...{ type: 2, chainId: 31337, nonce: nonce++, gasLimit: 100_000, to: Wallet.createRandom().address },
            ...{ value: 1n, maxFeePerGas: 2n * 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n },
            ...fields
          })
          transaction.signature = wallet.signingKey.sign(transaction.unsignedHash)
          yield* anvil.rpc("eth_sendRawTransaction", [transaction.serialized])
          return transaction.hash!
        })
        const post = (transactionId: string, item: Record<string, unknown> = {}) =>
          headwater.post(`${path}/transaction-mined`, {
            ...{ transactionId, callbackUrl: `${receiver.url}/`, callbackSecretKey: "s" },
            ...item
          })
        const subscribe = Effect.fnUntraced(function* (transactionId: string, item: Record<string, unknown> = {}) {
          const { body, status } = yield* post(transactionId, item)
          assert.strictEqual(status, 201, JSON.stringify(body))
          return body.data.item as { readonly referenceId: string; readonly transactionId: string }
        })
        const told = ({ referenceId }: { readonly referenceId: string }) =>
          receiver.accepted().filter(({ body }) => body.referenceId === referenceId)
        const until = (of: { readonly referenceId: string }, count: number) =>
          receiver.until(() => told(of).length >= count)
        const blockOf = Effect.fnUntraced(function* (id: string) {
          const { blockHash } = yield* anvil.rpc<{ blockHash: string }>("eth_getTransactionReceipt", [id])
          const block = yield* anvil.rpc<{ number: string; timestamp: string }>("eth_getBlockByHash", [
            blockHash,
            false
          ])
          return { height: Number(block.number), hash: blockHash, timestamp: Number(block.timestamp) }
        })
        const item = Effect.fnUntraced(function* (id: string) {
          return { blockchain: "ethereum", network: "devnet", transactionId: id, minedInBlock: yield* blockOf(id) }
        })

        yield* mine
        // Before the block, by the id in capitals and without 0x.
        const before = yield* send()
        const first = yield* subscribe(before.slice(2).toUpperCase())
        assert.strictEqual(first.transactionId, before)
        assert.hasAllKeys(first, [
          ...["callbackSecretKey", "callbackUrl", "createdTimestamp", "eventType", "isActive", "referenceId"],
          "transactionId"
        ])
        // A creation whose code reverts (`revert(0, 0)`).
        const reverted = yield* send({ to: null, value: 0n, data: "0x60006000fd" })
        const failed = yield* subscribe(reverted)
        const nobodys = yield* subscribe(`0x${"ee".repeat(32)}`)
        yield* mine
        for (const [id, one] of [
          [before, first],
          [reverted, failed]
        ] as const) {
          yield* until(one, 1)
          const [callback] = told(one)
          Receiver.verify(callback!, "s")
          assert.strictEqual(callback!.body.data.event, "TRANSACTION_MINED")
          assert.deepStrictEqual(callback!.body.data.item, yield* item(id))
        }
        assert.strictEqual(
          (yield* anvil.rpc<{ status: string }>("eth_getTransactionReceipt", [reverted])).status,
          "0x0"
        )

        // Behind the block.
        const past = yield* subscribe(before, { allowDuplicates: true })
        yield* until(past, 1)
        assert.deepStrictEqual(told(past)[0]!.body.data.item, yield* item(before))
        const duplicate = yield* post(before)
        assert.deepStrictEqual([duplicate.status, duplicate.body.error.code], [409, "already_exists"])
        const malformed = yield* post("0x12")
        assert.deepStrictEqual(
          [malformed.status, malformed.body.error.details],
          [400, [{ attribute: "transactionId", message: "must be 64 hexadecimal characters" }]]
        )

        // Read, listed, made in bulk, tested and deleted with the transaction's id.
        const read = yield* headwater.get(`${path}/${first.referenceId}`)
        assert.deepInclude(read.body.data.item, {
          eventType: "TRANSACTION_MINED",
          transactionId: before,
          isActive: true
        })
        assert.notProperty(read.body.data.item, "address")
        const listed = yield* headwater.get(path)
        assert.deepStrictEqual(
          listed.body.data.items.map(({ address, transactionId }: Record<string, string>) => [address, transactionId]),
          [before, reverted, nobodys.transactionId, before].map((id) => ["", id])
        )
        const items = [before, "0x12"].map((transactionId) => ({
          ...{ eventType: "TRANSACTION_MINED", transactionId, callbackUrl: `${receiver.url}/`, allowDuplicates: true }
        }))
        const bulk = yield* headwater.post(`${path}/bulk`, { idempotencyKey: "bulk", items })
        const [made, wrong] = bulk.body.data.items
        assert.strictEqual(made.item.transactionId, before)
        assert.strictEqual(wrong.error.details[0].attribute, "transactionId")
        yield* until(made.item, 1)
        const test = yield* headwater.post(`${path}/${failed.referenceId}/test`, {})
        assert.strictEqual(test.status, 201, JSON.stringify(test.body))
        yield* until(failed, 2)
        assert.deepInclude(told(failed)[1]!.body.data, { event: "TRANSACTION_MINED_TEST" })
        assert.strictEqual(told(failed)[1]!.body.data.item.transactionId, reverted)
        const gone = yield* headwater.remove(`${path}/${failed.referenceId}`)
        assert.strictEqual(gone.body.data.item.transactionId, reverted)

        // The block leaves the chain, and another one has the transaction.
        const height = Number(yield* anvil.rpc<string>("eth_blockNumber", []))
        const waits = yield* send()
        const raced = yield* subscribe(waits)
        yield* mine
        yield* until(raced, 1)
        const one = yield* item(waits)
        assert.strictEqual(one.minedInBlock.height, height + 1)
        const raw = (yield* anvil.rpc<{ raw: string }>("eth_getRawTransactionByHash", [waits])) as unknown as string
        yield* anvil.rpc("anvil_reorg", [1, [[raw, 0]]])
        const other = yield* item(waits)
        assert.notStrictEqual(other.minedInBlock.hash, one.minedInBlock.hash)
        yield* until(raced, 2)
        assert.deepStrictEqual(
          told(raced).map(({ body }) => body.data.item.minedInBlock.hash),
          [one.minedInBlock.hash, other.minedInBlock.hash]
        )
        assert.strictEqual(new Set(told(raced).map(({ body }) => body.idempotencyKey)).size, 2)

        // A daemon that was killed goes on with what it was asked for, and tells nothing twice.
        yield* headwater.kill
        yield* headwater.launch
        const later = yield* send()
        const last = yield* subscribe(later)
        yield* mine
        yield* until(last, 1)
        for (let blocks = 0; blocks < 3; blocks++) yield* mine
        const end = yield* send()
        yield* mine
        yield* until(yield* subscribe(end), 1)
        const counts = [first, past, raced, last, nobodys].map(
          (each) => new Set(told(each).map(({ body }) => body.idempotencyKey)).size
        )
        assert.deepStrictEqual(counts, [1, 1, 2, 1, 0])
      }).pipe(Effect.scoped)
    )
  })
}
