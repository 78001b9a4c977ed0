/** Signed transactions of the XRP Ledger, by a server made for tests that checks signature, sequence and expiry with xrpl. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { decode, encode, encodeForSigning } from "ripple-binary-codec"
import { deriveAddress, deriveKeypair, generateSeed, sign } from "ripple-keypairs"
import { hashes, verifySignature } from "xrpl"
import { account, chainOf, sealed } from "../packages/indexer/test/families/xrp/XrpLedgers.ts"
import * as XrpServer from "../packages/indexer/test/families/xrp/XrpServer.ts"
import * as BroadcastClient from "./BroadcastClient.ts"
import * as Headwater from "./Headwater.ts"
import * as Receiver from "./Receiver.ts"
import { locations } from "./Stores.ts"
import { isInTurn } from "./Turn.ts"

const { fail, success } = BroadcastClient
const start = 1_000
const ledgers = sealed(chainOf(start, 60, () => []))
const { location } = locations[0]!

/** What rippled keeps of accounts and transactions, and how it answers. */
const serverWith = (owners: Record<string, number>) =>
  Effect.gen(function* () {
    const server = yield* XrpServer.make({ ledgers, networkId: 0 })
    server.validated = start
    const sequences = { ...owners }
    const waiting = new Map<string, Record<string, unknown>>()
    const validated = new Map<string, { readonly index: number; readonly result: string }>()
    const state = { submitted: 0, dies: "never" as "never" | "before" | "after", result: "tesSUCCESS" }
    const submit = (blob: string) => {
      state.submitted++
      const json = decode(blob) as Record<string, unknown>
      const answer = (engine_result: string) => ({
        engine_result,
        engine_result_message: `${engine_result}.`,
        tx_blob: blob
      })
      if (!verifySignature(blob)) return answer("temBAD_SIGNATURE")
      const id = hashes.hashSignedTx(blob)
      if (waiting.has(id) || validated.has(id)) return answer("tefALREADY")
      if (Number(json.Sequence) < sequences[String(json.Account)]!) return answer("tefPAST_SEQ")
      if (Number(json.LastLedgerSequence) <= server.validated) return answer("tefMAX_LEDGER")
      if (json.Destination === json.Account) return answer("temREDUNDANT")
      waiting.set(id, json)
      return answer(Number(json.Sequence) > sequences[String(json.Account)]! ? "terPRE_SEQ" : "tesSUCCESS")
    }
    server.override = (command, params) => {
      switch (command) {
        case "submit": {
          if (state.dies === "before") return "drop"
          const answer = submit(String(params.tx_blob))
          return state.dies === "after" ? "drop" : answer
        }
        case "tx": {
          const id = String(params.transaction)
          const found = validated.get(id)
          if (found !== undefined) {
            return { validated: true, ledger_index: found.index, meta: { TransactionResult: found.result } }
          }
          return waiting.has(id) ? { validated: false } : { error: "txnNotFound", status: "error" }
        }
        case "fee":
          return { drops: { base_fee: "10", median_fee: "5000", minimum_fee: "10", open_ledger_fee: "10" } }
        case "account_info": {
          const sequence = sequences[String(params.account)]
          if (sequence === undefined) return { error: "actNotFound", status: "error" }
          const data = { Account: params.account, Balance: "100000000", Flags: 0, OwnerCount: 0, Sequence: sequence }
          return { account_data: data, ledger_index: server.validated, validated: true }
        }
        case "server_info": {
          const newest = { reserve_base_xrp: 1, reserve_inc_xrp: 0.2, seq: server.validated }
          return { info: { complete_ledgers: `${start}-${server.validated}`, network_id: 0, validated_ledger: newest } }
        }
        default:
          return undefined
      }
    }
    /** The next ledger, with what waits unless it is to be forgotten. */
    const close = (forgets = false) => {
      const index = server.validated + 1
      for (const [id, { Account, Sequence }] of waiting) {
        waiting.delete(id)
        if (forgets) continue
        validated.set(id, { index, result: state.result })
        sequences[String(Account)] = Number(Sequence) + 1
      }
      server.validated = index
      server.announce(index)
    }
    return { server, state, close, sequences }
  })

describe.skipIf(!isInTurn(import.meta.url))("broadcast on XRP", () => {
  it.live("submits what is signed, once, follows it, and refuses what is wrong", () =>
    Effect.gen(function* () {
      const keys = deriveKeypair(generateSeed())
      const other = deriveKeypair(generateSeed())
      const sender = deriveAddress(keys.publicKey)
      const { close, sequences, server, state } = yield* serverWith({ [sender]: 7 })
      const receiver = yield* Receiver.start()
      const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
        chains: {
          "xrp/mainnet": { nodes: [server.wsUrl], start, pollMillis: 100, timeoutMillis: 1_000, verify: "links" }
        },
        callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca }
      })
      const signed = (own: Record<string, unknown> = {}, by = keys) => {
        const json = {
          ...{ TransactionType: "Payment", Account: sender, Destination: account(2), Amount: "5000000", Fee: "12" },
          ...{ Sequence: sequences[sender]!, LastLedgerSequence: server.validated + 20, SigningPubKey: by.publicKey },
          ...own
        }
        const blob = encode({ ...json, TxnSignature: sign(encodeForSigning(json), by.privateKey) })
        return { hex: blob, id: hashes.hashSignedTx(blob) }
      }
      const { becomes, broadcast, outcomeOf, post, told, until } = yield* BroadcastClient.make(headwater, receiver, {
        place: "xrp/mainnet",
        grow: Effect.sync(() => close(true))
      })

      const first = signed()
      yield* broadcast(first)
      yield* until(first, success)
      Receiver.verify(told(first)[0]!, BroadcastClient.secret)
      yield* broadcast(first)
      assert.strictEqual(state.submitted, 1)
      close()
      const mined = yield* becomes(first, "mined")
      assert.deepStrictEqual(mined.minedInBlock, { hash: ledgers[1]!.ledger_hash, height: start + 1 })

      const claimed = signed()
      state.result = "tecUNFUNDED_PAYMENT"
      yield* broadcast(claimed)
      yield* until(claimed, success)
      close()
      assert.strictEqual((yield* becomes(claimed, "failed")).errorMessage, "tecUNFUNDED_PAYMENT")
      state.result = "tesSUCCESS"

      // The connection ends behind the submission: what was submitted is found, and not submitted again.
      state.dies = "after"
      const unheard = signed()
      yield* broadcast(unheard)
      state.dies = "never"
      close()
      yield* becomes(unheard, "mined")
      yield* until(unheard, success)
      assert.strictEqual(state.submitted, 3)

      const fine = decode(signed().hex)
      const tampered = encode({ ...fine, Amount: "6000000" })
      const cases: ReadonlyArray<readonly [string, number, RegExp]> = [
        ["00", 400, /must be a serialised transaction/],
        [encode({ ...fine, TxnSignature: "" }), 400, /must be signed/],
        [tampered, 400, /must be signed/],
        [signed({ NetworkID: 21337 }).hex, 400, /NetworkID must be absent, and is 21337/],
        [signed({ Fee: "12000" }).hex, 400, /maximumFee/],
        [signed({ Sequence: 7 }).hex, 409, /Sequence must be 10 or above, and is 7/],
        [signed({ LastLedgerSequence: server.validated }).hex, 409, /LastLedgerSequence must be above/],
        [signed({ Account: account(3) }).hex, 409, /not in the ledger/],
        [signed({}, other).hex, 409, /key may not sign/],
        [signed({ Destination: sender }).hex, 409, /the nodes refuse it: temREDUNDANT/]
      ]
      for (const [hex, wanted, rule] of cases) {
        const { body, status } = yield* post(hex)
        assert.deepStrictEqual([status, body.error?.code], [wanted, "invalid_data"], `${rule} ${JSON.stringify(body)}`)
        assert.match(body.error.message, rule)
      }
      assert.strictEqual(state.submitted, 4)

      const replaced = signed()
      const [next, lastLedger] = [sequences[sender]! + 1, server.validated + 2]
      const forgotten = signed({ Sequence: next, LastLedgerSequence: lastLedger })
      for (const one of [replaced, forgotten]) {
        yield* broadcast(one)
        yield* until(one, success)
      }
      // The connection ended before it: it may have come to other servers, until its last ledger.
      state.dies = "before"
      const lost = signed({ Sequence: next + 1, LastLedgerSequence: lastLedger })
      yield* broadcast(lost)
      state.dies = "never"
      assert.strictEqual((yield* outcomeOf(lost)).outcome, "unknown")
      close(true)
      sequences[sender] = next
      assert.include((yield* becomes(replaced, "replaced")).errorMessage, `the sequence ${next - 1} was validated`)
      yield* until(replaced, success, fail)
      assert.include((yield* becomes(forgotten, "dropped")).errorMessage, "LastLedgerSequence")
      yield* until(forgotten, success, fail)
      yield* becomes(lost, "dropped")
      yield* until(lost, fail)
    }).pipe(Effect.scoped)
  )
})
