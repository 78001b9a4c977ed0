/**
 * The operations of a Tron chain: those of EVM chains, but that state is known of the newest block only, and transfers are
 * prepared in Tron's own way.
 */
import { TronFamily } from "@headwater/indexer/families/tron/TronFamily"
import * as AddressTransactions from "../evm/AddressTransactions.ts"
import * as EvmOperations from "../evm/EvmOperations.ts"
import * as Explore from "../evm/Explore.ts"
import * as TokenDetails from "../evm/TokenDetails.ts"
import * as WalletLists from "../evm/WalletLists.ts"
import { evmOf } from "./EvmOfTron.ts"
import * as DecodeTransaction from "./DecodeTransaction.ts"
import * as Fees from "./Fees.ts"
import * as Prepare from "./Prepare.ts"

export const make = EvmOperations.ofFamily(
  TronFamily,
  evmOf,
  (record, freshness, options) => ({
    ...Explore.make(record, freshness, ({ explorer, source }) => ({ logs: source.logs, explorer }), options),
    ...AddressTransactions.make(record, freshness, options),
    evmWalletTransactions: WalletLists.transactions(record, freshness, options.wallets),
    ...Prepare.make(record, freshness),
    ...Fees.make(record, freshness),
    tokenDetails: TokenDetails.make(record, freshness, ({ source }) => source.tokenDetails),
    evmDecode: DecodeTransaction.make(record.chain)
  }),
  "none"
)
