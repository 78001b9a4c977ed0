/** Finds the used addresses of an HD wallet: those of each branch, until a gap of unused ones. */
import type * as Address from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import * as WalletBranches from "@headwater/indexer/store/wallets/WalletBranches"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import {
  AlreadyExists,
  Conflict,
  InvalidData,
  InvalidXpub,
  invalidField,
  ResourceNotFound,
  XpubAlreadyActive
} from "../contract/Errors.ts"
import type { WalletRequest } from "./Operations.ts"

/** An address of a wallet, with what the node has of it. */
export interface WalletAddress {
  readonly address: Address.AddressBytes
  readonly balance: bigint
  /** Whether coins ever came or went. */
  readonly hasCoins: boolean
  /** Whether coins or tokens ever came or went. */
  readonly isUsed: boolean
}

/** What the node and the record have of these addresses, in their order. */
export type AddressLookup<E> = (
  addresses: ReadonlyArray<Address.AddressBytes>
) => Effect.Effect<ReadonlyArray<WalletAddress>, E>

export const notFound = new ResourceNotFound({ message: "The account has not synced the wallet" })

/** The wallet's addresses for change are asked for, and its derivation has none. */
export const noChange = invalidField(
  "isChangeAddress",
  "must be false: a wallet of this derivation has no addresses for change"
)

/** The wallet is not added, as the account has synced it before. */
export const alreadySynced = (isActive: boolean) =>
  new AlreadyExists({
    message: isActive
      ? "The account has synced the wallet already"
      : "The account has synced the wallet before: activate the wallet"
  })

/** The wallet is given no addresses, as the account has deactivated it. */
export const inactive = new Conflict({ message: "The account has synced the wallet before: activate the wallet" })

export const alreadyActive = new XpubAlreadyActive({ message: "The wallet is active already" })

export const alreadyInactive = new Conflict({ message: "The wallet is inactive already" })

/** What is wrong with a wallet's key, or with the derivation or format that the request asks for. */
export const refusalOf = (
  error: ExtendedPublicKey.InvalidExtendedPublicKey | Derivation.InvalidDerivation
): InvalidXpub | InvalidData => {
  const { message } = error
  if (error._tag === "InvalidExtendedPublicKey") {
    return new InvalidXpub({ message, details: [{ attribute: "extendedPublicKey", message }] })
  }
  // The message is `field: rule`.
  const [attribute = "", ...rule] = message.split(": ")
  return new InvalidData({ message, details: [{ attribute, message: rule.join(": ") }] })
}

/** The branches of a wallet; fails where the text is no extended public key of the chain. */
export const branches = (
  chain: Chain,
  { derivation, extendedPublicKey, format }: Pick<WalletRequest, "derivation" | "extendedPublicKey" | "format">
): Effect.Effect<ReadonlyArray<Derivation.Branch>, InvalidXpub | InvalidData> =>
  Effect.mapError(
    Effect.fromResult(
      Result.flatMap(ExtendedPublicKey.decode(chain, extendedPublicKey), (key) =>
        Derivation.branches(chain, key, { derivation, format })
      )
    ),
    refusalOf
  )

/** Addresses of a branch up to its gap, the used and the unused ones. */
export const scan = Effect.fn("Wallet.scan")(function* <E>(
  branch: Derivation.Branch,
  gapLimit: number,
  lookup: AddressLookup<E>
) {
  const found: Array<WalletAddress> = []
  let unused = 0
  for (let from = 0; unused < gapLimit; ) {
    // As many as end the gap, if none of them is used.
    const count = gapLimit - unused
    const addresses = WalletBranches.derive(branch, from, from + count - 1).map(({ bytes }) => bytes)
    from += count
    if (addresses.length === 0) break
    for (const address of yield* lookup(addresses)) {
      found.push(address)
      unused = address.isUsed ? 0 : unused + 1
    }
  }
  return found
})
