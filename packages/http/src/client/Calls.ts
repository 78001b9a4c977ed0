/** Written by `ClientInterface.ts` from the OpenAPI document. */
import type { Call } from "./Call.ts"

/** Methods and paths of the operations. */
export const endpoints = {
  "subscriptions.address-tokens-transactions-confirmed":
    "POST /blockchain-events/{blockchain}/{network}/address-tokens-transactions-confirmed",
  "subscriptions.address-tokens-transactions-confirmed-each-confirmation":
    "POST /blockchain-events/{blockchain}/{network}/address-tokens-transactions-confirmed-each-confirmation",
  "subscriptions.address-coins-transactions-unconfirmed":
    "POST /blockchain-events/{blockchain}/{network}/address-coins-transactions-unconfirmed",
  "subscriptions.address-coins-transactions-confirmed":
    "POST /blockchain-events/{blockchain}/{network}/address-coins-transactions-confirmed",
  "subscriptions.address-coins-transactions-confirmed-each-confirmation":
    "POST /blockchain-events/{blockchain}/{network}/address-coins-transactions-confirmed-each-confirmation",
  "subscriptions.address-internal-transactions-confirmed":
    "POST /blockchain-events/{blockchain}/{network}/address-internal-transactions-confirmed",
  "subscriptions.address-internal-transactions-confirmed-each-confirmation":
    "POST /blockchain-events/{blockchain}/{network}/address-internal-transactions-confirmed-each-confirmation",
  "subscriptions.contract-events": "POST /blockchain-events/{blockchain}/{network}/contract-events",
  "subscriptions.transaction-mined": "POST /blockchain-events/{blockchain}/{network}/transaction-mined",
  "subscriptions.block-mined": "POST /blockchain-events/{blockchain}/{network}/block-mined",
  "subscriptions.block-reverted": "POST /blockchain-events/{blockchain}/{network}/block-reverted",
  "subscriptions.list": "GET /blockchain-events/{blockchain}/{network}",
  "subscriptions.get": "GET /blockchain-events/{blockchain}/{network}/{referenceId}",
  "subscriptions.delete": "DELETE /blockchain-events/{blockchain}/{network}/{referenceId}",
  "subscriptions.activate": "POST /blockchain-events/{blockchain}/{network}/{referenceId}/activate",
  "bulk.create": "POST /blockchain-events/{blockchain}/{network}/bulk",
  "bulk.list": "GET /blockchain-events/{blockchain}/{network}/bulk",
  "bulk.delete": "POST /blockchain-events/{blockchain}/{network}/bulk/delete",
  "addressLists.create": "POST /blockchain-events/{blockchain}/{network}/address-lists",
  "addressLists.add": "POST /blockchain-events/{blockchain}/{network}/{referenceId}/addresses",
  "addressLists.list": "GET /blockchain-events/{blockchain}/{network}/{referenceId}/addresses",
  "addressLists.remove": "POST /blockchain-events/{blockchain}/{network}/{referenceId}/addresses/remove",
  "extendedKeys.create": "POST /blockchain-events/{blockchain}/{network}/extended-keys",
  "extendedKeys.get": "GET /blockchain-events/{blockchain}/{network}/{referenceId}/extended-key",
  "callbacks.list": "GET /blockchain-events/{blockchain}/{network}/{referenceId}/callbacks",
  "callbacks.redeliver":
    "POST /blockchain-events/{blockchain}/{network}/{referenceId}/callbacks/{idempotencyKey}/redeliver",
  "callbacks.recover": "POST /blockchain-events/{blockchain}/{network}/{referenceId}/recover",
  "callbacks.test": "POST /blockchain-events/{blockchain}/{network}/{referenceId}/test",
  "callbacks.rotateSecret": "POST /blockchain-events/{blockchain}/{network}/{referenceId}/secret",
  "callbacks.status": "GET /blockchain-events/{blockchain}/{network}/{referenceId}/status",
  "callbacks.unresolved": "GET /blockchain-events/{blockchain}/{network}/{referenceId}/unresolved",
  "feed.read": "GET /callbacks",
  "domains.add": "POST /domains",
  "domains.list": "GET /domains",
  "domains.verify": "POST /domains/{domain}/verify",
  "receivers.list": "GET /receivers",
  "receivers.recover": "POST /receivers/recover",
  "blocks.evmByHash": "GET /blocks/evm/{blockchain}/{network}/hash/{blockHash}/details",
  "blocks.evmByHeight": "GET /blocks/evm/{blockchain}/{network}/height/{blockHeight}/details",
  "blocks.evmLatest": "GET /blocks/evm/{blockchain}/{network}/latest/details",
  "blocks.evmNewest": "GET /blocks/evm/{blockchain}/{network}/latest",
  "blocks.evmTransactionsByHash": "GET /blocks/evm/{blockchain}/{network}/hash/{blockHash}/transactions",
  "blocks.evmTransactionsByHeight": "GET /blocks/evm/{blockchain}/{network}/height/{blockHeight}/transactions",
  "blocks.utxoByHash": "GET /blocks/utxo/{blockchain}/{network}/hash/{blockHash}/details",
  "blocks.utxoByHeight": "GET /blocks/utxo/{blockchain}/{network}/height/{blockHeight}/details",
  "blocks.utxoLatest": "GET /blocks/utxo/{blockchain}/{network}/latest/details",
  "blocks.utxoNewest": "GET /blocks/utxo/{blockchain}/{network}/latest",
  "blocks.utxoTransactionsByHash": "GET /blocks/utxo/{blockchain}/{network}/hash/{blockHash}/transactions",
  "blocks.utxoTransactionsByHeight": "GET /blocks/utxo/{blockchain}/{network}/height/{blockHeight}/transactions",
  "blocks.xrpByHash": "GET /blocks/xrp/{network}/hash/{blockHash}/details",
  "blocks.xrpByHeight": "GET /blocks/xrp/{network}/height/{blockHeight}/details",
  "blocks.xrpLatest": "GET /blocks/xrp/{network}/latest/details",
  "blocks.xrpNewest": "GET /blocks/xrp/{network}/latest",
  "blocks.xrpTransactions": "GET /blocks/xrp/{network}/hash/{blockHash}/transactions",
  "blocks.xrpTransactionsByHeight": "GET /blocks/xrp/{network}/height/{blockHeight}/transactions",
  "transactions.evmTransaction": "GET /transactions/evm/{blockchain}/{network}/{transactionHash}",
  "transactions.evmInternal": "GET /transactions/evm/{blockchain}/{network}/{transactionHash}/internal",
  "transactions.evmTokens": "GET /transactions/evm/{blockchain}/{network}/{transactionHash}/tokens-transfers",
  "transactions.logs": "GET /transactions/evm/{blockchain}/{network}/{transactionHash}/logs",
  "transactions.prepare": "POST /prepare-transactions/evm/{blockchain}/{network}/native-coins",
  "transactions.utxoTransaction": "GET /transactions/utxo/{blockchain}/{network}/{transactionHash}",
  "transactions.utxoRaw": "GET /transactions/utxo/{blockchain}/{network}/{transactionHash}/raw-data",
  "transactions.xrpTransaction": "GET /transactions/xrp/{network}/{transactionHash}",
  "tokenPreparation.prepareFungible": "POST /prepare-transactions/evm/{blockchain}/{network}/fungible-tokens",
  "tokenPreparation.prepareNonFungible": "POST /prepare-transactions/evm/{blockchain}/{network}/non-fungible-tokens",
  "xrpPreparation.preparePayment": "POST /prepare-transactions/xrp/{network}/payments",
  "simulation.simulate": "POST /simulate-transactions/evm/{blockchain}/{network}",
  "fees.marketFees": "GET /blockchain-fees/evm/{blockchain}/{network}/eip-1559",
  "fees.gasPrices": "GET /blockchain-fees/evm/{blockchain}/{network}/mempool",
  "fees.nativeGas": "POST /blockchain-fees/evm/{blockchain}/{network}/estimate-native-coin-transfer-gas-limit",
  "fees.tokenGas": "POST /blockchain-fees/evm/{blockchain}/{network}/estimate-token-transfer-gas-limit",
  "fees.utxoFees": "GET /blockchain-fees/utxo/{blockchain}/{network}/mempool",
  "fees.smartFee": "GET /blockchain-fees/utxo/{blockchain}/{network}/smart",
  "fees.ledgerFees": "GET /blockchain-fees/xrp/{network}/mempool",
  "nextNonce.nextNonce": "GET /addresses-latest/evm/{blockchain}/{network}/{address}/next-available-nonce",
  "nextNonce.nextSequence": "GET /addresses-latest/xrp/{network}/{address}/next-available-sequence",
  "balances.evmBalance": "GET /addresses-latest/evm/{blockchain}/{network}/{address}/balance",
  "balances.xrpBalance": "GET /addresses-latest/xrp/{network}/{address}/balance",
  "balances.tokenDetails": "GET /contracts/evm/{blockchain}/{network}/{contractAddress}/token-details",
  "broadcasts.broadcast": "POST /broadcast-transactions/{blockchain}/{network}",
  "broadcasts.broadcastOutcome": "GET /broadcast-transactions/{blockchain}/{network}/{transactionId}",
  "addresses.internalTransactions": "GET /addresses-latest/evm/{blockchain}/{network}/{address}/internal-transactions",
  "addresses.tokensTransfers": "GET /addresses-historical/evm/{blockchain}/{network}/{address}/tokens-transfers",
  "addresses.syncedAddresses": "GET /addresses-historical/manage/{blockchain}/{network}",
  "addresses.syncAddress": "POST /addresses-historical/manage/{blockchain}/{network}",
  "addresses.deactivateSyncedAddress": "DELETE /addresses-historical/manage/{blockchain}/{network}/{address}",
  "addresses.activateSyncedAddress": "POST /addresses-historical/manage/{blockchain}/{network}/{address}/activate",
  "addressHistory.evmLatestTransactions": "GET /addresses-latest/evm/{blockchain}/{network}/{address}/transactions",
  "addressHistory.evmLatestTokens": "GET /addresses-latest/evm/{blockchain}/{network}/{address}/tokens-transfers",
  "addressHistory.evmTransactions": "GET /addresses-historical/evm/{blockchain}/{network}/{address}/transactions",
  "addressHistory.evmTransactionsSince":
    "GET /addresses-historical/evm/{blockchain}/{network}/{address}/transactions/from-timestamp/{timestamp}",
  "addressHistory.evmInternalHistory": "GET /addresses-historical/evm/{blockchain}/{network}/{address}/internal",
  "addressHistory.evmInternalOfAddress":
    "GET /addresses-historical/evm/{blockchain}/{network}/{address}/internal-transactions",
  "addressHistory.evmHeldTokens": "GET /addresses-historical/evm/{blockchain}/{network}/{address}/tokens",
  "addressHistory.utxoLatestTransactions": "GET /addresses-latest/utxo/{blockchain}/{network}/{address}/transactions",
  "addressHistory.utxoUnconfirmed":
    "GET /addresses-latest/utxo/{blockchain}/{network}/{address}/unconfirmed-transactions",
  "addressHistory.utxoLatestBalance": "GET /addresses-latest/utxo/{blockchain}/{network}/{address}/balance",
  "addressHistory.utxoBalance": "GET /addresses-historical/utxo/{blockchain}/{network}/{address}/balance",
  "addressHistory.utxoTransactions": "GET /addresses-historical/utxo/{blockchain}/{network}/{address}/transactions",
  "addressHistory.utxoTransactionsSince":
    "GET /addresses-historical/utxo/{blockchain}/{network}/{address}/transactions/from-timestamp/{timestamp}",
  "addressHistory.utxoUnspent": "GET /addresses-historical/utxo/{blockchain}/{network}/{address}/unspent-outputs",
  "addressHistory.xrpAddressTransactions": "GET /addresses-latest/xrp/{network}/{address}/transactions",
  "hdWallets.evmAssets": "GET /hd-wallets/evm/{blockchain}/{network}/{extendedPublicKey}/assets",
  "hdWallets.evmPrepare": "POST /hd-wallets/evm/{blockchain}/{network}/{extendedPublicKey}/transactions/prepare",
  "hdWallets.utxoAssets": "GET /hd-wallets/utxo/{blockchain}/{network}/{extendedPublicKey}/assets",
  "hdWallets.utxoStatus": "GET /hd-wallets/utxo/{blockchain}/{network}/{extendedPublicKey}/status",
  "hdWallets.xrpAssets": "GET /hd-wallets/{blockchain}/{network}/{extendedPublicKey}/assets",
  "hdWallets.utxoDerive": "POST /hd-wallets/utxo/{blockchain}/{network}/{extendedPublicKey}/addresses/derive-and-sync",
  "hdWallets.utxoPrepare": "POST /hd-wallets/utxo/{blockchain}/{network}/{extendedPublicKey}/transactions/prepare",
  "hdWallets.xrpDerive": "POST /hd-wallets/{blockchain}/{network}/{extendedPublicKey}/addresses/derive-and-sync",
  "hdWallets.syncedWallets": "GET /hd-wallets/manage/{blockchain}/{network}",
  "hdWallets.syncWallet": "POST /hd-wallets/manage/{blockchain}/{network}/{extendedPublicKey}/sync",
  "hdWallets.deactivateSyncedWallet": "DELETE /hd-wallets/manage/{blockchain}/{network}/{extendedPublicKey}",
  "hdWallets.activateSyncedWallet": "POST /hd-wallets/manage/{blockchain}/{network}/{extendedPublicKey}/activate",
  "hdWalletDetails.evmDetails": "GET /hd-wallets/evm/{blockchain}/{network}/{extendedPublicKey}/details",
  "hdWalletDetails.utxoDetails": "GET /hd-wallets/utxo/{blockchain}/{network}/{extendedPublicKey}/details",
  "hdWalletDetails.xrpDetails": "GET /hd-wallets/{blockchain}/{network}/{extendedPublicKey}/details",
  "hdWalletLists.evmWalletAddresses": "GET /hd-wallets/evm/{blockchain}/{network}/{extendedPublicKey}/addresses",
  "hdWalletLists.utxoWalletAddresses": "GET /hd-wallets/utxo/{blockchain}/{network}/{extendedPublicKey}/addresses",
  "hdWalletLists.xrpWalletAddresses": "GET /hd-wallets/{blockchain}/{network}/{extendedPublicKey}/addresses",
  "hdWalletLists.evmWalletTransactions": "GET /hd-wallets/evm/{blockchain}/{network}/{extendedPublicKey}/transactions",
  "hdWalletLists.utxoWalletTransactions":
    "GET /hd-wallets/utxo/{blockchain}/{network}/{extendedPublicKey}/transactions",
  "hdWalletLists.xrpWalletTransactions": "GET /hd-wallets/{blockchain}/{network}/{extendedPublicKey}/transactions",
  "hdWalletLists.utxoWalletOutputs": "GET /hd-wallets/utxo/{blockchain}/{network}/{extendedPublicKey}/unspent-outputs",
  "hdWalletLists.utxoDeriveChange":
    "POST /hd-wallets/utxo/{blockchain}/{network}/{extendedPublicKey}/addresses/derive-and-sync-change",
  "hdWalletLists.evmDerive":
    "POST /hd-wallets/evm/{blockchain}/{network}/{extendedPublicKey}/addresses/derive-and-sync",
  "hdWalletLists.walletStatus": "GET /hd-wallets/manage/{blockchain}/{network}/{extendedPublicKey}/status",
  "addressForms.evmValidate": "POST /utils/evm/{blockchain}/{network}/validate-address",
  "addressForms.utxoValidate": "POST /utils/utxo/{blockchain}/{network}/validate-address",
  "addressForms.xrpValidate": "POST /utils/xrp/{blockchain}/{network}/validate-address",
  "addressForms.convert": "POST /utils/{blockchain}/{network}/convert-address",
  "addressForms.decodeX": "GET /utils/{blockchain}/{network}/decode-x-address/{xAddress}",
  "addressForms.encodeX": "GET /utils/{blockchain}/{network}/encode-x-address/{classicAddress}/{addressTag}",
  "addressForms.derive": "GET /utils/{blockchain}/{network}/xpubs/{extendedPublicKey}/derive-addresses",
  "rawTransactions.evmDecode": "POST /utils/evm/{blockchain}/{network}/decode-raw-transaction",
  "rawTransactions.utxoDecode": "POST /utils/utxo/{blockchain}/{network}/decode-raw-transaction",
  "marketData.assetById": "GET /market-data/assets/by-id/{assetId}",
  "marketData.assetBySymbol": "GET /market-data/assets/by-symbol/{assetSymbol}",
  "marketData.assetBySlug": "GET /market-data/assets/by-slug/{assetSlug}",
  "marketData.assets": "GET /market-data/assets",
  "marketData.supportedAssets": "GET /market-data/metadata/assets",
  "marketData.rateById": "GET /market-data/exchange-rates/by-id/{fromAssetId}/{toAssetId}",
  "marketData.rateBySymbol": "GET /market-data/exchange-rates/by-symbol/{fromAssetSymbol}/{toAssetSymbol}",
  "credits.balance": "GET /credits/balance",
  "credits.statement": "GET /credits/statement",
  "limits.get": "GET /limits"
} as const

/** Codes of the errors that any operation may answer. */
export type ErrorCode =
  | "address_not_synced"
  | "already_exists"
  | "blockchain_data_block_not_found"
  | "blockchain_data_token_details_not_found"
  | "blockchain_data_transaction_not_found"
  | "blockchain_events_callbacks_limit_reached"
  | "could_not_calculate_rate_for_pair"
  | "endpoint_not_allowed_for_api_key"
  | "insufficient_credits"
  | "invalid_api_key"
  | "invalid_blockchain"
  | "invalid_data"
  | "invalid_network"
  | "invalid_pagination"
  | "invalid_request_body_structure"
  | "invalid_xpub"
  | "limit_greater_than_allowed"
  | "missing_api_key"
  | "node_unavailable"
  | "payload_too_large"
  | "request_limit_reached"
  | "resource_not_found"
  | "sync_address_already_active"
  | "sync_address_not_active"
  | "sync_addresses_limit_reached"
  | "unexpected_server_error"
  | "unimplemented"
  | "unsupported_media_type"
  | "uri_not_found"
  | "xpub_already_active"
  | "xpub_not_synced"
  | "xpub_sync_in_progress"
  | "xpubs_limit_reached"

/** The operations by their groups, as methods. */
export interface Calls {
  readonly subscriptions: {
    /** Subscribe to confirmed token transactions of an address. Costs 30 credits a result. What fails costs nothing. */
    readonly "address-tokens-transactions-confirmed": Call<"subscriptions.address-tokens-transactions-confirmed">
    /** Subscribe to each confirmation of token transactions of an address. Costs 30 credits a result. What fails costs nothing. */
    readonly "address-tokens-transactions-confirmed-each-confirmation": Call<"subscriptions.address-tokens-transactions-confirmed-each-confirmation">
    /** Subscribe to unconfirmed coin transactions of an address. Costs 30 credits a result. What fails costs nothing. */
    readonly "address-coins-transactions-unconfirmed": Call<"subscriptions.address-coins-transactions-unconfirmed">
    /** Subscribe to confirmed coin transactions of an address. Costs 30 credits a result. What fails costs nothing. */
    readonly "address-coins-transactions-confirmed": Call<"subscriptions.address-coins-transactions-confirmed">
    /** Subscribe to each confirmation of coin transactions of an address. Costs 30 credits a result. What fails costs nothing. */
    readonly "address-coins-transactions-confirmed-each-confirmation": Call<"subscriptions.address-coins-transactions-confirmed-each-confirmation">
    /** Subscribe to confirmed internal transactions of an address. Costs 30 credits a result. What fails costs nothing. */
    readonly "address-internal-transactions-confirmed": Call<"subscriptions.address-internal-transactions-confirmed">
    /** Subscribe to each confirmation of internal transactions of an address. Costs 30 credits a result. What fails costs nothing. */
    readonly "address-internal-transactions-confirmed-each-confirmation": Call<"subscriptions.address-internal-transactions-confirmed-each-confirmation">
    /** Subscribe to events of a contract. Costs 30 credits a result. What fails costs nothing. */
    readonly "contract-events": Call<"subscriptions.contract-events">
    /** Subscribe to the block that has a transaction. Costs 30 credits a result. What fails costs nothing. */
    readonly "transaction-mined": Call<"subscriptions.transaction-mined">
    /** Subscribe to new blocks. Costs 30 credits a result. What fails costs nothing. */
    readonly "block-mined": Call<"subscriptions.block-mined">
    /** Subscribe to blocks that leave the chain. Costs 30 credits a result. What fails costs nothing. */
    readonly "block-reverted": Call<"subscriptions.block-reverted">
    /** List the subscriptions on a chain, oldest first. Costs 30 credits a result. What fails costs nothing. */
    readonly list: Call<"subscriptions.list">
    /** Read a subscription. Costs 30 credits a result. What fails costs nothing. */
    readonly get: Call<"subscriptions.get">
    /** Delete a subscription with its pending callbacks. Costs no credits. */
    readonly delete: Call<"subscriptions.delete">
    /** Activate a subscription and send its parked callbacks. Costs 30 credits a result. What fails costs nothing. */
    readonly activate: Call<"subscriptions.activate">
  }
  readonly bulk: {
    /** Make up to 10,000 subscriptions. Costs 30 credits a result. What fails costs nothing. */
    readonly create: Call<"bulk.create">
    /** List the subscriptions on a chain by a cursor, oldest first, up to 1,000 at a time. Costs 30 credits a result. What fails costs nothing. */
    readonly list: Call<"bulk.list">
    /** Delete up to 10,000 subscriptions with their pending callbacks. Costs no credits. */
    readonly delete: Call<"bulk.delete">
  }
  readonly addressLists: {
    /** Subscribe to a list of addresses, which is empty at first. Costs 30 credits a result. What fails costs nothing. */
    readonly create: Call<"addressLists.create">
    /** Add addresses to the list of a subscription, from the next block on. Costs 30 credits a result. What fails costs nothing. */
    readonly add: Call<"addressLists.add">
    /** Read the addresses of a subscription's list by a cursor. Costs no credits. */
    readonly list: Call<"addressLists.list">
    /** Take addresses out of the list of a subscription, from the next block on. Costs no credits. */
    readonly remove: Call<"addressLists.remove">
  }
  readonly extendedKeys: {
    /** Subscribe to all addresses of an extended public key or a descriptor. Costs 30 credits a result. What fails costs nothing. */
    readonly create: Call<"extendedKeys.create">
    /** Read how far the subscription on an extended public key reaches. Costs 30 credits a result. What fails costs nothing. */
    readonly get: Call<"extendedKeys.get">
  }
  readonly callbacks: {
    /** Read the callbacks of a subscription in the order of their numbers, waiting for new ones if asked to. Costs no credits. */
    readonly list: Call<"callbacks.list">
    /** Send a callback again now. Costs no credits. */
    readonly redeliver: Call<"callbacks.redeliver">
    /** Send all callbacks of a subscription again, since a number or a time; the status shows how far that is. Costs no credits. */
    readonly recover: Call<"callbacks.recover">
    /** Send a callback that is marked as a test. Costs no credits. */
    readonly test: Call<"callbacks.test">
    /** Change the secret of a subscription, with both in use for a while. Costs no credits. */
    readonly rotateSecret: Call<"callbacks.rotateSecret">
    /** Read how far a subscription was evaluated, and how many callbacks wait to be sent. Costs no credits. */
    readonly status: Call<"callbacks.status">
    /** List the movements of coins that have no callback yet, since their net amount is in doubt; oldest first. Costs no credits. */
    readonly unresolved: Call<"callbacks.unresolved">
  }
  readonly feed: {
    /** Read the callbacks of all subscriptions in one order, waiting for new ones if asked to. Costs no credits. With `accept: text/event-stream` the answer is server-sent events without an end, which go on behind the header `Last-Event-ID`; with `upgrade: websocket` the same goes over WebSocket. */
    readonly read: Call<"feed.read">
  }
  readonly domains: {
    /** Ask for a token that proves a domain. Costs no credits. */
    readonly add: Call<"domains.add">
    /** List the domains of the account. Costs no credits. */
    readonly list: Call<"domains.list">
    /** Verify the domain by its token. Costs no credits. */
    readonly verify: Call<"domains.verify">
  }
  readonly receivers: {
    /** List the hosts that callbacks go to, and how each one does. Costs no credits. */
    readonly list: Call<"receivers.list">
    /** Send all callbacks of a host or of the account again, since a time; the status of each subscription shows how far that is. Costs no credits. */
    readonly recover: Call<"receivers.recover">
  }
  readonly blocks: {
    /** Read a block of an EVM chain by its hash. Costs 30 credits a result; ethereum-classic 39, binance-smart-chain 75, polygon 60, arbitrum 48, avalanche 54, base 36, optimism 42, tron 45. What fails costs nothing. */
    readonly evmByHash: Call<"blocks.evmByHash">
    /** Read a block of an EVM chain by its height. Costs 30 credits a result; ethereum-classic 39, binance-smart-chain 75, polygon 60, arbitrum 48, avalanche 54, base 36, optimism 42, tron 45. What fails costs nothing. */
    readonly evmByHeight: Call<"blocks.evmByHeight">
    /** Read the last mined block of an EVM chain. Costs 30 credits a result; ethereum-classic 39, binance-smart-chain 75, polygon 60, arbitrum 48, avalanche 54, base 36, optimism 42, tron 45. What fails costs nothing. */
    readonly evmLatest: Call<"blocks.evmLatest">
    /** List the last mined blocks of an EVM chain, newest first. Costs 30 credits a result; ethereum-classic 39, binance-smart-chain 75, polygon 60, arbitrum 48, avalanche 54, base 36, optimism 42, tron 45. What fails costs nothing. */
    readonly evmNewest: Call<"blocks.evmNewest">
    /** List the transactions of a block of an EVM chain, by its hash. Costs 30 credits a result; ethereum-classic 39, binance-smart-chain 75, polygon 60, arbitrum 48, avalanche 54, base 36, optimism 42, tron 45. What fails costs nothing. */
    readonly evmTransactionsByHash: Call<"blocks.evmTransactionsByHash">
    /** List the transactions of a block of an EVM chain, by its height. Costs 30 credits a result; ethereum-classic 39, binance-smart-chain 75, polygon 60, arbitrum 48, avalanche 54, base 36, optimism 42, tron 45. What fails costs nothing. */
    readonly evmTransactionsByHeight: Call<"blocks.evmTransactionsByHeight">
    /** Read a block of a UTXO chain by its hash. Costs 20 credits a result; bitcoin-cash 24, litecoin 22, dogecoin 22, dash 22, zcash 26. What fails costs nothing. */
    readonly utxoByHash: Call<"blocks.utxoByHash">
    /** Read a block of a UTXO chain by its height. Costs 20 credits a result; bitcoin-cash 24, litecoin 22, dogecoin 22, dash 22, zcash 26. What fails costs nothing. */
    readonly utxoByHeight: Call<"blocks.utxoByHeight">
    /** Read the last mined block of a UTXO chain. Costs 20 credits a result; bitcoin-cash 24, litecoin 22, dogecoin 22, dash 22, zcash 26. What fails costs nothing. */
    readonly utxoLatest: Call<"blocks.utxoLatest">
    /** List the last mined blocks of a UTXO chain, newest first. Costs 20 credits a result; bitcoin-cash 24, litecoin 22, dogecoin 22, dash 22, zcash 26. What fails costs nothing. */
    readonly utxoNewest: Call<"blocks.utxoNewest">
    /** List the transactions of a block of a UTXO chain, by its hash. Costs 20 credits a result; bitcoin-cash 24, litecoin 22, dogecoin 22, dash 22, zcash 26. What fails costs nothing. */
    readonly utxoTransactionsByHash: Call<"blocks.utxoTransactionsByHash">
    /** List the transactions of a block of a UTXO chain, by its height. Costs 20 credits a result; bitcoin-cash 24, litecoin 22, dogecoin 22, dash 22, zcash 26. What fails costs nothing. */
    readonly utxoTransactionsByHeight: Call<"blocks.utxoTransactionsByHeight">
    /** Read an XRP ledger by its hash. Costs 20 credits a result. What fails costs nothing. */
    readonly xrpByHash: Call<"blocks.xrpByHash">
    /** Read an XRP ledger by its index. Costs 20 credits a result. What fails costs nothing. */
    readonly xrpByHeight: Call<"blocks.xrpByHeight">
    /** Read the last validated XRP ledger. Costs 20 credits a result. What fails costs nothing. */
    readonly xrpLatest: Call<"blocks.xrpLatest">
    /** List the last validated XRP ledgers, newest first. Costs 20 credits a result. What fails costs nothing. */
    readonly xrpNewest: Call<"blocks.xrpNewest">
    /** List the transactions of an XRP ledger. Costs 20 credits a result. What fails costs nothing. */
    readonly xrpTransactions: Call<"blocks.xrpTransactions">
    /** List the transactions of an XRP ledger by its index. Costs 20 credits a result. What fails costs nothing. */
    readonly xrpTransactionsByHeight: Call<"blocks.xrpTransactionsByHeight">
  }
  readonly transactions: {
    /** Read a mined transaction of an EVM chain. Costs 30 credits a result; ethereum-classic 39, binance-smart-chain 75, polygon 60, arbitrum 48, avalanche 54, base 36, optimism 42, tron 45. What fails costs nothing. */
    readonly evmTransaction: Call<"transactions.evmTransaction">
    /** List the internal transactions of a transaction. Costs 320 credits a result; ethereum-classic 416, binance-smart-chain 800, polygon 640, arbitrum 512, avalanche 576, base 384, optimism 448, tron 480. What fails costs nothing. */
    readonly evmInternal: Call<"transactions.evmInternal">
    /** List the token transfers of a transaction. Costs 110 credits a result; ethereum-classic 143, binance-smart-chain 275, polygon 220, arbitrum 176, avalanche 198, base 132, optimism 154, tron 165. What fails costs nothing. */
    readonly evmTokens: Call<"transactions.evmTokens">
    /** List the logs of a transaction. Costs 30 credits a result; ethereum-classic 39, binance-smart-chain 75, polygon 60, arbitrum 48, avalanche 54, base 36, optimism 42, tron 45. What fails costs nothing. */
    readonly logs: Call<"transactions.logs">
    /** Prepare a transaction of native coins for signing. Costs 60 credits a result; ethereum-classic 78, binance-smart-chain 150, polygon 120, arbitrum 96, avalanche 108, base 72, optimism 84, tron 90. What fails costs nothing. */
    readonly prepare: Call<"transactions.prepare">
    /** Read a transaction of a UTXO chain. Costs 20 credits a result; bitcoin-cash 24, litecoin 22, dogecoin 22, dash 22, zcash 26. What fails costs nothing. */
    readonly utxoTransaction: Call<"transactions.utxoTransaction">
    /** Read the bytes of a transaction of a UTXO chain. Costs 20 credits a result; bitcoin-cash 24, litecoin 22, dogecoin 22, dash 22, zcash 26. What fails costs nothing. */
    readonly utxoRaw: Call<"transactions.utxoRaw">
    /** Read a transaction of a validated XRP ledger. Costs 20 credits a result. What fails costs nothing. */
    readonly xrpTransaction: Call<"transactions.xrpTransaction">
  }
  readonly tokenPreparation: {
    /** Prepare a transfer of fungible tokens (ERC-20) for signing. Costs 60 credits a result; ethereum-classic 78, binance-smart-chain 150, polygon 120, arbitrum 96, avalanche 108, base 72, optimism 84, tron 90. What fails costs nothing. */
    readonly prepareFungible: Call<"tokenPreparation.prepareFungible">
    /** Prepare a transfer of a non-fungible token (ERC-721) for signing. Costs 60 credits a result; ethereum-classic 78, binance-smart-chain 150, polygon 120, arbitrum 96, avalanche 108, base 72, optimism 84, tron 90. What fails costs nothing. */
    readonly prepareNonFungible: Call<"tokenPreparation.prepareNonFungible">
  }
  readonly xrpPreparation: {
    /** Prepare a payment of XRP for signing. Costs 60 credits a result. What fails costs nothing. */
    readonly preparePayment: Call<"xrpPreparation.preparePayment">
  }
  readonly simulation: {
    /** Run a transaction on top of the newest block without sending it. Costs 110 credits a result; ethereum-classic 143, binance-smart-chain 275, polygon 220, arbitrum 176, avalanche 198, base 132, optimism 154, tron 165. What fails costs nothing. */
    readonly simulate: Call<"simulation.simulate">
  }
  readonly fees: {
    /** Show the prices of gas by EIP-1559. Costs 30 credits a result; ethereum-classic 39, binance-smart-chain 75, polygon 60, arbitrum 48, avalanche 54, base 36, optimism 42, tron 45. What fails costs nothing. */
    readonly marketFees: Call<"fees.marketFees">
    /** Show whole prices of gas, as legacy transactions name them. Costs 30 credits a result; ethereum-classic 39, binance-smart-chain 75, polygon 60, arbitrum 48, avalanche 54, base 36, optimism 42, tron 45. What fails costs nothing. */
    readonly gasPrices: Call<"fees.gasPrices">
    /** Estimate the gas that a transfer of native coins takes. Costs 30 credits a result; ethereum-classic 39, binance-smart-chain 75, polygon 60, arbitrum 48, avalanche 54, base 36, optimism 42, tron 45. What fails costs nothing. */
    readonly nativeGas: Call<"fees.nativeGas">
    /** Estimate the gas that a transfer of tokens takes. Costs 30 credits a result; ethereum-classic 39, binance-smart-chain 75, polygon 60, arbitrum 48, avalanche 54, base 36, optimism 42, tron 45. What fails costs nothing. */
    readonly tokenGas: Call<"fees.tokenGas">
    /** Show what transactions of a UTXO chain pay for a virtual byte. Costs 30 credits a result; bitcoin-cash 36, litecoin 33, dogecoin 33, dash 33, zcash 39. What fails costs nothing. */
    readonly utxoFees: Call<"fees.utxoFees">
    /** Show a node's own estimate of a fee (estimatesmartfee). Costs 30 credits a result; bitcoin-cash 36, litecoin 33, dogecoin 33, dash 33, zcash 39. What fails costs nothing. */
    readonly smartFee: Call<"fees.smartFee">
    /** Show the fees of transactions on the XRP Ledger. Costs 30 credits a result. What fails costs nothing. */
    readonly ledgerFees: Call<"fees.ledgerFees">
  }
  readonly nextNonce: {
    /** Show the nonce of an address's next transaction. Costs 20 credits a result; ethereum-classic 26, binance-smart-chain 50, polygon 40, arbitrum 32, avalanche 36, base 24, optimism 28, tron 30. What fails costs nothing. */
    readonly nextNonce: Call<"nextNonce.nextNonce">
    /** Show the sequence of an account's next transaction. Costs 20 credits a result. What fails costs nothing. */
    readonly nextSequence: Call<"nextNonce.nextSequence">
  }
  readonly balances: {
    /** Read the coins of an address after the newest block. Costs 30 credits a result; ethereum-classic 39, binance-smart-chain 75, polygon 60, arbitrum 48, avalanche 54, base 36, optimism 42, tron 45. What fails costs nothing. */
    readonly evmBalance: Call<"balances.evmBalance">
    /** Read the XRP of an address after the newest validated ledger. Costs 20 credits a result. What fails costs nothing. */
    readonly xrpBalance: Call<"balances.xrpBalance">
    /** Read what a token's contract says of itself. Costs 90 credits a result; ethereum-classic 117, binance-smart-chain 225, polygon 180, arbitrum 144, avalanche 162, base 108, optimism 126, tron 135. What fails costs nothing. */
    readonly tokenDetails: Call<"balances.tokenDetails">
  }
  readonly broadcasts: {
    /** Send a signed transaction to the nodes of its chain. Costs 60 credits a result. What fails costs nothing. */
    readonly broadcast: Call<"broadcasts.broadcast">
    /** Read what became of a transaction that was broadcast. Costs no credits. */
    readonly broadcastOutcome: Call<"broadcasts.broadcastOutcome">
  }
  readonly addresses: {
    /** List the internal transactions of an address in the last 14 days. Costs 320 credits a result; ethereum-classic 416, binance-smart-chain 800, polygon 640, arbitrum 512, avalanche 576, base 384, optimism 448, tron 480. What fails costs nothing. */
    readonly internalTransactions: Call<"addresses.internalTransactions">
    /** List the confirmed token transfers of an address. Costs 100 credits a result. What fails costs nothing. */
    readonly tokensTransfers: Call<"addresses.tokensTransfers">
    /** List the synced addresses of the account. Costs 30 credits a result. What fails costs nothing. */
    readonly syncedAddresses: Call<"addresses.syncedAddresses">
    /** Record an address from now on, and read its past. Costs 30 credits a result. What fails costs nothing. */
    readonly syncAddress: Call<"addresses.syncAddress">
    /** Stop recording a synced address. Costs no credits. */
    readonly deactivateSyncedAddress: Call<"addresses.deactivateSyncedAddress">
    /** Record a synced address again, and read its past again. Costs 30 credits a result. What fails costs nothing. */
    readonly activateSyncedAddress: Call<"addresses.activateSyncedAddress">
  }
  readonly addressHistory: {
    /** List the transactions of an address of an EVM chain. Costs 120 credits a result; ethereum-classic 156, binance-smart-chain 300, polygon 240, arbitrum 192, avalanche 216, base 144, optimism 168, tron 180. What fails costs nothing. */
    readonly evmLatestTransactions: Call<"addressHistory.evmLatestTransactions">
    /** List the token transfers of an address of an EVM chain. Costs 110 credits a result; ethereum-classic 143, binance-smart-chain 275, polygon 220, arbitrum 176, avalanche 198, base 132, optimism 154, tron 165. What fails costs nothing. */
    readonly evmLatestTokens: Call<"addressHistory.evmLatestTokens">
    /** List the transactions of a recorded address of an EVM chain. Costs 130 credits a result; ethereum-classic 169, binance-smart-chain 325, polygon 260, arbitrum 208, avalanche 234, base 156, optimism 182, tron 195. What fails costs nothing. */
    readonly evmTransactions: Call<"addressHistory.evmTransactions">
    /** List the transactions of a recorded address of an EVM chain since a moment. Costs 230 credits a result; ethereum-classic 299, binance-smart-chain 575, polygon 460, arbitrum 368, avalanche 414, base 276, optimism 322, tron 345. What fails costs nothing. */
    readonly evmTransactionsSince: Call<"addressHistory.evmTransactionsSince">
    /** List the internal transactions of a recorded address. Costs 330 credits a result; ethereum-classic 429, binance-smart-chain 825, polygon 660, arbitrum 528, avalanche 594, base 396, optimism 462, tron 495. What fails costs nothing. */
    readonly evmInternalHistory: Call<"addressHistory.evmInternalHistory">
    /** List the internal transactions of a recorded address, by another path. Costs 330 credits a result; ethereum-classic 429, binance-smart-chain 825, polygon 660, arbitrum 528, avalanche 594, base 396, optimism 462, tron 495. What fails costs nothing. */
    readonly evmInternalOfAddress: Call<"addressHistory.evmInternalOfAddress">
    /** List the tokens that a recorded address has. Costs 130 credits a result; ethereum-classic 169, binance-smart-chain 325, polygon 260, arbitrum 208, avalanche 234, base 156, optimism 182, tron 195. What fails costs nothing. */
    readonly evmHeldTokens: Call<"addressHistory.evmHeldTokens">
    /** List the transactions of an address of a UTXO chain. Costs 110 credits a result; bitcoin-cash 132, litecoin 121, dogecoin 121, dash 121, zcash 143. What fails costs nothing. */
    readonly utxoLatestTransactions: Call<"addressHistory.utxoLatestTransactions">
    /** List the transactions of an address of a UTXO chain that wait for a block. Costs 110 credits a result; bitcoin-cash 132, litecoin 121, dogecoin 121, dash 121, zcash 143. What fails costs nothing. */
    readonly utxoUnconfirmed: Call<"addressHistory.utxoUnconfirmed">
    /** Read the coins of an address of a UTXO chain. Costs 510 credits a result; bitcoin-cash 612, litecoin 561, dogecoin 561, dash 561, zcash 663. What fails costs nothing. */
    readonly utxoLatestBalance: Call<"addressHistory.utxoLatestBalance">
    /** Read the coins of a recorded address of a UTXO chain. Costs 510 credits a result; bitcoin-cash 612, litecoin 561, dogecoin 561, dash 561, zcash 663. What fails costs nothing. */
    readonly utxoBalance: Call<"addressHistory.utxoBalance">
    /** List the transactions of a recorded address of a UTXO chain. Costs 130 credits a result; bitcoin-cash 156, litecoin 143, dogecoin 143, dash 143, zcash 169. What fails costs nothing. */
    readonly utxoTransactions: Call<"addressHistory.utxoTransactions">
    /** List the transactions of a recorded address of a UTXO chain since a moment. Costs 530 credits a result; bitcoin-cash 636, litecoin 583, dogecoin 583, dash 583, zcash 689. What fails costs nothing. */
    readonly utxoTransactionsSince: Call<"addressHistory.utxoTransactionsSince">
    /** List the unspent outputs of a recorded address of a UTXO chain. Costs 530 credits a result; bitcoin-cash 636, litecoin 583, dogecoin 583, dash 583, zcash 689. What fails costs nothing. */
    readonly utxoUnspent: Call<"addressHistory.utxoUnspent">
    /** List the validated transactions that an XRP account was part of. Costs 110 credits a result. What fails costs nothing. */
    readonly xrpAddressTransactions: Call<"addressHistory.xrpAddressTransactions">
  }
  readonly hdWallets: {
    /** Read the assets of an EVM wallet. Costs 220 credits a result; ethereum-classic 286, binance-smart-chain 550, tron 330. What fails costs nothing. */
    readonly evmAssets: Call<"hdWallets.evmAssets">
    /** Prepare a transaction of a synced EVM wallet's address for signing. Costs 60 credits a result; ethereum-classic 78, binance-smart-chain 150, polygon 120, arbitrum 96, avalanche 108, base 72, optimism 84, tron 90. What fails costs nothing. */
    readonly evmPrepare: Call<"hdWallets.evmPrepare">
    /** Read the confirmed balance of a UTXO wallet. Costs 520 credits a result; bitcoin-cash 624, litecoin 572, dogecoin 572, dash 572, zcash 676. What fails costs nothing. */
    readonly utxoAssets: Call<"hdWallets.utxoAssets">
    /** Read from which block on the record of a UTXO wallet is complete. Costs 30 credits a result. What fails costs nothing. */
    readonly utxoStatus: Call<"hdWallets.utxoStatus">
    /** Read the confirmed balance of an XRP wallet. Costs 120 credits a result. What fails costs nothing. */
    readonly xrpAssets: Call<"hdWallets.xrpAssets">
    /** Derive 100 receiving addresses of a UTXO wallet and record their transfers. Costs 35 credits a result; bitcoin-cash 42, litecoin 39, dogecoin 39, dash 39, zcash 46. What fails costs nothing. */
    readonly utxoDerive: Call<"hdWallets.utxoDerive">
    /** Prepare a transaction of a UTXO wallet for signing, and reserve its coins. Costs 520 credits a result; bitcoin-cash 624, litecoin 572, dogecoin 572, dash 572, zcash 676. What fails costs nothing. */
    readonly utxoPrepare: Call<"hdWallets.utxoPrepare">
    /** Derive 100 receiving addresses of an XRP wallet and record their transfers. Costs 35 credits a result. What fails costs nothing. */
    readonly xrpDerive: Call<"hdWallets.xrpDerive">
    /** List the synced wallets of the account. Costs 30 credits a result. What fails costs nothing. */
    readonly syncedWallets: Call<"hdWallets.syncedWallets">
    /** Record the addresses of a wallet from now on, and what they had before. Costs 30 credits a result. What fails costs nothing. */
    readonly syncWallet: Call<"hdWallets.syncWallet">
    /** Deactivate a synced wallet. Costs no credits. */
    readonly deactivateSyncedWallet: Call<"hdWallets.deactivateSyncedWallet">
    /** Activate a synced wallet again. Costs 30 credits a result. What fails costs nothing. */
    readonly activateSyncedWallet: Call<"hdWallets.activateSyncedWallet">
  }
  readonly hdWalletDetails: {
    /** Read what an EVM wallet has in coins. Costs 220 credits a result; ethereum-classic 286, binance-smart-chain 550, tron 330. What fails costs nothing. */
    readonly evmDetails: Call<"hdWalletDetails.evmDetails">
    /** Read what a UTXO wallet has in coins. Costs 520 credits a result; bitcoin-cash 624, litecoin 572, dogecoin 572, dash 572, zcash 676. What fails costs nothing. */
    readonly utxoDetails: Call<"hdWalletDetails.utxoDetails">
    /** Read what an XRP wallet has in coins. Costs 120 credits a result. What fails costs nothing. */
    readonly xrpDetails: Call<"hdWalletDetails.xrpDetails">
  }
  readonly hdWalletLists: {
    /** List the recorded addresses of a synced EVM wallet. Costs 30 credits a result. What fails costs nothing. */
    readonly evmWalletAddresses: Call<"hdWalletLists.evmWalletAddresses">
    /** List the recorded addresses of a UTXO wallet. Costs 30 credits a result. What fails costs nothing. */
    readonly utxoWalletAddresses: Call<"hdWalletLists.utxoWalletAddresses">
    /** List the recorded addresses of an XRP wallet. Costs 30 credits a result. What fails costs nothing. */
    readonly xrpWalletAddresses: Call<"hdWalletLists.xrpWalletAddresses">
    /** List the transactions of a synced EVM wallet, newest first. Costs 220 credits a result; ethereum-classic 286, binance-smart-chain 550, tron 330. What fails costs nothing. */
    readonly evmWalletTransactions: Call<"hdWalletLists.evmWalletTransactions">
    /** List the transactions of a UTXO wallet, newest first. Costs 520 credits a result; bitcoin-cash 624, litecoin 572, dogecoin 572, dash 572, zcash 676. What fails costs nothing. */
    readonly utxoWalletTransactions: Call<"hdWalletLists.utxoWalletTransactions">
    /** List the transactions of an XRP wallet, newest first. Costs 120 credits a result. What fails costs nothing. */
    readonly xrpWalletTransactions: Call<"hdWalletLists.xrpWalletTransactions">
    /** List the unspent outputs of a UTXO wallet, the oldest first. Costs 520 credits a result; bitcoin-cash 624, litecoin 572, dogecoin 572, dash 572, zcash 676. What fails costs nothing. */
    readonly utxoWalletOutputs: Call<"hdWalletLists.utxoWalletOutputs">
    /** Derive 100 addresses for change of a UTXO wallet and record their transfers. Costs 35 credits a result; bitcoin-cash 42, litecoin 39, dogecoin 39, dash 39, zcash 46. What fails costs nothing. */
    readonly utxoDeriveChange: Call<"hdWalletLists.utxoDeriveChange">
    /** Derive 100 receiving addresses of an EVM wallet and record their transfers. Costs 35 credits a result; ethereum-classic 46, binance-smart-chain 88, polygon 70, arbitrum 56, avalanche 63, base 42, optimism 49, tron 53. What fails costs nothing. */
    readonly evmDerive: Call<"hdWalletLists.evmDerive">
    /** Read whether a wallet is synced. Costs 30 credits a result. What fails costs nothing. */
    readonly walletStatus: Call<"hdWalletLists.walletStatus">
  }
  readonly addressForms: {
    /** Check an address of an EVM chain. Costs 10 credits a result. What fails costs nothing. */
    readonly evmValidate: Call<"addressForms.evmValidate">
    /** Check an address of a UTXO chain. Costs 10 credits a result. What fails costs nothing. */
    readonly utxoValidate: Call<"addressForms.utxoValidate">
    /** Check an address of the XRP Ledger. Costs 10 credits a result. What fails costs nothing. */
    readonly xrpValidate: Call<"addressForms.xrpValidate">
    /** Change an address of Bitcoin Cash into its other form: CashAddr or legacy. Costs 10 credits a result. What fails costs nothing. */
    readonly convert: Call<"addressForms.convert">
    /** Read an X-address. Costs 10 credits a result. What fails costs nothing. */
    readonly decodeX: Call<"addressForms.decodeX">
    /** Make an X-address. Costs 10 credits a result. What fails costs nothing. */
    readonly encodeX: Call<"addressForms.encodeX">
    /** Derive addresses of an extended public key, and record nothing. Costs 10 credits a result. What fails costs nothing. */
    readonly derive: Call<"addressForms.derive">
  }
  readonly rawTransactions: {
    /** Decode a raw transaction of an EVM chain. Costs 10 credits a result. What fails costs nothing. */
    readonly evmDecode: Call<"rawTransactions.evmDecode">
    /** Decode a raw transaction of a UTXO chain. Costs 10 credits a result. What fails costs nothing. */
    readonly utxoDecode: Call<"rawTransactions.utxoDecode">
  }
  readonly marketData: {
    /** Read an asset by its id. Costs 110 credits a result. What fails costs nothing. */
    readonly assetById: Call<"marketData.assetById">
    /** Read an asset by its symbol. Costs 110 credits a result. What fails costs nothing. */
    readonly assetBySymbol: Call<"marketData.assetBySymbol">
    /** Read an asset by its slug. Costs 110 credits a result. What fails costs nothing. */
    readonly assetBySlug: Call<"marketData.assetBySlug">
    /** List the supported assets. Costs no credits. */
    readonly assets: Call<"marketData.assets">
    /** List the names and ids of the supported assets. Costs 20 credits a result. What fails costs nothing. */
    readonly supportedAssets: Call<"marketData.supportedAssets">
    /** Read the exchange rate of two assets by their ids. Costs 270 credits a result. What fails costs nothing. */
    readonly rateById: Call<"marketData.rateById">
    /** Read the exchange rate of two assets by their symbols. Costs 270 credits a result. What fails costs nothing. */
    readonly rateBySymbol: Call<"marketData.rateBySymbol">
  }
  readonly credits: {
    /** Read the credits that are left. Costs no credits. */
    readonly balance: Call<"credits.balance">
    /** List the entries of the account's ledger. Costs no credits. */
    readonly statement: Call<"credits.statement">
  }
  readonly limits: {
    /** Read the account's limits, and what is left of them. Costs no credits. */
    readonly get: Call<"limits.get">
  }
}
