import { assert, describe, it } from "@effect/vitest"
import type * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import type { EventType } from "@headwater/core/events/EventType"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import type { NodeError } from "@headwater/indexer/families/node/NodeError"
import * as TronSource from "@headwater/indexer/families/tron/TronSource"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Follow from "@headwater/indexer/sync/Follow"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { stores } from "../../../../../test/Stores.ts"
import * as FakeNode from "../../FakeNode.ts"
import {
  account,
  base58,
  blockOf,
  bytesOf,
  call,
  infoOf,
  internal,
  linked,
  mainnet,
  transfer,
  trc20,
  trc721
} from "./TronBlocks.ts"
import * as EvmBlocks from "../evm/EvmBlocks.ts"
import * as TronNode from "./TronNode.ts"

const first = 66_000_000

/** Blocks from `first` on; block n has a transfer of n sun, and with `internals` a call that moves TRX within. */
const blocks = (count: number, internals = true) =>
  linked(
    Array.from({ length: count }, (_, index) => {
      const height = first + index
      const sent = transfer(index % 5, (index + 1) % 5, index + 1)
      const called = call(1, 50)
      return blockOf(
        height,
        [sent, called],
        [
          infoOf(sent, height),
          infoOf(called, height, {
            contract_address: account(50),
            log: [trc20(50, 2, 3, BigInt(index)), trc721(51, 3, 4, 7n)],
            ...(internals ? { internal_transactions: [internal(50, 3, 5)] } : {})
          })
        ]
      )
    })
  )

const quick = { timeoutMillis: 1_000, attempts: 2 } as const

const open = (node: TronNode.TronNode, options: Partial<TronSource.TronSourceOptions> = {}) =>
  TronSource.make(mainnet, { urls: [node.url], ...quick, ...options })

const errorOf = <A, R>(effect: Effect.Effect<A, NodeError, R>) => Effect.flip(effect)

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

const capability = (source: TronSource.TronSource, name: string) =>
  Effect.map(source.capabilities, (all) => all.find((each) => each.name === name)!)

describe("TronSource", () => {
  it.live.each([
    [[], "/walletsolidity/getblock"],
    [["/walletsolidity/getblock", "/wallet/getblock"], "/walletsolidity/getnowblock"],
    [["/walletsolidity/getblock", "/walletsolidity/getnowblock"], "/wallet/getnodeinfo"]
  ])("shows head, final head, hashes and blocks of a node without %s", ([without, strategy]) =>
    Effect.gen(function* () {
      const recorded = blocks(25)
      const node = yield* TronNode.make({ blocks: recorded, without: without as ReadonlyArray<string> })
      const source = yield* open(node)
      const head = yield* source.head
      assert.strictEqual(head.height, first + 24)
      assert.strictEqual(hex(head.hash), recorded[24]!.block.blockID)
      assert.strictEqual(head.final, first + 5)
      assert.strictEqual(head.finalHash && hex(head.finalHash), recorded[5]!.block.blockID)
      assert.include((yield* capability(source, "finality")).detail, strategy as string)
      const block = yield* source.blockAt(first + 3)
      assert.strictEqual(hex(block.hash), recorded[3]!.block.blockID)
      assert.strictEqual(hex(block.parent), recorded[2]!.block.blockID)
      assert.strictEqual(hex(yield* source.hashAt(first + 3)), recorded[3]!.block.blockID)
      assert.deepStrictEqual(
        block.transfers.map(({ kind }) => kind),
        ["coin", "token", "token", "internal"]
      )
      assert.deepStrictEqual(
        block.logs?.map(({ contract, position, topics, transaction }) => ({ contract, position, transaction, topics })),
        [50, 51].map((number, position) => ({
          ...{ contract: bytesOf(number), position, transaction: 1 },
          topics: recorded[3]!.infos[1]!.log[position].topics.map((topic: string) => `0x${topic}`)
        }))
      )
      for (const ask of [source.blockAt(first + 25), source.hashAt(first + 25)]) {
        const error = yield* errorOf(ask as Effect.Effect<unknown, NodeError>)
        assert.strictEqual(error._tag, "BlockMissing")
        assert.include(error.message, String(first + 25))
      }
    })
  )

  it.live("asks JSON-RPC for the final block where HTTP does not say it, and does without where nobody does", () =>
    Effect.gen(function* () {
      const without = ["/walletsolidity/getblock", "/walletsolidity/getnowblock", "/wallet/getnodeinfo"]
      const node = yield* TronNode.make({ blocks: blocks(25), without })
      const silent = yield* open(node)
      assert.isUndefined((yield* silent.head).final)
      assert.isFalse((yield* capability(silent, "finality")).available)
      const fake = yield* FakeNode.make((method, [tag]) =>
        method === "eth_getBlockByNumber" && tag === "finalized" ? { number: `0x${(first + 9).toString(16)}` } : null
      )
      const source = yield* open(node, { rpc: yield* JsonRpc.make({ urls: [fake.url] }) })
      assert.strictEqual((yield* source.head).final, first + 9)
    })
  )

  it.live("asks again for the final block where the node refused at first, after five minutes", () =>
    Effect.gen(function* () {
      const node = yield* TronNode.make({ blocks: blocks(5), solid: first + 3 })
      node.override = (path) => (/^.walletsolidity|nodeinfo/.test(path) ? {} : undefined)
      const source = yield* open(node)
      node.override = () => undefined
      assert.isUndefined((yield* source.head).final)
      const head = yield* EvmBlocks.atClock(source.head, { passedMillis: 300_000 })
      assert.strictEqual(head.final, first + 3)
      assert.isTrue((yield* capability(source, "finality")).available)
    })
  )

  it.live("never calls final what is above the head, and keeps the head when finality cannot be told", () =>
    Effect.gen(function* () {
      const node = yield* TronNode.make({ blocks: blocks(5), solid: first + 4 })
      const source = yield* open(node)
      node.override = (path) => (path === "/wallet/getblock" ? blockOf(first + 2, []).block : undefined)
      assert.isUndefined((yield* source.head).final)
      node.override = (path) => (path.startsWith("/walletsolidity") ? {} : undefined)
      assert.isUndefined((yield* source.head).final)
    })
  )

  it.live("finds out whether the node keeps internal transactions, and says what to do", () =>
    Effect.gen(function* () {
      const keeps = yield* open(yield* TronNode.make({ blocks: blocks(3) }))
      assert.isTrue((yield* capability(keeps, "internal transactions")).available)
      const not = yield* open(yield* TronNode.make({ blocks: blocks(3, false) }))
      const { available, detail } = yield* capability(not, "internal transactions")
      assert.isFalse(available)
      assert.include(detail, "vm.saveInternalTx")
      const node = yield* TronNode.make({ blocks: [...Array.from({ length: 3 }, (_, n) => blockOf(first + n, []))] })
      const unknown = yield* open(node)
      const inDoubt = yield* capability(unknown, "internal transactions")
      assert.isFalse(inDoubt.available)
      assert.include(inDoubt.detail, "no block has shown yet")
      const off = yield* open(yield* TronNode.make({ blocks: blocks(3) }), { internal: false })
      assert.isFalse((yield* capability(off, "internal transactions")).available)
      assert.isEmpty((yield* off.blockAt(first)).transfers.filter(({ kind }) => kind === "internal"))
    })
  )

  it.live("learns from later blocks whether internal transactions are kept", () =>
    Effect.gen(function* () {
      const empty = Array.from({ length: 3 }, (_, n) => blockOf(first - 3 + n, []))
      const node = yield* TronNode.make({ blocks: [...empty, ...blocks(2)] })
      node.height = first - 1
      const source = yield* open(node)
      assert.isFalse((yield* capability(source, "internal transactions")).available)
      node.height = first + 1
      yield* source.blockAt(first)
      assert.isTrue((yield* capability(source, "internal transactions")).available)
    })
  )

  it.live("asks anew which network a node is on that may have changed", () =>
    Effect.gen(function* () {
      const { mainnet, nile } = Chain.ofName("tron/mainnet")!.tron!.genesis
      const genesis = { ...blockOf(0, []).block, blockID: mainnet! }
      const { network } = yield* open(yield* TronNode.make({ blocks: [{ block: genesis, infos: [] }, ...blocks(2)] }))
      assert.isTrue((yield* network!).available)
      genesis.blockID = nile!
      const { available, detail } = yield* network!
      assert.isFalse(available)
      assert.include(detail, "nile, not mainnet")
    })
  )

  it.live("says that TRC-10 is left out, and that a node is on another network", () =>
    Effect.gen(function* () {
      const withGenesis = Effect.fnUntraced(function* (blockID: string) {
        const genesis = { ...blockOf(0, []).block, blockID }
        return yield* open(yield* TronNode.make({ blocks: [{ block: genesis, infos: [] }, ...blocks(2)] }))
      })
      const { mainnet, nile } = Chain.ofName("tron/mainnet")!.tron!.genesis
      const source = yield* withGenesis(nile!)
      assert.include((yield* capability(source, "TRC-10 tokens")).detail, "not recorded")
      const network = yield* capability(source, "network")
      assert.isFalse(network.available)
      assert.include(network.detail, "nile, not mainnet")
      const right = yield* capability(yield* withGenesis(mainnet!), "network")
      assert.deepInclude(right, { available: true, detail: "mainnet, by the id of block 0" })
      assert.isUndefined(right.unsure)
      // The end of the id alone, the chain's id, is easily made.
      const made = yield* capability(yield* withGenesis(`${"00".repeat(28)}2b6653dc`), "network")
      assert.isFalse(made.available)
      assert.match(made.detail, /on a network whose block 0 is 0+2b6653dc, not mainnet/)
      const silent = yield* capability(yield* open(yield* TronNode.make({ blocks: blocks(2) })), "network")
      assert.deepInclude(silent, {
        available: true,
        unsure: true,
        detail: "not proved: the node does not show block 0"
      })
    })
  )

  it.live("names what contradicts, tries again what passes, and takes no answer for another", () =>
    Effect.gen(function* () {
      const recorded = blocks(4)
      const node = yield* TronNode.make({ blocks: recorded })
      const source = yield* open(node)
      const at = (path: string, answer: unknown) => {
        node.override = (asked) => (asked === path ? answer : undefined)
        return errorOf(source.blockAt(first + 1))
      }
      const block = "/wallet/getblockbynum"
      const infos = "/wallet/gettransactioninfobyblocknum"
      assert.include((yield* at(infos, [])).message, "there is no info")
      assert.include((yield* at(block, recorded[2]!.block)).message, `answered block ${first + 2}`)
      assert.strictEqual((yield* at(block, { ...recorded[1]!.block, blockID: 5 }))._tag, "NodeInconsistent")
      assert.strictEqual((yield* at(block, "<html>"))._tag, "NodeUnreachable")
      assert.strictEqual((yield* at(block, 500))._tag, "NodeUnreachable")
      assert.strictEqual((yield* at(block, { Error: "class x : y" }))._tag, "NodeRejected")
      const short = { ...recorded[1]!.block, transactions: recorded[1]!.block.transactions.slice(1) }
      assert.include((yield* at(block, short)).message, "txTrieRoot is not that of the transactions")
      const lacking = (path: string, answer: unknown) => {
        node.override = (asked) => (asked === path ? answer : undefined)
        return Effect.map(source.blockAt(first + 1), ({ notUnderstood = [] }) =>
          notUnderstood.map(({ reason }) => reason)
        )
      }
      const noInfo = "there is no info of the transaction"
      const unlisted = "the info is of no transaction that the block lists"
      assert.deepStrictEqual(yield* lacking(infos, [{ id: "x" }]), [noInfo])
      const other = recorded[2]!.infos.map((info) => ({ ...info, blockNumber: first + 1 }))
      assert.deepStrictEqual(yield* lacking(infos, other), [noInfo, unlisted, unlisted])
      let left = 1
      node.override = (path) =>
        path === block && left-- > 0
          ? { Error: "class java.lang.IllegalAccessException : lack of computing resources" }
          : undefined
      assert.strictEqual((yield* source.blockAt(first + 1)).height, first + 1)
    })
  )

  it.live("takes null for what java-tron leaves out, as what stands before a node may write it", () =>
    Effect.gen(function* () {
      const [recorded, empty] = linked([blocks(1)[0]!, blockOf(first + 1, [])])
      const node = yield* TronNode.make({ blocks: [recorded!, empty!], solid: first })
      const source = yield* open(node)
      const whole = yield* source.blockAt(first)
      const without = yield* source.blockAt(first + 1)
      const nulls = {
        "/wallet/getblockbynum": ({ num }: TronNode.Json) => {
          if (num > first) return { ...empty!.block, transactions: null }
          const { block_header: header, transactions } = recorded!.block
          const raw_data = { ...header.raw_data, accountStateRoot: null }
          return {
            ...recorded!.block,
            block_header: { ...header, raw_data, pq_auth_sig: null },
            transactions: transactions.map((each: TronNode.Json) => ({
              ...each,
              contract_address: null,
              pq_auth_sig: null
            }))
          }
        },
        "/wallet/gettransactioninfobyblocknum": ({ num }: TronNode.Json) =>
          num > first
            ? []
            : recorded!.infos.map((info) => ({
                ...{ result: null, contract_address: null, log: null, internal_transactions: null },
                ...info,
                receipt: { result: null, ...info.receipt }
              })),
        "/walletsolidity/getblock": () => ({
          ...recorded!.block,
          block_header: { ...recorded!.block.block_header, witness_signature: null },
          transactions: null
        })
      }
      node.override = (path, body) => nulls[path as keyof typeof nulls]?.(body)
      assert.deepStrictEqual(yield* source.blockAt(first), whole)
      assert.deepStrictEqual(yield* source.blockAt(first + 1), without)
      assert.strictEqual((yield* source.head).final, first)
    })
  )

  it.live("reads amounts beyond 2^53 as they are", () =>
    Effect.gen(function* () {
      const node = yield* TronNode.make({ blocks: blocks(2) })
      const source = yield* open(node)
      const recorded = blocks(2)[1]!
      const text = JSON.stringify(recorded.infos).replace('"callValue":5', '"callValue":99000000000000001')
      node.override = (path) =>
        path === "/wallet/gettransactioninfobyblocknum"
          ? text
          : path === "/wallet/getblockbynum"
            ? recorded.block
            : path === "/wallet/getaccount"
              ? `{"address":"${account(1)}","balance":99000000000000001}`
              : undefined
      const block = yield* source.blockAt(first + 1)
      assert.strictEqual(block.transfers.at(-1)?.amount, 99_000_000_000_000_001n)
      assert.deepStrictEqual(yield* source.balances([bytesOf(1)]), [99_000_000_000_000_001n])
    })
  )

  it.live("fails over to the next node", () =>
    Effect.gen(function* () {
      const down = yield* TronNode.make({ blocks: blocks(2) })
      const up = yield* TronNode.make({ blocks: blocks(2) })
      const source = yield* TronSource.make(mainnet, { urls: [down.url, up.url], ...quick, attempts: 3 })
      down.override = () => 502
      assert.strictEqual((yield* source.head).height, first + 1)
      assert.isAbove(up.requests.length, 0)
    })
  )

  it.live("reads token metadata and balances: text, bytes32, nothing, undone calls, garbage", () =>
    Effect.gen(function* () {
      const word = (text: string) => Buffer.from(text).toString("hex").padEnd(64, "0")
      const abi = (text: string) =>
        `${"20".padStart(64, "0")}${text.length.toString(16).padStart(64, "0")}${word(text)}`
      const returns = (...constant_result: ReadonlyArray<string>) => ({ result: { result: true }, constant_result })
      const undone = {
        result: { result: true, message: Buffer.from("REVERT opcode executed").toString("hex") },
        constant_result: [word("x")],
        transaction: { ret: [{ ret: "FAILED" }] }
      }
      const number = (value: bigint) => returns(value.toString(16).padStart(64, "0"))
      const node = yield* TronNode.make({
        blocks: blocks(2),
        contracts: {
          [account(50)]: {
            "name()": returns(abi("Tether USD")),
            "symbol()": returns(abi("USDT")),
            "decimals()": number(6n),
            "balanceOf(address)": number(1_088_408_576n),
            "totalSupply()": number(2n ** 80n)
          },
          [account(51)]: { "name()": returns(word("Old")), "symbol()": undone, "decimals()": returns("") },
          [account(52)]: { "name()": returns("00"), "symbol()": returns(""), "decimals()": number(300n) }
        },
        accounts: { [account(1)]: { address: account(1), balance: 7 }, [account(2)]: { address: account(2) } }
      })
      const source = yield* open(node)
      const of = [50, 51, 52, 53].map(bytesOf)
      assert.deepStrictEqual(yield* source.tokenMetadata(of), [
        { name: "Tether USD", symbol: "USDT", decimals: 6 },
        { name: "Old", symbol: "", decimals: undefined },
        { name: "", symbol: "", decimals: undefined },
        { name: "", symbol: "", decimals: undefined }
      ])
      assert.deepStrictEqual(yield* source.tokenBalances(of.map((contract) => ({ contract, holder: bytesOf(1) }))), [
        1_088_408_576n,
        undefined,
        undefined,
        undefined
      ])
      const asked = node.requests.find(({ body }) => body.function_selector === "balanceOf(address)")!
      assert.strictEqual(asked.body.parameter, account(1).slice(2).padStart(64, "0"))
      assert.deepStrictEqual(yield* source.balances([1, 2, 3].map(bytesOf)), [7n, 0n, undefined])
      const tether = { name: "Tether USD", symbol: "USDT", decimals: 6, contract: of[0]! }
      const details = yield* Effect.forEach(of, source.tokenDetails)
      assert.deepStrictEqual(details, [
        { ...tether, kind: "fungible", totalSupply: 2n ** 80n },
        undefined,
        undefined,
        undefined
      ])
      // A node that lacks the block of a contract would say that there is none.
      assert.lengthOf(yield* source.tokenMetadata(of, first + 1), of.length)
      assert.strictEqual((yield* errorOf(source.tokenMetadata(of, first + 2)))._tag, "BlockMissing")
      const unable = { result: { code: "CONTRACT_VALIDATE_ERROR", message: "this node does not support constant" } }
      node.override = (path) => (path === "/wallet/triggerconstantcontract" ? unable : undefined)
      assert.include((yield* errorOf(source.tokenMetadata(of))).message, "does not support constant")
    })
  )

  it.live(
    "a contract that the virtual machine gives up has no name, and stops no chain; a busy node is asked again",
    () =>
      Effect.gen(function* () {
        const node = yield* TronNode.make({ blocks: blocks(2) })
        const source = yield* open(node)
        const contract = bytesOf(50)
        // As java-tron 4.8 words it, and as versions of 2020 did.
        const failure = (said: string) => ({
          result: { code: "OTHER_ERROR", message: Buffer.from(said).toString("hex") }
        })
        const invalid =
          "class org.tron.core.vm.program.Program$IllegalOperationException : Invalid operation code: opCode[fe];"
        const old =
          "class org.tron.common.runtime.vm.program.Program$OutOfEnergyException : Not enough energy for 'SLOAD'"
        const slow =
          "class org.tron.core.vm.program.Program$OutOfTimeException : CPU timeout for 'PUSH1' operation executing"
        let asked = 0
        let answer = (): object => failure(invalid)
        node.override = (path) => {
          if (path !== "/wallet/triggerconstantcontract") return undefined
          asked++
          return answer()
        }
        const nameless = [{ name: "", symbol: "", decimals: undefined }]
        const holding = [{ contract, holder: bytesOf(1) }]
        for (const said of [invalid, old]) {
          answer = () => failure(said)
          assert.deepStrictEqual(yield* source.tokenMetadata([contract]), nameless)
          assert.deepStrictEqual(yield* source.tokenBalances(holding), [undefined])
          assert.isUndefined(yield* source.tokenDecimals(contract))
        }
        answer = () => failure(slow)
        asked = 0
        assert.deepStrictEqual(yield* EvmBlocks.withoutWaiting(source.tokenMetadata([contract])), nameless)
        assert.strictEqual(asked, 9)
        // No amount is written by decimals that a node was too busy to ask for.
        const written = EvmBlocks.withoutWaiting(errorOf(source.tokenDecimals(contract)))
        assert.include((yield* written).message, "OutOfTimeException")
        // What an address holds is never told as nothing because a node was busy.
        assert.include((yield* errorOf(source.tokenBalances(holding))).message, "OutOfTimeException")
        asked = 0
        const six = { result: { result: true }, constant_result: ["6".padStart(64, "0")] }
        answer = () => (asked <= 3 ? failure(slow) : six)
        const [{ decimals } = { decimals: undefined }] = yield* EvmBlocks.withoutWaiting(
          source.tokenMetadata([contract])
        )
        assert.strictEqual(decimals, 6)
      })
  )

  it.live("shows the logs of a transaction, and knows one that is not there", () =>
    Effect.gen(function* () {
      const recorded = blocks(2)
      const node = yield* TronNode.make({ blocks: recorded })
      const source = yield* open(node)
      const info = recorded[1]!.infos[1]!
      const logs = yield* source.logs(new Uint8Array(Buffer.from(info.id, "hex")))
      assert.strictEqual(logs?.length, 2)
      assert.deepStrictEqual(logs?.[0]?.address, bytesOf(50))
      assert.strictEqual(hex(logs![0]!.data), info.log[0].data)
      assert.deepStrictEqual(logs![1]!.topics.map(hex), info.log[1].topics)
      assert.strictEqual(logs![1]!.data.length, 0)
      assert.isUndefined(yield* source.logs(new Uint8Array(32)))
      const plain = new Uint8Array(Buffer.from(recorded[1]!.infos[0]!.id, "hex"))
      assert.deepStrictEqual(yield* source.logs(plain), [])
      node.override = () => info
      assert.include((yield* errorOf(source.logs(plain))).message, "another transaction")
    })
  )
})

describe("subscriptions on a java-tron node", () => {
  it.live("coins, tokens and internal transactions of an address, each event once, in base58", () =>
    Effect.gen(function* () {
      const abi = (text: string) =>
        `${"20".padStart(64, "0")}${text.length.toString(16).padStart(64, "0")}${Buffer.from(text).toString("hex").padEnd(64, "0")}`
      const returns = (result: string) => ({ result: { result: true }, constant_result: [result] })
      const recorded = blocks(10)
      const node = yield* TronNode.make({
        blocks: recorded,
        contracts: {
          [account(50)]: {
            "name()": returns(abi("Tether USD")),
            "symbol()": returns(abi("USDT")),
            "decimals()": returns("6".padStart(64, "0"))
          }
        }
      })
      node.height = first + 1
      const source = yield* open(node)
      const { create } = yield* Subscriptions
      const subscribe = (event: EventType, address: Address.AddressBytes | undefined, confirmations = 1) =>
        create({
          account: 1,
          chain: mainnet,
          event,
          address,
          callbackUrl: "https://receiver.test/",
          secret: undefined,
          confirmations,
          allowDuplicates: false
        })
      const store = yield* ChainStore.open(mainnet, { record: "watched", undoDepth: 30 })
      yield* subscribe("ADDRESS_COINS_TRANSACTION_CONFIRMED", bytesOf(3))
      yield* subscribe("ADDRESS_TOKENS_TRANSACTION_CONFIRMED", bytesOf(3))
      yield* subscribe("ADDRESS_INTERNAL_TRANSACTION_CONFIRMED", bytesOf(3), 2)
      yield* subscribe("BLOCK_MINED", undefined)
      const options = { start: first, pollInterval: Duration.millis(10), concurrency: 3, undoDepth: 30 }
      const follow = yield* Follow.make(source, store, options)
      for (const height of [first + 1, first + 4, first + 4, first + 9]) {
        node.height = height
        yield* follow.step
      }
      const { read } = yield* Database
      const rows = yield* read((db) => db.selectFrom("callback").select(["body", "state"]).orderBy("id"))
      const items = rows
        .filter(({ state }) => state === "due")
        .map(({ body }) => JSON.parse(body).data as { readonly event: string; readonly item: TronNode.Json })
      const of = (event: string) => items.filter((each) => each.event === event).map(({ item }) => item)

      const coins = recorded.flatMap(({ block }, index) =>
        [
          [index % 5, "outgoing"],
          [(index + 1) % 5, "incoming"]
        ]
          .filter(([number]) => number === 3)
          .map(([, direction]) => [block.transactions[0].txID, direction, `0.00000${index + 1}`])
      )
      assert.deepStrictEqual(
        of("ADDRESS_COINS_TRANSACTION_CONFIRMED").map((item) => {
          assert.strictEqual(item.address, base58(3))
          assert.strictEqual(item.unit, "TRX")
          return [item.transactionId, item.direction, item.amount]
        }),
        coins
      )
      const found = of("ADDRESS_TOKENS_TRANSACTION_CONFIRMED")
      assert.strictEqual(found.length, 20)
      assert.deepStrictEqual(found[2]?.token, {
        name: "Tether USD",
        symbol: "USDT",
        decimals: "6",
        amount: "0.000001",
        contractAddress: base58(50)
      })
      assert.strictEqual(found[2]?.tokenType, "TRC-20")
      assert.strictEqual(found[3]?.tokenType, "TRC-721")
      assert.strictEqual(found[3]?.direction, "outgoing")
      const internals = of("ADDRESS_INTERNAL_TRANSACTION_CONFIRMED")
      assert.deepStrictEqual(
        internals.map((item) => [item.parentTransactionId, item.operationId, item.amount]),
        recorded.slice(0, 9).map(({ block }) => [block.transactions[1].txID, "call_0", "0.000005"])
      )
      assert.deepStrictEqual(
        of("BLOCK_MINED").map(({ hash }) => hash),
        recorded.map(({ block }) => block.blockID)
      )
    }).pipe(
      Effect.provide(Layer.mergeAll(Subscriptions.layer.pipe(Layer.provideMerge(stores[0]!.layer)), ChainStatus.layer))
    )
  )
})
