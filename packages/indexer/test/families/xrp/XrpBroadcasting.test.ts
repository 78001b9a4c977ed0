/** What a server knows of a transaction that it no longer has, or never had. */
import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import { NodeRejected } from "@headwater/indexer/families/node/NodeError"
import * as XrpBroadcasting from "@headwater/indexer/families/xrp/Broadcasting"
import type { XrpClient } from "@headwater/indexer/families/xrp/XrpNode"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { encode, encodeForSigning } from "ripple-binary-codec"
import { deriveAddress, deriveKeypair, generateSeed, sign } from "ripple-keypairs"

const chain = Chain.ofName("xrp/mainnet")!
const keys = deriveKeypair(generateSeed())
const signed = (lastLedger: number | undefined) => {
  const account = deriveAddress(keys.publicKey)
  const json = {
    ...{
      TransactionType: "Payment",
      Account: account,
      Destination: "rrrrrrrrrrrrrrrrrrrrBZbvji",
      Amount: "5",
      Fee: "12"
    },
    ...{ Sequence: 7, SigningPubKey: keys.publicKey },
    ...(lastLedger === undefined ? {} : { LastLedgerSequence: lastLedger })
  }
  return Buffer.from(encode({ ...json, TxnSignature: sign(encodeForSigning(json), keys.privateKey) }), "hex")
}

/** Servers without the transaction, whose newest ledger is 2,000, by the ledgers that each has. */
const standingAt = (complete: string | undefined, sequence: number, lastLedger?: number, ...more: Array<string>) => {
  const serverWith = (complete: string | undefined): XrpClient => ({
    name: "server",
    request: (command) => {
      if (command === "account_info") {
        return Effect.succeed({ account_data: { Sequence: sequence }, ledger_index: 2_000 })
      }
      if (command === "server_info") {
        return Effect.succeed({ info: complete === undefined ? {} : { complete_ledgers: complete } })
      }
      const message = "txnNotFound"
      return Effect.fail(new NodeRejected({ node: "server", method: command, code: 0, message }))
    },
    requestLedger: () => Effect.die(new Error("no ledger is asked for"))
  })
  const each = [complete, ...more].map(serverWith)
  const { standing } = XrpBroadcasting.make(chain, { ...each[0], each } as never, { maximumFee: 100 })
  return Effect.map(standing(signed(lastLedger), 1_000), ({ state }) => state)
}

describe("a transaction of the XRP Ledger that one account makes for another (XLS-75)", () => {
  it.effect("is signed by the key of the one that makes it, who also pays its fee", () =>
    Effect.gen(function* () {
      const delegate = deriveAddress(keys.publicKey)
      const owner = deriveAddress(deriveKeypair(generateSeed()).publicKey)
      const json = {
        ...{ TransactionType: "Payment", Account: owner, Destination: "rrrrrrrrrrrrrrrrrrrrBZbvji", Amount: "5" },
        ...{ Fee: "12", Sequence: 7, SigningPubKey: keys.publicKey }
      }
      const raw = (more: object) => {
        const whole = { ...json, ...more }
        return Buffer.from(encode({ ...whole, TxnSignature: sign(encodeForSigning(whole), keys.privateKey) }), "hex")
      }
      const checked = (more: object, balances: Readonly<Record<string, string>>) => {
        const request: XrpClient["request"] = (command, params) => {
          if (command === "fee")
            return Effect.succeed({
              drops: { base_fee: "10", minimum_fee: "10", open_ledger_fee: "10" }
            })
          const account = String(params?.account)
          const data = { Account: account, Balance: balances[account], Flags: 0, OwnerCount: 0, Sequence: 7 }
          const ledger = { reserve_base_xrp: 1, reserve_inc_xrp: 0.2, seq: 2_000 }
          return Effect.succeed(
            command === "account_info" ? { account_data: data } : { info: { validated_ledger: ledger } }
          )
        }
        const { check } = XrpBroadcasting.make(chain, { name: "server", request } as never, { maximumFee: 100 })
        return Effect.result(check(raw(more)))
      }
      const refusalOf = (...asked: Parameters<typeof checked>) =>
        Effect.map(checked(...asked), (result) => (Result.isFailure(result) ? result.failure.message : undefined))
      const balances = { [owner]: "1", [delegate]: "1000" }
      assert.isUndefined(yield* refusalOf({ Delegate: delegate }, balances))
      assert.match((yield* refusalOf({}, balances))!, /^its key may not sign for its Account/)
      const other = { Delegate: deriveAddress(deriveKeypair(generateSeed()).publicKey) }
      assert.match((yield* refusalOf(other, { ...balances, [other.Delegate]: "9" }))!, /may not sign for its Delegate/)
      assert.match(
        (yield* refusalOf({ Delegate: delegate }, { ...balances, [delegate]: "9" }))!,
        /^its payer has 9 drops/
      )
      const sponsored = { Delegate: delegate, Sponsor: owner, SponsorFlags: 1 }
      assert.isUndefined(yield* refusalOf(sponsored, { ...balances, [delegate]: "9" }))
      // A sponsor of the reserve alone pays no fee.
      const ofReserve = { ...sponsored, SponsorFlags: 2 }
      assert.match((yield* refusalOf(ofReserve, { ...balances, [delegate]: "9" }))!, /^its payer has 9 drops/)
      const signer = { Signer: { Account: owner, SigningPubKey: keys.publicKey, TxnSignature: "00" } }
      const cosigned = (signers: number) => ({
        ...{ ...sponsored, Fee: "3000", SponsorSignature: { SigningPubKey: "", Signers: Array(signers).fill(signer) } }
      })
      assert.match((yield* refusalOf(cosigned(1), balances))!, /^the fee must be at most/)
      assert.isUndefined(yield* refusalOf(cosigned(2), balances))
    })
  )
})

describe("the most that a transaction takes of its account", () => {
  it.effect("is what the type spends, and the fee where the account pays it", () =>
    Effect.gen(function* () {
      const account = deriveAddress(keys.publicKey)
      const other = deriveAddress(deriveKeypair(generateSeed()).publicKey)
      const { numberOf } = XrpBroadcasting.make(chain, { request: () => Effect.never } as never, { maximumFee: 100 })
      const costOf = (more: object) => {
        const json = { Account: account, Fee: "12", Sequence: 7, SigningPubKey: keys.publicKey, ...more }
        const whole = { ...json, TxnSignature: sign(encodeForSigning(json), keys.privateKey) }
        return Effect.map(numberOf!(Buffer.from(encode(whole), "hex")), (numbered) => numbered?.cost)
      }
      const token = { currency: "USD", issuer: other, value: "5" }
      const payment = { TransactionType: "Payment", Destination: other, Amount: "5000000" }
      const offer = { TransactionType: "OfferCreate", TakerGets: "7", TakerPays: token }
      for (const [cost, json] of [
        [5_000_012n, payment],
        [6_000_012n, { ...payment, Amount: token, SendMax: "6000000" }],
        [12n, { ...payment, SendMax: token }],
        [5_000_000n, { ...payment, Account: other, Delegate: account }],
        [19n, offer],
        [12n, { ...offer, TakerGets: token, TakerPays: "7" }],
        [21n, { TransactionType: "EscrowCreate", Destination: other, Amount: "9", FinishAfter: 1 }],
        [12n, { TransactionType: "CheckCreate", Destination: other, SendMax: "9" }],
        [undefined, { ...payment, Sequence: 0, TicketSequence: 4 }]
      ] as const) {
        assert.strictEqual(yield* costOf(json), cost, JSON.stringify(json))
      }
    })
  )
})

describe("a transaction of the XRP Ledger that a server does not have", () => {
  it.effect("is replaced, or too late, where the server has all ledgers that may have it", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* standingAt("900-2000", 8), "replaced")
      assert.strictEqual(yield* standingAt("32570-999,1000-2000", 8), "replaced")
      assert.strictEqual(yield* standingAt("900-1020,1900-2000", 8, 1_020), "replaced")
      assert.strictEqual(yield* standingAt("900-2000", 7, 1_020), "dropped")
      // Its ledger may be one that the server lacks, or has removed meanwhile.
      for (const complete of ["1001-2000", "900-1500,1502-2000", "900-1999", "empty", undefined]) {
        assert.strictEqual(yield* standingAt(complete, 8), "absent", complete)
      }
      assert.strictEqual(yield* standingAt("1010-2000", 7, 1_020), "absent")
      assert.strictEqual(yield* standingAt("1010-2000", 8, 1_020), "absent")
      // Another one has them.
      assert.strictEqual(yield* standingAt("1010-2000", 8, 1_020, "900-2000"), "replaced")
      assert.strictEqual(yield* standingAt("900-2000", 7, 1_020, "empty"), "dropped")
    })
  )
})

describe("a transaction of the XRP Ledger that is looked for by its id", () => {
  it.effect("is not said to be in no ledger by a server that has not come to the ledger", () =>
    Effect.gen(function* () {
      let newest = 99
      const server: XrpClient = {
        name: "server",
        request: (method) =>
          Effect.fail(new NodeRejected({ node: "server", method, code: 29, message: "txnNotFound" })),
        requestLedger: () =>
          Effect.sync(() => ({ ledger_index: newest, ledger_hash: "AB".repeat(32), validated: true }))
      }
      const { find } = XrpBroadcasting.make(chain, { ...server, each: [server] } as never, { maximumFee: 100 })
      const found = () => Effect.result(find(new Uint8Array(32).fill(1), 100))
      assert.include(String(yield* found()), "has not come to ledger 100")
      newest = 100
      assert.deepStrictEqual(yield* found(), Result.succeed({ state: "absent" as const }))
    })
  )
})
