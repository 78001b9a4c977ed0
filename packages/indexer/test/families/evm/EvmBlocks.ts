/** Small EVM blocks made by hand, and sources that read them from a fake node. */
import { assert } from "@effect/vitest"
import type { Block, Transfer } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as EvmSource from "@headwater/indexer/families/evm/EvmSource"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import type { NodeError } from "@headwater/indexer/families/node/NodeError"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as FakeNode from "../../FakeNode.ts"
import * as EvmNode from "./EvmNode.ts"

export const chainOf = (blockchain: string, network = "mainnet") => Result.getOrThrow(Chain.find(blockchain, network))
export const ethereum = chainOf("ethereum")

export const hex = (bytes: Uint8Array | undefined) =>
  bytes === undefined ? undefined : `0x${Buffer.from(bytes).toString("hex")}`
export const word = (byte: string) => `0x${byte.repeat(32)}`
export const account = (byte: string) => `0x${byte.repeat(20)}`
export const padded = (address: string) => `0x${"0".repeat(24)}${address.slice(2)}`
export const ether = (amount: number) => `0x${(BigInt(amount) * 10n ** 18n).toString(16)}`

export const [alice, bob, carol, token] = [account("aa"), account("bb"), account("cc"), account("70")]
export const zero = account("00")
export const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"

export interface Tx {
  readonly tx?: EvmNode.Json
  readonly receipt?: EvmNode.Json
  readonly logs?: ReadonlyArray<EvmNode.Json>
  readonly trace?: EvmNode.Json
}

/** A block of height 100 with these transactions; receipts and traces fit unless told otherwise. */
export const recorded = (txs: ReadonlyArray<Tx>, header: EvmNode.Json = {}): EvmNode.RecordedBlock => {
  const hash = header.hash ?? word("b1")
  let logIndex = 0
  const transactions = txs.map(({ tx = {} }, index) => ({
    hash: `0x${(index + 1).toString(16).padStart(64, "0")}`,
    blockHash: hash,
    transactionIndex: `0x${index.toString(16)}`,
    from: alice,
    to: bob,
    value: "0x0",
    gas: "0x5208",
    gasPrice: "0x1",
    input: "0x",
    type: "0x0",
    ...tx
  }))
  const block = {
    number: "0x64",
    hash,
    parentHash: word("b0"),
    timestamp: "0x65f0c1a0",
    transactions,
    ...header
  }
  const callTracer = txs.map(({ trace }, index) => {
    const { from, to, value } = transactions[index]!
    return { type: to === null ? "CREATE" : "CALL", from, to: to ?? carol, value, ...trace }
  })
  return {
    block,
    receipts: txs.map(({ receipt = {}, logs = [] }, index) => ({
      transactionHash: transactions[index]!.hash,
      transactionIndex: `0x${index.toString(16)}`,
      blockHash: hash,
      status: "0x1",
      contractAddress: null,
      gasUsed: "0x5208",
      cumulativeGasUsed: "0x5208",
      logs: logs.map((log) => ({ address: token, logIndex: `0x${(logIndex++).toString(16)}`, ...log })),
      ...receipt
    })),
    callTracer,
    traceBlock: callTracer.flatMap((frame, index) => EvmNode.flatten(block, index, frame))
  }
}

/** A source of blocks made by hand, whose hashes and roots are of nothing, unless the options say otherwise. */
export const sourceOf = (
  answer: FakeNode.Answer,
  options: EvmSource.EvmSourceOptions = { internal: true },
  chain: Chain.Chain = ethereum
) =>
  Effect.gen(function* () {
    const node = yield* FakeNode.make(answer)
    const rpc = yield* JsonRpc.make({ urls: [node.url], attempts: 1 })
    return { node, source: yield* EvmSource.make(chain, rpc, { verify: "links", ...options }) }
  })

export const blockOf = (
  block: EvmNode.RecordedBlock,
  options?: EvmSource.EvmSourceOptions,
  chain?: Chain.Chain,
  node?: EvmNode.Options
) =>
  Effect.gen(function* () {
    const chainId = `0x${(chain?.evm?.chainId ?? 1).toString(16)}`
    const { source } = yield* sourceOf(EvmNode.answers([block], { chainId, ...node }), options, chain)
    return yield* source.blockAt(Number(block.block.number))
  }).pipe(Effect.scoped)

/** Kind, from, to and amount of each transfer; internal ones with their operation. */
export const movesOf = (transfers: ReadonlyArray<Transfer>) =>
  transfers.map((transfer) => [
    transfer.kind === "internal" ? `${transfer.operation} ${transfer.operationType}` : transfer.kind,
    hex(transfer.from),
    hex(transfer.to),
    transfer.amount
  ])

/** Runs an effect at a time of its own, in seconds since the Unix epoch, in which every wait is over at once. */
export const withoutWaiting = <A, E, R>(effect: Effect.Effect<A, E, R>, seconds = 0) =>
  Effect.suspend(() => {
    let millis = seconds * 1000
    const nanos = () => BigInt(millis) * 1_000_000n
    const clock: Clock.Clock = {
      currentTimeMillisUnsafe: () => millis,
      currentTimeMillis: Effect.sync(() => millis),
      currentTimeNanosUnsafe: nanos,
      currentTimeNanos: Effect.sync(nanos),
      monotonicTimeNanosUnsafe: nanos,
      monotonicTimeNanos: Effect.sync(nanos),
      sleep: (duration) =>
        Effect.sync(() => {
          millis += Duration.toMillis(duration)
        })
    }
    return Effect.provideService(effect, Clock.Clock, clock)
  })

/** Runs an effect by a clock on which so much time has passed, and whose time of the day, as it is read, is ahead besides. */
export const atClock = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  moved: { readonly aheadMillis?: number; readonly passedMillis?: number }
) =>
  Effect.updateService(effect, Clock.Clock, (clock) => {
    const passedMillis = moved.passedMillis ?? 0
    return Object.assign(Object.create(clock) as Clock.Clock, {
      currentTimeMillis: Effect.sync(() => clock.currentTimeMillisUnsafe() + passedMillis + (moved.aheadMillis ?? 0)),
      monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe() + BigInt(passedMillis) * 1_000_000n
    })
  })

const failsAs = (tag: NodeError["_tag"]) => (effect: Effect.Effect<unknown, NodeError>, pattern: RegExp) =>
  Effect.map(Effect.flip(effect), (error) => {
    assert.strictEqual(error._tag, tag)
    assert.match(error.message, pattern)
  })

export const inconsistent = failsAs("NodeInconsistent")

export const disproved = failsAs("ProofFailed")

export const absent = failsAs("BlockMissing")

/** A block that says that it lacks something, and why. */
export const lacking = (effect: Effect.Effect<Block, NodeError>, pattern: RegExp) =>
  Effect.map(withoutWaiting(effect), ({ missing = [], notUnderstood = [] }) =>
    assert.match([...missing, ...notUnderstood].map(({ reason }) => reason).join("; "), pattern)
  )
