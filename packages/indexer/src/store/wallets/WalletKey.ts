/** What names a wallet of an account, and the wallet's row. */
import type { Chain } from "@headwater/core/chains/Chain"
import { nameOf } from "@headwater/core/chains/Chain"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Kysely } from "kysely"
import { Database } from "../database/Database.ts"
import type { Tables } from "../database/Tables.ts"

/** Names one wallet: equal for every text of the same key. */
export interface WalletKey {
  readonly account: number
  readonly chain: Chain
  /** As {@link ExtendedPublicKey.encode} writes it. */
  readonly publicKey: string
  readonly derivation: Derivation.Derivation
  readonly format: Derivation.Format
}

/**
 * Finds the key of a wallet in what its owner has written, in a format that the owner asks for or else the key's own; fails
 * with the rule that it breaks.
 */
export const keyOf = (
  account: number,
  chain: Chain,
  text: string,
  derivation: Derivation.Derivation,
  asked?: Derivation.Format
): Result.Result<WalletKey, ExtendedPublicKey.InvalidExtendedPublicKey | Derivation.InvalidDerivation> =>
  Result.gen(function* () {
    const key = yield* ExtendedPublicKey.decode(chain, text)
    const format = asked ?? Derivation.defaultFormat(chain, key)
    yield* Derivation.branch(chain, key, { derivation, format })
    return { account, chain, derivation, format, publicKey: ExtendedPublicKey.encode(chain, key) }
  })

/** The row of a wallet, also of one that is not active. */
export const anyRowOf =
  ({ account, chain, derivation, format, publicKey }: WalletKey) =>
  (db: Kysely<Tables>) =>
    db
      .selectFrom("wallet")
      .innerJoin("chain", "chain.id", "wallet.chain")
      .selectAll("wallet")
      .where("chain.name", "=", nameOf(chain))
      .where("wallet.account", "=", account)
      .where("wallet.public_key", "=", publicKey)
      .where("wallet.derivation", "=", derivation)
      .where("wallet.format", "=", format)

/** The row of an active wallet. One that is not active is to its account as one that is not synced. */
export const rowOf = (key: WalletKey) => (db: Kysely<Tables>) => anyRowOf(key)(db).where("wallet.active", "=", 1)

/** The wallet as the present transaction sees the store, active or not. */
export const present = Effect.fnUntraced(function* (key: WalletKey) {
  const { query } = yield* Database
  const [row] = yield* query(anyRowOf(key))
  return row
})
