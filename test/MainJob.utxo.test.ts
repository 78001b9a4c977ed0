/** The main job on a real UTXO node with MWEB active: bech32, change, and a reorganisation. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Headwater from "./Headwater.ts"
import * as Litecoind from "./Litecoind.ts"
import * as Receiver from "./Receiver.ts"
import { taken } from "./Stores.ts"

const events = "/blockchain-events/litecoin/regtest"
const secret = "a secret of the test"

interface Transaction {
  readonly vin: ReadonlyArray<{ readonly txid: string; readonly vout: number }>
  readonly vout: ReadonlyArray<{ readonly value: number; readonly scriptPubKey: { readonly addresses?: [string] } }>
}

for (const { location, name } of taken(import.meta.url)) {
  describe.skipIf(!Litecoind.installed)(`the main job on litecoind, ${name}`, () => {
    it.live("tells incoming and outgoing with change by their net, and follows a reorganisation", () =>
      Effect.gen(function* () {
        const node = yield* Litecoind.start()
        yield* node.mweb
        const receiver = yield* Receiver.start()
        const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
          chains: { "litecoin/regtest": { nodes: [node.url], start: 0, pollMillis: 200 } },
          callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca }
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
        const received = (reference: string) => receiver.accepted().filter(({ body }) => body.referenceId === reference)
        const witness = yield* subscribe("block-mined", {})
        const caughtUp = Effect.gen(function* () {
          const best = yield* node.rpc<string>("getbestblockhash")
          yield* receiver.until(() => received(witness).some(({ body }) => body.data.item.hash === best))
        })
        yield* node.mine(1)
        yield* caughtUp

        const target = yield* node.rpc<string>("getnewaddress", "", "bech32")
        assert.isTrue(target.startsWith("rltc1"))
        const incoming = yield* subscribe("address-coins-transactions-confirmed", { address: target })
        const id = yield* node.rpc<string>("sendtoaddress", target, 2.5)
        const [mined] = yield* node.mine(1)
        yield* receiver.until(() => received(incoming).length === 1)
        const [first] = received(incoming)
        Receiver.verify(first!, secret)
        const header = yield* node.rpc<{ readonly height: number; readonly time: number }>("getblockheader", mined)
        assert.deepStrictEqual(first!.body.data.item, {
          blockchain: "litecoin",
          network: "regtest",
          address: target,
          minedInBlock: { height: header.height, hash: mined, timestamp: header.time },
          transactionId: id,
          amount: "2.5",
          unit: "LTC",
          direction: "incoming"
        })

        // Spend that very coin, with the change back to the same address: the net is what left, the fee included.
        const funding = yield* node.rpc<Transaction>("getrawtransaction", id, true)
        const vout = funding.vout.findIndex(({ scriptPubKey }) => scriptPubKey.addresses?.[0] === target)
        const other = yield* node.rpc<string>("getnewaddress", "", "bech32")
        const raw = yield* node.rpc<string>("createrawtransaction", [{ txid: id, vout }], {
          [other]: 1,
          [target]: 1.499
        })
        const signed = yield* node.rpc<{ readonly hex: string }>("signrawtransactionwithwallet", raw)
        const spending = yield* node.rpc<string>("sendrawtransaction", signed.hex)
        yield* node.mine(1)
        yield* receiver.until(() => received(incoming).length === 2)
        const outgoing = received(incoming)[1]!.body.data.item
        assert.deepStrictEqual(
          [outgoing.transactionId, outgoing.direction, outgoing.amount],
          [spending, "outgoing", "1.001"]
        )

        // The block leaves the chain before the confirmation that is waited for; its transaction is mined again.
        const patient = yield* subscribe("address-coins-transactions-confirmed", {
          address: other,
          receiveCallbackOn: 2
        })
        const spendOther = yield* node.rpc<string>("sendtoaddress", other, 0.25)
        const [orphan] = yield* node.mine(1)
        yield* caughtUp
        yield* node.rpc("invalidateblock", orphan)
        const again = yield* node.mine(2, yield* node.rpc<string>("getnewaddress"))
        yield* caughtUp
        yield* receiver.until(() => received(patient).length === 1)
        const item = received(patient)[0]!.body.data.item
        assert.strictEqual(item.transactionId, spendOther)
        assert.strictEqual(item.minedInBlock.hash, again[0])
        yield* node.mine(3)
        yield* caughtUp
        assert.strictEqual(received(patient).length, 1)
      }).pipe(Effect.scoped)
    )

    it.live("tells coins from before a subscription as they moved, and a stranger's deposit to the same address", () =>
      Effect.gen(function* () {
        const node = yield* Litecoind.start("-vbparams=mweb:4000000000:4000000000")
        yield* node.mine(101)
        const wallet = yield* node.wallet("targets")
        const targets = yield* Effect.forEach(["legacy", "p2sh-segwit", "bech32"], (format) =>
          Effect.gen(function* () {
            const address = yield* wallet<string>("getnewaddress", "", format)
            return { address, id: yield* node.rpc<string>("sendtoaddress", address, 5) }
          })
        )
        yield* node.mine(1)
        const receiver = yield* Receiver.start()
        const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
          chains: { "litecoin/regtest": { nodes: [node.url], start: 0, record: "watched", pollMillis: 200 } },
          callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca }
        })
        const subscribe = (path: string, item: Record<string, unknown>) =>
          Effect.map(
            headwater.post(`${events}/${path}`, {
              callbackSecretKey: secret,
              callbackUrl: `${receiver.url}/callbacks`,
              ...item
            }),
            ({ body }) => body.data.item.referenceId as string
          )
        const witness = yield* subscribe("block-mined", {})
        const caughtUp = Effect.gen(function* () {
          const best = yield* node.rpc<string>("getbestblockhash")
          yield* receiver.until(() => receiver.accepted().some(({ body }) => body.data.item.hash === best))
        })
        yield* node.mine(1)
        yield* caughtUp

        /** Pays 1 out of one output, and what is left but for the fee back to where it lay. */
        const payOut = Effect.fnUntraced(function* (address: string, id: string, back: number) {
          const { vout } = yield* node.rpc<Transaction>("getrawtransaction", id, true)
          const index = vout.findIndex(({ scriptPubKey }) => scriptPubKey.addresses?.[0] === address)
          const other = yield* node.rpc<string>("getnewaddress")
          const outputs = { [other]: 1, [address]: back }
          const raw = yield* node.rpc<string>("createrawtransaction", [{ txid: id, vout: index }], outputs)
          const signed = yield* wallet<{ readonly hex: string }>("signrawtransactionwithwallet", raw)
          return yield* node.rpc<string>("sendrawtransaction", signed.hex)
        })
        const told = () =>
          receiver
            .accepted()
            .filter(({ body }) => body.referenceId !== witness)
            .map(({ body }) => {
              const { address, amount, direction, transactionId } = body.data.item
              return [address, transactionId, direction, amount].join(" ")
            })
        for (const { address } of targets) yield* subscribe("address-coins-transactions-confirmed", { address })
        const unknown = yield* Effect.forEach(targets, ({ address, id }) => payOut(address, id, 3.9998))
        yield* node.mine(1)
        yield* caughtUp
        const deposits = yield* Effect.forEach(targets, ({ address }) =>
          node.rpc<string>("sendtoaddress", address, 2.5)
        )
        yield* node.mine(1)
        yield* caughtUp
        const known = yield* Effect.forEach(targets, ({ address }, i) => payOut(address, deposits[i]!, 1.4998))
        yield* node.mine(1)
        yield* caughtUp
        // A search of the node's coins, or its index of transactions, has shown by then what was spent.
        yield* receiver.until(() => told().length >= 3 * targets.length)
        assert.sameMembers(
          told(),
          targets.flatMap(({ address }, i) => [
            `${address} ${deposits[i]} incoming 2.5`,
            `${address} ${known[i]} outgoing 1.0002`,
            `${address} ${unknown[i]} outgoing 1.0002`
          ])
        )
      }).pipe(Effect.scoped)
    )
  })
}
