/** Prepares a transaction of a UTXO wallet for signing, and reserves its coins (wider interface, *HD wallets*). */
import * as Address from "@headwater/core/address/Address"
import * as Amount from "@headwater/core/Amount"
import type { Chain } from "@headwater/core/chains/Chain"
import * as TransactionCosts from "@headwater/core/utxo/TransactionCosts"
import type { InputFormat } from "@headwater/core/utxo/TransactionSize"
import type { UtxoConnection } from "@headwater/indexer/families/utxo/UtxoConnection"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import type { WalletCoin } from "@headwater/indexer/store/wallets/SpendableCoins"
import * as SpendableCoins from "@headwater/indexer/store/wallets/SpendableCoins"
import type { WalletKey } from "@headwater/indexer/store/wallets/WalletKey"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Effect from "effect/Effect"
import { conflictingField, invalidField, Unimplemented, XpubSyncInProgress } from "../../contract/Errors.ts"
import { decodeAddress, decodeAmount } from "../Field.ts"
import type { Freshness } from "../Freshness.ts"
import * as Hex from "../Hex.ts"
import type { ChainOperations } from "../Operations.ts"
import * as KeyPaths from "./KeyPaths.ts"
import * as PaidOutputs from "./PaidOutputs.ts"
import * as SelectedCoins from "./SelectedCoins.ts"
import * as SigningHashes from "./SigningHashes.ts"
import * as WaitingParent from "./WaitingParent.ts"

type Request = Parameters<ChainOperations["utxoPrepare"]>[0]

/** Fails for a wallet whose form of addresses is an ordinary script hash on its chain, where nobody relays what spends that. */
export const mustBeSpendable = ({ chain, format }: Pick<WalletKey, "chain" | "format">) =>
  format === "P2SH-P2WPKH" && chain.utxo!.address.segwit === undefined
    ? Effect.fail(new Unimplemented({ message: `${chain.blockchain} has no segwit: nothing can spend P2SH-P2WPKH` }))
    : Effect.void

/** Amounts are told as numbers of JSON, which carry less than 2^53 to the unit. */
const carried = (amounts: ReadonlyArray<{ readonly amount: bigint }>) =>
  amounts.every(({ amount }) => amount <= BigInt(Number.MAX_SAFE_INTEGER))
    ? Effect.void
    : Effect.fail(
        conflictingField("recipients", "a coin or an output would be of more than 2^53 - 1 of the smallest unit")
      )

/** The place and script of the largest of the coins. */
const largestOf = (coins: ReadonlyArray<WalletCoin>) =>
  coins.reduce((largest, coin) => (coin.amount > largest.amount ? coin : largest))

/** Sequences of inputs: below the last two numbers a transaction may be replaced (BIP-125), at the last one not locked. */
const sequences = { replaceable: 0xffff_fffd, final: 0xffff_fffe }

/** What a payment may cost: by a rate that the node estimates, or one amount. */
const feeOf = Effect.fnUntraced(function* (chain: Chain, { preparation }: UtxoConnection, { fee }: Request) {
  const rates = yield* preparation.feeRates(fee.priority ?? "standard")
  if (fee.exactAmount === undefined) return { rates, fee: rates satisfies TransactionCosts.Fee }
  return { rates, fee: { exact: yield* decodeAmount(chain, "fee.exactAmount", fee.exactAmount) } }
})

/** A transaction that is to be relayed, and to be mined. */
interface Relayed {
  readonly fee: bigint
  /** What nodes and miners take at least. */
  readonly leastFee: bigint
  /** Whether the request names the fee. */
  readonly isExact: boolean
  /** In virtual bytes. */
  readonly size: number
}

/** Fails where nodes would not relay a transaction, by itself or behind the waiting one that it spends from. */
const refuseUnrelayed = Effect.fnUntraced(function* (
  chain: Chain,
  { preparation }: UtxoConnection,
  { fee, isExact, leastFee, size }: Relayed,
  parent: WaitingParent.WaitingParent | undefined
) {
  if (fee < leastFee) {
    return yield* conflictingField(
      "fee.exactAmount",
      `nodes and miners take no less than ${Amount.withUnit(chain, leastFee)} for this transaction`
    )
  }
  if (parent !== undefined && parent.size + size > WaitingParent.maxSize) {
    return yield* conflictingField(
      WaitingParent.attribute,
      `nodes relay no more than ${WaitingParent.maxSize} virtual bytes of transactions that wait for one another`
    )
  }
  if (parent?.child !== undefined && size > parent.child.maxSize) {
    return yield* conflictingField(
      WaitingParent.attribute,
      `nodes relay no more than ${parent.child.maxSize} virtual bytes that spend from a waiting transaction of version ` +
        `${parent.child.version}, and the payment has ${size}`
    )
  }
  if (!isExact) return
  const fault = yield* preparation.feeFault(fee, size + (parent?.size ?? 0))
  if (fault !== undefined) return yield* invalidField("fee.exactAmount", fault)
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
  const isZcash = network.wireFormat === "zcash"
  const wallets = yield* SpendableCoins.make(chain)

  const parentOf = (
    node: UtxoConnection,
    key: WalletKey,
    { parentTransactionId: transactionId }: Request,
    fee: TransactionCosts.Fee
  ) => {
    if (transactionId === undefined) return Effect.undefined
    return WaitingParent.of(chain, node, wallets, key, {
      transactionId,
      rate: "exact" in fee ? undefined : fee.rate
    })
  }

  const prepare = Effect.fnUntraced(function* (request: Request, key: WalletKey) {
    yield* mustBeSpendable(key)
    const paid = yield* PaidOutputs.of(chain, request)
    const changeTo =
      request.fee.address === undefined ? undefined : yield* decodeAddress(chain, "fee.address", request.fee.address)
    const { node } = yield* freshness.recorded(true)
    const { fee, rates } = yield* feeOf(chain, node, request)
    const named = changeTo && (yield* wallets.placeOf(key, changeTo))
    if (changeTo !== undefined && named === undefined) {
      return yield* invalidField("fee.address", "must be an address of the wallet: the change goes there")
    }

    const attempt = Effect.gen(function* () {
      const parent = yield* parentOf(node, key, request, fee)
      const { change: next, coins: all } = (yield* wallets.of(key))!
      const ownChange = changeTo && named ? { ...named, script: changeTo } : next
      if (ownChange === undefined) {
        return yield* new XpubSyncInProgress({
          message: "The wallet's change addresses are being derived: try again later"
        })
      }
      const format = key.format as InputFormat
      const payment = { format, scripts: paid.map(({ script }) => script), change: ownChange.script }
      const costs = TransactionCosts.of(network, payment, fee, parent?.child?.maxSize)
      const plan = {
        chain,
        costs,
        pays: SelectedCoins.total(paid),
        strategy: request.prepareStrategy ?? "least-waste",
        parent
      } as const
      const selection = yield* SelectedCoins.select(plan, node, all)
      const hasChange = selection.change > 0n
      const coins = parent === undefined ? selection.coins : [parent.coin, ...selection.coins]
      // Without addresses for change the next unused one may be somebody's already, who would take the change for a payment.
      const back = changeTo === undefined && key.derivation === "bip32" ? largestOf(coins) : ownChange
      const inputs = coins.length
      const own = TransactionCosts.leastFee(network, payment, rates, inputs, hasChange)
      const size = TransactionCosts.sizeOf(network, payment, inputs, hasChange)
      yield* refuseUnrelayed(
        chain,
        node,
        { fee: selection.fee, leastFee: own + (parent?.minedFee ?? 0n), isExact: "exact" in fee, size },
        parent
      )
      const keys = KeyPaths.of(key)
      // A PSBT of them shows what legacy inputs spend; of taproot nobody asks for it, and Zcash has no PSBT.
      const makers = yield* format === "P2TR" || isZcash
        ? Effect.succeed(coins.map(() => undefined))
        : node.preparation.makersOf(coins)
      const spent = yield* TimeSlice.run(() =>
        TimeSlice.map(coins, (coin, i) => ({
          ...coin.outpoint,
          ...{ script: coin.script, amount: coin.amount, key: keys(coin), maker: makers[i] }
        }))
      )
      const unsigned = {
        format,
        version: isZcash ? 5 : (parent?.child?.version ?? network.transactionVersion ?? 2),
        locktime: request.locktime ?? 0,
        sequence: sequences[(request.replaceable ?? network.replacement === undefined) ? "replaceable" : "final"],
        inputs: spent,
        outputs: [...paid, ...(hasChange ? [{ script: back.script, amount: selection.change, key: keys(back) }] : [])]
      }
      const hashes = yield* SigningHashes.of(network, node, unsigned)
      yield* carried([...unsigned.inputs, ...unsigned.outputs])
      // Last: whoever gets no answer has reserved nothing.
      const waiting = parent === undefined ? [] : [parent.coin]
      const until = yield* wallets.reserve(request.account, selection.coins, reservationSeconds * 1_000, waiting)
      return { unsigned, coins, fee: selection.fee, size, ...hashes, until }
    })
    // Another preparation, or a block, was faster: what is left is looked at again.
    return yield* Effect.retry(attempt, { while: ({ _tag }) => _tag === "CoinsTaken" })
  })

  const addressText = (script: Uint8Array) => Address.encode(chain, Address.fromBytes(script)) ?? ""

  /** What clients of the hosted service find of these chains alone. */
  const specificOf = (
    outputs: ReadonlyArray<{ readonly address: string; readonly satoshis: number; readonly script: string }>,
    sequence: number,
    zcash: SigningHashes.SigningHashes["zcash"]
  ) => {
    if (network.forkId) return { blockchainSpecific: { vout: outputs } }
    return network.replacement === "never" && zcash === undefined
      ? {}
      : { blockchainSpecific: { replaceable: sequence === sequences.replaceable, ...zcash } }
  }

  return Effect.fnUntraced(function* (request: Request, key: WalletKey) {
    const {
      coins: spent,
      fee,
      psbt,
      sighashes,
      size,
      unsigned,
      until,
      zcash
    } = yield* prepare(request, key).pipe(Effect.catchTags({ DatabaseError: Effect.die, CoinsTaken: Effect.die }))
    const amount = (value: bigint, decimals = chain.decimals) => ({
      amount: Amount.format(value, decimals),
      unit: chain.unit
    })
    const outputs = yield* TimeSlice.run(() =>
      TimeSlice.map(unsigned.outputs, ({ amount, script }) => ({
        ...{ address: addressText(script), satoshis: Number(amount), script: Hex.encode(script) }
      }))
    )
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
          satoshis: Number(coin.amount),
          script: Hex.encode(coin.script)
        },
        sighash: Hex.encode(sighashes[i]!),
        transactionId: Hex.encode(coin.outpoint.transactionId),
        sequence: unsigned.sequence
      })),
      outputs,
      ...(psbt === undefined ? {} : { psbt }),
      reservedUntil: Math.floor(until / 1_000),
      ...specificOf(outputs, unsigned.sequence, zcash)
    }
  })
})
