import { parseCLI } from "vitest/node"
import { everyWay } from "./Turn.ts"

/**
 * Files that take longest: most of them start daemons, nodes or compilers. Neighbours take
 * as long: one of four is run.
 */
export const files = [
  ...["test/Feeds", "test/Outage.evm", "test/Reconnect", "test/Placement.evm"],
  ...["test/Kill", "test/Broadcast.utxo", "test/ExtendedKeys.utxo", "test/Explore.evm"],
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

/** Whether a run is of certain files or tests, or a part of a run, of which another part draws a turn of its own. */
const isNarrow = (args: ReadonlyArray<string>) => {
  const { filter, options } = parseCLI(["vitest", ...args])
  const { changed, related, shard, testNamePattern } = options
  return filter.length > 0 || [changed, related, shard, testNamePattern].some((named) => named !== undefined)
}

/**
 * Those that wait for another turn: a draw of their own, or a file would always try the same part of what it shares out. None
 * where a run is narrow by its arguments; CI runs them in a step of its own.
 */
export const waitingFiles = (
  args: ReadonlyArray<string> = process.argv.slice(2),
  turn = Number(process.env.HEADWATER_TURN)
): ReadonlyArray<string> =>
  everyWay || isNarrow(args) ? [] : files.filter((_, number) => (number + (turn >> 3)) % 4 !== 0)
