/**
 * Subscriptions on an extended public key on a real chain, paid inside the window and beyond, in and out of order, while
 * reorganisations run: what was told of the blocks of the chain equals what these hold for the addresses of the window.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { HDNodeWallet } from "ethers"
import * as Anvil from "./Anvil.ts"
import * as Headwater from "./Headwater.ts"
import * as Receiver from "./Receiver.ts"
import { taken } from "./Stores.ts"
import { isInTurn } from "./Turn.ts"

const indices = 120
const rounds = Number(process.env.HEADWATER_PROPERTY_RUNS ?? 4)
const window = 10

interface Transaction {
  readonly hash: string
  readonly to: string | null
}

/** What was told of these blocks, each key once. */
const toldOf = (blocks: ReadonlySet<string>, deliveries: ReadonlyArray<Receiver.Delivery>) => {
  const events = new Map<string, string>()
  for (const { body } of deliveries) {
    const { address, derivation, minedInBlock, transactionId } = body.data.item
    const place = `${derivation.type} ${derivation.index}`
    if (!blocks.has(minedInBlock.hash)) continue
    events.set(body.idempotencyKey, `${minedInBlock.hash} ${transactionId} ${address.toLowerCase()} ${place}`)
  }
  return [...events.values()].sort()
}

for (const { location, name } of taken(import.meta.url)) {
  describe.skipIf(!isInTurn(import.meta.url))(`An extended public key on ${name}`, () => {
    it.live(
      "is told of all addresses up to the window, also of payments from before the window reached them",
      () =>
        Effect.gen(function* () {
          const anvil = yield* Anvil.start({})
          yield* anvil.rpc("evm_setAutomine", [false])
          const receiver = yield* Receiver.start()
          const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
            chains: {
              "ethereum/devnet": { nodes: [anvil.url], start: 0, record: "all", pollMillis: 200, timeoutMillis: 5_000 }
            },
            callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca }
          })
          const path = "/blockchain-events/ethereum/devnet"
          const key = HDNodeWallet.fromSeed(crypto.getRandomValues(new Uint8Array(32)))
            .derivePath("m/44'/60'/0'")
            .neuter()
          const branches = ["receiving", "change"].map((type, branch) =>
            Array.from({ length: indices }, (_, index) => ({
              ...{ type, index, address: key.derivePath(`${branch}/${index}`).address.toLowerCase() }
            }))
          )
          const placeOf = new Map(branches.flat().map((one) => [one.address, one]))
          const { body } = yield* headwater.post(`${path}/extended-keys`, {
            ...{ eventType: "ADDRESS_COINS_TRANSACTION_CONFIRMED", callbackUrl: `${receiver.url}/key` },
            ...{ extendedPublicKey: key.extendedKey, window }
          })
          const { referenceId } = body.data.item
          yield* headwater.post(`${path}/block-mined`, { callbackUrl: `${receiver.url}/witness` })
          const [from] = yield* anvil.rpc<ReadonlyArray<string>>("eth_accounts", [])
          let seed = 1
          const random = (below: number) => {
            seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
            return Math.floor(seed / 8) % below
          }
          const reach = [0, 0]
          for (let round = 0; round < rounds; round++) {
            for (let block = 0; block < 3; block++) {
              for (let i = 0; i < 4; i++) {
                const branch = random(2)
                // Often beyond the window; a later payment brings the window there.
                const index = Math.min(indices - 1, random(reach[branch]! + window + 12))
                if (index < reach[branch]! + window) reach[branch] = Math.max(reach[branch]!, index + 1)
                const to = branches[branch]![index]!.address
                yield* anvil.rpc("eth_sendTransaction", [{ from, to, value: "0x1", gas: "0x5208" }])
              }
              yield* anvil.rpc("anvil_mine", ["0x1"])
            }
            if (round % 2 === 1) {
              yield* Effect.sleep("150 millis")
              yield* anvil.rpc("anvil_reorg", [1 + random(5), []])
            }
          }
          yield* anvil.rpc("anvil_mine", ["0x1"])
          const { hash, number } = yield* anvil.rpc<{ readonly hash: string; readonly number: string }>(
            "eth_getBlockByNumber",
            ["latest", false]
          )
          yield* receiver.until((accepted) => accepted.some(({ body }) => body.data.item.hash === hash))
          const state = Effect.map(headwater.get(`${path}/${referenceId}/extended-key`), ({ body }) => body.data.item)
          let last = yield* state
          for (let i = 0; last.isLookingBack && i < 300; i++) {
            yield* Effect.sleep("100 millis")
            last = yield* state
          }
          assert.isFalse(last.isLookingBack)
          const derived = new Map(
            last.branches.map(({ addresses, type }: { readonly addresses: number; readonly type: string }) => [
              type,
              addresses
            ])
          )
          const expected: Array<string> = []
          const blocks = new Set<string>()
          for (let height = 0; height <= Number(number); height++) {
            const block = yield* anvil.rpc<{
              readonly hash: string
              readonly transactions: ReadonlyArray<Transaction>
            }>("eth_getBlockByNumber", [`0x${height.toString(16)}`, true])
            blocks.add(block.hash)
            for (const { hash: id, to } of block.transactions) {
              const place = placeOf.get(to ?? "")
              if (place === undefined || place.index >= (derived.get(place.type) as number)) continue
              expected.push(`${block.hash} ${id} ${place.address} ${place.type} ${place.index}`)
            }
          }
          expected.sort()
          const own = () => receiver.accepted().filter(({ path }) => path === "/key")
          yield* receiver.until(() => toldOf(blocks, own()).length === expected.length)
          assert.deepStrictEqual(toldOf(blocks, own()), expected)
          assert.isAbove(last.total, 4 * window)
        }).pipe(Effect.scoped),
      { timeout: 120_000 }
    )
  })
}
