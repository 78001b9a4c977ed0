/** The operations of chains with Ethereum's virtual machine, over their record and their node. */
import type { Chain } from "@headwater/core/chains/Chain"
import { EvmFamily } from "@headwater/indexer/families/evm/EvmFamily"
import type { EvmNode } from "@headwater/indexer/families/evm/EvmNode"
import type { ConnectedNode, Family, FamilyFields } from "@headwater/indexer/families/Family"
import { Limits } from "@headwater/indexer/store/accounts/Limits"
import * as ChainReader from "@headwater/indexer/store/chain/ChainReader"
import * as ReservedNonces from "@headwater/indexer/store/wallets/ReservedNonces"
import * as Effect from "effect/Effect"
import * as Broadcast from "../Broadcast.ts"
import * as Freshness from "../Freshness.ts"
import type { Reserving } from "../KeptNonce.ts"
import type { ChainOperations } from "../Operations.ts"
import * as WalletDetails from "../WalletDetails.ts"
import * as AddressHistory from "./AddressHistory.ts"
import * as AddressTransactions from "./AddressTransactions.ts"
import * as Assets from "./Assets.ts"
import * as Balance from "./Balance.ts"
import * as DecodeTransaction from "./DecodeTransaction.ts"
import * as Explore from "./Explore.ts"
import * as Fees from "./Fees.ts"
import * as HeldTokens from "./HeldTokens.ts"
import * as Logs from "./Logs.ts"
import * as ManagedAddresses from "../ManagedAddresses.ts"
import * as ManagedWallets from "./ManagedWallets.ts"
import * as NextNonce from "./NextNonce.ts"
import * as Prepare from "./Prepare.ts"
import * as PrepareWallet from "./PrepareWallet.ts"
import * as Simulate from "./Simulate.ts"
import * as TokenDetails from "./TokenDetails.ts"
import * as WalletLists from "./WalletLists.ts"

export interface Options
  extends Omit<Assets.Options, "extend" | "isSynced" | "nodeCalls">,
    Pick<ManagedAddresses.Options, "syncBlocks"> {
  /** Whether internal transactions are recorded at all. */
  readonly internalTransactions: boolean
  /** How long what a prepared transaction uses is kept for it. */
  readonly reservationSeconds: number
}

/** What answers the operations that the chains of several families share. */
export type SharedNode = Assets.WalletNode & Pick<EvmNode, "logs">

/**
 * The operations of a family's chains: a node's part of them is asked of `evmOf`; `own` are those that the family has for itself.
 * `past`: how the family's nodes show the past of an address.
 */
export const ofFamily = <Node extends ConnectedNode, Fields extends FamilyFields>(
  family: Family<Node, Fields>,
  evmOf: (node: Node) => SharedNode,
  own: (
    record: ChainReader.ChainReader,
    freshness: Freshness.Freshness<Node>,
    reserving: Options & Reserving & { readonly wallets: ManagedWallets.ManagedWallets }
  ) => Pick<ChainOperations, "prepare"> & Partial<ChainOperations>,
  past: ManagedAddresses.Options["past"]
) =>
  Effect.fnUntraced(function* (chain: Chain, options: Options) {
    const record = yield* ChainReader.make(chain)
    const { nodeCalls } = yield* Limits
    const freshness = yield* Freshness.make(record, family)
    const { evmInternalHistory, evmInternalOfAddress, internalTransactions, ...tokens } = AddressHistory.make(
      record,
      freshness,
      options
    )
    const managed = { syncBlocks: options.syncBlocks, gapLimit: options.gapLimit, past }
    const wallets = yield* ManagedWallets.make(record, managed)
    const { extend, isSynced, operations, placeOf } = wallets
    const reserving = { nonces: yield* ReservedNonces.make(chain), ...options }
    const owned = own(record, freshness, { ...reserving, wallets })
    const evmAssets = Assets.make(record, freshness, evmOf, { ...options, extend, isSynced, nodeCalls })
    return {
      ...operations,
      ...(yield* ManagedAddresses.make(record, managed)),
      ...(options.internalTransactions ? { internalTransactions, evmInternalHistory, evmInternalOfAddress } : {}),
      ...tokens,
      evmHeldTokens: HeldTokens.make(record, freshness, evmOf, options),
      evmAssets,
      evmWalletAddresses: WalletLists.addresses(record, wallets),
      evmDerive: WalletLists.derive(record, freshness, evmOf, wallets, { ...options, nodeCalls }),
      evmDetails: WalletDetails.ofTokens(evmAssets),
      logs: Logs.make(record, freshness, evmOf),
      evmBalance: Balance.make(record, freshness, evmOf),
      ...(yield* Broadcast.make(chain, freshness)),
      evmPrepare: PrepareWallet.make(chain, owned.prepare, placeOf),
      ...owned
    } satisfies Partial<ChainOperations>
  })

export const make = ofFamily(
  EvmFamily,
  ({ evm }) => evm,
  (record, freshness, options) => ({
    ...Prepare.make(record, freshness, options),
    ...Explore.make(record, freshness, ({ evm, explorer }) => ({ logs: evm.logs, explorer }), options),
    ...AddressTransactions.make(record, freshness, options),
    evmWalletTransactions: WalletLists.transactions(record, freshness, options.wallets),
    ...Fees.make(record, freshness),
    nextNonce: NextNonce.make(record, freshness),
    tokenDetails: TokenDetails.make(record, freshness, ({ evm }) => evm.tokenDetails),
    evmDecode: DecodeTransaction.make(record.chain),
    simulate: Simulate.make(record, freshness)
  }),
  "logs"
)
