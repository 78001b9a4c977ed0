/**
 * What somebody writes who installs the packages: run by Node in an empty project, and checked there by TypeScript.
 * Prints one JSON object.
 */
import { rmSync } from "node:fs"
import { Amount } from "@headwater/core"
import * as Address from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as Matcher from "@headwater/core/events/Matcher"
import * as Watched from "@headwater/core/events/Watched"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import { make } from "@headwater/http"
import * as Client from "@headwater/http/contract/Client"
import { Headwater } from "@headwater/indexer"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import type { Source } from "@headwater/indexer/families/Source"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Follow from "@headwater/indexer/sync/Follow"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"

const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
// Account 0 of BIP-84's test vector.
const key = Result.getOrThrow(
  ExtendedPublicKey.decode(
    bitcoin,
    "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"
  )
)
const branch = Result.getOrThrow(Derivation.branch(bitcoin, key))
const derived = Derivation.derive(branch, 0, 1).map((found) => Result.getOrThrow(found).address)

// The roots of the packages have what programs embed.
if (Amount.format(10n, 1) !== "1" || typeof Headwater.start !== "function" || typeof make !== "function") {
  throw new Error("the root of a package lacks what it is for")
}

const ethereum = Result.getOrThrow(Chain.find("ethereum", "devnet"))
const sender = Result.getOrThrow(Address.decode(ethereum, "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"))
const recipient = Result.getOrThrow(Address.decode(ethereum, "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"))
const hash = (number: number) => new Uint8Array(32).fill(number)
const block = (height: number): Block => ({
  height,
  hash: hash(height + 1),
  parent: hash(height),
  time: 1_700_000_000 + height,
  transactions: [hash(100 + height)],
  transfers: [{ kind: "coin", transaction: 0, position: 0, from: sender, to: recipient, amount: 1n }],
  spends: []
})

const watched = Watched.make([1, 2])
watched.add(recipient)
const subscription = { event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", address: recipient } as const
const { occurrences } = Matcher.match(ethereum, block(0), {
  byAddress: new Map([...Matcher.addressesSeen(block(0), watched).keys()].map((hex) => [hex, [subscription]])),
  blockMined: [],
  metadata: () => ({ name: "", symbol: "", decimals: undefined })
})

const source: Source = {
  chain: ethereum,
  head: Effect.succeed({ height: 9, hash: hash(10), final: undefined }),
  hashAt: (height) => Effect.succeed(hash(height + 1)),
  blockAt: (height) => Effect.succeed(block(height)),
  capabilities: Effect.succeed([])
}
const file = "consumer.db"
for (const end of ["", "-wal", "-shm"]) rmSync(`${file}${end}`, { force: true })
const stored = await Effect.gen(function* () {
  const store = yield* ChainStore.open(ethereum, { record: "all", undoDepth: 10 })
  const { step } = yield* Follow.make(source, store, {
    start: 0,
    pollInterval: Duration.seconds(1),
    concurrency: 4,
    undoDepth: 10
  })
  yield* step
  return (yield* store.cursor)?.height
}).pipe(
  Effect.scoped,
  Effect.provide(Layer.mergeAll(Database.layer({ kind: "sqlite", file }), ChainStatus.layer)),
  Effect.runPromise
)

// Nobody listens there: the client must be made, and say so in its own words.
const refused = await Effect.gen(function* () {
  const client = yield* Client.makeFetch({ baseUrl: "http://127.0.0.1:9", apiKey: "hw_none" })
  return yield* client.credits.balance({ query: {} })
}).pipe(Effect.flip, Effect.runPromise)

console.log(
  JSON.stringify({ derived, directions: occurrences.map(({ item }) => item.direction), stored, client: refused._tag })
)
