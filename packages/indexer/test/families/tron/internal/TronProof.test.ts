import { hash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import * as TronTransaction from "@headwater/core/tron/TronTransaction"
import type { Level } from "@headwater/indexer/families/node/Proof"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Result from "effect/Result"
import * as TronProof from "../../../../src/families/tron/internal/TronProof.ts"
import { blockOf, call, infoOf, linked, transfer } from "../TronBlocks.ts"
import type { Json } from "../TronNode.ts"

const type = "type.googleapis.com/protocol."
const sent = (to: string, signature: string, times: string) => ({
  ret: [{ contractRet: "SUCCESS" }],
  signature: [signature],
  raw_data_hex:
    `0a02e7f0220885fc9d795829e08940e09d9df9832f5a69080112650a2d${Buffer.from(`${type}TransferContract`).toString("hex")}` +
    `12340a154141f0a2b01c950b4d38c9abfe9b96579dea065168121541${to}1880e497d01270${times}`
})

/** Block 13232131 of the Tron mainnet, as `/wallet/getblockbynum` shows it, without the readable raw_data. */
const block: Json = {
  blockID: "0000000000c9e803d5258a17e15172768b41ffb69e857530e7d9f7a92ccb78e8",
  block_header: {
    raw_data: {
      number: 13232131,
      txTrieRoot: "1b8e8977290caedf6de737f3e42d142c5c603d20d46942bb47a75963ec78709d",
      witness_address: "41ad3353aa1343b90a311f09b784c76f089d278232",
      parentHash: "0000000000c9e802e54079a6a84e92315f8b8dbcbefd9b151dc2317d27523049",
      version: 20,
      timestamp: 1615967187000
    },
    witness_signature:
      "aa4ed732351f8abda25ce74255393dbeff305d132d4d25d5839dffed0298be6e67e9d4672ad404f9b198854c6378b25bed3759995c249278e5c0f1d489ff910201"
  },
  transactions: [
    sent(
      "2e961e2d6493b2bc728d06d024c0e2a631063538",
      "51911c415dc290b1500562d41570009bbbe0827d231999ea7de1f0bbb1665b436e9a1f0c3eeff34f3df2290da5706f920e95b58a55827d7202f81fd45960a7ea01",
      "e7cc99f9832f"
    ),
    sent(
      "31ee9cedde5c5e0de33f26b3ba6596b0fef610f3",
      "b03901e89ee688c819bc885f7f4789e5f47c1eb23bdbb9ee334516f9f43e86ce2968913414cc82113c5ec6ff993a9075e23cf81474920c9b4da94ad2a096310e01",
      "91cd99f9832f"
    ),
    {
      ret: [{ contractRet: "SUCCESS" }],
      signature: [
        "542dc9f8a72fd3d96a03e4075789cdd017f9c7a30522fffbd1c4a2def34dfcbf0ccdc3302507168c4cc41715d778ce3f452b988840c23f80cd4985fbc75f733a01"
      ],
      raw_data_hex:
        "0a02e7ef2208ca589e3ac0ae638340a8869df9832f520c73656e6420746f20746f6e795aae01081f12a9010a31747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e54726967676572536d617274436f6e747261637412740a1541bcaadebd7d6951971e4876f79fd95351bd5571dc12154135cf7d6a20a1f7149e5f99442334257a95e8f28e2244a9059cbb00000000000000000000000001c12a552c8a35051153c05792249d2512f011ba000000000000000000000000000000000000000000000000112209c76de800007095ca99f9832f9001809bee02"
    }
  ].map((each) => ({
    ...each,
    txID: Buffer.from(TronTransaction.id(Buffer.from(each.raw_data_hex, "hex"))).toString("hex")
  }))
}

const ids = [
  "738c8bdf8f2a38147a8a4643bb184cfde41b22707585669a2cfb15b3b7d869bf",
  "5d79ef636445e261fa090cdb5d23d7f8e0443778cb74df2c3ee34a9462645f67",
  "ec0fa0d734c1d5815cee80b7accce61b0cda8a87e8d3e40061595104a4142430"
]

const outcome = (answer: Json, level: Level = "roots", infos: ReadonlyArray<Json> = []) =>
  TimeSlice.atOnce(TronProof.of(answer, infos, level))

const withHeader = (change: Json): Json => ({
  ...block,
  block_header: { ...block.block_header, raw_data: { ...block.block_header.raw_data, ...change } }
})
const withTransaction = (index: number, change: Json): Json => ({
  ...block,
  transactions: block.transactions.map((each: Json, at: number) => (at === index ? { ...each, ...change } : each))
})
/** Another last digit. */
const otherThan = (text: string) => text.replace(/.$/, (digit) => (digit === "0" ? "1" : "0"))

describe("TronProof", () => {
  it("proves a block of the mainnet, with the owners' and the witness's signatures at full", () => {
    assert.deepStrictEqual(
      block.transactions.map(({ txID }: Json) => txID),
      ids
    )
    for (const level of ["links", "roots", "full"] as const) {
      assert.deepStrictEqual(outcome(block, level), { mismatch: undefined, unproven: [] })
    }
  })

  it("notices each field that the id, the root or a signature commits to", () => {
    const header = block.block_header.raw_data
    const tampered: ReadonlyArray<Json> = [
      { ...block, blockID: otherThan(block.blockID) },
      ...Object.entries(header).map(([field, value]) =>
        withHeader({ [field]: typeof value === "number" ? value + 1 : otherThan(String(value)) })
      ),
      ...ids.flatMap((_, index) => {
        const { raw_data_hex: rawData, signature } = block.transactions[index]
        // Every byte of the transaction: sender, recipient, amount, data of the call, fee limit, times.
        const bytes = Array.from({ length: rawData.length / 2 }, (_, at) => {
          const changed = Buffer.from(rawData, "hex")
          changed[at]! ^= 1
          return withTransaction(index, { raw_data_hex: changed.toString("hex") })
        })
        return [
          ...bytes,
          withTransaction(index, { signature: [otherThan(signature[0])] }),
          withTransaction(index, { signature: [] }),
          withTransaction(index, { ret: [{ contractRet: "REVERT" }] }),
          withTransaction(index, { ret: [] })
        ]
      }),
      { ...block, transactions: block.transactions.slice(1) },
      { ...block, transactions: [...block.transactions].reverse() },
      { ...block, transactions: [...block.transactions, block.transactions[2]] },
      { ...block, transactions: undefined }
    ]
    assert.isAbove(tampered.length, 500)
    for (const answer of tampered) {
      assert.isDefined(outcome(answer).mismatch, JSON.stringify(answer).slice(0, 200))
      assert.isUndefined(outcome(answer, "links").mismatch)
    }
  })

  /** A block of one transaction, whose root is the hash of these bytes. */
  const blockWith = (transaction: Json, wire: string): Json => {
    const txTrieRoot = hash("sha256", Buffer.from(wire, "hex"))
    const header = { ...block.block_header.raw_data, txTrieRoot }
    return {
      blockID: TronProof.idOfHeader(header),
      block_header: { raw_data: header, pq_auth_sig: transaction.pq_auth_sig?.[0] },
      transactions: [transaction]
    }
  }
  const { raw_data_hex: raw, ...first } = block.transactions[0]
  // Of 135 bytes.
  const rawField = `0a8701${raw}`
  /** `ret` with `contractRet` 1. */
  const succeeded = "2a021801"

  it("proves a transaction with a signature of another kind (TIP-899)", () => {
    const [key, signature] = ["a1".repeat(1_312), "b2".repeat(2_420)]
    const other = { scheme: "ML_DSA_44", public_key: key, signature }
    const { signature: _, ...unsigned } = first
    const signed = { ...unsigned, raw_data_hex: raw, pq_auth_sig: [other] }
    // A scheme, a key of 1,312 bytes and a signature of 2,420 in a field of 3,740.
    const wire = `${rawField}${succeeded}329c1d080212a00a${key}1af412${signature}`
    const answer = blockWith(signed, wire)
    assert.deepStrictEqual(outcome(answer), { mismatch: undefined, unproven: [] })
    assert.deepStrictEqual(
      outcome(answer, "full").unproven.map(({ part }) => part),
      ["signatures", "witness"]
    )
    for (const change of [
      { scheme: "FN_DSA_512" },
      { public_key: otherThan(key) },
      { signature: otherThan(signature) }
    ]) {
      const changed = { ...signed, pq_auth_sig: [{ ...other, ...change }] }
      assert.include(outcome({ ...answer, transactions: [changed] }).mismatch!, "txTrieRoot")
    }
    const size = Result.getOrThrow(TimeSlice.atOnce(TronProof.sizeOf(answer)))
    const plain = Result.getOrThrow(TimeSlice.atOnce(TronProof.sizeOf({ ...answer, transactions: [] })))
    assert.strictEqual(size - plain, 1 + 2 + wire.length / 2)
    const header = { ...answer.block_header, pq_auth_sig: undefined }
    const unsignedBlock = { block_header: header, transactions: [] }
    assert.strictEqual(plain - Result.getOrThrow(TimeSlice.atOnce(TronProof.sizeOf(unsignedBlock))), 3_744)
  })

  it("leaves a transaction unproven that has a field which is not known: anybody may put one there", () => {
    const wire = `${rawField}1241${first.signature[0]}${succeeded}7a0101`
    const transaction = { ...first, raw_data_hex: raw, 15: ["01"] }
    const { mismatch, unproven } = outcome(blockWith(transaction, wire))
    assert.isUndefined(mismatch)
    assert.deepStrictEqual(
      unproven.map(({ cause, part }) => `${cause} ${part}`),
      ["unknown transactions"]
    )
    assert.include(unproven[0]!.reason, "field 15 is not known")
    const { 15: _, ...known } = transaction
    assert.include(outcome(blockWith(known, wire)).mismatch!, "txTrieRoot")
    // What a node says beside a transaction that has no such field takes no proof away.
    assert.deepStrictEqual(outcome(withTransaction(0, { blockNumber: 13_232_131 })), {
      mismatch: undefined,
      unproven: []
    })
  })

  it("refuses an info that says otherwise of a result than the block, and names infos as unproven", () => {
    const of = (result: Json) => outcome(block, "roots", [{ id: ids[2], ...result }])
    for (const said of [{ result: "FAILED" }, { receipt: { result: "OUT_OF_ENERGY" } }]) {
      assert.include(of(said).mismatch, `the info of transaction ${ids[2]} has another result`)
    }
    for (const said of [{}, { receipt: {} }, { receipt: { result: "SUCCESS" } }]) {
      assert.deepStrictEqual(
        of(said).unproven.map(({ cause, part }) => [cause, part]),
        [["uncommitted", "transaction infos"]]
      )
    }
    const failed = call(1, 50, 7, "REVERT")
    const [mined] = linked([blockOf(66_000_000, [failed], [])])
    const info = (more: Json) => outcome(mined!.block, "roots", [infoOf(failed, 66_000_000, more)]).mismatch
    assert.isUndefined(info({ result: "FAILED", receipt: { result: "REVERT" } }))
    assert.include(info({ receipt: { result: "SUCCESS" } }), "another result")
  })

  it("leaves unproven what the wire format does not know, and signatures of other keys; the first block too", () => {
    const parts = (answer: Json, level: Level = "roots") => {
      const { mismatch, unproven } = outcome(answer, level)
      assert.isUndefined(mismatch)
      return unproven.map(({ cause, part }) => `${cause} ${part}`)
    }
    assert.deepStrictEqual(parts(withHeader({ futureRoot: "00" })), ["unknown header"])
    assert.deepStrictEqual(parts(withTransaction(1, { ret: [{ contractRet: "SUCCESS", newAmount: 5 }] })), [
      "unknown transactions"
    ])
    assert.deepStrictEqual(parts(withTransaction(1, { ret: [{ contractRet: "NEW_RESULT" }] })), [
      "unknown transactions"
    ])
    assert.deepStrictEqual(parts(blockOf(0, []).block), ["unknown block"])
    const [mined] = linked([blockOf(66_000_000, [transfer(1, 2, 5)])])
    assert.deepStrictEqual(parts(mined!.block, "full"), ["uncommitted signatures", "uncommitted witness"])
  })
})
