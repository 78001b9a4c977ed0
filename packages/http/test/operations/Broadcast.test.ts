/** What is written of a transaction before it is sent. */
import { assert, describe, layer } from "@effect/vitest"
import * as Broadcast from "@headwater/http/operations/Broadcast"
import type { Freshness } from "@headwater/http/operations/Freshness"
import { type Broadcasting, contradicted, invalid } from "@headwater/indexer/families/Broadcasting"
import type { ConnectedNode } from "@headwater/indexer/families/Family"
import { NodeUnreachable } from "@headwater/indexer/families/node/NodeError"
import * as Broadcasts from "@headwater/indexer/store/broadcasts/Broadcasts"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { takenStores } from "../../../../test/Stores.ts"
import * as Seed from "../../../indexer/test/store/Seed.ts"

const { chain } = Seed
const id = new Uint8Array(32).fill(7)

const broadcasting: Broadcasting = {
  idOf: () => Effect.succeed(id),
  check: () => Effect.void,
  send: () => Effect.succeed({ state: "taken" }),
  standing: () => Effect.succeed({ state: "absent" }),
  find: () => Effect.succeed({ state: "absent" })
}
const head = { height: 2_900_000, hash: new Uint8Array(32), final: undefined }
const nodesOf = (broadcasting: Broadcasting): Freshness => {
  const node = { sideSources: { broadcasting } } as unknown as ConnectedNode
  return {
    node: Effect.succeed(node),
    nodeAtHead: Effect.succeed({ node, head }),
    recorded: () => Effect.die(new Error("what is broadcast needs no record")),
    orUnavailable: (self) => self as never
  }
}
const freshness = nodesOf(broadcasting)

for (const store of takenStores(import.meta.url)) {
  describe(`A broadcast transaction on ${store.name}`, () => {
    layer(Subscriptions.layer.pipe(Layer.provideMerge(store.layer)))((it) => {
      it.effect("is looked for from the newest block of the node on, where no block is recorded yet", () =>
        Effect.gen(function* () {
          const account = yield* Seed.account
          const { broadcast } = yield* Broadcast.make(chain, freshness)
          yield* broadcast({ account, signedTransactionHex: "010203", paying: (self: unknown) => self } as never)
          const row = yield* Broadcasts.find(chain, account, id)
          assert.deepInclude(row, { outcome: "sent", since_height: head.height })
        })
      )

      it.effect("is not refused again where a block that no node shows may have it", () =>
        Effect.gen(function* () {
          const account = yield* Seed.account
          const request = { account, signedTransactionHex: "010203", paying: (self: unknown) => self } as never
          const { broadcast } = yield* Broadcast.make(chain, freshness)
          const answer = yield* broadcast(request)
          const unseen: Broadcasting = {
            ...broadcasting,
            check: () => Effect.fail(contradicted("its inputs must be unspent")),
            send: () => Effect.die(new Error("what may be mined already is not sent")),
            standing: () => Effect.succeed({ state: "absent", mayCome: true, hidden: true })
          }
          const again = yield* Broadcast.make(chain, nodesOf(unseen))
          assert.deepStrictEqual(yield* again.broadcast(request), answer)
          assert.strictEqual((yield* Broadcasts.find(chain, account, id))?.outcome, "sent")
        })
      )

      it.effect(
        "is given to the nodes that answer while another one is down, which may know more of one that is refused",
        () =>
          Effect.gen(function* () {
            const request = (account: number) =>
              ({ account, signedTransactionHex: "010203", paying: (self: unknown) => self }) as never
            const down = new NodeUnreachable({ node: "second", method: "", message: "connect ECONNREFUSED" })
            let sent = 0
            const oneDown: Broadcasting = {
              ...broadcasting,
              send: () =>
                Effect.sync(() => {
                  sent++
                  return { state: "taken" }
                }),
              standing: () => Effect.fail(down)
            }
            const refusing: Broadcasting = {
              ...oneDown,
              check: () => Effect.fail(contradicted("its inputs must be unspent"))
            }
            const account = yield* Seed.account
            const { broadcast } = yield* Broadcast.make(chain, nodesOf(oneDown))
            yield* broadcast(request(account))
            assert.strictEqual((yield* Broadcasts.find(chain, account, id))?.outcome, "sent")
            yield* broadcast(request(account))
            assert.strictEqual(sent, 2, "once more, for the nodes that may have forgotten it")
            const again = yield* Broadcast.make(chain, nodesOf(refusing))
            yield* again.broadcast(request(account))
            assert.strictEqual(yield* Effect.flip(again.broadcast(request(yield* Seed.account))), down as never)
            assert.strictEqual(sent, 2)
            // One that no node has answered yet, which the node that is down may have taken by rules of its own.
            const unanswered = (isRefused: object): Broadcasting => ({
              ...oneDown,
              send: () => Effect.succeed({ state: "unanswered", message: down.message, ...isRefused }),
              standing: () => (isFirst ? Effect.succeed({ state: "absent" }) : Effect.fail(down))
            })
            let isFirst = true
            const other = request(yield* Seed.account)
            const silent = yield* Broadcast.make(chain, nodesOf(unanswered({})))
            yield* silent.broadcast(other)
            isFirst = false
            const invalidNow = { ...oneDown, check: () => Effect.fail(invalid("its outputs must be above dust")) }
            const strict = yield* Broadcast.make(chain, nodesOf(invalidNow))
            assert.strictEqual(yield* Effect.flip(strict.broadcast(other)), down as never)
            assert.notStrictEqual(yield* Effect.flip(strict.broadcast(request(yield* Seed.account))), down as never)
            // The others refuse it when they are given it.
            const halfRefused = yield* Broadcast.make(chain, nodesOf(unanswered({ isRefused: true })))
            assert.strictEqual(yield* Effect.flip(halfRefused.broadcast(other)), down as never)
          })
      )
    })
  })
}
