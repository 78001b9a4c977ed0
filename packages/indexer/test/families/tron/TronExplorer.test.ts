import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import type { BlockName, Explorer, ExplorerTransaction } from "@headwater/indexer/families/evm/Explorer"
import * as TronSource from "@headwater/indexer/families/tron/TronSource"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Fixtures from "../../Fixtures.ts"
import {
  account,
  blockOf,
  bytesOf,
  call,
  infoOf,
  internal,
  linked,
  mainnet,
  transaction,
  transfer,
  trc20
} from "./TronBlocks.ts"
import * as TronNode from "./TronNode.ts"

type Json = TronNode.Json

const first = 66_000_000
const usdt = 50

const paid = transfer(1, 2, 1_500_000)
const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"))
const hex = (hash: Uint8Array | undefined) => hash && Buffer.from(hash).toString("hex")

/** A call that burns energy, with what a stake gave of it; 5 TRX go to the contract. */
const called = transaction("TriggerSmartContract", {
  owner_address: account(1),
  contract_address: account(usdt),
  data: "a9059cbb",
  call_value: 5_000_000
})
const failed = call(3, usdt, 7, "OUT_OF_ENERGY")
const created = transaction("CreateSmartContract", {
  owner_address: account(1),
  new_contract: { origin_address: account(1), bytecode: "6001", call_value: 11, name: "n", abi: {} }
})
const asset = transaction("TransferAssetContract", {
  asset_name: "31303030",
  owner_address: account(1),
  to_address: account(4),
  amount: 9
})

const infos = (height: number) => [
  // Above what a float keeps, as text of digits in the JSON.
  infoOf(paid, height, { fee: 1_100_000, receipt: { net_fee: 100_000 } }),
  infoOf(called, height, {
    fee: 26_420_100,
    contract_address: account(usdt),
    receipt: {
      ...{ energy_usage: 4_475, energy_fee: 26_420_100, energy_usage_total: 130_285, net_usage: 345, result: "SUCCESS" }
    },
    log: [trc20(usdt, 1, 2, 5n)],
    internal_transactions: [
      internal(usdt, 4, 2_000_000),
      internal(usdt, 5, 1, "call", { rejected: true }),
      // Of a stake that was asked for and refused, java-tron lists the lowest 64 bits.
      internal(usdt, usdt, -1, "freezeBalanceV2ForEnergy", { rejected: true })
    ]
  }),
  infoOf(failed, height, {
    ...{ result: "FAILED", fee: 420_000, contract_address: account(usdt) },
    receipt: { energy_fee: 420_000, energy_usage_total: 1_000, result: "OUT_OF_ENERGY", net_usage: 300 },
    internal_transactions: [internal(usdt, 4, 2_000_000)]
  }),
  infoOf(created, height, {
    contract_address: account(61),
    receipt: { origin_energy_usage: 40, energy_usage_total: 40, result: "SUCCESS" }
  }),
  infoOf(asset, height, { receipt: { net_usage: 280 } })
]
const all = [paid, called, failed, created, asset]

const genesisTransfer = transfer(70, 71, 99_000_000_000_000_000)
const genesis = ((): TronNode.TronBlock => {
  const { block } = blockOf(0, [genesisTransfer])
  return { block: { ...block, blockID: mainnet.tron!.genesis.mainnet }, infos: [] }
})()

const blocks = [
  genesis,
  ...linked([
    blockOf(first, [transfer(1, 2, 1)]),
    blockOf(first + 1, all, infos(first + 1)),
    blockOf(first + 2, []),
    blockOf(first + 3, [transfer(2, 3, 3)])
  ])
]
const idOf = (height: number): string =>
  blocks.find(({ block }) => block.block_header.raw_data.number === height)!.block.blockID

const setup = Effect.gen(function* () {
  const node = yield* TronNode.make({ blocks, solid: first })
  const source = yield* TronSource.make(mainnet, { urls: [node.url], attempts: 1, timeoutMillis: 2_000 })
  return { node, explorer: source.explorer }
})

const transactions = (explorer: Explorer, name: BlockName, page = { limit: 50, offset: 0 }) =>
  Effect.map(explorer.transactionsOf(name, page), (found) => found!)

const place = (position: number) => ({
  block: { hash: bytes(idOf(first + 1)), height: first + 1, time: 1_777_000_000 + 3 * (first + 1) },
  position
})

const other = { created: undefined, called: undefined }

const expected: ReadonlyArray<ExplorerTransaction> = [
  {
    ...{ hash: bytes(paid.txID), ...place(0), from: bytesOf(1), to: bytesOf(2), ...other },
    ...{ value: 1_500_000n, fee: 1_100_000n, gasPrice: 0n, gasLimit: 0, gasUsed: 0, nonce: 0, input: new Uint8Array() },
    ...{ succeeded: true, resources: { bandwidth: 0, energy: 0 } }
  },
  {
    ...{ hash: bytes(called.txID), ...place(1), from: bytesOf(1), to: bytesOf(usdt), ...other, called: bytesOf(usdt) },
    // 26,420,100 sun for what the stake did not give: 130,285 - 4,475.
    ...{ value: 5_000_000n, fee: 26_420_100n, gasPrice: 210n, gasLimit: 0, gasUsed: 130_285, nonce: 0 },
    ...{ input: bytes("a9059cbb"), succeeded: true, resources: { bandwidth: 345, energy: 130_285 } }
  },
  {
    ...{ hash: bytes(failed.txID), ...place(2), from: bytesOf(3), to: bytesOf(usdt), ...other, called: bytesOf(usdt) },
    ...{ value: 7n, fee: 420_000n, gasPrice: 420n, gasLimit: 0, gasUsed: 1_000, nonce: 0 },
    ...{ input: bytes("a9059cbb"), succeeded: false, resources: { bandwidth: 300, energy: 1_000 } }
  },
  {
    ...{ hash: bytes(created.txID), ...place(3), from: bytesOf(1), to: bytesOf(61), ...other, created: bytesOf(61) },
    ...{ value: 11n, fee: 0n, gasPrice: 0n, gasLimit: 0, gasUsed: 40, nonce: 0, input: new Uint8Array() },
    ...{ succeeded: true, resources: { bandwidth: 0, energy: 40 } }
  },
  {
    ...{ hash: bytes(asset.txID), ...place(4), from: bytesOf(1), to: bytesOf(4), ...other },
    // Tokens of TRC-10 are no coins.
    ...{ value: 0n, fee: 0n, gasPrice: 0n, gasLimit: 0, gasUsed: 0, nonce: 0, input: new Uint8Array() },
    ...{ succeeded: true, resources: { bandwidth: 280, energy: 0 } }
  }
]

describe("TronExplorer", () => {
  it.live("shows a block by its height, its hash and as the newest, with its neighbours", () =>
    Effect.gen(function* () {
      const { explorer, node } = yield* setup
      const block = yield* explorer.block({ height: first + 1 })
      const signed = 2 + 65
      const wire = (raw: string, ret: number) => {
        const content = (raw.length / 2 < 128 ? 2 : 3) + raw.length / 2 + signed + 2 + ret
        return content + (content < 128 ? 2 : 3)
      }
      // timestamp, txTrieRoot, parentHash, number, witness_address, version
      const raw = 7 + 34 + 34 + 5 + 23 + 2
      const header = 2 + raw + signed
      assert.deepStrictEqual(block, {
        ...{ height: first + 1, hash: bytes(idOf(first + 1)), parent: bytes(idOf(first)) },
        ...{ next: bytes(idOf(first + 2)), time: 1_777_000_000 + 3 * (first + 1), seconds: 3 },
        ...{ extraData: new Uint8Array(), gasLimit: 0, gasUsed: 131_325, nonce: 0n, totalDifficulty: 0n },
        ...{ transactions: 5, resources: { bandwidth: 925, energy: 131_325, burned: 27_940_100n } },
        size: header + 3 + all.reduce((sum, { raw_data_hex }) => sum + wire(raw_data_hex, 2), 0)
      })
      assert.deepStrictEqual(yield* explorer.block({ hash: bytes(idOf(first + 1)) }), block)
      const latest = yield* explorer.block("latest")
      assert.deepStrictEqual(
        [latest?.height, latest?.next, hex(latest?.parent)],
        [first + 3, undefined, idOf(first + 2)]
      )

      // A node that begins there lacks the time before, and has the block.
      const begins = yield* Effect.flip(explorer.block({ height: first }))
      assert.strictEqual(begins._tag, "NodeInconsistent")
      assert.isUndefined(yield* explorer.block({ height: first + 4 }))
      assert.isUndefined(yield* explorer.block({ height: Number.MAX_SAFE_INTEGER }))
      // A block of the height that the chain does not have, and what is no block's hash.
      const other = `${idOf(first + 1).slice(0, 16)}${"cd".repeat(24)}`
      for (const hash of [other, "ff".repeat(32), "00".repeat(20)]) {
        assert.isUndefined(yield* explorer.block({ hash: bytes(hash) }), hash)
        assert.isUndefined(yield* explorer.transactionsOf({ hash: bytes(hash) }, { limit: 1, offset: 0 }))
      }
      node.height = first + 1
      assert.strictEqual((yield* explorer.block({ height: first + 1 }))?.next, undefined)
    }).pipe(Effect.scoped)
  )

  it.live("lists the newest blocks, newest first", () =>
    Effect.gen(function* () {
      const { explorer, node } = yield* setup
      const three = yield* explorer.newest(3)
      assert.deepStrictEqual(
        three.map(({ hash, height, seconds, transactions }) => [height, hex(hash), seconds, transactions]),
        [
          [first + 3, idOf(first + 3), 3, 1],
          [first + 2, idOf(first + 2), 3, 0],
          [first + 1, idOf(first + 1), 3, 5]
        ]
      )
      assert.strictEqual(three[2]?.resources?.burned, 27_940_100n)
      node.height = 0
      assert.deepStrictEqual(
        (yield* explorer.newest(10)).map(({ height, seconds }) => [height, seconds]),
        [[0, 0]]
      )
    }).pipe(Effect.scoped)
  )

  it.live("shows transactions of every kind, in a block, by themselves, and as the record names them", () =>
    Effect.gen(function* () {
      const { explorer } = yield* setup
      assert.deepStrictEqual(yield* transactions(explorer, { height: first + 1 }), { total: 5, items: expected })
      const part = yield* transactions(explorer, { hash: bytes(idOf(first + 1)) }, { limit: 2, offset: 3 })
      assert.deepStrictEqual(part, { total: 5, items: expected.slice(3) })
      for (const each of expected) assert.deepStrictEqual(yield* explorer.transaction(each.hash), each)
      assert.isUndefined(yield* explorer.transaction(bytes("ab".repeat(32))))
      const wanted = [expected[3]!, expected[0]!].map(({ block, hash, position }) => ({
        ...{ hash, block: block.hash, height: block.height, position }
      }))
      assert.deepStrictEqual(yield* explorer.mined(wanted), [expected[3]!, expected[0]!])
      const gone = yield* Effect.flip(explorer.mined([{ ...wanted[0]!, block: bytes("cd".repeat(32)) }]))
      assert.include(gone.message, "lacks a block that is recorded")
    }).pipe(Effect.scoped)
  )

  it.live("shows what the first block has given, of which there are no infos", () =>
    Effect.gen(function* () {
      const { explorer } = yield* setup
      const block = (yield* explorer.block({ height: 0 }))!
      assert.deepStrictEqual([block.seconds, block.transactions, block.resources?.burned], [0, 1, 0n])
      const [given] = (yield* transactions(explorer, { height: 0 })).items
      assert.deepStrictEqual([given?.value, given?.fee, given?.succeeded], [99_000_000_000_000_000n, 0n, true])
      assert.deepStrictEqual(yield* explorer.transaction(bytes(genesisTransfer.txID)), given)
    }).pipe(Effect.scoped)
  )

  it.live("lists internal transactions that moved coins, of what took effect", () =>
    Effect.gen(function* () {
      const { explorer } = yield* setup
      const of = (transaction: Json) => explorer.internal!(bytes(transaction.txID))
      assert.deepStrictEqual(yield* of(called), {
        time: 1_777_000_000 + 3 * (first + 1),
        transfers: [
          {
            ...{ kind: "internal", transaction: 0, operation: "call_0", operationType: "call" },
            ...{ from: bytesOf(usdt), to: bytesOf(4), amount: 2_000_000n }
          }
        ]
      })
      assert.deepStrictEqual((yield* of(failed))?.transfers, [])
      assert.deepStrictEqual((yield* of(paid))?.transfers, [])
      assert.isUndefined(yield* explorer.internal!(bytes("ab".repeat(32))))
    }).pipe(Effect.scoped)
  )

  it.live("has no internal transactions where the node keeps none, and refuses one of a time when it kept none", () =>
    Effect.gen(function* () {
      const { explorer, node } = yield* setup
      // Another contract than the one called has logged.
      const bare = infoOf(called, first + 1, { contract_address: account(60), log: [trc20(usdt, 1, 2, 5n)] })
      node.override = (path) => (path === "/wallet/gettransactioninfobyid" ? bare : undefined)
      const refused = yield* Effect.flip(explorer.internal!(bytes(called.txID)))
      assert.strictEqual(refused._tag, "NodeRejected")
      const without = yield* TronNode.make({
        blocks: [genesis, ...linked([blockOf(first, [called], [{ ...bare, blockNumber: first }])])]
      })
      const source = yield* TronSource.make(mainnet, { urls: [without.url], attempts: 1 })
      assert.isUndefined(source.explorer.internal)
    }).pipe(Effect.scoped)
  )

  it.live("gives no answer that contradicts itself: it is asked again, and fails in the end", () =>
    Effect.gen(function* () {
      const { explorer, node } = yield* setup
      const lies: ReadonlyArray<readonly [what: string, path: string, answer: (json: Json) => unknown]> = [
        ["another block", "/wallet/getblockbynum", () => blocks[2]!.block],
        ["no infos", "/wallet/gettransactioninfobyblocknum", () => []],
        ["infos of another block", "/wallet/gettransactioninfobyblocknum", () => infos(first)],
        [
          "a block that left",
          "/wallet/getblock",
          ({ id_or_num }) => (id_or_num === undefined ? undefined : blocks[4]!.block)
        ]
      ]
      for (const [what, path, answer] of lies) {
        node.override = (asked, body) => (asked === path ? answer(body) : undefined)
        const height = what === "another block" ? first + 2 : first + 1
        const error = yield* Effect.flip(explorer.transactionsOf({ height }, { limit: 50, offset: 0 }))
        assert.strictEqual(error._tag, "NodeInconsistent", what)
      }
      // The chain changed while it was read, and then did not.
      let times = 0
      node.override = (path) => (path === "/wallet/gettransactioninfobyblocknum" && times++ === 0 ? [] : undefined)
      assert.strictEqual((yield* transactions(explorer, { height: first + 1 })).total, 5)
      assert.strictEqual(times, 2)
    }).pipe(Effect.scoped)
  )

  it.live("keeps amounts that a float would change", () =>
    Effect.gen(function* () {
      const { explorer, node } = yield* setup
      const exact = "9007199254740993"
      const [info] = infos(first + 1)
      node.override = (path) =>
        path === "/wallet/gettransactioninfobyid"
          ? JSON.stringify({ ...info, fee: 0 }).replace('"fee":0', `"fee":${exact}`)
          : undefined
      assert.strictEqual((yield* explorer.transaction(bytes(paid.txID)))?.fee, BigInt(exact))
    }).pipe(Effect.scoped)
  )
})

describe.skipIf(!Fixtures.exist)("recorded on mainnet", () => {
  const recorded = () => Fixtures.json("tron/transcribed/ledger-live-trongrid.json") as Json

  const served = (transactions: ReadonlyArray<Json>, infos: ReadonlyArray<Json>) =>
    Effect.gen(function* () {
      const node = yield* TronNode.make({
        blocks: [genesis, ...linked([blockOf(first - 1, []), blockOf(first, transactions, infos)])]
      })
      return (yield* TronSource.make(mainnet, { urls: [node.url], attempts: 1 })).explorer
    })

  it.live("shows recorded transfers with what their answers say of them", () =>
    Effect.gen(function* () {
      const list: ReadonlyArray<Json> = recorded().transactions
      const shown = list.map(({ raw_data_hex, txID }) => ({ txID, raw_data_hex, ret: [{ contractRet: "SUCCESS" }] }))
      const infos = list.map(({ fee, txID }) => infoOf({ txID }, first, fee === 0 ? {} : { fee }))
      const { items } = yield* transactions(yield* served(shown, infos), { height: first })
      assert.deepStrictEqual(
        items.map(({ fee, from, hash, to, value }) => ({
          ...{ txID: hex(hash), fee: Number(fee), amount: Number(value) },
          ...{ owner_address: `41${hex(from)}`, to_address: `41${hex(to)}` }
        })),
        list.map(({ amount, fee, owner_address, to_address, txID }) => ({
          txID,
          fee,
          amount,
          owner_address,
          to_address
        }))
      )
    }).pipe(Effect.scoped)
  )

  it.live("shows what recorded infos say of fees, energy and bandwidth", () =>
    Effect.gen(function* () {
      const list: ReadonlyArray<Json> = recorded().transactionInfos
      // The bytes of these transactions were not recorded.
      const made = list.map(({ contract_address: contract }) =>
        contract === undefined ? transfer(1, 2, 1) : call(1, 50)
      )
      const infos = list.map((info, index) => ({ ...info, id: made[index]!.txID, blockNumber: first }))
      const explorer = yield* served(made, infos)
      const { items } = yield* transactions(explorer, { height: first })
      assert.deepStrictEqual(
        items.map(({ fee, gasPrice, gasUsed, resources }) => [fee, gasPrice, gasUsed, resources?.bandwidth]),
        [
          [0n, 0n, 0, 283],
          [1_100_000n, 0n, 0, 0],
          // The prices of energy in February 2025 and in August 2024, in sun.
          [26_420_100n, 210n, 130_285, 345],
          [13_740_060n, 420n, 31_895, 0],
          [0n, 0n, 0, 246],
          [0n, 0n, 0, 246],
          [271_000n, 0n, 0, 0]
        ]
      )
      const block = yield* explorer.block({ height: first })
      assert.deepStrictEqual(block?.resources, { bandwidth: 1_120, energy: 162_180, burned: 41_531_160n })
    }).pipe(Effect.scoped)
  )

  it.live("shows every collected transaction, whatever its contract", () =>
    Effect.gen(function* () {
      const collected = Fixtures.json("tron/collected/tx-sha256-verified.shared.json") as ReadonlyArray<{
        readonly tx: Json
      }>
      const unique = [...new Map(collected.map(({ tx }) => [tx.txID, tx])).values()]
      const infos = unique.map((tx) => infoOf(tx, first, { contract_address: account(50) }))
      const { items, total } = yield* transactions(yield* served(unique, infos), { height: first })
      assert.strictEqual(total, unique.length)
      const owners = unique.map(({ raw_data }): string | undefined => {
        const { owner_address, transparent_from_address } = raw_data.contract[0].parameter.value
        return owner_address ?? transparent_from_address
      })
      assert.isAbove(owners.filter((owner) => owner !== undefined).length, 20)
      assert.deepStrictEqual(
        items.map(({ from }) => from),
        owners.map((owner) => (owner === undefined ? undefined : Result.getOrThrow(Address.decode(mainnet, owner))))
      )
      const recipients = unique.map(({ raw_data }): string | undefined => {
        const { parameter, type } = raw_data.contract[0]
        const { account_address, contract_address, receiver_address, to_address, transparent_to_address } =
          parameter.value
        const named = to_address ?? account_address ?? receiver_address ?? transparent_to_address ?? contract_address
        return type === "CreateSmartContract" ? account(50) : named
      })
      assert.isAbove(recipients.filter((recipient) => recipient !== undefined).length, 12)
      assert.deepStrictEqual(
        items.map(({ to }) => to),
        recipients.map((text) => (text === undefined ? undefined : Result.getOrThrow(Address.decode(mainnet, text))))
      )
    }).pipe(Effect.scoped)
  )
})
