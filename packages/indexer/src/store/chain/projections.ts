/** Everything that a block changes in the store: one line a part. */
import type { Chain } from "@headwater/core/chains/Chain"
import * as CallbackProjection from "../subscriptions/CallbackProjection.ts"
import * as ConsumerProjection from "../consumers/ConsumerProjection.ts"
import * as ExtendedKeyProjection from "../subscriptions/ExtendedKeyProjection.ts"
import * as WalletProjection from "../wallets/WalletProjection.ts"
import * as CompletenessProjection from "./CompletenessProjection.ts"
import * as LostCoinsProjection from "./LostCoinsProjection.ts"
import * as MissingPartProjection from "./MissingPartProjection.ts"
import * as NotUnderstoodProjection from "./NotUnderstoodProjection.ts"
import type { Make } from "./Projection.ts"
import * as SkippedBlocksProjection from "./SkippedBlocksProjection.ts"
import * as TokenProjection from "./TokenProjection.ts"
import * as TransferProjection from "./transfers/TransferProjection.ts"
import * as UtxoSetProjection from "./UtxoSetProjection.ts"

/**
 * Wallets and extended public keys stand before the UTXO set: their addresses are watched before coins are kept, and at an undo their balances
 * are counted from the set as the undone blocks have left it.
 */
const outputs: ReadonlyArray<Make> = [
  ExtendedKeyProjection.make,
  WalletProjection.make,
  UtxoSetProjection.make,
  CallbackProjection.make,
  TransferProjection.make,
  SkippedBlocksProjection.make,
  CompletenessProjection.make,
  LostCoinsProjection.make,
  NotUnderstoodProjection.make,
  ConsumerProjection.make
]

const accounts: ReadonlyArray<Make> = [
  ExtendedKeyProjection.make,
  WalletProjection.make,
  TokenProjection.make,
  CallbackProjection.make,
  TransferProjection.make,
  NotUnderstoodProjection.make,
  MissingPartProjection.make,
  SkippedBlocksProjection.make,
  CompletenessProjection.make,
  ConsumerProjection.make
]

const ofLedger = { outputs, accounts }

/** The projections of a chain. Chains whose coins are outputs have a UTXO set, and record the transfers of watched addresses alone. */
export const of = ({ ledger }: Chain): ReadonlyArray<Make> => ofLedger[ledger]
