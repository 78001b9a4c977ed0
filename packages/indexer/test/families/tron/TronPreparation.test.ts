import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as TronTransaction from "@headwater/core/tron/TronTransaction"
import * as TronSource from "@headwater/indexer/families/tron/TronSource"
import * as Effect from "effect/Effect"
import { TronWeb, utils } from "tronweb"
import type { TransferRequest } from "../../../src/families/tron/TronPreparation.ts"
import { account, base58, blockOf, bytesOf, mainnet } from "./TronBlocks.ts"
import * as TronNode from "./TronNode.ts"

const privateKey = "0000000000000000000000000000000000000000000000000000000000000001"
const senderText = utils.address.toHex(utils.address.fromPrivateKey(privateKey) as string).toLowerCase()
const sender = Address.fromBytes(new Uint8Array(Buffer.from(senderText.slice(2), "hex")))

const trx = 1_000_000

const options = (more: Partial<TronNode.TronNodeOptions> = {}): TronNode.TronNodeOptions => ({
  blocks: [blockOf(5, [])],
  accounts: {
    [senderText]: { address: senderText, balance: 10 * trx },
    [account(2)]: { address: account(2) },
    [account(3)]: { address: account(3), balance: 1, type: "Contract" }
  },
  resources: { [senderText]: { freeNetUsed: 200, freeNetLimit: 600 } },
  ...more
})

const request = (more: Partial<TransferRequest> = {}): TransferRequest => ({
  sender,
  recipient: bytesOf(2),
  amount: BigInt(trx),
  memo: new Uint8Array(0),
  feeFromAmount: false,
  ...more
})

const withNode = (more?: Partial<TronNode.TronNodeOptions>) =>
  Effect.gen(function* () {
    const node = yield* TronNode.make(options(more))
    return { node, source: yield* TronSource.make(mainnet, { urls: [node.url], attempts: 1 }) }
  })

const refusal = (source: TronSource.TronSource, of: TransferRequest) =>
  Effect.map(Effect.flip(source.prepare(of)), (error) => {
    assert.strictEqual(error._tag, "TransferRefused")
    return "attribute" in error ? `${error.attribute}: ${error.message}` : ""
  })

const withoutBandwidth = { [senderText]: { freeNetUsed: 600, freeNetLimit: 600 } }

describe("TronPreparation", () => {
  it.live("prepares what tronweb takes, signs, and recovers to the sender", () =>
    Effect.gen(function* () {
      const { source } = yield* withNode()
      const memo = new TextEncoder().encode("Rechnung 4711 – danke")
      for (const each of [request(), request({ memo }), request({ amount: 1n }), request({ recipient: bytesOf(9) })]) {
        const prepared = yield* source.prepare(each)
        const { expiration, refBlockBytes, refBlockHash, timestamp } = prepared.transfer
        const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")
        // The same transaction, told to tronweb in JSON only.
        const json = {
          visible: false,
          txID: hex(prepared.id),
          raw_data: {
            contract: [
              {
                parameter: {
                  value: {
                    amount: Number(each.amount),
                    owner_address: senderText,
                    to_address: `41${hex(each.recipient)}`
                  },
                  type_url: "type.googleapis.com/protocol.TransferContract"
                },
                type: "TransferContract"
              }
            ],
            ref_block_bytes: hex(refBlockBytes),
            ref_block_hash: hex(refBlockHash),
            expiration,
            timestamp,
            ...(each.memo.length === 0 ? {} : { data: hex(each.memo) })
          },
          raw_data_hex: hex(prepared.rawData)
        }
        const message = utils.transaction.txJsonToPb(json as never)
        assert.strictEqual(utils.transaction.txPbToRawDataHex(message).toLowerCase(), json.raw_data_hex)
        assert.strictEqual(utils.transaction.txPbToTxID(message).replace("0x", ""), json.txID)
        assert.deepStrictEqual(TronTransaction.id(prepared.rawData), prepared.id)
        const tronWeb = new TronWeb({ fullHost: "http://127.0.0.1:1" })
        const signed = yield* Effect.promise(() => tronWeb.trx.sign(json as never, privateKey))
        const signature = (signed as { readonly signature: ReadonlyArray<string> }).signature[0]!
        assert.strictEqual(utils.crypto.ecRecover(json.txID, signature).toLowerCase(), senderText)
        const now = Date.now()
        assert.isTrue(expiration > now && expiration <= now + 60_000)
      }
    })
  )

  it.live("counts bandwidth: from a stake, for free, or bought", () =>
    Effect.gen(function* () {
      const { node, source } = yield* withNode()
      const fee = (resource: object, of = request()) => {
        node.override = (path) => (path === "/wallet/getaccountresource" ? resource : undefined)
        return Effect.map(source.prepare(of), (prepared) => prepared)
      }
      const free = yield* fee({ freeNetLimit: 600, freeNetUsed: 333 })
      assert.strictEqual(free.bandwidth, 267)
      assert.strictEqual(free.fee, 0n)
      // All or nothing, of each kind.
      const bought = yield* fee({ freeNetLimit: 600, freeNetUsed: 334, NetLimit: 266 })
      assert.strictEqual(bought.fee, 267_000n)
      assert.strictEqual(bought.bandwidthPrice, 1_000n)
      assert.strictEqual((yield* fee({ NetLimit: 1_000, NetUsed: 700 })).fee, 0n)
      assert.strictEqual((yield* fee({})).fee, 267_000n)
    })
  )

  it.live("counts the activation of a new account, whose bandwidth is not free", () =>
    Effect.gen(function* () {
      const { node, source } = yield* withNode()
      const activating = request({ recipient: bytesOf(9) })
      // 1.1 TRX, as transaction b0b68ea4… on mainnet paid.
      assert.strictEqual((yield* source.prepare(activating)).fee, 1_100_000n)
      node.override = (path) => (path === "/wallet/getaccountresource" ? { NetLimit: 5_000 } : undefined)
      assert.strictEqual((yield* source.prepare(activating)).fee, 1_000_000n)
    })
  )

  it.live("counts the fee for a memo, and its bytes", () =>
    Effect.gen(function* () {
      const { source } = yield* withNode({ resources: withoutBandwidth })
      const prepared = yield* source.prepare(request({ memo: new Uint8Array(10) }))
      assert.strictEqual(prepared.bandwidth, 267 + 12)
      assert.strictEqual(prepared.fee, 1_000_000n + 279_000n)
      const { source: free } = yield* withNode({ parameters: { getMemoFee: 0 } })
      assert.strictEqual((yield* free.prepare(request({ memo: new Uint8Array(10) }))).fee, 0n)
    })
  )

  it.live("counts what several signatures cost, where one key alone may not sign", () =>
    Effect.gen(function* () {
      const feeWith = Effect.fnUntraced(function* (permission: object, of = request()) {
        const owned = { address: senderText, balance: 10 * trx, owner_permission: permission }
        const accounts = { ...options().accounts, [senderText]: owned }
        const { source } = yield* withNode({ accounts, resources: withoutBandwidth })
        return yield* source.prepare(of)
      })
      const keys = (...weights: ReadonlyArray<number>) =>
        weights.map((weight, i) => ({ address: account(20 + i), weight }))
      const one = yield* feeWith({ threshold: 2, keys: keys(1, 2, 1) })
      assert.deepInclude(one, { bandwidth: 267 })
      assert.strictEqual(one.fee, 267_000n)
      // 1 TRX (`MULTI_SIGN_FEE`), and the bytes of each further signature.
      const two = yield* feeWith({ threshold: 3, keys: keys(1, 2, 1) })
      assert.deepInclude(two, { bandwidth: 267 + 67 })
      assert.strictEqual(two.fee, 1_000_000n + 334_000n)
      const three = yield* feeWith({ threshold: 4, keys: keys(1, 2, 1) })
      assert.deepInclude(three, { bandwidth: 267 + 2 * 67 })
      const all = request({ amount: BigInt(10 * trx), feeFromAmount: true })
      const emptied = yield* feeWith({ threshold: 2, keys: keys(1, 1) }, all)
      assert.strictEqual(emptied.transfer.amount, BigInt(10 * trx) - 1_335_000n)
    })
  )

  it.live("takes the fee from the amount, so that the sender is left with exactly nothing", () =>
    Effect.gen(function* () {
      const { source } = yield* withNode({ resources: withoutBandwidth })
      const prepared = yield* source.prepare(request({ amount: BigInt(10 * trx), feeFromAmount: true }))
      assert.strictEqual(prepared.transfer.amount, BigInt(10 * trx) - 268_000n)
      assert.strictEqual(prepared.transfer.amount + prepared.fee, BigInt(10 * trx))
      assert.include(
        yield* refusal(source, request({ amount: 267_000n, feeFromAmount: true })),
        "amount: 0.267 TRX does not cover the fee of 0.267 TRX"
      )
    })
  )

  it.live("refuses what cannot be paid, naming balance and need", () =>
    Effect.gen(function* () {
      const { source } = yield* withNode({ resources: withoutBandwidth })
      assert.include(
        yield* refusal(source, request({ amount: BigInt(10 * trx) })),
        "amount: the sender has 10 TRX and needs 10.268 TRX (10 TRX and a fee of 0.268 TRX)"
      )
      yield* source.prepare(request({ amount: BigInt(10 * trx) - 268_000n }))
      assert.include(yield* refusal(source, request({ amount: 9n * 10n ** 16n })), "has 10 TRX and needs 90000000000")
    })
  )

  it.live("refuses what the chain would refuse", () =>
    Effect.gen(function* () {
      const { node, source } = yield* withNode()
      assert.include(yield* refusal(source, request({ amount: 0n })), "amount: must be above zero")
      assert.include(yield* refusal(source, request({ amount: 2n ** 63n })), "below 2^63")
      assert.include(yield* refusal(source, request({ recipient: sender })), "recipient: must be another account")
      assert.include(yield* refusal(source, request({ recipient: bytesOf(3) })), "recipient: is a contract")
      assert.include(yield* refusal(source, request({ sender: bytesOf(8) })), "sender: has no account")
      assert.include(yield* refusal(source, request({ memo: new Uint8Array(513) })), "additionalData: must be at most")
      const said = "class org.tron.core.exception.ContractValidateException : Validate TransferContract error"
      node.override = (path) => (path === "/wallet/createtransaction" ? { Error: said } : undefined)
      assert.include(yield* refusal(source, request()), "refuse the transfer: Validate TransferContract error")
      const { source: lenient } = yield* withNode({ parameters: { getForbidTransferToContract: 0 } })
      assert.strictEqual((yield* lenient.prepare(request({ recipient: bytesOf(3) }))).fee, 0n)
    })
  )

  it.live("sends amounts beyond 2^53 as they are", () =>
    Effect.gen(function* () {
      const amount = 9_007_199_254_740_993n
      const accounts = { ...options().accounts, [senderText]: { address: senderText, balance: "9007199254740994000" } }
      const { source } = yield* withNode({ accounts })
      const prepared = yield* source.prepare(request({ amount }))
      assert.strictEqual(prepared.transfer.amount, amount)
    })
  )

  it.live("refuses a transaction that a node has tampered with", () =>
    Effect.gen(function* () {
      const { node, source } = yield* withNode()
      const answerWith = (change: (honest: TronNode.Json) => unknown) => {
        node.override = (path, body) => {
          if (path !== "/wallet/createtransaction") return undefined
          const now = Date.now()
          return change({
            owner: new Uint8Array(Buffer.from(body.owner_address.slice(2), "hex")),
            to: new Uint8Array(Buffer.from(body.to_address.slice(2), "hex")),
            amount: BigInt(body.amount),
            memo: new Uint8Array(0),
            refBlockBytes: new Uint8Array(2),
            refBlockHash: new Uint8Array(8),
            expiration: now + 60_000,
            timestamp: now
          })
        }
        return Effect.map(Effect.flip(source.prepare(request())), (error) => {
          assert.strictEqual(error._tag, "NodeInconsistent")
          return error.message
        })
      }
      const built = (transfer: TronNode.Json) => TronNode.transactionOf(transfer as never)
      assert.include(yield* answerWith((honest) => built({ ...honest, to: bytesOf(66) })), "another recipient")
      assert.include(yield* answerWith((honest) => built({ ...honest, owner: bytesOf(66) })), "another sender")
      assert.include(yield* answerWith((honest) => built({ ...honest, amount: honest.amount + 1n })), "another amount")
      assert.include(yield* answerWith((honest) => built({ ...honest, memo: new Uint8Array(3) })), "another memo")
      assert.include(
        yield* answerWith((honest) => built({ ...honest, expiration: honest.timestamp - 1 })),
        "must expire between now"
      )
      assert.include(
        yield* answerWith((honest) => built({ ...honest, expiration: honest.timestamp + 86_500_000 })),
        "must expire between now"
      )
      assert.include(
        yield* answerWith((honest) => {
          const answer = built(honest)
          // The contract a second time: field 11 of raw_data.
          const rawData = Buffer.from(answer.raw_data_hex, "hex")
          const at = rawData.indexOf(Buffer.from("5a", "hex"), 20)
          const doubled = Buffer.concat([rawData, rawData.subarray(at, at + 2 + rawData[at + 1]!)])
          return {
            ...answer,
            raw_data_hex: doubled.toString("hex"),
            txID: Buffer.from(TronTransaction.id(doubled)).toString("hex")
          }
        }),
        "one contract"
      )
      assert.include(
        yield* answerWith((honest) => ({ ...built(honest), txID: "00".repeat(32) })),
        "txID is not the hash"
      )
      assert.include(
        yield* answerWith((honest) => ({ ...built(honest), raw_data: built({ ...honest, to: bytesOf(66) }).raw_data })),
        "another recipient"
      )
      for (const nonsense of [{}, [], "null", "<html>", { result: true }, { txID: 5 }]) {
        node.override = (path) => (path === "/wallet/createtransaction" ? nonsense : undefined)
        const error = yield* Effect.flip(source.prepare(request()))
        assert.include(["NodeInconsistent", "NodeUnreachable"], error._tag)
      }
      node.override = undefined
      yield* source.prepare(request())
    })
  )

  it("has the addresses of the vectors right", () => {
    assert.strictEqual(utils.address.fromHex(account(2)), base58(2))
  })
})
