/** Recorded blocks of real nodes, parsed to the facts that others published about them. */
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as BytesInFlight from "@headwater/indexer/families/node/BytesInFlight"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as UtxoSource from "@headwater/indexer/families/utxo/UtxoSource"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Effect from "effect/Effect"
import * as BlockBody from "../../../src/families/utxo/internal/BlockBody.ts"
import * as NodeTransaction from "../../../src/families/utxo/internal/NodeTransaction.ts"
import * as FakeNode from "../../FakeNode.ts"
import { chainOf, coinsOf, fixtures, foldersIn, hex, open, present, textOf } from "./UtxoFixtures.ts"
import * as UtxoNode from "./UtxoNode.ts"

const spendable = (script: string) => !script.startsWith("6a")

describe.skipIf(!present)("bitcoin-etl: node answers and the blocks and transactions exported from them", () => {
  const root = ["bitcoin-etl", "tests", "resources", "test_export_blocks_job"]

  interface ExpectedBlock {
    readonly hash: string
    readonly number: number
    readonly size: number
    readonly stripped_size: number | null
    readonly weight: number | null
    readonly version: number
    readonly merkle_root: string
    readonly timestamp: number
    readonly bits: string
    readonly transaction_count: number
  }
  interface ExpectedTransaction {
    readonly hash: string
    readonly block_hash: string
    readonly inputs: ReadonlyArray<{
      readonly index: number
      readonly spent_transaction_hash: string | null
      readonly spent_output_index: number
      readonly type: string | null
    }>
    readonly outputs: ReadonlyArray<{
      readonly index: number
      readonly script_hex: string
      readonly type: string
      readonly value: number
    }>
  }
  const linesOf = <A>(...path: ReadonlyArray<string>): ReadonlyArray<A> =>
    textOf(...path)
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => JSON.parse(line) as A)

  for (const blockchain of foldersIn(...root)) {
    for (const folder of foldersIn(...root, blockchain)) {
      const at = [...root, blockchain, folder]
      const answersOf = (prefix: string, suffix = "") =>
        readdirSync(join(fixtures, ...at))
          .filter((name) => name.startsWith(prefix) && name.endsWith(`${suffix}.json`))
          .map((name) => UtxoNode.parse(textOf(...at, name)))
      const decoded = answersOf("rpc_response_getblock_", "_2") as ReadonlyArray<UtxoNode.NodeBlock>
      const listed = answersOf("rpc_response_getblock_", "_True") as ReadonlyArray<UtxoNode.NodeBlock>
      const transactions = new Map(
        (answersOf("rpc_response_getrawtransaction_") as ReadonlyArray<UtxoNode.NodeTransaction>).map((transaction) => [
          transaction.txid,
          transaction
        ])
      )
      const blocks = [
        ...decoded,
        ...listed.map((block) => ({ ...block, tx: block.tx.map((id) => transactions.get(id as string)!) }))
      ]

      for (const expected of linesOf<ExpectedBlock>(...at, "expected_blocks.json")) {
        const block = blocks.find(({ hash }) => hash === expected.hash)!
        // Block 0 and 1 were recorded by a node that had more fields than the exporter kept: all that is needed is there.
        it.effect(`${blockchain} ${folder}: block ${expected.number}`, () =>
          Effect.gen(function* () {
            const kind = blockchain === "dogecoin" ? "boolean" : blockchain === "zcash" ? "numeric" : "core"
            const source = yield* open(chainOf(blockchain), kind, { blocks: [block] })
            const read = yield* source.blockAt(expected.number)
            assert.strictEqual(hex(read.hash), expected.hash)
            assert.strictEqual(read.time, expected.timestamp)
            assert.strictEqual(read.transactions.length, expected.transaction_count)

            const wanted = linesOf<ExpectedTransaction>(...at, "expected_transactions.json").filter(
              ({ block_hash }) => block_hash === expected.hash
            )
            assert.sameMembers(
              read.transactions.map(hex),
              wanted.map(({ hash }) => hash)
            )
            for (const transaction of wanted) {
              const index = read.transactions.findIndex((id) => hex(id) === transaction.hash)
              assert.deepStrictEqual(
                coinsOf(read)
                  .filter((coin) => coin.transaction === index && coin.to !== undefined)
                  .map(({ position, to, amount }) => ({ position, script: hex(to!), amount })),
                transaction.outputs
                  .filter(({ type, script_hex }) => type !== "shielded" && spendable(script_hex))
                  .map(({ index, script_hex, value }) => ({
                    position: index,
                    script: script_hex,
                    amount: BigInt(value)
                  }))
              )
              assert.deepStrictEqual(
                read.spends
                  .filter((spend) => spend.transaction === index)
                  .map(({ outpoint }) => ({ id: hex(outpoint.transactionId), index: outpoint.index })),
                transaction.inputs
                  .filter(({ spent_transaction_hash }) => spent_transaction_hash !== null)
                  .map((input) => ({ id: input.spent_transaction_hash, index: input.spent_output_index }))
              )
            }

            const bitsAndDifficulty = { bits: Number.parseInt(expected.bits, 16) }
            const details = yield* source.latestDetails
            assert.deepInclude(details, {
              ...bitsAndDifficulty,
              hash: expected.hash,
              height: expected.number,
              size: expected.size,
              strippedSize: expected.stripped_size ?? expected.size,
              weight: expected.weight ?? expected.size * 4,
              version: expected.version,
              merkleRoot: expected.merkle_root,
              timestamp: expected.timestamp,
              transactionsCount: expected.transaction_count
            })
            assert.match(details.versionHex, /^[0-9a-f]{8}$/)
          })
        )
      }

      const withHex = decoded.filter(
        ({ tx, nonce }) =>
          typeof nonce === "number" && tx.every((item) => typeof (item as UtxoNode.NodeTransaction).hex === "string")
      )
      it.effect.skipIf(withHex.length === 0)(`${blockchain} ${folder}: raw blocks say the same`, () =>
        Effect.gen(function* () {
          for (const block of withHex) {
            const part = { blocks: [block], raw: { [block.hash]: UtxoNode.rawOf(block) } }
            const read = yield* (yield* open(chainOf(blockchain), "core", part)).blockAt(block.height)
            const raw = yield* open(chainOf(blockchain), "boolean", part, { strategy: "raw" })
            assert.deepStrictEqual(UtxoNode.plain(yield* raw.blockAt(block.height)), UtxoNode.plain(read))
          }
        })
      )
      it.effect.skipIf(withHex.length === 0)(
        `${blockchain} ${folder}: too large as the node decodes it, the same raw`,
        () =>
          Effect.gen(function* () {
            const block = withHex[0]!
            const part = { blocks: [block], raw: { [block.hash]: UtxoNode.rawOf(block) } }
            const read = yield* (yield* open(chainOf(blockchain), "core", part)).blockAt(block.height)
            const answers = UtxoNode.answers("core", part)
            let padding = ""
            const bytes = BytesInFlight.make(1_000_000)
            const padded: FakeNode.Answer = (method, params) => {
              const answer = answers(method, params)
              return method === "getblock" && Number(params[1]) > 1 ? { ...(answer as object), padding } : answer
            }
            const source = yield* UtxoNode.source(chainOf(blockchain), padded).pipe(
              Effect.provideService(BytesInFlight.Current, bytes)
            )
            padding = "0".repeat(1_000_000)
            assert.deepStrictEqual(
              UtxoNode.plain(yield* bytes.block(source.blockAt(block.height))),
              UtxoNode.plain(read)
            )
          })
      )
    }
  }
})

describe.skipIf(!present)("chainstorage: bitcoin blocks", () => {
  const root = ["chainstorage", "internal", "utils", "fixtures"]
  const parser = [...root, "parser", "bitcoin"]
  const client = [...root, "client", "bitcoin"]
  const bitcoin = chainOf("bitcoin")
  const parsed = (...path: ReadonlyArray<string>) => UtxoNode.parse(textOf(...path)) as UtxoNode.NodeBlock

  for (const name of foldersIn(...parser).filter((name) => /^get_block_pubkey/.test(name))) {
    it.effect(`${name}: pay-to-public-key in a whole block`, () =>
      Effect.gen(function* () {
        const block = parsed(...parser, name)
        // An output was added to one of these blocks, and not to the bytes of its transaction.
        const source = yield* open(bitcoin, "core", { blocks: [block] }, { verify: "links" })
        const read = yield* source.blockAt(block.height)
        const publicKeys = coinsOf(read).filter(({ to }) => /^(41.{130}|21.{66})ac$/.test(hex(to!)))
        assert.isAbove(publicKeys.length, 0)
        const details = yield* source.latestDetails
        assert.strictEqual(details.difficulty, Math.floor(Number(JSON.stringify(block.difficulty))))
        assert.strictEqual(details.weight, block.weight)
      })
    )
  }

  it.effect("get_block.json, a part of a block: refused, while its transactions read as published", () =>
    Effect.gen(function* () {
      const block = parsed(...parser, "get_block.json")
      const source = yield* open(bitcoin, "core", { blocks: [block] })
      const error = yield* Effect.flip(source.blockAt(block.height))
      assert.strictEqual(error._tag, "ProofFailed")

      interface Native {
        readonly transactions: ReadonlyArray<{
          readonly transaction_id: string
          readonly outputs: ReadonlyArray<{
            readonly index?: number
            readonly value?: string
            readonly script_public_key: { readonly hex: string }
          }>
        }>
      }
      const native = JSON.parse(textOf(...parser, "get_block_native.json")) as Native
      const body = BlockBody.empty()
      const plain = JSON.parse(textOf(...parser, "get_block.json")) as UtxoNode.NodeBlock
      for (const [index, transaction] of plain.tx.entries()) {
        // Figures of this file have at most 8 digits behind the point and survive JSON.parse as text.
        const exact = JSON.parse(JSON.stringify(transaction), (key, value) =>
          key === "value" ? (value as number).toFixed(8) : (value as unknown)
        ) as unknown
        TimeSlice.atOnce(NodeTransaction.read(bitcoin, exact, index, body))
      }
      assert.deepStrictEqual(
        body.transactions.map(hex),
        native.transactions.map(({ transaction_id }) => transaction_id)
      )
      assert.deepStrictEqual(
        body.transfers.map(({ transaction, position, to, amount }) => [transaction, position, hex(to!), amount]),
        native.transactions.flatMap(({ outputs }, transaction) =>
          outputs
            .filter(({ script_public_key }) => spendable(script_public_key.hex))
            .map(({ index, value, script_public_key }) => [
              transaction,
              index ?? 0,
              script_public_key.hex,
              BigInt(value ?? 0)
            ])
        )
      )
    })
  )

  for (const [name, field] of [
    ["btc_getblockresponse_withinconsistenthash.json", "hash"],
    ["btc_getblockresponse_withouthash.json", "hash"],
    ["btc_getblockresponse_withoutheight.json", "height"],
    ["btc_getblockresponse_withoutprevhash.json", "previousblockhash"],
    ["btc_getblockresponse.json", "merkleroot"]
  ] as const) {
    it.effect(`${name}: refused for its ${field}`, () =>
      Effect.gen(function* () {
        const hash = "000000000000000000088a771bf9592a8bd3e9a5dc4c5a18876b65b283f0fb1e"
        const answer = parsed(...client, name)
        const good = UtxoNode.answers("core", { blocks: [{ hash, height: 696402, tx: answer.tx }] })
        const node = yield* FakeNode.make((method, params) => {
          if (method !== "getblock" || params[1] === 0) return good(method, params)
          return params[1] === 1 ? good(method, params) : answer
        })
        const source = yield* UtxoSource.make(bitcoin, yield* JsonRpc.make({ urls: [node.url], attempts: 1 }), {
          strategy: "decoded"
        })
        const error = yield* Effect.flip(source.blockAt(696402))
        assert.strictEqual(error._tag, "NodeInconsistent")
        assert.match(error.message, new RegExp(`^${field} `))
      })
    )
  }
})

describe.skipIf(!present)("rosetta-bitcoin: recorded answers", () => {
  const at = ["rosetta-bitcoin", "bitcoin", "client_fixtures"]
  const recorded = (name: string) =>
    UtxoNode.parse(textOf(...at, name)) as {
      readonly result: never
      readonly error: { readonly code: number; readonly message: string } | null
    }

  const refusals = { "get_block_response.json": "ProofFailed", "get_block_response_2.json": "NodeInconsistent" }
  for (const [name, refusal] of Object.entries(refusals)) {
    it.effect(`${name}: a block that was put together by hand is refused`, () =>
      Effect.gen(function* () {
        const block: UtxoNode.NodeBlock = recorded(name).result
        const source = yield* open(chainOf("bitcoin"), "core", { blocks: [block] })
        const error = yield* Effect.flip(source.blockAt(block.height))
        assert.strictEqual(error._tag, refusal)
      })
    )
  }

  it.effect("unknown block, height out of range, mempool", () =>
    Effect.gen(function* () {
      const block: UtxoNode.NodeBlock = recorded("get_block_response.json").result
      const good = UtxoNode.answers("core", { blocks: [block] })
      const fail = (name: string) => {
        const { code, message } = recorded(name).error!
        throw new FakeNode.RpcError(code, message)
      }
      let down = false
      const node = yield* FakeNode.make((method, params) => {
        if (method === "getblockchaininfo") return recorded("get_blockchain_info_response.json").result
        if (method === "getrawmempool") return recorded("raw_mempool.json").result
        if (down && method === "getblockhash" && params[0] === 1000)
          return recorded("get_block_hash_response.json").result
        if (down && method === "getblockhash") return fail("get_block_hash_out_of_range_response.json")
        if (down && method === "getblock") return fail("get_block_not_found_response.json")
        return good(method, params)
      })
      const source = yield* UtxoSource.make(chainOf("bitcoin"), yield* JsonRpc.make({ urls: [node.url], attempts: 1 }))
      down = true
      assert.strictEqual((yield* source.head).height, 1000)
      assert.strictEqual((yield* Effect.flip(source.hashAt(1001)))._tag, "BlockMissing")
      assert.strictEqual((yield* Effect.flip(source.blockAt(1000)))._tag, "BlockMissing")
      assert.strictEqual((yield* source.mempool.ids).length, 3)
    })
  )
})
