/** When a key ends, when it was last used, and whether it only reads; the operations of a key are named with their groups. */
import type { ColumnTypes } from "../internal/ColumnTypes.ts"

/** The groups of the operations that a key could name before, which were those of every group with an endpoint so named. */
const groups = {
  subscriptions: [
    ...["address-tokens-transactions-confirmed", "address-tokens-transactions-confirmed-each-confirmation"],
    ...["address-coins-transactions-unconfirmed", "address-coins-transactions-confirmed"],
    ...["address-coins-transactions-confirmed-each-confirmation", "address-internal-transactions-confirmed"],
    ...["address-internal-transactions-confirmed-each-confirmation", "block-mined", "get", "delete", "activate"],
    // Callbacks and domains have a `list` too. The interface has this one alone, and a key keeps no more than that.
    "list"
  ],
  callbacks: ["redeliver", "test", "rotateSecret", "status", "unresolved"],
  domains: ["add", "verify"],
  blocks: ["utxoLatest", "xrpTransactions"],
  transactions: ["logs", "prepare"],
  addresses: [
    ...["internalTransactions", "tokensTransfers", "syncedAddresses", "syncAddress"],
    ...["deactivateSyncedAddress", "activateSyncedAddress"]
  ],
  hdWallets: [
    ...["evmAssets", "utxoAssets", "utxoStatus", "xrpAssets", "utxoDerive", "xrpDerive"],
    ...["syncedWallets", "syncWallet", "deactivateSyncedWallet", "activateSyncedWallet"]
  ],
  marketData: ["assetById", "assetBySymbol", "assetBySlug", "assets"],
  credits: ["balance", "statement"]
}

const named = Object.entries(groups)
  .flatMap(([group, names]) => names.map((name) => [`"${name}"`, `"${group}.${name}"`] as const))
  .reduce((text, [bare, full]) => `replace(${text}, '${bare}', '${full}')`, "endpoints")

export const up = (_: ColumnTypes): ReadonlyArray<string> => [
  "alter table api_key add column expires bigint",
  "alter table api_key add column last_used bigint",
  "alter table api_key add column read_only bigint not null default 0",
  `update api_key set endpoints = ${named} where endpoints is not null`,
  // An older program would take a key that has ended, and let one that only reads change everything.
  "update store_format set oldest_migration = '0026_keys', oldest_program = '0.2.0'"
]
