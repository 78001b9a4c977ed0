/**
 * A subscription on a descriptor on a real chain of outputs, paid inside the window and beyond, in and out of order, while
 * reorganisations run: what was told of the blocks of the chain equals what these hold for the addresses of the window, also
 * where only watched addresses are recorded and a search of the node finds the coins.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Descriptor from "@headwater/core/keys/Descriptor"
import * as Effect from "effect/Effect"
import * as HdWallet from "./HdWallet.ts"
import * as Headwater from "./Headwater.ts"
import * as Litecoind from "./Litecoind.ts"
import * as Receiver from "./Receiver.ts"
import { taken } from "./Stores.ts"
import { isInTurn } from "./Turn.ts"

const rounds = Number(process.env.HEADWATER_PROPERTY_RUNS ?? 4)
const window = 8
const types = ["receiving", "change"] as const

interface Transaction {
  readonly txid: string
  readonly vin: ReadonlyArray<{ readonly txid?: string; readonly vout?: number }>
  readonly vout: ReadonlyArray<{
    readonly n: number
    readonly value: number
    readonly scriptPubKey: { readonly addresses?: ReadonlyArray<string> }
  }>
}

const litoshis = (value: number) => Math.round(value * 1e8)

const isTried = Litecoind.installed && isInTurn(import.meta.url)

for (const { location, name } of taken(import.meta.url)) {
  const record = name === "sqlite" ? "all" : "watched"
  describe.skipIf(!isTried)(`A descriptor on ${name}, where ${record} is recorded`, () => {
    it.live(
      "is told of all addresses up to the window, also of payments from before the window reached them",
      () =>
        Effect.gen(function* () {
          const node = yield* Litecoind.start()
          yield* node.mine(110)
          const wallet = yield* HdWallet.make(node, "key", 11)
          const placeOf = new Map(
            wallet.addresses.flatMap((all, branch) =>
              all.map((address, index) => [address, { type: types[branch]!, index }] as const)
            )
          )
          const receiver = yield* Receiver.start()
          const start = record === "all" ? 0 : "latest"
          const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
            chains: { "litecoin/regtest": { nodes: [node.url], start, record, pollMillis: 200 } },
            callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca }
          })
          const path = "/blockchain-events/litecoin/regtest"
          yield* headwater.post(`${path}/block-mined`, { callbackUrl: `${receiver.url}/witness` })
          const caughtUp = Effect.gen(function* () {
            const hash = yield* node.rpc<string>("getbestblockhash")
            yield* receiver.until((accepted) => accepted.some(({ body }) => body.data.item.hash === hash), 60)
          })
          yield* node.mine(1)
          yield* caughtUp
          const floor = yield* node.rpc<number>("getblockcount")
          const descriptor = `wpkh(${wallet.extendedPublicKey}/<0;1>/*)`
          const { body, status } = yield* headwater.post(`${path}/extended-keys`, {
            ...{ eventType: "ADDRESS_COINS_TRANSACTION_CONFIRMED", callbackUrl: `${receiver.url}/key`, window },
            descriptor: `${descriptor}#${Descriptor.checksum(descriptor)}`
          })
          assert.strictEqual(status, 201, JSON.stringify(body))
          const { referenceId } = body.data.item
          let seed = 1
          const random = (below: number) => {
            seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
            return Math.floor(seed / 8) % below
          }
          const reach = [0, 0]
          for (let round = 0; round < rounds; round++) {
            for (let block = 0; block < 3; block++) {
              for (let i = 0; i < 3; i++) {
                const branch = random(2)
                // Often beyond the window; a later payment brings the window there.
                const index = Math.min(299, random(reach[branch]! + window + 10))
                if (index < reach[branch]! + window) reach[branch] = Math.max(reach[branch]!, index + 1)
                yield* node.rpc("sendtoaddress", wallet.addresses[branch]![index]!, (1 + random(50)) / 100)
              }
              yield* node.mine(1)
            }
            yield* caughtUp
            if (round % 2 === 0) continue
            const height = yield* node.rpc<number>("getblockcount")
            const from = yield* node.rpc<string>("getblockhash", Math.max(floor + 1, height - random(4)))
            yield* node.rpc("invalidateblock", from)
            yield* node.mine(6)
            // What was paid is spent where the record knows it.
            if (record === "all") yield* wallet.pay(yield* node.rpc<string>("getnewaddress"), 0.005)
            yield* node.mine(1)
          }
          yield* caughtUp

          const heights = Array.from({ length: (yield* node.rpc<number>("getblockcount")) + 1 }, (_, height) => height)
          const outputs = new Map<string, { readonly address: string; readonly amount: number }>()
          const blocks = new Set<string>()
          const events: Array<{ readonly type: string; readonly index: number; readonly text: string }> = []
          for (const height of heights) {
            const hash = yield* node.rpc<string>("getblockhash", height)
            const { tx } = yield* node.rpc<{ readonly tx: ReadonlyArray<Transaction> }>("getblock", hash, 2)
            blocks.add(hash)
            for (const { txid, vin, vout } of tx) {
              const nets = new Map<string, number>()
              for (const { txid: of, vout: n } of vin) {
                const spent = outputs.get(`${of} ${n}`)
                if (spent !== undefined) nets.set(spent.address, (nets.get(spent.address) ?? 0) - spent.amount)
              }
              for (const { n, scriptPubKey, value } of vout) {
                const address = scriptPubKey.addresses?.[0]
                if (address === undefined || !placeOf.has(address)) continue
                outputs.set(`${txid} ${n}`, { address, amount: litoshis(value) })
                nets.set(address, (nets.get(address) ?? 0) + litoshis(value))
              }
              for (const [address, net] of height > floor ? nets : []) {
                const { index, type } = placeOf.get(address)!
                const direction = net > 0 ? "incoming" : "outgoing"
                const text = `${hash} ${txid} ${address} ${direction} ${Math.abs(net)} ${type} ${index}`
                events.push({ type, index, text })
              }
            }
          }

          const told = () => {
            const found = new Map<string, string>()
            for (const { body, path } of receiver.accepted()) {
              if (path !== "/key" || !blocks.has(body.data.item.minedInBlock.hash)) continue
              const { address, amount, derivation, direction, minedInBlock, transactionId } = body.data.item
              const { index, type } = derivation
              const net = litoshis(Number(amount))
              found.set(
                body.idempotencyKey,
                `${minedInBlock.hash} ${transactionId} ${address} ${direction} ${net} ${type} ${index}`
              )
            }
            return [...found.values()].sort()
          }
          const state = Effect.map(headwater.get(`${path}/${referenceId}/extended-key`), ({ body }) => body.data.item)
          const expectedBy = (branches: ReadonlyArray<{ readonly addresses: number; readonly type: string }>) => {
            const derived = new Map(branches.map(({ addresses, type }) => [type, addresses]))
            return events
              .filter(({ index, type }) => index < derived.get(type)!)
              .map(({ text }) => text)
              .sort()
          }
          // A search of the node's coins may still be to come, and move the window.
          for (let i = 0; i < 600; i++) {
            const { branches, isLookingBack } = yield* state
            if (!isLookingBack && told().length === expectedBy(branches).length) break
            yield* Effect.sleep("100 millis")
          }
          const last = yield* state
          assert.deepStrictEqual(told(), expectedBy(last.branches))
          assert.isAbove(last.total, 4 * window)
        }).pipe(Effect.scoped),
      { timeout: 180_000 }
    )
  })
}
