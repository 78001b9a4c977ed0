import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as EvmNode from "@headwater/indexer/families/evm/EvmNode"
import * as EvmSource from "@headwater/indexer/families/evm/EvmSource"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { AbiCoder } from "ethers"
import * as Anvil from "../../../../../test/Anvil.ts"
import * as Bytecode from "./Bytecode.ts"

const devnet = Result.getOrThrow(Chain.find("ethereum", "devnet"))
const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString("hex")}`
const word = (value: number | bigint) => `0x${value.toString(16).padStart(64, "0")}`
const padded = (address: string) => `0x${"0".repeat(24)}${address.slice(2)}`
const fresh = (byte: number) => `0x${byte.toString(16).padStart(2, "0").repeat(20)}`
const abi = AbiCoder.defaultAbiCoder()

const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
const singleTopic = "0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62"
const batchTopic = "0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb"

interface Sent {
  readonly to?: string
  readonly value?: number | bigint
  readonly data?: string
  readonly type?: number
}

const started = (args: ReadonlyArray<string> = []) =>
  Effect.gen(function* () {
    const anvil = yield* Anvil.start({ args })
    const accounts = (yield* anvil.rpc<ReadonlyArray<string>>("eth_accounts", [])).map((text) => text.toLowerCase())
    const rpc = yield* JsonRpc.make({ urls: [anvil.url], attempts: 1 })
    /** Sends all and mines them in one block; their receipts. */
    const mine = Effect.fnUntraced(function* (sent: ReadonlyArray<Sent>) {
      yield* anvil.rpc("evm_setAutomine", [false])
      const hashes: Array<string> = []
      for (const [index, { to, value = 0, data = "", type = 2 }] of sent.entries()) {
        const transaction = {
          from: accounts[index % accounts.length],
          gas: "0x2dc6c0",
          ...(to === undefined ? {} : { to }),
          value: `0x${value.toString(16)}`,
          input: `0x${data}`,
          ...(type === 2 ? { maxFeePerGas: "0x77359400", maxPriorityFeePerGas: "0x1" } : { gasPrice: "0x77359400" }),
          ...(type === 1 ? { accessList: [] } : {})
        }
        hashes.push(yield* anvil.rpc<string>("eth_sendTransaction", [transaction]))
      }
      yield* anvil.rpc("evm_mine", [])
      const receipts: Array<Record<string, string>> = []
      for (const hash of hashes)
        receipts.push(yield* anvil.rpc<Record<string, string>>("eth_getTransactionReceipt", [hash]))
      return receipts
    })
    return { anvil, accounts, rpc, mine }
  })

const moves = (block: Block) =>
  block.transfers.map((transfer) =>
    [
      transfer.kind === "internal" ? `${transfer.operation} ${transfer.operationType}` : transfer.kind,
      transfer.transaction,
      transfer.from === undefined ? "" : hex(transfer.from),
      hex(transfer.to!),
      transfer.amount
    ].join(" ")
  )

describe("EvmSource on anvil", () => {
  it.live("a payment is told once, though the node tells it again with each end in the payer's own favour", () =>
    Effect.gen(function* () {
      const { accounts, anvil, rpc, mine } = yield* started()
      const [ends] = yield* mine([{ data: Bytecode.deploy(Bytecode.selfDestructToSelf) }])
      const endsItself = ends!.contractAddress!
      const deployed = (runtime: string) =>
        Effect.map(mine([{ data: Bytecode.deploy(runtime), value: 1_000 }]), ([receipt]) => receipt!.contractAddress!)
      const [sink, heir] = [fresh(0xd2), fresh(0xd3)]
      // Called before as well: what is looked up for the first time is told in place of the payment.
      const again = Bytecode.delegateCall(endsItself)
      // What an account pays itself leaves no trace in the node's journal, and the payment before stands there last.
      const pays = yield* deployed(
        Bytecode.stopIfPaid + again + Bytecode.call(sink, 300) + Bytecode.callSelf(1) + again.repeat(3) + Bytecode.stop
      )
      // Twice as much indeed.
      const splits = yield* deployed(Bytecode.call(heir, 500) + Bytecode.selfDestruct(heir))
      const [receipt] = yield* mine([{ to: pays }, { to: splits }, { to: endsItself, value: 77 }])
      for (const tracers of [["debug_traceBlockByHash"], ["trace_block"]] as const) {
        const source = yield* EvmSource.make(devnet, rpc, { internal: true, tracers })
        const { notUnderstood, transfers } = yield* source.blockAt(Number(receipt!.blockNumber))
        assert.isUndefined(notUnderstood)
        assert.deepStrictEqual(
          transfers.map(({ amount, kind, from, to }) => [kind, hex(from!), hex(to!), amount]),
          [
            ["internal", pays, sink, 300n],
            ["internal", pays, pays, 1n],
            ["internal", splits, heir, 500n],
            ["internal", splits, heir, 500n],
            ["coin", accounts[2]!, endsItself, 77n]
          ]
        )
      }
      assert.strictEqual(yield* anvil.rpc("eth_getBalance", [sink, "latest"]), "0x12c")
      const [from, to] = [accounts[0]!, pays].map((text) => Result.getOrThrow(Address.decode(devnet, text)))
      const request = { from: from!, to: to!, value: 0n, data: new Uint8Array(), gasLimit: 1_000_000n }
      const { moves: simulated } = yield* EvmNode.make(rpc).simulate({ ...request, gasPrice: 2_000_000_000n })
      assert.deepStrictEqual(
        simulated!.internal.map(({ amount }) => amount),
        [300n, 1n]
      )
    }).pipe(Effect.scoped)
  )

  it.live("coins, reverts and every kind of call: the balances agree, from both tracers", () =>
    Effect.gen(function* () {
      const { anvil, accounts, rpc, mine } = yield* started()
      const deployed = (runtime: string) =>
        Effect.map(
          mine([{ data: Bytecode.deploy(runtime), value: 10n ** 18n }]),
          ([receipt]) => receipt!.contractAddress!
        )
      const sink = fresh(0xd1)
      const pays = yield* deployed(Bytecode.call(sink, 1000) + Bytecode.stop)
      const paysAndReverts = yield* deployed(Bytecode.call(sink, 2000) + Bytecode.revert)
      const paysAndBurns = yield* deployed(Bytecode.call(sink, 3000) + Bytecode.invalid)
      const nested = yield* deployed(Bytecode.call(pays, 11) + Bytecode.call(paysAndReverts, 12) + Bytecode.stop)
      const program =
        Bytecode.call(fresh(0xe1), 1) +
        Bytecode.call(pays, 2) +
        Bytecode.call(paysAndReverts, 3) +
        Bytecode.call(paysAndBurns, 4, 60_000) +
        Bytecode.call(nested, 5) +
        Bytecode.call(fresh(0xe2), 0) +
        Bytecode.delegateCall(pays) +
        Bytecode.callCode(pays, 6) +
        Bytecode.staticCall(sink) +
        Bytecode.create(Bytecode.stop, 7) +
        Bytecode.create(Bytecode.call(sink, 8) + Bytecode.revert, 8) +
        Bytecode.create2(Bytecode.call(sink, 4) + Bytecode.stop, 9, 1) +
        Bytecode.create2(Bytecode.selfDestruct(fresh(0xe3)), 10, 2) +
        Bytecode.call("0x0000000000000000000000000000000000000004", 1) +
        Bytecode.stop
      const [, , , runner] = yield* mine([{ data: Bytecode.stop }, {}, {}, { data: Bytecode.deploy(Bytecode.runner) }])
      const receipts = yield* mine([
        { to: fresh(0xf1), value: 5n * 10n ** 18n },
        { to: paysAndReverts, value: 77 },
        { data: program, value: 5_000 },
        { to: nested, value: 0, type: 0 },
        { to: runner!.contractAddress!, data: program, value: 6_000, type: 1 },
        { data: Bytecode.call(sink, 1) + Bytecode.revert, value: 9 },
        { to: accounts[0]!, value: 123, type: 0 },
        { to: accounts[7]!, value: 55 }
      ])
      assert.deepStrictEqual(
        receipts.map(({ status }) => status),
        ["0x1", "0x0", "0x1", "0x1", "0x1", "0x0", "0x1", "0x1"]
      )
      const tree = yield* EvmSource.make(devnet, rpc, { internal: true })
      const list = yield* EvmSource.make(devnet, rpc, { internal: true, tracers: ["trace_block"] })
      const height = Number(receipts[0]!.blockNumber)
      const block = yield* tree.blockAt(height)
      assert.deepStrictEqual(moves(yield* list.blockAt(height)), moves(block))
      assert.isAbove(block.transfers.filter(({ kind }) => kind === "internal").length, 15)

      // Whatever moved is what the balances moved by; senders also paid for gas, and the miner was paid.
      const change = new Map<string, bigint>()
      const add = (address: string, amount: bigint) => change.set(address, (change.get(address) ?? 0n) + amount)
      for (const transfer of block.transfers) {
        if (transfer.kind === "token") continue
        add(hex(transfer.from!), -transfer.amount)
        add(hex(transfer.to!), transfer.amount)
      }
      for (const { from, gasUsed, effectiveGasPrice } of receipts)
        add(from!, -BigInt(gasUsed!) * BigInt(effectiveGasPrice!))
      const touched = new Set([...change.keys(), sink, pays, nested, paysAndReverts, paysAndBurns, ...accounts])
      for (const address of touched) {
        const at = (number: number) => anvil.rpc<string>("eth_getBalance", [address, `0x${number.toString(16)}`])
        const moved = BigInt(yield* at(height)) - BigInt(yield* at(height - 1))
        assert.strictEqual(moved, change.get(address) ?? 0n, address)
      }
      assert.isFalse(moves(block).some((move) => move.endsWith(" 2000") || move.endsWith(" 3000")))
    }).pipe(Effect.scoped)
  )

  it.live("token logs of every standard; malformed ones are left out; receipts hash to their root", () =>
    Effect.gen(function* () {
      const { rpc, mine } = yield* started()
      const [from, to, operator] = [fresh(1), fresh(2), fresh(3)].map(padded) as [string, string, string]
      const batch = abi.encode(
        ["uint256[]", "uint256[]"],
        [
          [7, 8, 9],
          [70, 80, 0]
        ]
      )
      const logs =
        Bytecode.log([transferTopic, from, to], word(5)) +
        Bytecode.log([transferTopic, from, to, word(6)], "0x") +
        Bytecode.log([transferTopic], from + to.slice(2) + word(7).slice(2)) +
        Bytecode.log([singleTopic, operator, from, to], word(8) + word(80).slice(2)) +
        Bytecode.log([batchTopic, operator, from, to], batch) +
        Bytecode.log([transferTopic, from, to], "0x") +
        Bytecode.log([transferTopic, word(2n ** 255n), to], word(1)) +
        Bytecode.log([batchTopic, operator, from, to], word(2n ** 200n)) +
        Bytecode.log([word(1)], word(1))
      const [receipt] = yield* mine([
        { data: logs + Bytecode.stop },
        { data: logs + Bytecode.revert },
        { data: logs + Bytecode.stop, value: 3, type: 1 },
        { data: logs + Bytecode.stop, type: 0 }
      ])
      const source = yield* EvmSource.make(devnet, rpc, { internal: true })
      const block = yield* source.blockAt(Number(receipt!.blockNumber))
      const found = block.transfers.flatMap((transfer) =>
        transfer.kind === "token"
          ? [
              [
                transfer.transaction,
                transfer.position,
                transfer.batchIndex,
                transfer.token,
                transfer.amount,
                transfer.tokenId
              ]
            ]
          : []
      )
      const expected = [0, 2, 3].flatMap((transaction, index) => {
        const first = index * 9
        return [
          [transaction, first, 0, "fungible", 5n, undefined],
          [transaction, first + 1, 0, "non-fungible", 1n, 6n],
          [transaction, first + 2, 0, "non-fungible", 1n, 7n],
          [transaction, first + 3, 0, "multi", 80n, 8n],
          [transaction, first + 4, 0, "multi", 70n, 7n],
          [transaction, first + 4, 1, "multi", 80n, 8n],
          [transaction, first + 4, 2, "multi", 0n, 9n]
        ]
      })
      assert.deepStrictEqual(found, expected)
    }).pipe(Effect.scoped)
  )

  it.live("head, hashes and the blocks that are not there", () =>
    Effect.gen(function* () {
      const { anvil, rpc } = yield* started(["--slots-in-an-epoch", "1"])
      const source = yield* EvmSource.make(devnet, rpc, { internal: true })
      assert.deepStrictEqual((yield* source.head).height, 0)
      assert.strictEqual((yield* source.blockAt(0)).transactions.length, 0)
      yield* anvil.rpc("anvil_mine", ["0xa"])
      const head = yield* source.head
      assert.deepStrictEqual([head.height, head.final], [10, 8])
      assert.strictEqual(hex(yield* source.hashAt(10)), hex(head.hash))
      const block = yield* source.blockAt(10)
      assert.strictEqual(hex(block.hash), hex(head.hash))
      assert.strictEqual(hex(block.parent), hex(yield* source.hashAt(9)))
      for (const error of [yield* Effect.flip(source.blockAt(11)), yield* Effect.flip(source.hashAt(11))]) {
        assert.deepInclude(error, { _tag: "BlockMissing", block: "11" } as object)
      }
      yield* anvil.rpc("anvil_reorg", [3, []])
      assert.notStrictEqual(hex(yield* source.hashAt(10)), hex(head.hash))
      assert.isTrue(
        (yield* source.capabilities).filter(({ name }) => name !== "network").every(({ available }) => available)
      )
    }).pipe(Effect.scoped)
  )

  it.live("a chain without EIP-1559, as Ethereum Classic", () =>
    Effect.gen(function* () {
      const { rpc, mine } = yield* started(["--hardfork", "berlin"])
      const [receipt] = yield* mine([
        { to: fresh(0xf1), value: 5, type: 0 },
        { data: Bytecode.call(fresh(0xf2), 1) + Bytecode.stop, value: 2, type: 1 }
      ])
      const source = yield* EvmSource.make(devnet, rpc, { internal: true })
      const block = yield* source.blockAt(Number(receipt!.blockNumber))
      assert.strictEqual(block.transfers.length, 3)
    }).pipe(Effect.scoped)
  )

  it.live("token metadata of what is and is not a token", () =>
    Effect.gen(function* () {
      const { rpc, mine } = yield* started()
      // Answers every call with the ABI string "T20".
      const answer = abi.encode(["string"], ["T20"]).slice(2)
      const words = answer
        .match(/.{64}/g)!
        .map((part, index) => `7f${part}60${(index * 32).toString(16).padStart(2, "0")}52`)
      const [token, failing] = yield* mine([
        { data: Bytecode.deploy(`${words.join("")}60${(answer.length / 2).toString(16)}6000f3`) },
        { data: Bytecode.deploy(Bytecode.revert) }
      ])
      const source = yield* EvmSource.make(devnet, rpc, { internal: false })
      const bytes = (address: string) => Uint8Array.from(Buffer.from(address.slice(2), "hex")) as never
      const contracts = [token!.contractAddress!, failing!.contractAddress!, fresh(0x99)].map(bytes)
      assert.deepStrictEqual(
        (yield* source.tokenMetadata(contracts)).map(({ name, symbol, decimals }) => [name, symbol, decimals]),
        [
          ["T20", "T20", 32],
          ["", "", undefined],
          ["", "", undefined]
        ]
      )
    }).pipe(Effect.scoped)
  )

  it.live("proves what accounts signed, and names what an impersonated one did not", () =>
    Effect.gen(function* () {
      const { accounts, anvil, mine, rpc } = yield* started()
      const impersonated = fresh(0xab)
      yield* anvil.rpc("anvil_setBalance", [impersonated, "0x56bc75e2d63100000"])
      yield* anvil.rpc("anvil_impersonateAccount", [impersonated])
      yield* mine([{ to: fresh(1), value: 1 }, { to: fresh(1), type: 1 }, { to: fresh(1), type: 0 }, { data: "00" }])
      const transaction = { from: impersonated, to: accounts[0], value: "0x1" }
      yield* anvil.rpc("eth_sendTransaction", [transaction])
      yield* anvil.rpc("evm_mine", [])
      const source = yield* EvmSource.make(devnet, rpc, { internal: false, verify: "full" })
      assert.deepStrictEqual((yield* source.blockAt(1)).unproven, undefined)
      const { transfers, unproven } = yield* source.blockAt(2)
      assert.deepStrictEqual(
        unproven?.map(({ cause, part }) => [part, cause]),
        [
          ["transactions", "uncommitted"],
          ["senders", "uncommitted"]
        ]
      )
      assert.strictEqual(transfers.length, 1)
    }).pipe(Effect.scoped)
  )
})
