/**
 * What core says to vectors of derivation, addresses and signing hashes. Nothing here is Node's: a page in a browser runs
 * the same.
 */
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as EvmSighash from "@headwater/core/evm/Sighash"
import * as Keys from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import * as Steps from "@headwater/core/Steps"
import { Derivation } from "@headwater/core/services/Derivation"
import { Secp256k1 } from "@headwater/core/services/Secp256k1"
import { Sighash } from "@headwater/core/services/Sighash"
import * as TronTransaction from "@headwater/core/tron/TronTransaction"
import * as Unlocking from "@headwater/core/utxo/Unlocking"
import * as WitnessSighash from "@headwater/core/utxo/WitnessSighash"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Result from "effect/Result"

/** Bytes are hexadecimal digits, of EVM chains with 0x; a chain is `blockchain/network`. */
export interface Questions {
  /** The first addresses of a wallet, and the same addresses read and written again. */
  readonly addresses: Keys.Options & { readonly chain: string; readonly key: string; readonly count: number }
  /** One child of an extended key: its public key. */
  readonly child: { readonly key: string; readonly index: number }
  /** An extended key read and written, and the key within. */
  readonly extendedKey: { readonly key: string }
  /** Whether no chain takes a text as an extended key, and none repeats any of it. */
  readonly refused: { readonly key: string }
  /** The locking script of an address; null where the text is no address. */
  readonly script: { readonly chain: string; readonly address: string }
  /** The bytes to hash and the digest; with a signature also the signed transaction. */
  readonly evm: {
    readonly transaction: object
    readonly signature?: { readonly r: string; readonly s: string; readonly yParity: 0 | 1 }
  }
  /** The field that is wrong in a transaction. */
  readonly evmRefused: { readonly transaction: object }
  /** The id of a transaction, which is what is signed. */
  readonly tron: { readonly rawData: string }
  /** Whether an input may spend the output of a script. */
  readonly unlocking: { readonly script: string; readonly scriptSig: string; readonly witness: ReadonlyArray<string> }
  /** The hashes of each input by BIP-143 and by BIP-341. */
  readonly witness: {
    readonly sequence: number
    readonly inputs: ReadonlyArray<{ readonly id: string; readonly amount: string; readonly script: string }>
    readonly outputs: ReadonlyArray<{ readonly amount: string; readonly script: string }>
  }
}

/** A question with what its source says. */
export type Vector = {
  readonly [Kind in keyof Questions]: {
    readonly kind: Kind
    readonly question: Questions[Kind]
    readonly expected: unknown
  }
}[keyof Questions]

const chainOf = (name: string) => {
  const [blockchain = "", network = ""] = name.split("/")
  return Result.getOrThrow(Chain.find(blockchain, network))
}
const bytesToHex = (bytes: Uint8Array): string => Hex.encode(bytes)
const hexToBytes = (digits: string): Uint8Array => Result.getOrThrow(Hex.decode(digits))
const bitcoin = chainOf("bitcoin/mainnet")
const hex = (bytes: Uint8Array) => `0x${bytesToHex(bytes)}`
const shows = (shown: string, text: string) =>
  Array.from({ length: Math.max(0, text.length - 11) }, (_, from) => text.slice(from, from + 12)).some((part) =>
    shown.includes(part)
  )

const answers = {
  addresses: ({ chain, count, key, ...options }) =>
    Effect.gen(function* () {
      const of = chainOf(chain)
      const [blockchain, network] = [of.blockchain, of.network]
      const derivation = yield* Derivation
      const found = yield* derivation.addresses({ blockchain, network, extendedPublicKey: key, count, ...options })
      return found.map(({ address }) => Address.encode(of, Result.getOrThrow(Address.decode(of, address))))
    }),
  child: ({ index, key }) =>
    Effect.gen(function* () {
      const parent = Result.getOrThrow(ExtendedPublicKey.decode(bitcoin, key, yield* Secp256k1))
      const branch = Result.getOrThrow(Keys.branch(bitcoin, parent, { derivation: "bip32" }))
      return bytesToHex(Keys.publicKeyAt(branch, index)!)
    }),
  extendedKey: ({ key }) =>
    Effect.gen(function* () {
      const read = Result.getOrThrow(ExtendedPublicKey.decode(bitcoin, key, yield* Secp256k1))
      return [ExtendedPublicKey.encode(bitcoin, read), bytesToHex(read.node.publicKey)]
    }),
  refused: ({ key }) =>
    Effect.gen(function* () {
      const curve = yield* Secp256k1
      return Chain.all.every((chain) => {
        const read = ExtendedPublicKey.decode(chain, key, curve)
        return Result.isFailure(read) && !shows(String(read.failure) + read.failure.stack, key)
      })
    }),
  script: ({ address, chain }) =>
    Effect.succeed(
      Result.match(Address.decode(chainOf(chain), address), { onFailure: () => null, onSuccess: bytesToHex })
    ),
  evm: ({ signature, transaction }) =>
    Effect.gen(function* () {
      const digest = yield* (yield* Sighash).digest(transaction)
      const parsed = Result.getOrThrow(EvmSighash.parse(transaction))
      const said = [hex(EvmSighash.serialise(parsed)), digest]
      if (signature === undefined) return said
      const [r, s] = [BigInt(signature.r), BigInt(signature.s)]
      return [...said, hex(EvmSighash.serialiseSigned(parsed, { r, s, yParity: signature.yParity }))]
    }),
  evmRefused: ({ transaction }) =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip((yield* Sighash).digest(transaction))
      return message.split(":")[0]
    }),
  tron: ({ rawData }) => Effect.succeed(bytesToHex(TronTransaction.id(hexToBytes(rawData)))),
  unlocking: ({ script, scriptSig, witness }) =>
    Effect.sync(() => {
      const input = { scriptSig: hexToBytes(scriptSig), witness: witness.map(hexToBytes) }
      return Unlocking.mayUnlock([input])(Address.fromBytes(hexToBytes(script)))
    }),
  witness: ({ inputs, outputs, sequence }) =>
    Effect.sync(() => {
      const transaction: WitnessSighash.UnsignedTransaction = {
        ...{ version: 2, locktime: 0, sequence },
        inputs: inputs.map(({ amount, id, script }, index) => ({
          ...{ transactionId: hexToBytes(id), index, amount: BigInt(amount), script: hexToBytes(script) }
        })),
        outputs: outputs.map(({ amount, script }) => ({ amount: BigInt(amount), script: hexToBytes(script) }))
      }
      const all = 1
      return [WitnessSighash.ofVersion0(transaction, all), WitnessSighash.ofTaproot(transaction)].map((hashes) =>
        Steps.atOnce(hashes).map(bytesToHex)
      )
    })
} satisfies {
  readonly [Kind in keyof Questions]: (
    question: Questions[Kind]
  ) => Effect.Effect<unknown, unknown, Secp256k1 | Derivation | Sighash>
}

/** What core says otherwise than the vectors, a line each. */
export const differences = Effect.fn("differences")(function* (vectors: ReadonlyArray<Vector>) {
  const lines: Array<string> = []
  for (const { expected, kind, question } of vectors) {
    const answer = answers[kind] as (
      question: unknown
    ) => Effect.Effect<unknown, unknown, Secp256k1 | Derivation | Sighash>
    const said = yield* answer(question).pipe(Effect.catchCause((cause) => Effect.succeed(String(cause))))
    if (JSON.stringify(said) === JSON.stringify(expected)) continue
    lines.push(`${kind} ${JSON.stringify(question)}: ${JSON.stringify(said)}, not ${JSON.stringify(expected)}`)
  }
  return lines
})
