/** Prepares a transaction of a UTXO wallet for signing, and reserves its coins (wider interface, *HD wallets*). */
import * as Address from "@headwater/core/address/Address"
import * as Amount from "@headwater/core/Amount"
import type { Chain } from "@headwater/core/chains/Chain"
import * as ZcashSighash from "@headwater/core/utxo/ZcashSighash"
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
import * as SelectedCoins from "./SelectedCoins.ts"
import type { Unsigned } from "./UnsignedTransaction.ts"
import * as WaitingParent from "./WaitingParent.ts"

type Request = Parameters<ChainOperations["utxoPrepare"]>[0]

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

/** Fails for a wallet whose form of addresses is an ordinary script hash on its chain, where nobody relays what spends that. */
export const mustBeSpendable = ({ chain, format }: Pick<WalletKey, "chain" | "format">) =>
  format === "P2SH-P2WPKH" && chain.utxo!.address.segwit === undefined
    ? Effect.fail(new Unimplemented({ message: `${chain.blockchain} has no segwit: nothing can spend P2SH-P2WPKH` }))
    : Effect.void

/** What the request pays: to its recipients, and its data. */
const outputsOf = Effect.fnUntraced(function* (chain: Chain, { additionalData = "", recipients }: Request) {
  const outputs: Array<Output> = []
  for (const [index, { address, amount: text }] of recipients.entries()) {
    const script = yield* decodeAddress(chain, `recipients.${index}.address`, address)
    const amount = yield* decodeAmount(chain, `recipients.${index}.amount`, text)
    const dust = TransactionCosts.dustOf(chain.utxo!, script)
    if (amount < dust) {
      return yield* invalidField(
        `recipients.${index}.amount`,
        `must be at least ${Amount.withUnit(chain, dust)}: nodes relay no smaller output`
      )
    }
    outputs.push({ script, amount })
  }
  if (additionalData !== "") outputs.push({ script: yield* dataScript(additionalData), amount: 0n })
  return outputs
})

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

interface Hashed {
  readonly sighashes: ReadonlyArray<Uint8Array>
  readonly psbt: string | undefined
  /** What a signer of Zcash has to know beside the rest. */
  readonly zcash:
    | { readonly consensusBranchId: number; readonly expiryHeight: number; readonly versionGroupId: number }
    | undefined
}

/** Blocks after which a transaction of Zcash that was not mined never will be: 50 minutes, as ZIP-218 has it since NU7. */
const expiryDelta = 120

/** Locktimes from here on are times (`LOCKTIME_THRESHOLD`). */
const firstTime = 500_000_000

/** Behind the lock, or nobody could ever mine it: no end (ZIP-203) where the lock is a time, whose height nobody knows. */
const expiryOf = (height: number, locktime: number) =>
  locktime >= firstTime ? 0 : Math.max(height, locktime + 1) + expiryDelta

const hashedAsZcash = (
  { height, id }: { readonly height: number; readonly id: number },
  unsigned: Unsigned
): Effect.Effect<Hashed> => {
  const { inputs, locktime, outputs, sequence } = unsigned
  const expiryHeight = expiryOf(height, locktime)
  const sighashes = TimeSlice.run(() =>
    ZcashSighash.digests({
      ...{ branchId: id, locktime, expiryHeight, outputs },
      inputs: inputs.map((input) => ({ ...input, sequence }))
    })
  )
  return Effect.map(sighashes, (sighashes) => ({
    sighashes,
    psbt: undefined,
    zcash: { consensusBranchId: id, expiryHeight, versionGroupId: ZcashSighash.versionGroupId }
  }))
}

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
    const paid = yield* outputsOf(chain, request)
    const changeTo =
      request.fee.address === undefined ? undefined : yield* decodeAddress(chain, "fee.address", request.fee.address)
    const { node } = yield* freshness.recorded(true)
    const { fee, rates } = yield* feeOf(chain, node, request)
    // Loaded where it is needed: no other operation does.
    const { psbtOf, sighashes } = yield* Effect.promise(() => import("./UnsignedTransaction.ts"))
    const hashedAsBitcoin = (unsigned: Unsigned) =>
      TimeSlice.run(function* () {
        const hashes = yield* sighashes(network, unsigned)
        return {
          sighashes: hashes,
          psbt: yield* psbtOf(network, unsigned),
          zcash: undefined
        } satisfies Hashed as Hashed
      })

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
      const least = own + (parent?.minedFee ?? 0n)
      if (selection.fee < least) {
        return yield* conflictingField(
          "fee.exactAmount",
          `nodes and miners take no less than ${Amount.withUnit(chain, least)} for this transaction`
        )
      }
      const size = TransactionCosts.sizeOf(network, payment, inputs, hasChange)
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
      if ("exact" in fee) {
        const fault = yield* node.preparation.feeFault(selection.fee, size + (parent?.size ?? 0))
        if (fault !== undefined) return yield* invalidField("fee.exactAmount", fault)
      }
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
        outputs: [
          ...paid,
          ...(hasChange
            ? [
                {
                  script: back.script,
                  amount: selection.change,
                  key: keys(back)
                }
              ]
            : [])
        ]
      }
      const branch = isZcash ? yield* node.preparation.nextBranch : undefined
      const hashed = yield* branch === undefined ? hashedAsBitcoin(unsigned) : hashedAsZcash(branch, unsigned)
      const answer = {
        ...{ unsigned, coins, fee: selection.fee, size },
        ...hashed
      }
      yield* carried([...unsigned.inputs, ...unsigned.outputs])
      // Last: whoever gets no answer has reserved nothing.
      const waiting = parent === undefined ? [] : [parent.coin]
      const until = yield* wallets.reserve(request.account, selection.coins, reservationSeconds * 1_000, waiting)
      return { ...answer, until }
    })
    // Another preparation, or a block, was faster: what is left is looked at again.
    return yield* Effect.retry(attempt, { while: ({ _tag }) => _tag === "CoinsTaken" })
  })

  const addressText = (script: Uint8Array) => Address.encode(chain, Address.fromBytes(script)) ?? ""

  /** What clients of the hosted service find of these chains alone. */
  const specificOf = (
    outputs: ReadonlyArray<{ readonly address: string; readonly satoshis: number; readonly script: string }>,
    sequence: number,
    zcash: Hashed["zcash"]
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
