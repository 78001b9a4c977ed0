/** Calls of token contracts that are ready to be signed, against tronweb's own form of them. */
import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as TronSource from "@headwater/indexer/families/tron/TronSource"
import * as Effect from "effect/Effect"
import { Interface } from "ethers"
import { TronWeb, utils } from "tronweb"
import { account, blockOf, bytesOf, mainnet } from "./TronBlocks.ts"
import * as TronNode from "./TronNode.ts"

const privateKey = "0000000000000000000000000000000000000000000000000000000000000001"
const senderText = utils.address.toHex(utils.address.fromPrivateKey(privateKey) as string).toLowerCase()
const sender = Address.fromBytes(new Uint8Array(Buffer.from(senderText.slice(2), "hex")))
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

const token = 50
const signature = "transfer(address,uint256)"
const data = Buffer.from(
  new Interface([`function ${signature}`]).encodeFunctionData("transfer", [`0x${"11".repeat(20)}`, 5n]).slice(2),
  "hex"
)
const toNobody = data.subarray(4).map((byte) => (byte === 0x11 ? 0x22 : byte))
const request = { sender, contract: bytesOf(token), signature, data, arguments: data.subarray(4), toNobody }

/** As java-tron answers. USDT returns `false` though it moves. */
const moved = { result: { result: true }, energy_used: 29_650, constant_result: ["0".repeat(64)] }
const undone = {
  result: { result: true, message: Buffer.from("REVERT opcode executed").toString("hex") },
  energy_used: 545,
  constant_result: [""],
  transaction: { ret: [{ ret: "FAILED" }] }
}

const withNode = (answer: unknown = moved, resources: TronNode.Json = {}, balance = 100_000_000) =>
  Effect.gen(function* () {
    const node = yield* TronNode.make({
      blocks: [blockOf(5, [])],
      accounts: { [senderText]: { address: senderText, balance } },
      resources: { [senderText]: resources },
      contracts: { [account(token)]: { [signature]: answer as TronNode.Json } },
      parameters: { getEnergyFee: 100 }
    })
    return { node, source: yield* TronSource.make(mainnet, { urls: [node.url], attempts: 1 }) }
  })

describe("TronTokenPreparation", () => {
  it.live("writes the call as tronweb does, which signs and recovers to the sender", () =>
    Effect.gen(function* () {
      const { node, source } = yield* withNode()
      const prepared = yield* source.prepareTokens(request)
      const head = yield* source.head
      const { expiration, feeLimit, rawData } = prepared
      const json = {
        visible: false,
        txID: hex(prepared.id),
        raw_data: {
          contract: [
            {
              parameter: {
                value: { data: hex(data), owner_address: senderText, contract_address: account(token) },
                type_url: "type.googleapis.com/protocol.TriggerSmartContract"
              },
              type: "TriggerSmartContract"
            }
          ],
          // Of the newest block: two bytes of its height, eight of its id.
          ref_block_bytes: "0005",
          ref_block_hash: hex(head.hash.subarray(8, 16)),
          expiration,
          fee_limit: Number(feeLimit),
          timestamp: expiration - 60_000
        },
        raw_data_hex: hex(rawData)
      }
      const message = utils.transaction.txJsonToPb(json as never)
      assert.strictEqual(utils.transaction.txPbToRawDataHex(message).toLowerCase(), json.raw_data_hex)
      assert.strictEqual(utils.transaction.txPbToTxID(message).replace("0x", ""), json.txID)
      const tronWeb = new TronWeb({ fullHost: "http://127.0.0.1:1" })
      const signed = yield* Effect.promise(() => tronWeb.trx.sign(json as never, privateKey))
      const [of] = (signed as { readonly signature: ReadonlyArray<string> }).signature
      assert.strictEqual(
        tronWeb.trx.ecRecover({ ...json, signature: [of!] } as never),
        utils.address.fromPrivateKey(privateKey) as string
      )
      const asked = node.requests.find(({ path }) => path === "/wallet/triggerconstantcontract")
      assert.deepInclude(asked?.body, { owner_address: senderText, parameter: hex(data.subarray(4)) })
    }).pipe(Effect.scoped)
  )

  it.live("counts energy and bandwidth that the sender has, and lets a call burn three tenths more", () =>
    Effect.gen(function* () {
      const own = { EnergyLimit: 20_000, EnergyUsed: 500, freeNetLimit: 600 }
      const { source } = yield* withNode(moved, own)
      const prepared = yield* source.prepareTokens(request)
      assert.deepInclude(prepared, { energy: 29_650, energyPrice: 100n, feeLimit: 38_545n * 100n })
      assert.strictEqual(prepared.fee, BigInt(29_650 - 19_500) * 100n)
      const { source: poor } = yield* withNode(moved, {})
      const points = (yield* poor.prepareTokens(request)).fee - 2_965_000n
      // Raw data, a signature and room for a result.
      assert.strictEqual(points, BigInt(prepared.rawData.length + 2 + 67 + 64 + 1) * 1_000n)
      const { node, source: shared } = yield* withNode(moved, {})
      const permission = { threshold: 2, keys: [{ weight: 1 }, { weight: 1 }] }
      node.override = (path) =>
        path === "/wallet/getaccount"
          ? { address: senderText, balance: 100_000_000, owner_permission: permission }
          : undefined
      const { fee } = yield* shared.prepareTokens(request)
      assert.strictEqual(fee, 2_965_000n + points + 67_000n + 1_000_000n)
    }).pipe(Effect.scoped)
  )

  it.live("lets a call burn what it takes where the recipient has spent all tokens by then", () =>
    Effect.gen(function* () {
      const { node, source } = yield* withNode({ ...moved, energy_used: 64_285 })
      const answerTo = (first: TronNode.Json) => {
        node.override = (path, body) =>
          path === "/wallet/triggerconstantcontract" && body.parameter === hex(toNobody) ? first : undefined
        return source.prepareTokens(request)
      }
      // As USDT takes it.
      const prepared = yield* answerTo({ ...moved, energy_used: 130_285 })
      assert.deepInclude(prepared, { energy: 64_285, feeLimit: 130_285n * 100n })
      assert.strictEqual((yield* answerTo(undone)).feeLimit, 83_571n * 100n)
    }).pipe(Effect.scoped)
  )

  it.live("refuses what the contract would undo, what is no contract, and a sender who cannot pay", () =>
    Effect.gen(function* () {
      for (const [answer, balance, attribute] of [
        [undone, 100_000_000, "recipient"],
        [undefined, 100_000_000, "contract"],
        [{ ...moved, energy_used: 200_000_000 }, 100_000_000, "contract"],
        [moved, 2_000_000, "sender"]
      ] as const) {
        const { node, source } = yield* withNode(answer, {}, balance)
        if (answer === undefined) {
          const message = Buffer.from("Smart contract is not exist.").toString("hex")
          node.override = (path) =>
            path === "/wallet/triggerconstantcontract"
              ? { result: { code: "CONTRACT_VALIDATE_ERROR", message } }
              : undefined
        }
        const error = yield* Effect.flip(source.prepareTokens(request))
        assert.deepInclude(error, { _tag: "TransferRefused", attribute }, String(error.message))
      }
    }).pipe(Effect.scoped)
  )
})
