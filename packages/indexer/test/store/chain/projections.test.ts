import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, Transfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import type { EventType } from "@headwater/core/events/EventType"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import type { Make, ResolvedBlock } from "@headwater/indexer/store/chain/Projection"
import * as Projections from "@headwater/indexer/store/chain/projections"
import { Database, DatabaseError } from "@headwater/indexer/store/database/Database"
import { rows } from "@headwater/indexer/store/database/Statements"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as WalletBranches from "@headwater/indexer/store/wallets/WalletBranches"
import { keyOf, type WalletKey } from "@headwater/indexer/store/wallets/WalletKey"
import { type InTransaction, Wallets } from "@headwater/indexer/store/wallets/Wallets"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { sql } from "kysely"
import { takenStores } from "../../../../../test/Stores.ts"
import { half } from "../../../../../test/Turn.ts"
import { type Payment, UtxoChain } from "../../families/utxo/UtxoChain.ts"
import { bytes } from "../../sync/FakeChain.ts"
import * as Seed from "../Seed.ts"

const litecoin = Result.getOrThrow(Chain.find("litecoin", "regtest"))
const ethereum = Result.getOrThrow(Chain.find("ethereum", "devnet"))
const xrp = Result.getOrThrow(Chain.find("xrp", "testnet"))
const mainnet = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
const accountKey = Result.getOrThrow(
  ExtendedPublicKey.decode(
    mainnet,
    "xpub6ASuArnXKPbfEwhqN6e3mwBcDTgzisQN1wXN9BJcM47sSikHjJf3UFHKkNAWbWMiGj7Wf5uMash7SyYq527Hqck2AxYysAA7xmALppuCkwQ"
  )
)

const address = (number: number) => bytes(20, 1, number) as AddressBytes

/** A chain that tests mine: picks decide what a block holds. */
interface Mined {
  readonly tip: Block
  readonly mine: (picks: ReadonlyArray<number>) => Block
  readonly drop: (depth: number) => void
}

/** Blocks of UTXO chains, which pay to these scripts and spend at random. */
const utxoBlocks = (chain: Chain.Chain, scripts: ReadonlyArray<AddressBytes>): Mined => {
  const node = new UtxoChain(chain)
  let amount = 0n
  return {
    get tip() {
      return node.tip
    },
    mine: (picks) => {
      const free = [...node.coins]
      return node.mine(
        picks.map((pick, i): Payment => {
          const [coin] = pick % 3 > 0 && free.length > 0 ? free.splice(pick % free.length, 1) : []
          // Now and then a coin of the block itself.
          const own =
            pick % 7 === 0 && i > 0 && pick % 3 === 0 ? { transactionId: node.nextId(i - 1), index: 1 } : undefined
          return {
            spends: [...(coin === undefined ? [] : [coin.outpoint]), ...(own === undefined ? [] : [own])],
            pays: [0, 5].map((shift) => ({ to: scripts[(pick >> shift) % scripts.length]!, amount: ++amount }))
          }
        })
      )
    },
    drop: (depth) => node.drop(depth)
  }
}

/** Blocks of account chains, whose transfers are of these kinds and between these addresses. */
const accountBlocks = (kinds: ReadonlyArray<Transfer["kind"]>, addresses: ReadonlyArray<AddressBytes>): Mined => {
  const blocks: Array<Block> = []
  let nonce = 0
  const transferOf = (pick: number, transaction: number): Transfer => {
    const kind = kinds[pick % kinds.length]!
    const from = addresses[(pick >> 3) % addresses.length]!
    const to = addresses[(pick >> 9) % addresses.length]!
    const common = { transaction, from, to, amount: BigInt(++nonce) }
    if (kind === "coin") return { kind, position: 0, ...common }
    if (kind === "internal") return { kind, operation: "call_0", operationType: "call", ...common }
    const contract = bytes(20, 9, pick % 40) as AddressBytes
    return { kind, position: transaction, batchIndex: 0, token: "fungible", tokenId: undefined, contract, ...common }
  }
  const mine: Mined["mine"] = (picks) => {
    const height = blocks.length
    const block: Block = {
      ...{ height, hash: bytes(32, 2, height, ++nonce), parent: blocks.at(-1)?.hash ?? bytes(32), spends: [] },
      time: 1_700_000_000 + height,
      transactions: picks.map((_, i) => bytes(32, 3, nonce, i)),
      transfers: picks.map(transferOf)
    }
    blocks.push(block)
    return block
  }
  mine([])
  return {
    get tip() {
      return blocks.at(-1)!
    },
    mine,
    drop: (depth) => {
      blocks.length -= depth
    }
  }
}

const alone: InTransaction<never, never> = (change) => change

const walletOf = (chain: Chain.Chain): WalletKey =>
  Result.getOrThrow(keyOf(1, chain, ExtendedPublicKey.encode(chain, accountKey), "account"))

/** Addresses of a wallet, more than are watched when it is synced. */
const receiving = (chain: Chain.Chain) =>
  WalletBranches.derive(
    WalletBranches.of(chain, { ...walletOf(chain), public_key: walletOf(chain).publicKey })[0]!,
    0,
    130
  ).map(({ bytes }) => bytes)

interface Scenario {
  readonly chain: Chain.Chain
  readonly mined: () => Mined
  readonly subscribed: ReadonlyArray<AddressBytes>
  readonly events: ReadonlyArray<EventType>
  readonly hasWallet: boolean
  /** Tables that blocks change. */
  readonly tables: ReadonlyArray<string>
}

const coins = "ADDRESS_COINS_TRANSACTION_CONFIRMED"
const people = Array.from({ length: 8 }, (_, i) => address(i))
const always = ["block", "callback", "chain", "waiting"]

const scenarios: ReadonlyArray<Scenario> = [
  {
    chain: litecoin,
    mined: () => utxoBlocks(litecoin, [...receiving(litecoin), ...people]),
    ...{ subscribed: people.slice(0, 4), events: [coins, "BLOCK_MINED"], hasWallet: true },
    tables: [
      ...[...always, "packed_transfers", "spent_output", "staged_postings", "unspent_output"],
      ...["wallet", "wallet_address"]
    ]
  },
  {
    chain: ethereum,
    mined: () => accountBlocks(["coin", "token", "internal"], people),
    subscribed: people.slice(0, 4),
    events: [coins, "ADDRESS_TOKENS_TRANSACTION_CONFIRMED", "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED", "BLOCK_MINED"],
    ...{ hasWallet: false, tables: [...always, "packed_transfers", "staged_postings", "token"] }
  },
  {
    chain: xrp,
    mined: () => accountBlocks(["coin"], [...receiving(xrp), ...people]),
    ...{ subscribed: people.slice(0, 4), events: [coins, "BLOCK_MINED"], hasWallet: true },
    tables: [...always, "packed_transfers", "staged_postings", "wallet_address"]
  }
]

/** Subscribes to the first confirmation, and to one that no block of a test brings. */
const subscribe = Effect.fnUntraced(function* ({ chain, events, subscribed }: Scenario) {
  const subscriptions = yield* Subscriptions
  const account = yield* Seed.account
  for (const event of events) {
    for (const address of event === "BLOCK_MINED" ? [undefined] : subscribed) {
      for (const confirmations of event === "BLOCK_MINED" ? [1] : [1, 100]) {
        yield* subscriptions.create({
          ...{ account, chain, event, address, callbackUrl: "https://example.com", secret: undefined, confirmations },
          allowDuplicates: true
        })
      }
    }
  }
})

const commit = Effect.fnUntraced(function* (store: ChainStore.ChainStore, blocks: ReadonlyArray<Block>) {
  const learned = (yield* store.unknownTokens(blocks)).map((mention) => ({
    ...mention,
    metadata: { name: "name", symbol: "symbol", decimals: 3 }
  }))
  yield* store.commit(blocks, learned)
})

type Dump = ReadonlyMap<string, ReadonlyArray<string>>

/** Every row of the store but what an undo leaves on purpose: that it was carried out, and addresses watched further. */
const dump = (tables: ReadonlyArray<string>, watchedUpTo: number) =>
  Effect.gen(function* () {
    const { read } = yield* Database
    const further = yield* read((db) => db.selectFrom("wallet_address").select("address").where("id", ">", watchedUpTo))
    const isFurther = new Set(further.map(({ address }) => Bytes.key(address)))
    // Coins that such addresses had already count from the time on at which they are watched.
    const outputs = yield* read((db) => db.selectFrom("unspent_output").select(["script", "amount"]))
    const ofFurther = outputs
      .filter(({ script }) => isFurther.has(Bytes.key(script)))
      .reduce((sum, { amount }) => sum + BigInt(amount), 0n)
    const balance = (row: Record<string, unknown>) => (BigInt(row.balance as string) - ofFurther).toString()
    // A query for each of the tables would take most of the time, and few have rows.
    const some = tables.map(
      (table) => sql`select ${sql.lit(table)} as name where exists (select 1 from ${sql.table(table)})`
    )
    const filled = yield* read(rows(sql<{ name: string }>`${sql.join(some, sql` union all `)}`))
    const found = new Map<string, ReadonlyArray<string>>(tables.map((table) => [table, []]))
    for (const { name: table } of filled) {
      const all = yield* read(rows(sql<Record<string, unknown>>`select * from ${sql.table(table)}`))
      const kept = all.filter(({ address, id }) => {
        if (table === "wallet_address") return (id as number) <= watchedUpTo
        return table !== "completeness" || !isFurther.has(Bytes.key(address as Uint8Array))
      })
      const text = (row: Record<string, unknown>) =>
        JSON.stringify(
          {
            ...row,
            ...(table === "chain" ? { revision: 0, coin_changes: 0 } : {}),
            ...(table === "wallet" ? { balance: balance(row) } : {})
          },
          (_, value) => (value?.type === "Buffer" ? Buffer.from(value.data).toString("hex") : value)
        )
      found.set(table, kept.map((row) => text(row)).sort())
    }
    return found as Dump
  })

const lastWatched = Effect.flatMap(Database, ({ read }) =>
  Effect.map(
    read((db) => db.selectFrom("wallet_address").select(({ fn }) => fn.max("id").as("last"))),
    ([row]) => row?.last ?? 0
  )
)

const pick = fc.nat(100_000)
const suffix = fc.record({
  before: fc.array(fc.array(pick, { maxLength: 8 }), { maxLength: 3 }),
  blocks: fc.array(fc.array(pick, { maxLength: 12 }), { minLength: 1, maxLength: 6 }),
  together: fc.boolean()
})

for (const store of takenStores(import.meta.url)) {
  const layer = Layer.mergeAll(Subscriptions.layer, Wallets.layer).pipe(Layer.provideMerge(store.layer))
  const tables = Effect.flatMap(Database, ({ read }) =>
    Effect.map(
      read(
        rows(
          store.name === "sqlite"
            ? sql<{ name: string }>`select name from sqlite_master where type = 'table' and name not like 'sqlite%'`
            : sql<{
                name: string
              }>`select table_name as name from information_schema.tables where table_schema = 'public'`
        )
      ),
      (found) => {
        // Callbacks are looked at where they are.
        const others = new Set(["reorganisation", "every_callback"])
        return found.map(({ name }) => name).filter((name) => !others.has(name) && !name.startsWith("kysely"))
      }
    )
  )

  describe(`projections on ${store.name}`, () => {
    for (const scenario of half("chains", scenarios)) {
      const { chain, hasWallet, mined } = scenario
      it.live(
        `what random blocks of ${chain.blockchain} enter, an undo takes back, and a reprocessing finds as it is`,
        () =>
          Effect.gen(function* () {
            const all = yield* tables
            const context = yield* Effect.context<Database>()
            const chainStore = yield* ChainStore.open(chain, { record: "all", undoDepth: 50 })
            const node = mined()
            yield* commit(chainStore, [node.tip])
            yield* subscribe(scenario)
            if (hasWallet) {
              const wallets = yield* Wallets
              yield* wallets.deriveAndSync(walletOf(chain), 20, alone)
            }
            const changed = new Set<string>()
            const property = fc.asyncProperty(suffix, ({ before, blocks, together }) =>
              Effect.runPromiseWith(context)(
                Effect.gen(function* () {
                  for (const picks of before) yield* commit(chainStore, [node.mine(picks)])
                  const fork = node.tip.height
                  const watched = yield* lastWatched
                  const was = yield* dump(all, watched)
                  const entering = blocks.map(node.mine)
                  for (const some of together ? [entering] : entering.map((block) => [block])) {
                    yield* commit(chainStore, some)
                  }
                  const entered = yield* dump(all, Number.MAX_SAFE_INTEGER)
                  for (const [table, found] of entered) {
                    if (found.join() !== was.get(table)!.join()) changed.add(table)
                  }
                  for (const block of entering) {
                    const again = { callbacks: true, internalFrom: 0, learned: [] }
                    assert.strictEqual(yield* chainStore.reprocess(block, again), 0)
                  }
                  assert.deepStrictEqual(yield* dump(all, Number.MAX_SAFE_INTEGER), entered)
                  yield* chainStore.undo(fork)
                  node.drop(blocks.length)
                  assert.deepStrictEqual(yield* dump(all, watched), was)
                })
              )
            )
            yield* Effect.promise(() => fc.assert(property, { numRuns: 20, endOnFailure: true }))
            // A new record begins only where a wallet comes to be watched further.
            changed.delete("completeness")
            assert.deepStrictEqual([...changed].sort(), [...scenario.tables].sort())
          }).pipe(Effect.scoped, Effect.provide(layer)),
        120_000
      )
    }

    /** A projection that notes its calls, and fails at a height, if told to. */
    const noting =
      (name: string, calls: Array<string>, resolved: Array<ResolvedBlock>, fault: { height?: number }): Make =>
      ({ id }) => {
        const note = (call: string, { height }: Pick<Block, "height">) =>
          Effect.sync(() => {
            calls.push(`${name} ${call} ${height}`)
          })
        return Effect.succeed({
          apply: {
            resolve: (block, { continues }) => Effect.as(note(continues ? "goes on with" : "resolves", block), block),
            match: (block) => note("matches", block),
            record: Effect.fnUntraced(function* (block, { afterwards, insert }) {
              yield* note("records", block)
              resolved.push(block)
              afterwards(note("has", block))
              const address = bytes(20, block.height, name.length)
              insert("pruned_internal", [{ chain: id, address, received: "1", spent: "1" }])
              if (fault.height === block.height) return yield* new DatabaseError({ cause: "told to" })
            })
          },
          undo: ({ fork }) => note("undoes to", { height: fork }),
          reprocess: { match: (block) => note("matches again", block) },
          prune: (below) => note("prunes", { height: below })
        })
      }

    it.live("one that only the list names is called with every block, stage by stage", () =>
      Effect.gen(function* () {
        const { read } = yield* Database
        const calls: Array<string> = []
        const resolved: Array<ResolvedBlock> = []
        const fault: { height?: number } = {}
        const options = { record: "all", undoDepth: 50 } as const
        const chainStore = yield* ChainStore.open(litecoin, {
          ...options,
          projections: [
            noting("one", calls, [], fault),
            ...Projections.of(litecoin),
            noting("other", calls, resolved, fault)
          ]
        })
        const node = new UtxoChain(litecoin)
        const paying = node.mine([{ spends: [], pays: [{ to: address(1), amount: 7n }] }])
        const spending = node.mine([{ spends: [node.coins[0]!.outpoint], pays: [] }])

        fault.height = 2
        assert.strictEqual((yield* Effect.flip(chainStore.commit(node.blocks)))._tag, "DatabaseError")
        assert.isUndefined(yield* chainStore.cursor)
        assert.notMatch(calls.splice(0).join(), /has/)
        delete fault.height
        resolved.length = 0

        yield* chainStore.commit(node.blocks)
        const both = (call: string) => [`one ${call}`, `other ${call}`]
        assert.deepStrictEqual(calls.splice(0), [
          ...["resolves 0", "matches 0", "records 0", "prunes -50"].flatMap(both),
          ...["goes on with 1", "matches 1", "records 1"].flatMap(both),
          ...["goes on with 2", "matches 2", "records 2"].flatMap(both),
          ...["has 0", "has 1", "has 2"].flatMap(both)
        ])
        assert.lengthOf(yield* read((db) => db.selectFrom("pruned_internal").selectAll()), 6)
        const found = resolved.at(-1)!
        assert.deepStrictEqual(
          found.transfers.map(({ amount, from }) => [from, amount]),
          [[address(1), 7n]]
        )
        assert.deepStrictEqual(
          found.taken.map(({ height }) => height),
          [paying.height]
        )

        // Nobody else has changed the chain, then somebody has.
        yield* chainStore.commit([node.mine([])])
        assert.include(calls.splice(0), "other goes on with 3")
        const subscriptions = yield* Subscriptions
        yield* subscriptions.create({
          ...{ account: yield* Seed.account, chain: litecoin, event: "BLOCK_MINED", address: undefined },
          ...{ callbackUrl: "https://example.com", secret: undefined, confirmations: 1, allowDuplicates: false }
        })
        yield* chainStore.commit([node.mine([])])
        assert.include(calls.splice(0), "other resolves 4")

        yield* chainStore.reprocess(spending, { callbacks: true, internalFrom: 0 })
        yield* chainStore.undo(1)
        assert.deepStrictEqual(calls.splice(0), ["matches again 2", "undoes to 1"].flatMap(both))
      }).pipe(Effect.scoped, Effect.provide(layer))
    )
  })
}
