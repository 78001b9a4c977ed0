/** Wallets of a litecoind whose extended public key a test knows: it imports the keys and says which address is next. */
import * as Chain from "@headwater/core/chains/Chain"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { decodeBase58, encodeBase58, HDNodeWallet, sha256, toBeArray, zeroPadValue } from "ethers"
import type { Litecoind } from "./Litecoind.ts"
import type { Rpc } from "./NodeRpc.ts"

export const chain = Result.getOrThrow(Chain.find("litecoin", "regtest"))
const mainnet = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))

export interface HdWallet {
  readonly name: string
  readonly rpc: Rpc
  /** The account's key as a tpub: receiving addresses at /0/i, change at /1/i, P2WPKH. */
  readonly extendedPublicKey: string
  /** Receiving and change addresses by index, as litecoind derives them. */
  readonly addresses: readonly [ReadonlyArray<string>, ReadonlyArray<string>]
  /** The next unused receiving or change address. */
  readonly next: (branch: 0 | 1) => string
  /** Pays with the wallet's own coins, change to its own address; the transaction's id. */
  readonly pay: (to: string, amount: number) => Effect.Effect<string>
  /** Everything it has by its node's word, mined or not. */
  readonly balance: Effect.Effect<number>
}

/** Addresses of each branch. */
const count = 300

/** The same private key in the version of test networks. */
const toTest = (extendedKey: string): string => {
  const bytes = Buffer.from(zeroPadValue(toBeArray(decodeBase58(extendedKey)), 82).slice(2), "hex")
  const payload = bytes.subarray(0, 78)
  payload.writeUInt32BE(0x04358394)
  const checksum = Buffer.from(sha256(sha256(payload)).slice(2), "hex").subarray(0, 4)
  return encodeBase58(Buffer.concat([payload, checksum]))
}

/** Makes a wallet that can sign; `seed` is any number. */
export const make = (node: Litecoind, name: string, seed: number): Effect.Effect<HdWallet> =>
  Effect.gen(function* () {
    const bytes = Buffer.alloc(32)
    bytes.writeUInt32BE(seed + 1)
    const account = HDNodeWallet.fromSeed(bytes).derivePath("m/84'/1'/0'")
    const rpc = yield* node.wallet(name, false, true)
    const secret = toTest(account.extendedKey)
    const branch = Effect.fnUntraced(function* (number: number) {
      const text = `wpkh(${secret}/${number}/*)`
      const { checksum } = yield* rpc<{ readonly checksum: string }>("getdescriptorinfo", text)
      const desc = `${text}#${checksum}`
      const range = [0, count - 1]
      yield* rpc("importmulti", [{ desc, range, timestamp: "now", internal: number === 1 }], { rescan: false })
      return yield* rpc<ReadonlyArray<string>>("deriveaddresses", desc, range)
    })
    const addresses = [yield* branch(0), yield* branch(1)] as const
    const used: [number, number] = [0, 0]
    const next = (branch: 0 | 1) => addresses[branch][used[branch]++]!
    const key = Result.getOrThrow(ExtendedPublicKey.decode(mainnet, account.neuter().extendedKey))
    return {
      name,
      rpc,
      addresses,
      next,
      extendedPublicKey: ExtendedPublicKey.encode(chain, key),
      pay: Effect.fnUntraced(function* (to, amount) {
        const raw = yield* rpc<string>("createrawtransaction", [], [{ [to]: amount.toFixed(8) }])
        const funded = yield* rpc<{ readonly hex: string }>("fundrawtransaction", raw, {
          ...{ changeAddress: next(1), replaceable: true, feeRate: 0.0001 }
        })
        const signed = yield* rpc<{ readonly hex: string }>("signrawtransactionwithwallet", funded.hex)
        return yield* rpc<string>("sendrawtransaction", signed.hex)
      }),
      balance: Effect.map(
        rpc<{ readonly mine: Record<"trusted" | "untrusted_pending" | "immature", number> }>("getbalances"),
        ({ mine }) => mine.trusted + mine.untrusted_pending + mine.immature
      )
    } satisfies HdWallet
  })
