/** Fees, reserves and sequences in the forms in which rippled and clio answer, and in those in which nobody should. */
import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import { outbidding } from "@headwater/indexer/families/xrp/OpenLedger"
import * as XrpSource from "@headwater/indexer/families/xrp/XrpSource"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { account, chainOf, mainnet } from "./XrpLedgers.ts"
import * as XrpServer from "./XrpServer.ts"

const ledgers = chainOf(90_000_000, 1, () => [])
const holder = account(1)
const address = Result.getOrThrow(Address.decode(mainnet, holder))

/** Answers as rippled gives them (`fee`, `server_info`, `account_info` of its documentation). */
const fee = {
  current_ledger_size: "14",
  current_queue_size: "0",
  drops: { base_fee: "10", median_fee: "5000", minimum_fee: "10", open_ledger_fee: "2653937" },
  expected_ledger_size: "24",
  ledger_current_index: 26_575_101,
  levels: { median_level: "128000", minimum_level: "256", open_ledger_level: "67940792", reference_level: "256" },
  max_queue_size: "480",
  status: "success"
}
const info = {
  info: {
    build_version: "2.6.1",
    complete_ledgers: "90000000-90000000",
    validated_ledger: {
      ...{ age: 3, base_fee_xrp: 0.00001, hash: "AB".repeat(32), reserve_base_xrp: 1, reserve_inc_xrp: 0.2 },
      seq: 90_000_000
    }
  },
  status: "success"
}
const accountInfo = (data: object, queue: object = {}) => ({
  account_data: {
    ...{ Account: holder, Balance: "999999999960", Flags: 8_388_608, LedgerEntryType: "AccountRoot" },
    ...{ OwnerCount: 3, Sequence: 6, index: "13F1A95D7AAB7108D5CE7EEAF504B2894B8C674E6D68499076441C4837282BF8" },
    ...data
  },
  ledger_current_index: 4,
  ...queue,
  status: "success",
  validated: false
})

const opened = (answers: Readonly<Record<string, XrpServer.Json>>) =>
  Effect.gen(function* () {
    const server = yield* XrpServer.make({ ledgers })
    const { openLedger } = yield* XrpSource.make(mainnet, { urls: [server.wsUrl], attempts: 1 })
    server.override = (command) => answers[command]
    return { openLedger, server }
  })

describe("OpenLedger", () => {
  it.live("reads fees and reserves in drops", () =>
    Effect.gen(function* () {
      const { openLedger } = yield* opened({ fee, server_info: info })
      assert.deepStrictEqual(yield* openLedger.fees, { base: 10n, minimum: 10n, openLedger: 2_653_937n })
      assert.deepStrictEqual(yield* openLedger.reserves, { base: 1_000_000n, increment: 200_000n })
      assert.strictEqual(yield* openLedger.validated, 90_000_000)
    }).pipe(Effect.scoped)
  )

  it.live("counts what waits in the queue, and knows the flags of an account", () =>
    Effect.gen(function* () {
      const { openLedger, server } = yield* opened({ account_info: accountInfo({}) })
      assert.deepStrictEqual(yield* openLedger.account(address), {
        ...{ balance: 999_999_999_960n, sequence: 6, openSequence: 6, owned: 3, accounts: 1, requiresTag: false },
        ...{ isPseudo: false, queued: 0n, inQueue: [] },
        refusesCoins: false,
        ...{ masterDisabled: false, regularKey: undefined, requiresAuthorisation: false }
      })
      const asked = server.commands.find(({ command }) => command === "account_info")
      assert.deepInclude(asked, { account: holder, ledger_index: "current", queue: true })
      const queue = {
        queue_data: { auth_change_queued: false, highest_sequence: 10, lowest_sequence: 6, txn_count: 5 }
      }
      server.override = () => accountInfo({ Flags: 0x000a_0000 }, queue)
      assert.deepInclude(yield* openLedger.account(address), {
        ...{ sequence: 11, openSequence: 6, requiresTag: true, refusesCoins: true, balance: 999_999_999_960n }
      })
      const spending = { queue_data: { ...queue.queue_data, max_spend_drops_total: "999999999900" } }
      server.override = () => accountInfo({}, spending)
      assert.deepInclude(yield* openLedger.account(address), { balance: 999_999_999_960n, queued: 999_999_999_900n })
      const transactions = [
        { auth_change: false, fee: "12", fee_level: "307", LastLedgerSequence: 9, max_spend_drops: "1000012", seq: 6 },
        { auth_change: false, fee: "10", fee_level: "256", max_spend_drops: "10", ticket: 3 }
      ]
      server.override = () => accountInfo({}, { queue_data: { ...queue.queue_data, transactions } })
      assert.deepInclude(yield* openLedger.account(address), {
        inQueue: [{ sequence: 6, feeLevel: 307n, spend: 1_000_012n }]
      })
      // Behind a gap of the queue servers take nothing.
      const queuedAt = (seq: number) => ({
        auth_change: false,
        fee: "12",
        fee_level: "307",
        max_spend_drops: "12",
        seq
      })
      for (const [seqs, sequence] of [
        [[6, 7], 8],
        [[7, 8], 6],
        [[6, 8, 9], 7],
        [[4, 5], 6]
      ] as const) {
        server.override = () =>
          accountInfo({}, { queue_data: { ...queue.queue_data, transactions: seqs.map(queuedAt) } })
        assert.deepInclude(yield* openLedger.account(address), { sequence })
      }
      for (const name of ["AMMID", "VaultID", "LoanBrokerID"]) {
        server.override = () => accountInfo({ [name]: "AB".repeat(32) })
        assert.deepInclude(yield* openLedger.account(address), { isPseudo: true })
      }
      // What sponsors reserve for it, and what it reserves for others (XLS-68).
      const sponsoring = { SponsoringAccountCount: 2, SponsoringOwnerCount: 4 }
      server.override = () => accountInfo(sponsoring)
      assert.deepInclude(yield* openLedger.account(address), { owned: 7, accounts: 3 })
      server.override = () => accountInfo({ ...sponsoring, Sponsor: account(2), SponsoredOwnerCount: 1 })
      assert.deepInclude(yield* openLedger.account(address), { owned: 6, accounts: 2 })
      // An empty queue has no sequences.
      server.override = () => accountInfo({}, { queue_data: { txn_count: 0 } })
      assert.deepInclude(yield* openLedger.account(address), { sequence: 6 })
    }).pipe(Effect.scoped)
  )

  it("outbids a queued transaction by more than a quarter of its level, as rippled wants it", () => {
    const level = (drops: bigint, base: bigint) => (drops * 256n) / base
    for (const base of [1n, 10n, 12n, 200n, 1_000n]) {
      for (const drops of [base, base + 1n, 2n * base, 5_000n, 2_653_937n]) {
        const feeLevel = level(drops, base)
        const least = outbidding({ sequence: 1, feeLevel, spend: 0n }, { base, minimum: base, openLedger: base })
        assert.isTrue(level(least, base) > (feeLevel * 125n) / 100n)
        assert.isFalse(level(least - 1n, base) > (feeLevel * 125n) / 100n)
      }
    }
  })

  it.live("has no account where the ledger has none, and takes no other account's answer", () =>
    Effect.gen(function* () {
      const { openLedger, server } = yield* opened({ account_info: { error: "actNotFound" } })
      assert.isUndefined(yield* openLedger.account(address))
      for (const data of [{ Account: account(2) }, { Sequence: "6" }, { Balance: "-1" }, { Balance: 5 }]) {
        server.override = () => accountInfo(data)
        assert.strictEqual((yield* Effect.flip(openLedger.account(address)))._tag, "NodeInconsistent")
      }
    }).pipe(Effect.scoped)
  )
})
