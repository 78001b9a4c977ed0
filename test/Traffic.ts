/** Payments and reorganisations on anvil, and the oracle that reads off the chain what subscriptions must be told. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { Anvil } from "./Anvil.ts"
import type { Delivery } from "./Receiver.ts"

export interface Traffic {
  /** When each transaction was seen to be mined last, in milliseconds since the Unix epoch. */
  readonly minedAt: ReadonlyMap<string, number>
  /** Ends it and mines a few blocks more, so that every confirmation is reached. */
  readonly stop: Effect.Effect<void>
}

/**
 * Pays the targets in turn from three of anvil's accounts, with a small reorganisation now and then; `pause` gives the
 * milliseconds between two payments.
 */
export const start = Effect.fnUntraced(function* (
  anvil: Anvil,
  targets: ReadonlyArray<string>,
  random: () => number,
  pause = () => 10 + Math.floor(random() * 40)
) {
  const accounts = yield* anvil.rpc<ReadonlyArray<string>>("eth_accounts", [])
  // anvil hangs where it mines by itself while it is asked something, and loses blocks where it reorganises meanwhile.
  yield* anvil.rpc("evm_setAutomine", [false])
  const minedAt = new Map<string, number>()
  const act = Effect.fnUntraced(function* (i: number) {
    const from = accounts[i % 3]
    const to = targets[Math.floor(random() * targets.length)]
    const payment = { from, to, value: `0x${(i + 1).toString(16)}` }
    const hash = yield* anvil.rpc<string>("eth_sendTransaction", [payment])
    yield* anvil.rpc("evm_mine", [])
    minedAt.set(hash, Date.now())
    if (i % 25 === 24) yield* anvil.rpc("anvil_reorg", [1 + Math.floor(random() * 4), []])
  }, Effect.uninterruptible)
  const fiber = yield* Effect.gen(function* () {
    for (let i = 0; ; i++) {
      yield* act(i)
      yield* Effect.sleep(pause())
    }
  }).pipe(
    Effect.tapDefect((defect) => Effect.logError("No more payments", defect)),
    Effect.forkChild
  )
  const stop = Effect.gen(function* () {
    yield* Fiber.interrupt(fiber)
    yield* anvil.rpc("anvil_mine", ["0x5"])
    yield* anvil.rpc("evm_setAutomine", [true])
  })
  return { minedAt, stop } satisfies Traffic
})

/** A subscription to confirmed coins of an address, in lower case. */
export interface Wanted {
  readonly address: string
  readonly confirmations: number
}

interface RpcBlock {
  readonly hash: string
  readonly transactions: ReadonlyArray<{ readonly hash: string; readonly from: string; readonly to: string | null }>
}

/** Names an event: subscription, block, transaction, direction. */
export const eventOf = ({ body }: Delivery): string => {
  const { direction, minedInBlock, transactionId } = body.data.item
  return `${body.referenceId} ${minedInBlock.hash} ${transactionId} ${direction}`
}

/** The events that the chain as it now is owes to each subscription, by reference id. */
export const expected = Effect.fnUntraced(function* (anvil: Anvil, subscriptions: ReadonlyMap<string, Wanted>) {
  const height = Number(yield* anvil.rpc("eth_blockNumber", []))
  const events = new Set<string>()
  for (let i = 0; i <= height; i++) {
    const block = yield* anvil.rpc<RpcBlock>("eth_getBlockByNumber", [`0x${i.toString(16)}`, true])
    for (const { from, hash, to } of block.transactions) {
      for (const [reference, { address, confirmations }] of subscriptions) {
        if (height - i + 1 < confirmations) continue
        if (from === address) events.add(`${reference} ${block.hash} ${hash} outgoing`)
        if (to === address) events.add(`${reference} ${block.hash} ${hash} incoming`)
      }
    }
  }
  return events
})

/** Holds what was delivered, accepted or not, to the oracle: one key an event, one event a key, and nothing made up. */
export const check = Effect.fnUntraced(function* (
  anvil: Anvil,
  deliveries: ReadonlyArray<Delivery>,
  events: ReadonlySet<string>
) {
  const keys = new Map<string, string>()
  for (const delivery of deliveries) {
    const event = eventOf(delivery)
    const known = keys.get(event) ?? delivery.body.idempotencyKey
    assert.strictEqual(delivery.body.idempotencyKey, known, "one event, one key")
    keys.set(event, known)
    if (events.has(event)) continue
    // Only a block that was on the chain when it was sent may be told of, and it is gone now.
    const block = yield* anvil.rpc("eth_getBlockByHash", [event.split(" ")[1], false])
    assert.strictEqual(block, null, `unexpected: ${event}`)
  }
  assert.strictEqual(new Set(keys.values()).size, keys.size, "one key, one event")
})
