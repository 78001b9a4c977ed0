/** What the demo shows after the first callbacks: a token, an internal transaction, a reorganisation, a rate. */
import type * as Client from "@headwater/http/contract/Client"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Contracts from "./Contracts.ts"
import type { DemoFailed } from "./DemoFailed.ts"
import type { DevelopmentChain } from "./DevelopmentChain.ts"
import * as Messages from "./Messages.ts"
import type { Received } from "./Receiver.ts"

type Rpc = DevelopmentChain["rpc"]

interface Transaction {
  readonly from: string
  readonly to?: string
  readonly value?: bigint
  readonly data?: string
}

const hex = (number: bigint) => `0x${number.toString(16)}`

/** Has the node sign and send a transaction; its hash. */
export const send = (rpc: Rpc, { value = 0n, ...transaction }: Transaction) =>
  Effect.map(rpc.call("eth_sendTransaction", [{ ...transaction, value: hex(value) }]), String)

const Receipt = Schema.Struct({ contractAddress: Schema.String })
const Block = Schema.NullOr(Schema.Struct({ blockNumber: Schema.String }))

/** The address of the contract that a transaction makes, once a block has the transaction. */
const contractOf = (rpc: Rpc, transaction: string) =>
  rpc.call("eth_getTransactionReceipt", [transaction]).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(Receipt)),
    Effect.retry({ schedule: Schedule.spaced("100 millis"), times: 300 }),
    Effect.map(({ contractAddress }) => contractAddress)
  )

/** An argument of a call: an address or a number in 32 bytes. */
const word = (value: string | bigint) =>
  (typeof value === "string" ? value.slice(2).toLowerCase() : value.toString(16)).padStart(64, "0")

const call = {
  transfer: (to: string, amount: bigint) => `0xa9059cbb${word(to)}${word(amount)}`,
  forward: (to: string) => `0x101e8952${word(to)}`
}

/** Sends the demo's contracts; the transactions that make them. */
export const deploy = (rpc: Rpc, from: string) =>
  Effect.all({
    coin: send(rpc, { from, data: Contracts.demoCoin }),
    forwarder: send(rpc, { from, data: Contracts.forwarder })
  })

const milliEther = 10n ** 15n

/** Replaces the blocks from the one with this transaction on by others, without the transaction; how many. */
const reorganise = Effect.fnUntraced(function* (rpc: Rpc, transaction: string) {
  const mined = rpc
    .call("eth_getTransactionReceipt", [transaction])
    .pipe(Effect.flatMap(Schema.decodeUnknownEffect(Block)))
  let blocks = 0
  // A block that is mined between the two questions is one that the reorganisation would miss.
  for (let place = yield* mined; place !== null; place = yield* mined) {
    blocks = Number(yield* rpc.call("eth_blockNumber", [])) - Number(place.blockNumber) + 1
    yield* rpc.call("anvil_reorg", [blocks, []])
  }
  return blocks
})

export interface Parts {
  readonly rpc: Rpc
  readonly client: Client.Client
  /** Of the address that everything happens to. */
  readonly subscription: { readonly address: string; readonly callbackUrl: string; readonly callbackSecretKey: string }
  /** The account that pays. */
  readonly rich: string
  readonly deployed: Effect.Success<ReturnType<typeof deploy>>
  /** Prints callbacks until one is as asked for. */
  readonly showUntil: (holds: (callback: Received) => boolean) => Effect.Effect<Received, DemoFailed>
}

/** Tells the story, a few lines for each thing that happens. */
export const tell = Effect.fnUntraced(function* ({ client, deployed, rich, rpc, showUntil, subscription }: Parts) {
  const { address } = subscription
  const request = {
    params: { blockchain: "ethereum", network: "devnet" },
    query: {},
    payload: { data: { item: subscription } }
  }
  yield* client.subscriptions["address-tokens-transactions-confirmed"](request)
  yield* client.subscriptions["address-internal-transactions-confirmed"](request)
  const coin = yield* contractOf(rpc, deployed.coin)
  const forwarder = yield* contractOf(rpc, deployed.forwarder)
  yield* Console.log(Messages.tokensAndInternal)
  const token = yield* send(rpc, { from: rich, to: coin, data: call.transfer(address, 25_000_000n) })
  yield* Console.log(Messages.sent("25 DEMO, an ERC-20 token, to the address", token))
  const value = 100n * milliEther
  const internal = yield* send(rpc, { from: rich, to: forwarder, value, data: call.forward(address) })
  yield* Console.log(Messages.sent("0.1 ETH to a contract, which passes them on to the address", internal))
  const missing = new Set(["ADDRESS_TOKENS_TRANSACTION_CONFIRMED", "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED"])
  yield* showUntil(({ body }) => missing.delete(body.data.event) && missing.size === 0)

  const deposit = yield* send(rpc, { from: rich, to: address, value: 500n * milliEther })
  yield* Console.log(Messages.reorganisation)
  yield* Console.log(Messages.sent("0.5 ETH to the address", deposit))
  const isDeposit = ({ body }: Received) => body.data.item.transactionId === deposit
  yield* showUntil(isDeposit)
  yield* Console.log(Messages.reorganised(yield* reorganise(rpc, deposit)))
  yield* showUntil((callback) => isDeposit(callback) && callback.body.data.event.endsWith("_REVERTED"))

  const { item } = yield* client.marketData
    .rateBySymbol({ params: { fromAssetSymbol: "ETH", toAssetSymbol: "USD" }, query: {} })
    // The file of rates is read beside everything else.
    .pipe(Effect.retry({ schedule: Schedule.spaced("100 millis"), times: 100 }))
  yield* Console.log(Messages.marketData(item.rate))
})
