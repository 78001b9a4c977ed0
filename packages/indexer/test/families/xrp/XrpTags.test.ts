/**
 * Who hears of which coins on the XRP Ledger, against a plain model: random ledgers of payments, escrows and trades,
 * with and without tags, and subscriptions on accounts and on single tags of theirs.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as ChainReader from "@headwater/indexer/store/chain/ChainReader"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { classicAddressToXAddress } from "xrpl"
import { takenStores } from "../../../../../test/Stores.ts"
import * as Ledger from "../../../src/families/xrp/internal/Ledger.ts"
import { account, bytesOf, chainOf, mainnet } from "./XrpLedgers.ts"
import type { Json } from "./XrpServer.ts"

const runs = Number(process.env.HEADWATER_PROPERTY_RUNS ?? 30)
const seed = Number(process.env.HEADWATER_SEED ?? Math.floor(Math.random() * 2 ** 31))

const accounts = 3
const tags = [undefined, 0, 1, 2 ** 32 - 1] as const

interface Tags {
  readonly sourceTag: number | undefined
  readonly destinationTag: number | undefined
}
type Happening = Tags & {
  readonly kind: "Payment" | "EscrowFinish" | "EscrowCancel" | "OfferCreate"
  /** Who sends the transaction, who owns the coins, and who is to have them. */
  readonly by: number
  readonly owner: number
  readonly destination: number
  readonly drops: number
}

/** What an account is told: its own tag, and the tags that the callback shows. */
interface Told {
  readonly account: number
  readonly direction: "incoming" | "outgoing"
  readonly drops: number
  readonly own: number | undefined
  readonly shown: Partial<Tags>
}

const happening: fc.Arbitrary<Happening> = fc
  .record({
    kind: fc.constantFrom("Payment", "EscrowFinish", "EscrowCancel", "OfferCreate"),
    by: fc.nat(accounts - 1),
    owner: fc.nat(accounts - 1),
    destination: fc.nat(accounts - 1),
    sourceTag: fc.constantFrom(...tags),
    destinationTag: fc.constantFrom(...tags),
    drops: fc.integer({ min: 1, max: 1_000_000 })
  })
  .filter(({ destination, owner }) => owner !== destination)

const toldBy = ({ destination, destinationTag, drops, kind, owner, sourceTag }: Happening): ReadonlyArray<Told> => {
  const shown = { sourceTag, destinationTag }
  switch (kind) {
    case "Payment":
      return [
        { account: owner, direction: "outgoing", drops, own: sourceTag, shown },
        { account: destination, direction: "incoming", drops, own: destinationTag, shown }
      ]
    case "EscrowFinish":
      return [{ account: destination, direction: "incoming", drops, own: destinationTag, shown }]
    case "EscrowCancel":
      return [{ account: owner, direction: "incoming", drops, own: sourceTag, shown: { sourceTag } }]
    case "OfferCreate":
      return [
        { account: owner, direction: "incoming", drops, own: sourceTag, shown: { sourceTag } },
        { account: destination, direction: "outgoing", drops, own: undefined, shown: {} }
      ]
  }
}

const tagFields = ({ destinationTag, sourceTag }: Tags) => ({
  ...(sourceTag === undefined ? {} : { SourceTag: sourceTag }),
  ...(destinationTag === undefined ? {} : { DestinationTag: destinationTag })
})

/** The transaction as a server shows it. The sender of an escrow's end has a tag of its own, which is nobody's business. */
const transaction = (what: Happening, index: number): Json => {
  const { by, destination, drops, kind, owner } = what
  const isEscrow = kind === "EscrowFinish" || kind === "EscrowCancel"
  const sender = isEscrow ? by : owner
  const changes = new Map([[sender, -12]])
  for (const { account, direction, drops } of toldBy(what)) {
    changes.set(account, (changes.get(account) ?? 0) + (direction === "incoming" ? drops : -drops))
  }
  const roots = [...changes].map(([number, by]) => ({
    ModifiedNode: {
      LedgerEntryType: "AccountRoot",
      FinalFields: { Account: account(number), Balance: String(10 ** 12 + by) },
      PreviousFields: { Balance: String(10 ** 12) }
    }
  }))
  const fields = { Account: account(owner), Destination: account(destination), ...tagFields(what) }
  const escrow = { DeletedNode: { LedgerEntryType: "Escrow", FinalFields: fields } }
  return {
    ...(kind === "Payment" ? { Amount: String(drops), Destination: account(destination) } : {}),
    ...(isEscrow ? { SourceTag: 77 } : tagFields(what)),
    Account: account(sender),
    Fee: "12",
    TransactionType: kind,
    hash: index.toString(16).toUpperCase().padStart(64, "0"),
    metaData: {
      AffectedNodes: [...roots, ...(isEscrow ? [escrow] : [])],
      TransactionIndex: index,
      TransactionResult: "tesSUCCESS",
      ...(kind === "Payment" ? { delivered_amount: String(drops) } : {})
    }
  }
}

const height = 90_000_000
const header = chainOf(height, 1, () => [{ from: 0, to: 1, drops: 1n }])[0]!

const blockOf = (happenings: ReadonlyArray<Happening>) => {
  const ledger = { ...header, transactions: happenings.map(transaction) }
  const read = Result.getOrThrow(TimeSlice.atOnce(Ledger.decode({ ledger, validated: true })))!
  const block = TimeSlice.atOnce(Ledger.toBlock(mainnet, read))
  assert.isUndefined(block.notUnderstood)
  return block
}

/** The text of an account, or of one of its tags, by another's encoder. */
const textOf = (number: number, tag: number | undefined) =>
  tag === undefined ? account(number) : classicAddressToXAddress(account(number), tag, false)

/** `HEADWATER_SEED` repeats a run. */
for (const store of takenStores(import.meta.url)) {
  describe(`Tags of XRP on ${store.name}`, () => {
    const layer = Subscriptions.layer.pipe(Layer.provideMerge(store.layer))

    const subscribe = Effect.fnUntraced(function* (address: string) {
      const { create } = yield* Subscriptions
      return yield* create({
        ...{ account: 1, chain: mainnet, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", secret: undefined },
        address: Result.getOrThrow(Address.decodeWithTag(mainnet, address)),
        ...{ callbackUrl: "https://receiver.test/", confirmations: 1, allowDuplicates: false }
      })
    })
    const sent = Effect.gen(function* () {
      const { read } = yield* Database
      const rows = yield* read((db) => db.selectFrom("callback").select("body").orderBy("id"))
      return rows.map(({ body }) => JSON.parse(body).data.item)
    })

    it.live(
      `each subscription hears its own tag alone, or all of its account (${runs} runs, seed ${seed})`,
      () =>
        Effect.gen(function* () {
          const context = yield* Effect.context<Database | Subscriptions>()
          const property = fc.asyncProperty(
            fc.array(happening, { minLength: 1, maxLength: 8 }),
            fc.subarray(Array.from({ length: accounts * tags.length }, (_, n) => n)),
            (happenings, watched) =>
              Effect.gen(function* () {
                const { query } = yield* Database
                const tables = ["chain", "block", "subscription", "subscription_count", "callback"] as const
                for (const table of tables) yield* query((db) => db.deleteFrom(table))
                const wanted = watched.map((n) => [n % accounts, tags[Math.floor(n / accounts)]] as const)
                for (const [number, tag] of wanted) yield* subscribe(textOf(number, tag))
                const store = yield* ChainStore.open(mainnet, { record: "watched", undoDepth: 1 })
                yield* store.commit([blockOf(happenings)])
                const expected = wanted.flatMap(([number, tag]) =>
                  happenings.flatMap((what, index) =>
                    toldBy(what)
                      .filter(({ account, own }) => account === number && (tag === undefined || own === tag))
                      .map(({ direction, drops, shown }) => ({
                        address: textOf(number, tag),
                        transactionId: index.toString(16).toUpperCase().padStart(64, "0"),
                        amount: Number(drops),
                        direction,
                        transactionType: what.kind,
                        ...JSON.parse(JSON.stringify(shown))
                      }))
                  )
                )
                const found = (yield* sent).map(
                  ({ blockchain: _, minedInBlock: __, network: ___, unit: ____, ...item }) => ({
                    ...item,
                    amount: Math.round(Number(item.amount) * 1e6)
                  })
                )
                const lines = (items: ReadonlyArray<object>) =>
                  items.map((item) => JSON.stringify(Object.entries(item).toSorted())).toSorted()
                assert.deepStrictEqual(lines(found), lines(expected))
              }).pipe(Effect.scoped, Effect.runPromiseWith(context))
          )
          yield* Effect.promise(() => fc.assert(property, { numRuns: runs, seed }))
        }).pipe(Effect.provide(layer)),
      { timeout: 600_000 }
    )

    it.live("two tags of an account are two subscriptions, and a tag alone is enough for the record", () =>
      Effect.gen(function* () {
        const store = yield* ChainStore.open(mainnet, { record: "watched", undoDepth: 1 })
        yield* subscribe(textOf(1, 1))
        yield* subscribe(textOf(1, 2))
        const duplicate = yield* Effect.flip(subscribe(textOf(1, 2)))
        assert.strictEqual(duplicate._tag, "DuplicateSubscription")
        const payment = { kind: "Payment", by: 0, owner: 0, destination: 1, sourceTag: undefined } as const
        yield* store.commit([
          blockOf([
            { ...payment, destinationTag: 1, drops: 5 },
            { ...payment, destinationTag: 3, drops: 6 },
            { ...payment, destinationTag: undefined, drops: 7 }
          ])
        ])
        assert.deepStrictEqual(
          (yield* sent).map(({ address, amount, destinationTag }) => [address, amount, destinationTag]),
          [[textOf(1, 1), "0.000005", 1]]
        )
        const reader = yield* ChainReader.make(mainnet)
        const { transfers } = yield* reader.page("coin", bytesOf(1), { order: "ascending", limit: 10 })
        assert.deepStrictEqual(
          transfers.map(({ transfer }) => transfer.amount),
          [5n]
        )
      }).pipe(Effect.scoped, Effect.provide(layer))
    )
  })
}
