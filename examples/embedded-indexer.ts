/**
 * The pieces of the indexer put together by hand, for programs that follow chains in a way of their own; most programs use
 * `Indexer` or `Headwater`, as the deposit listeners do. Follows an EVM development node into a SQLite file and writes what
 * concerns an address to standard output, one JSON line an event. What a reorganisation undoes is not told here.
 * Reorganisations, restarts and gaps are the indexer's business. A program that uses the store's own subscriptions runs
 * `sync/FanOutTask` beside, which writes the callbacks of busy addresses, and a sender of its `Outbox`.
 *
 * `node examples/embedded-indexer.ts http://127.0.0.1:8545 indexer.db 0x7099…`
 */
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as Matcher from "@headwater/core/events/Matcher"
import * as Watched from "@headwater/core/events/Watched"
import * as EvmSource from "@headwater/indexer/families/evm/EvmSource"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Follow from "@headwater/indexer/sync/Follow"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Result from "effect/Result"

const [url = "", file = "", watch = ""] = process.argv.slice(2)
const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))
const address = Result.getOrThrow(Address.decode(chain, watch))

const watched = Watched.make([1, 2])
watched.add(address)
const candidates: Matcher.Candidates<Matcher.Subscription> = {
  byAddress: new Map([
    [Buffer.from(address).toString("hex"), [{ event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", address }]]
  ]),
  blockMined: [],
  metadata: () => ({ name: "", symbol: "", decimals: undefined })
}

const program = Effect.gen(function* () {
  const rpc = yield* JsonRpc.make({ urls: [url] })
  const source = yield* EvmSource.make(chain, rpc, { internal: false })
  const store = yield* ChainStore.open(chain, { record: "all", undoDepth: chain.undoDepth })
  const { run } = yield* Follow.make(source, store, {
    start: 0,
    pollInterval: Duration.millis(200),
    concurrency: 4,
    undoDepth: chain.undoDepth,
    // Runs after the blocks' transaction: a process killed in between has the blocks and not told the sink. A sink that
    // may miss nothing keeps its own height beside what it writes, and reads on from there at its start.
    onCommitted: (blocks) =>
      Effect.forEach(
        blocks
          .filter((block) => Matcher.addressesSeen(block, watched).size > 0)
          .flatMap((block) => Matcher.match(chain, block, candidates).occurrences),
        ({ item }) => Console.log(JSON.stringify(item)),
        { discard: true }
      )
  })
  return yield* run
})

await program.pipe(
  Effect.scoped,
  Effect.provide(Layer.mergeAll(Database.layer({ kind: "sqlite", file }), ChainStatus.layer)),
  Effect.provideService(Logger.LogToStderr, true),
  Effect.runPromise
)
