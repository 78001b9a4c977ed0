/**
 * Wallets of several accounts that have the same addresses, and come and go between the commits of two followers of a chain: what
 * a follower keeps at hand from one commit to the next must never be of a wallet or of a block that is no longer there.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import { keyOf as coinKey } from "@headwater/core/utxo/Coin"
import * as AccountRemoval from "@headwater/indexer/store/accounts/AccountRemoval"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as Projections from "@headwater/indexer/store/chain/projections"
import type { Make } from "@headwater/indexer/store/chain/Projection"
import { Database, DatabaseError } from "@headwater/indexer/store/database/Database"
import { rows } from "@headwater/indexer/store/database/Statements"
import * as WalletBranches from "@headwater/indexer/store/wallets/WalletBranches"
import { keyOf } from "@headwater/indexer/store/wallets/WalletKey"
import { type InTransaction, Wallets } from "@headwater/indexer/store/wallets/Wallets"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { sql } from "kysely"
import { takenStores } from "../../../../../test/Stores.ts"
import { type Payment, UtxoChain } from "../../families/utxo/UtxoChain.ts"

const chain = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
const gapLimit = 20
const alone: InTransaction<never, never> = (change) => change
/** BIP-32's first test vector. */
const text =
  "xpub6ASuArnXKPbfEwhqN6e3mwBcDTgzisQN1wXN9BJcM47sSikHjJf3UFHKkNAWbWMiGj7Wf5uMash7SyYq527Hqck2AxYysAA7xmALppuCkwQ"
const walletKey = (account: number) => Result.getOrThrow(keyOf(account, chain, text, "account"))

const branches = WalletBranches.of(chain, { ...walletKey(1), public_key: walletKey(1).publicKey }).map((branch) =>
  WalletBranches.derive(branch, 0, 399).map(({ bytes }) => bytes)
)
const stranger = Address.fromBytes(Uint8Array.of(0x51))

const pick = fc.nat(1_000_000)
/** Which of two followers. */
const who = fc.integer({ min: 0, max: 5 }).map((number) => (number === 0 ? 1 : 0))
const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      ...{ kind: fc.constant("commit" as const), who, fails: fc.nat(5).map((number) => number === 0) },
      ...{ endsEarly: fc.nat(4).map((number) => number === 0), again: who },
      blocks: fc.array(fc.array(pick, { maxLength: 5 }), { minLength: 1, maxLength: 4 })
    })
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("undo" as const), who, depth: fc.integer({ min: 1, max: 5 }) })
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("sync" as const), which: fc.nat(2), branch: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("remove" as const), which: fc.nat(2) }) }
)

/** Wallets with their balance as it is stored, and as their addresses have it in the UTXO set. */
const balances = Effect.flatMap(Database, ({ read }) =>
  read(
    rows(sql<{ readonly id: number; readonly balance: string; readonly counted: string }>`
      select w.id, w.balance, coalesce((
        select cast(sum(cast(o.amount as bigint)) as text)
        from wallet_address a join unspent_output o on o.chain = a.chain and o.script = a.address
        where a.wallet = w.id
      ), '0') as counted
      from wallet w order by w.id`)
  )
)

for (const store of takenStores(import.meta.url)) {
  describe(`Wallets with the same addresses on ${store.name}`, () => {
    for (const record of ["watched", "all"] as const) {
      it.live(`have the balances of their coins, whoever comes, goes and commits (${record})`, () =>
        Effect.gen(function* () {
          const context = yield* Effect.context<Database>()
          let account = 0
          const property = fc.asyncProperty(fc.array(action, { minLength: 4, maxLength: 25 }), (actions) =>
            Effect.gen(function* () {
              const { query } = yield* Database
              for (const table of ["chain", "block", "unspent_output", "spent_output"] as const)
                yield* query((db) => db.deleteFrom(table))
              for (const table of ["wallet", "wallet_address", "completeness"] as const)
                yield* query((db) => db.deleteFrom(table))
              const wallets = yield* Wallets
              const accounts = [++account, ++account, ++account]
              const node = new UtxoChain(chain)
              let fault = 0
              const failing: Make = () =>
                Effect.succeed({
                  apply: {
                    record: () =>
                      Effect.suspend(() =>
                        --fault === 0 ? Effect.fail(new DatabaseError({ cause: "told to" })) : Effect.void
                      )
                  },
                  undo: () => Effect.void,
                  reprocess: {}
                })
              const options = { record, undoDepth: 100, gapLimit, projections: [...Projections.of(chain), failing] }
              const followers = [yield* ChainStore.open(chain, options), yield* ChainStore.open(chain, options)]
              yield* followers[0]!.commit(node.blocks)
              /** The furthest address of each branch that was paid. */
              const ends = [0, 0]
              const mine = (picks: ReadonlyArray<number>) => {
                const free = [...node.coins]
                return node.mine(
                  picks.map((small): Payment => {
                    const pick = Math.imul(small + 1, 0x9e3779b1) >>> 1
                    const number = pick % 2
                    const index =
                      (pick >> 3) % 4 === 0 ? Math.min(399, ends[number]! + ((pick >> 6) % 30)) : (pick >> 6) % 12
                    ends[number] = Math.max(ends[number]!, index)
                    const [coin] = (pick >> 2) % 3 > 0 && free.length > 0 ? free.splice(pick % free.length, 1) : []
                    return {
                      spends: coin === undefined ? [] : [coin.outpoint],
                      pays: [
                        { to: branches[number]![index]!, amount: BigInt(1 + (pick % 1000)) },
                        { to: stranger, amount: 1n }
                      ]
                    }
                  })
                )
              }
              for (const key of accounts.slice(0, 2)) yield* wallets.deriveAndSync(walletKey(key), gapLimit, alone)
              for (const one of actions) {
                switch (one.kind) {
                  case "commit": {
                    const mined = one.blocks.map(mine)
                    const follower = followers[one.who]!
                    const again = followers[one.again]!
                    if (one.fails) {
                      fault = mined.length
                      assert.isTrue(Result.isFailure(yield* Effect.result(follower.commit(mined))))
                    }
                    const early = mined.length - 1
                    if (one.endsEarly && early > 0) {
                      const foreign = { ...mined[early]!, parent: new Uint8Array(32).fill(7) }
                      const { blocks } = yield* follower.commit([...mined.slice(0, early), foreign])
                      assert.strictEqual(blocks, early)
                      yield* again.commit(mined.slice(early))
                    } else yield* (one.fails ? again : follower).commit(mined)
                    break
                  }
                  case "undo": {
                    const fork = Math.max(0, node.tip.height - one.depth)
                    yield* followers[one.who]!.undo(fork)
                    node.drop(one.depth)
                    break
                  }
                  case "sync": {
                    const key = walletKey(accounts[one.which]!)
                    yield* Effect.result(wallets.deriveAndSync(key, gapLimit, alone, one.branch))
                    break
                  }
                  case "remove":
                    yield* AccountRemoval.remove(accounts[one.which]!)
                    accounts[one.which] = ++account
                }
                for (const { balance, counted, id } of yield* balances)
                  assert.strictEqual(balance, counted, `wallet ${id}`)
                const found = yield* query((db) => db.selectFrom("unspent_output").selectAll())
                const left = new Map(node.coins.map((coin) => [coinKey(coin.outpoint), coin]))
                for (const row of found) {
                  const coin = left.get(coinKey({ transactionId: row.transaction_id, index: row.output_index }))
                  assert.strictEqual(row.amount, coin?.amount.toString())
                  assert.isTrue(Bytes.equal(row.script, coin!.script))
                }
                if (record === "all") assert.lengthOf(found, node.coins.length)
              }
            }).pipe(Effect.provide(Wallets.layer), Effect.scoped, Effect.provideContext(context), Effect.runPromise)
          )
          yield* Effect.promise(() =>
            fc.assert(property, { numRuns: Number(process.env.HEADWATER_PROPERTY_RUNS ?? 3), endOnFailure: true })
          )
        }).pipe(Effect.provide(store.layer), Effect.scoped)
      )
    }
  })
}
