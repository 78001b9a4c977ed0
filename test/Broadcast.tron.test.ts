/** Signed transactions of Tron, by a node made for tests that checks signature and expiry with tronweb. */
import { assert, describe, it } from "@effect/vitest"
import type * as TronTransfer from "@headwater/core/tron/TronTransfer"
import * as Effect from "effect/Effect"
import * as Tron from "../packages/indexer/test/families/tron/TronBlocks.ts"
import * as TronNode from "../packages/indexer/test/families/tron/TronNode.ts"
import * as TronWallet from "../packages/indexer/test/families/tron/TronWallet.ts"
import * as BroadcastClient from "./BroadcastClient.ts"
import * as Headwater from "./Headwater.ts"
import * as Receiver from "./Receiver.ts"
import { locations } from "./Stores.ts"
import { isInTurn } from "./Turn.ts"

const { fail, success } = BroadcastClient
const [start, count] = [100, 60]
/** The newest block that the node has at first is of now. */
const genesisTime = Math.floor(Date.now() / 1000) - 3 * start
const timeOf = (height: number) => (genesisTime + 3 * height) * 1000
const { location } = locations[0]!

const blocks = Tron.linked(
  Array.from({ length: count }, (_, i) => {
    const { block, infos } = Tron.blockOf(start - 1 + i, [], [])
    const raw_data = { ...block.block_header.raw_data, timestamp: timeOf(start - 1 + i) }
    return { infos, block: { ...block, block_header: { ...block.block_header, raw_data } } }
  })
)
const idAt = (height: number): string => blocks[height - start + 1]!.block.blockID

const bytesOf = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"))

interface Signed extends BroadcastClient.Signed {
  readonly rawData: string
}

const signed = (rawData: string, key?: string): Signed => {
  const signature = TronWallet.signatureOf(TronWallet.read(rawData), key)
  const hex = TronNode.signedHex(rawData, signature.replace(/^0x/, ""))
  return { id: TronWallet.idOf(rawData), rawData, hex }
}

/** A transfer of the test's account, not by the interface. */
const transfer = (expiration: number, owner = TronWallet.addressHex): string =>
  TronNode.transactionOf({
    ...{ owner: bytesOf(owner.slice(2)), to: Tron.bytesOf(2), amount: 5n, memo: new Uint8Array() },
    ...{ refBlockBytes: bytesOf("2927"), refBlockHash: bytesOf("939ece39d08a7abe"), expiration, timestamp: 1 }
  } as TronTransfer.TronTransfer).raw_data_hex

const nodeWith = Effect.gen(function* () {
  const node = yield* TronNode.make({
    ...{ blocks, solid: start },
    accounts: {
      [TronWallet.addressHex]: { address: TronWallet.addressHex, balance: 10_000_000 },
      [Tron.account(2)]: { address: Tron.account(2), balance: 1 },
      [Tron.account(3)]: {
        ...{ address: Tron.account(3), balance: 1 },
        owner_permission: { permission_name: "owner", keys: [{ address: TronWallet.addressHex, weight: 1 }] }
      }
    }
  })
  node.height = start
  const pending = new Set<string>()
  const mined = new Map<string, { readonly blockNumber: number; readonly result?: string }>()
  const state = { sent: 0, dies: "never" as "never" | "before" | "after", refusal: "" }
  const take = (hex: string) => {
    state.sent++
    const length = Number.parseInt(hex.slice(2, 4), 16)
    const from = length < 128 ? 4 : 6
    const size = length < 128 ? length : (length & 0x7f) + (Number.parseInt(hex.slice(4, 6), 16) << 7)
    const rawData = hex.slice(from, from + 2 * size)
    const id = TronWallet.idOf(rawData)
    const refuse = (code: string) => ({ code, txid: id, message: Buffer.from(`${code} of the node`).toString("hex") })
    if (state.refusal !== "") return refuse(state.refusal)
    if (pending.has(id) || mined.has(id)) return refuse("DUP_TRANSACTION_ERROR")
    const { raw_data } = TronWallet.read(rawData)
    const [{ parameter }] = raw_data.contract
    const signer = TronWallet.signerOf(id, hex.slice(-130))
    const owner = String(parameter.value.owner_address).toLowerCase()
    if (signer !== owner && owner !== Tron.account(3)) return refuse("SIGERROR")
    if (raw_data.expiration <= timeOf(node.height)) return refuse("TRANSACTION_EXPIRATION_ERROR")
    pending.add(id)
    return { result: true, code: "SUCCESS", txid: id }
  }
  node.override = (path, body) => {
    switch (path) {
      case "/wallet/broadcasthex": {
        if (state.dies === "before") return 502
        const answer = take(String(body.transaction))
        return state.dies === "after" ? 502 : answer
      }
      case "/wallet/gettransactionfrompending":
        return pending.has(String(body.value)) ? { txID: body.value } : {}
      case "/wallet/gettransactioninfobyid": {
        const found = mined.get(String(body.value))
        return found === undefined ? {} : { id: body.value, ...found }
      }
      default:
        return undefined
    }
  }
  const grow = (result?: string) => {
    node.height++
    for (const id of pending) {
      pending.delete(id)
      mined.set(id, { blockNumber: node.height, ...(result === undefined ? {} : { result }) })
    }
  }
  return { node, pending, state, grow }
})

describe.skipIf(!isInTurn(import.meta.url))("broadcast on Tron", () => {
  it.live("sends what was prepared and signed, once, follows it, and refuses what is wrong", () =>
    Effect.gen(function* () {
      const { grow, node, pending, state } = yield* nodeWith
      const receiver = yield* Receiver.start()
      const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
        chains: {
          "tron/mainnet": { nodes: [node.url], start: 99, pollMillis: 100, timeoutMillis: 2_000, verify: "links" }
        },
        callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca }
      })
      const { becomes, broadcast, outcomeOf, post, told, until } = yield* BroadcastClient.make(headwater, receiver, {
        place: "tron/mainnet",
        grow: Effect.sync(() => (node.height < start + count - 2 ? grow() : undefined))
      })

      const prepared = yield* headwater.post("/prepare-transactions/evm/tron/mainnet/native-coins", {
        ...{ amount: "1.25", recipient: Tron.account(2), sender: TronWallet.addressHex }
      })
      const first = signed(prepared.body.data.item.inputData)
      assert.strictEqual(first.id, prepared.body.data.item.sighash)
      yield* broadcast(first)
      yield* until(first, success)
      Receiver.verify(told(first)[0]!, BroadcastClient.secret)
      yield* broadcast(first)
      assert.strictEqual(state.sent, 1)
      grow()
      assert.deepStrictEqual((yield* becomes(first, "mined")).minedInBlock, {
        ...{ hash: idAt(start + 1), height: start + 1 }
      })

      const failing = signed(transfer(timeOf(start + 300)))
      yield* broadcast(failing)
      yield* until(failing, success)
      grow("FAILED")
      assert.strictEqual((yield* becomes(failing, "failed")).errorMessage, "FAILED")

      // The node dies behind the transaction: it is found, and not sent again.
      state.dies = "after"
      const unheard = signed(transfer(timeOf(start + 301)))
      yield* broadcast(unheard)
      state.dies = "never"
      grow()
      yield* becomes(unheard, "mined")
      yield* until(unheard, success)
      assert.strictEqual(state.sent, 3)

      const stranger = "02".padStart(64, "0")
      const fine = signed(transfer(timeOf(start + 302)))
      const shared = signed(transfer(timeOf(start + 302), Tron.account(3)))
      const cases: ReadonlyArray<readonly [string, number, RegExp]> = [
        ["00", 400, /must be a signed transaction of Tron/],
        [TronNode.signedHex(fine.rawData), 400, /must be signed/],
        [TronNode.signedHex(fine.rawData, "11".repeat(64)), 400, /signatures must each be of a key/],
        [signed(transfer(timeOf(start + 302), Tron.account(2))).hex, 400, /by its owner's keys/],
        [signed(transfer(timeOf(start + 302), Tron.account(9))).hex, 409, /has no account/],
        [signed(transfer(timeOf(start))).hex, 409, /expiration must be after/]
      ]
      assert.notStrictEqual(signed(fine.rawData, stranger).hex, fine.hex)
      for (const [hex, wanted, rule] of [
        ...cases,
        [signed(fine.rawData, stranger).hex, 400, /by its owner's keys/] as const
      ]) {
        const { body, status } = yield* post(hex)
        assert.deepStrictEqual([status, body.error?.code], [wanted, "invalid_data"], `${rule} ${JSON.stringify(body)}`)
        assert.match(body.error.message, rule)
      }
      assert.strictEqual(state.sent, 3)
      state.refusal = "CONTRACT_VALIDATE_ERROR"
      const refused = yield* post(fine.hex, { callbackUrl: `${receiver.url}/` })
      assert.deepStrictEqual([refused.status, refused.body.error?.code], [409, "invalid_data"])
      assert.include(refused.body.error.message, "CONTRACT_VALIDATE_ERROR of the node")
      yield* until(fine, fail)
      yield* becomes(fine, "failed")
      state.refusal = ""
      // Another account has named the key as its own.
      yield* broadcast(shared)

      const forgotten = signed(transfer(timeOf(node.height + 1) + 1))
      yield* broadcast(forgotten)
      yield* until(forgotten, success)
      pending.clear()
      // The node died before it: it may have come to others, until it expires.
      state.dies = "before"
      const lost = signed(transfer(timeOf(node.height + 1) + 2))
      yield* broadcast(lost)
      state.dies = "never"
      assert.strictEqual((yield* outcomeOf(lost)).outcome, "unknown")
      assert.include((yield* becomes(forgotten, "dropped")).errorMessage, "expiration is past")
      yield* until(forgotten, success, fail)
      yield* becomes(lost, "dropped")
      yield* until(lost, fail)
    }).pipe(Effect.scoped)
  )
})
