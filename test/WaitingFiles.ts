import { everyWay } from "./Turn.ts"

/**
 * Files that take longest, nearly half of the time of all: most of them start daemons, nodes or compilers. Neighbours take
 * as long: one of four is run.
 */
const files = [
  ...["test/Packages", "test/Evm", "packages/daemon/test/commands/Replay", "test/Console"],
  ...["test/Xrp", "packages/daemon/test/demo/Demo", "test/Prepare.evm", "test/Utxo"],
  ...["packages/daemon/test/Cli", "test/Sync.evm", "packages/daemon/test/commands/Doctor", "test/Examples"],
  ...["packages/daemon/test/Serve", "test/MainJob.utxo", "test/Wallets.utxo", "test/Traces"],
  ...["test/Prepare.utxo", "packages/indexer/test/sync/ReaderThreads", "test/DeniedSearch.utxo"],
  "packages/http/test/operations/evm/Truth",
  ...["test/Roles.evm", "packages/daemon/test/Metrics", "test/Broadcast.evm", "packages/daemon/test/commands/Audit"],
  ...["test/RawTransactions.utxo", "test/Browser", "test/Tron", "test/GettingStarted"],
  ...["test/MainJob.evm", "packages/daemon/test/commands/Init", "test/WalletFormats", "test/OldCoins.utxo"],
  ...["packages/daemon/test/supervision/Placement", "packages/daemon/test/commands/Skip"],
  ...["packages/daemon/test/market/CoinGecko", "packages/daemon/test/market/AssetFile"],
  ...["packages/http/test/RequestTrace", "packages/indexer/test/embedded/Indexer", "test/ManagedWallets.utxo"],
  "packages/daemon/test/commands/Upgrade",
  ...["packages/http/test/operations/xrp/Truth", "test/Deposits.evm", "test/BrokenNode"],
  "packages/daemon/test/doctor/NodeCheck",
  ...["packages/daemon/test/commands/Listen", "packages/daemon/test/delivery/Crash", "test/AddressLists.evm"],
  "test/OwnOutage",
  ...["packages/daemon/test/commands/Secrets", "packages/daemon/test/commands/MigrateStore"],
  ...["test/TokenTransfers.evm", "test/SyncedAddresses.utxo"]
].map((name) => `${name}.test.ts`)

/** Whether this run is one of certain files. */
const areNamed = () => process.argv.slice(2).some((argument) => argument !== "run" && !argument.startsWith("-"))

/** Those that wait for another turn, unless files are named; CI runs them in a step of its own. */
export const waitingFiles = (): ReadonlyArray<string> =>
  everyWay || areNamed()
    ? []
    : files.filter((_, number) => (number + (Number(process.env.HEADWATER_TURN) >> 1)) % 4 !== 0)
