/** Prepares a transaction of a UTXO wallet for signing, and reserves its coins (wider interface, *HD wallets*). */
import * as Address from "@headwater/core/address/Address"
import * as Amount from "@headwater/core/Amount"
import type { Chain } from "@headwater/core/chains/Chain"
import { keyOf as outpointKey } from "@headwater/core/utxo/Coin"
import * as CoinSelection from "@headwater/core/utxo/CoinSelection"
import * as TransactionCosts from "@headwater/core/utxo/TransactionCosts"
import type { InputFormat } from "@headwater/core/utxo/TransactionSize"
import type { CoinState } from "@headwater/indexer/families/utxo/UtxoPreparation"
import type { UtxoConnection } from "@headwater/indexer/families/utxo/UtxoConnection"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as SpendableCoins from "@headwater/indexer/store/wallets/SpendableCoins"
import type { WalletKey } from "@headwater/indexer/store/wallets/Wallets"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import { Conflict, invalidField, Unimplemented, XpubSyncInProgress } from "../../contract/Errors.ts"
import type { Freshness } from "../Freshness.ts"
import type { ChainOperations } from "../Operations.ts"
import * as KeyPaths from "./KeyPaths.ts"

type Request = Parameters<ChainOperations["utxoPrepare"]>[0]
type WalletCoin = SpendableCoins.WalletCoin

const conflict = (attribute: string, message: string) =>
  new Conflict({ message: `${attribute}: ${message}`, details: [{ attribute, message }] })

const coins = ({ decimals, unit }: Chain, amount: bigint) => `${Amount.format(amount, decimals)} ${unit}`

const total = (from: ReadonlyArray<{ readonly amount: bigint }>) => from.reduce((sum, { amount }) => sum + amount, 0n)

const addressOf = (chain: Chain, attribute: string, text: string) =>
  Effect.mapError(Effect.fromResult(Address.decode(chain, text)), ({ message }) => invalidField(attribute, message))

const amountOf = (chain: Chain, attribute: string, text: string) =>
  Effect.mapError(Effect.fromResult(Amount.parse(text, chain.decimals)), ({ message }) =>
    invalidField(attribute, message)
  )

const OP_RETURN = 0x6a
const OP_PUSHDATA1 = 0x4c
/** As nodes relay it: with the opcodes 83 bytes. */
const maxData = 80

const dataScript = (text: string) => {
  const data = new TextEncoder().encode(text)
  if (data.length > maxData) return Effect.fail(invalidField("additionalData", `must be at most ${maxData} bytes`))
  return Effect.succeed(
    Uint8Array.of(OP_RETURN, ...(data.length < OP_PUSHDATA1 ? [] : [OP_PUSHDATA1]), data.length, ...data)
  )
}

interface Output {
  readonly script: Uint8Array
  readonly amount: bigint
}

/** What the request pays: to its recipients, and its data. */
const outputsOf = Effect.fnUntraced(function* (chain: Chain, { additionalData = "", recipients }: Request) {
  const outputs: Array<Output> = []
  for (const [index, { address, amount: text }] of recipients.entries()) {
    const script = yield* addressOf(chain, `recipients.${index}.address`, address)
    const amount = yield* amountOf(chain, `recipients.${index}.amount`, text)
    const dust = TransactionCosts.dustOf(chain.utxo!, script)
    if (amount < dust) {
      return yield* invalidField(
        `recipients.${index}.amount`,
        `must be at least ${coins(chain, dust)}: nodes relay no smaller output`
      )
    }
    outputs.push({ script, amount })
  }
  if (additionalData !== "") outputs.push({ script: yield* dataScript(additionalData), amount: 0n })
  return outputs
})

/** A number that JSON carries to the unit. */
const asNumber = (amount: bigint) =>
  amount <= BigInt(Number.MAX_SAFE_INTEGER)
    ? Effect.succeed(Number(amount))
    : Effect.fail(
        conflict("recipients", "the wallet would have to spend a coin of more than 2^53 - 1 of the smallest unit")
      )

/** Sequences of inputs: below the last two numbers a transaction may be replaced (BIP-125), at the last one not locked. */
const sequences = { replaceable: 0xffff_fffd, final: 0xffff_fffe }

/** Mulberry32. */
const randomOf = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const isUsable = (state: CoinState | undefined) => state === undefined || state === "spendable"

/** Coins that the node is asked about beside the selected ones, once one of those is not spendable or there are too few. */
const askedBeside = 500

/** Why coins that a wallet has cannot be used now, in words. */
const reasons: Record<Exclude<CoinState, "spendable">, string> = {
  spent: "is being spent by transactions that wait for a block",
  immature: "is the reward of blocks and too young",
  token: "carries tokens"
}

const words = (chain: Chain, unused: ReadonlyMap<WalletCoin, CoinState>) =>
  Object.entries(reasons).flatMap(([state, reason]) => {
    const those = [...unused].flatMap(([coin, its]) => (its === state ? coin : []))
    return those.length === 0 ? [] : [`${coins(chain, total(those))} ${reason}`]
  })

/** What is to be paid, and by which rules; the same however often coins are selected. */
interface Plan {
  readonly chain: Chain
  readonly costs: CoinSelection.Costs
  readonly pays: bigint
  readonly strategy: CoinSelection.Strategy
}

/** No coins that are free do: why. */
const refusalOf = (
  { chain, pays }: Plan,
  { fee }: CoinSelection.BalanceTooLow,
  free: ReadonlyArray<WalletCoin>,
  reserved: ReadonlyArray<WalletCoin>,
  unused: ReadonlyMap<WalletCoin, CoinState>
) => {
  const need = `${coins(chain, pays + fee)}, ${coins(chain, fee)} of it as fee`
  if (total([...free, ...reserved]) >= pays + fee) {
    const ends = reserved.map(({ reservedUntil }) => reservedUntil!).sort((a, b) => a - b)
    const [first, last] = [ends[0]!, ends.at(-1)!].map((millis) => new Date(millis).toISOString())
    return conflict(
      "recipients",
      `the payment needs ${need}; of the wallet's balance ${coins(chain, total(reserved))} is reserved by transactions that ` +
        `were prepared before, the first of it until ${first}, the last until ${last}`
    )
  }
  const others = words(chain, unused)
  return conflict(
    "recipients",
    `the wallet has ${coins(chain, total(free))} to spend, and the payment needs ${need}` +
      (others.length === 0 ? "" : `; beside that ${others.join(", ")}`)
  )
}

/** Selects among the wallet's free coins until all that are selected are spendable by the node's word. */
const selectFrom = Effect.fnUntraced(function* (
  plan: Plan,
  { preparation }: UtxoConnection,
  all: ReadonlyArray<WalletCoin>
) {
  const states = new Map<string, CoinState>()
  const stateOf = ({ outpoint }: WalletCoin) => states.get(outpointKey(outpoint))
  const open = all.filter(({ reservedUntil }) => reservedUntil === undefined)
  const random = randomOf(yield* Random.nextInt)
  const ask = Effect.fnUntraced(function* (some: ReadonlyArray<WalletCoin>) {
    const answers = yield* preparation.statesOf(some)
    for (const [i, { outpoint }] of some.entries()) states.set(outpointKey(outpoint), answers[i]!)
  })
  const unknown = (some: ReadonlyArray<WalletCoin>) => some.filter((coin) => stateOf(coin) === undefined)
  for (;;) {
    const free = open.filter((coin) => isUsable(stateOf(coin)))
    const { costs, pays, strategy } = plan
    const found = yield* TimeSlice.run(() => CoinSelection.select({ coins: free, costs, pays, strategy, random }))
    const needed = Result.isSuccess(found) ? unknown(found.success.coins) : []
    if (Result.isSuccess(found) && needed.length === 0) return found.success
    const others = unknown(free)
    if (Result.isSuccess(found) || (others.length > 0 && others.length <= askedBeside)) {
      // A coin that is not spendable is seldom alone.
      const beside = states.size === 0 && Result.isSuccess(found) ? [] : others.slice(0, askedBeside)
      yield* ask([...new Set([...needed, ...beside])])
      continue
    }
    if (found.failure._tag === "TooManyInputs") {
      return yield* conflict(
        "recipients",
        `the payment needs more than ${found.failure.maximum} coins of the wallet, and nodes relay no such transaction: pay less`
      )
    }
    const unused = new Map(open.flatMap((coin) => (isUsable(stateOf(coin)) ? [] : [[coin, stateOf(coin)!] as const])))
    const reserved = all.filter(({ reservedUntil }) => reservedUntil !== undefined)
    return yield* refusalOf(plan, found.failure, free, reserved, unused)
  }
})

/** What a payment may cost: by a rate that the node estimates, or one amount. */
const feeOf = Effect.fnUntraced(function* (chain: Chain, { preparation }: UtxoConnection, { fee }: Request) {
  const rates = yield* preparation.feeRates(fee.priority ?? "standard")
  if (fee.exactAmount === undefined) return { rates, fee: rates satisfies TransactionCosts.Fee }
  return { rates, fee: { exact: yield* amountOf(chain, "fee.exactAmount", fee.exactAmount) } }
})

interface Options {
  readonly reservationSeconds: number
}

export const make = Effect.fnUntraced(function* (
  { chain }: ChainReader,
  freshness: Freshness<UtxoConnection>,
  { reservationSeconds }: Options
) {
  const network = chain.utxo!
  const wallets = yield* SpendableCoins.make(chain)

  const prepare = Effect.fnUntraced(function* (request: Request, key: WalletKey) {
    // Zcash hashes in a way of its own.
    if (network.wireFormat === "zcash") {
      return yield* new Unimplemented({ message: "Transactions of Zcash are not prepared yet" })
    }
    const paid = yield* outputsOf(chain, request)
    const changeTo =
      request.fee.address === undefined ? undefined : yield* addressOf(chain, "fee.address", request.fee.address)
    const { node } = yield* freshness.recorded(true)
    const { fee, rates } = yield* feeOf(chain, node, request)
    // Loaded where it is needed: no other operation does.
    const UnsignedTransaction = yield* Effect.promise(() => import("./UnsignedTransaction.ts"))

    const attempt = Effect.gen(function* () {
      const { change: ownChange, coins: all } = (yield* wallets.of(key))!
      if (ownChange === undefined) {
        return yield* new XpubSyncInProgress({
          message: "The wallet's change addresses are being derived: try again later"
        })
      }
      const format = key.format as InputFormat
      const payment = { format, scripts: paid.map(({ script }) => script), change: changeTo ?? ownChange.script }
      const costs = TransactionCosts.of(network, payment, fee)
      const plan = { chain, costs, pays: total(paid), strategy: request.prepareStrategy ?? "least-waste" } as const
      const selection = yield* selectFrom(plan, node, all)
      const hasChange = selection.change > 0n
      const inputs = selection.coins.length
      const least = TransactionCosts.leastFee(network, payment, rates.least, inputs, hasChange)
      if (selection.fee < least) {
        return yield* conflict("fee.exactAmount", `nodes take no less than ${coins(chain, least)} for this transaction`)
      }
      const keys = KeyPaths.of(key)
      const makers = yield* format === "P2TR"
        ? Effect.succeed(selection.coins.map(() => undefined))
        : node.preparation.makersOf(selection.coins)
      const unsigned = {
        format,
        version: network.transactionVersion ?? 2,
        locktime: request.locktime ?? 0,
        sequence: sequences[(request.replaceable ?? !network.neverReplaces) ? "replaceable" : "final"],
        inputs: selection.coins.map((coin, i) => ({
          ...coin.outpoint,
          ...{ script: coin.script, amount: coin.amount, key: keys(coin), maker: makers[i] }
        })),
        outputs: [
          ...paid,
          ...(hasChange
            ? [
                {
                  script: payment.change,
                  amount: selection.change,
                  ...(changeTo === undefined ? { key: keys(ownChange) } : {})
                }
              ]
            : [])
        ]
      }
      const answer = {
        unsigned,
        ...{ coins: selection.coins, fee: selection.fee },
        size: TransactionCosts.sizeOf(network, payment, inputs, hasChange),
        sighashes: UnsignedTransaction.sighashes(network, unsigned),
        psbt: UnsignedTransaction.psbtOf(network, unsigned)
      }
      // Last: whoever gets no answer has reserved nothing.
      const until = yield* wallets.reserve(request.account, selection.coins, reservationSeconds * 1_000)
      return { ...answer, until }
    })
    // Another preparation, or a block, was faster: what is left is looked at again.
    return yield* Effect.retry(attempt, { while: ({ _tag }) => _tag === "CoinsTaken" })
  })

  const addressText = (script: Uint8Array) => Address.encode(chain, Address.fromBytes(script)) ?? ""

  return Effect.fnUntraced(function* (request: Request, key: WalletKey) {
    const {
      coins: spent,
      fee,
      psbt,
      sighashes,
      size,
      unsigned,
      until
    } = yield* prepare(request, key).pipe(Effect.catchTags({ DatabaseError: Effect.die, CoinsTaken: Effect.die }))
    const amount = (value: bigint, decimals = chain.decimals) => ({
      amount: Amount.format(value, decimals),
      unit: chain.unit
    })
    const outputs = unsigned.outputs.map(({ amount, script }) => ({
      ...{ address: addressText(script), satoshis: amount.toString(), script: Buffer.from(script).toString("hex") }
    }))
    const satoshis = yield* Effect.forEach(spent, ({ amount }) => asNumber(amount))
    return {
      additionalData: request.additionalData ?? "",
      ...{ locktime: unsigned.locktime, size, version: unsigned.version },
      fee: amount(fee),
      // In thousandths of the smallest unit.
      feePerByte: amount((fee * 1_000n) / BigInt(size), chain.decimals + 3),
      inputs: spent.map((coin, i) => ({
        ...{ address: addressText(coin.script), change: coin.branch, derivationIndex: coin.index },
        ...{
          outputIndex: coin.outpoint.index,
          satoshis: satoshis[i]!,
          script: Buffer.from(coin.script).toString("hex")
        },
        sighash: Buffer.from(sighashes[i]!).toString("hex"),
        transactionId: Buffer.from(coin.outpoint.transactionId).toString("hex"),
        sequence: unsigned.sequence
      })),
      outputs,
      ...(psbt === undefined ? {} : { psbt }),
      reservedUntil: Math.floor(until / 1_000),
      ...(network.forkId
        ? {
            blockchainSpecific: {
              vout: yield* Effect.forEach(outputs, (output) =>
                Effect.map(asNumber(BigInt(output.satoshis)), (satoshis) => ({ ...output, satoshis }))
              )
            }
          }
        : network.neverReplaces
          ? {}
          : { blockchainSpecific: { replaceable: unsigned.sequence === sequences.replaceable } })
    }
  })
})
