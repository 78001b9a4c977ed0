import { assert, describe, it } from "@effect/vitest"
import type { Transfer } from "@headwater/core/Block"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import {
  alice,
  blockOf,
  bob,
  carol,
  chainOf,
  hex,
  lacking,
  movesOf,
  padded,
  recorded,
  sourceOf,
  transferTopic,
  word,
  zero
} from "./EvmBlocks.ts"
import * as EvmNode from "./EvmNode.ts"

/** Transaction, position, sides and amount of each transfer of coins. */
const numbered = (transfers: ReadonlyArray<Transfer>) =>
  transfers.flatMap((each) =>
    each.kind === "coin" ? [[each.transaction, each.position, hex(each.from), hex(each.to), each.amount] as const] : []
  )

describe("EvmSource: each chain", () => {
  describe("each chain's own", () => {
    const deposit = (value: bigint, mint: bigint | undefined, more: object = {}, status = "0x1") => ({
      tx: {
        ...{
          type: "0x7e",
          value: `0x${value.toString(16)}`,
          gasPrice: "0x0",
          sourceHash: word("50"),
          isSystemTx: false
        },
        ...(mint === undefined ? {} : { mint: `0x${mint.toString(16)}` }),
        ...more
      },
      receipt: { type: "0x7e", status, depositNonce: "0x1", depositReceiptVersion: "0x1" }
    })

    it.live("OP stack: a deposit is told net for each address, and its mint arrives whatever became of its call", () =>
      Effect.gen(function* () {
        const block = recorded([
          deposit(0n, undefined, { from: "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001" }),
          deposit(5n, 5n),
          deposit(0n, 6n),
          deposit(7n, undefined),
          deposit(8n, 1n),
          deposit(1n, 8n),
          deposit(9n, 9n, {}, "0x0"),
          deposit(4n, 0n, {}, "0x0"),
          deposit(3n, 11n, { to: alice }),
          deposit(11n, 3n, { to: alice }),
          deposit(2n, undefined, { to: alice }),
          deposit(2n, 12n, { to: alice }, "0x0"),
          { ...deposit(3n, 4n, { to: null }), receipt: { ...deposit(0n, 0n).receipt, contractAddress: carol } }
        ])
        const expected = [
          [1, 0, undefined, bob, 5n],
          [2, 1, undefined, alice, 6n],
          [3, 0, alice, bob, 7n],
          [4, 0, undefined, bob, 8n],
          [4, 0, alice, undefined, 7n],
          [5, 0, undefined, bob, 1n],
          [5, 1, undefined, alice, 7n],
          [6, 1, undefined, alice, 9n],
          [8, 0, undefined, alice, 11n],
          [9, 0, undefined, alice, 3n],
          [11, 1, undefined, alice, 12n],
          [12, 0, undefined, carol, 3n],
          [12, 1, undefined, alice, 1n]
        ]
        for (const name of ["optimism", "base"]) {
          const { transfers } = yield* blockOf(block, { internal: true }, chainOf(name))
          assert.deepStrictEqual<unknown>(numbered(transfers), expected)
        }
      })
    )

    it.live("OP stack: gas that a sequencer takes back behind the others moves nothing, and needs no trace", () =>
      Effect.gen(function* () {
        const postExec = {
          type: "0x7d",
          from: zero,
          to: undefined,
          gas: "0x0",
          gasPrice: undefined,
          input: "0xc6012ac3c20307"
        }
        const block = recorded([{ tx: { value: "0x1" } }, { tx: postExec, receipt: { type: "0x7d", gasUsed: "0x0" } }])
        for (const callTracer of [block.callTracer!, block.callTracer!.slice(0, 1)]) {
          const read = yield* blockOf({ ...block, callTracer }, { internal: true }, chainOf("optimism"))
          assert.deepStrictEqual(movesOf(read.transfers), [["coin", alice, bob, 1n]])
          assert.isUndefined(read.notUnderstood)
        }
      })
    )

    it.live("OP stack: deposits sum up to what they leave in each balance, one transfer for each address", () =>
      Effect.gen(function* () {
        const people = [alice, bob, carol] as const
        const amount = fc.bigInt({ min: 0n, max: 3n })
        const deposits = fc.array(
          fc.record({ from: fc.nat(2), to: fc.nat(2), mint: fc.option(amount), value: amount, ok: fc.boolean() }),
          { minLength: 1, maxLength: 20 }
        )
        for (const all of fc.sample(deposits, 40)) {
          const block = recorded(
            all.map(({ from, mint, ok, to, value }) =>
              deposit(value, mint ?? undefined, { from: people[from], to: people[to] }, ok ? "0x1" : "0x0")
            )
          )
          const { transfers } = yield* blockOf(block, { internal: true }, chainOf("optimism"))
          const expected = all.flatMap(({ from, mint, ok, to, value }, index) =>
            people.flatMap((person, number) => {
              const gained = (number === from ? (mint ?? 0n) : 0n) + (ok && number === to ? value : 0n)
              const net = gained - (ok && number === from ? value : 0n)
              return net === 0n ? [] : [`${index} ${person} ${net}`]
            })
          )
          const found = numbered(transfers).flatMap(([index, , from, to, amount]) => [
            ...(from === undefined ? [] : [`${index} ${from} ${-amount}`]),
            ...(to === undefined ? [] : [`${index} ${to} ${amount}`])
          ])
          assert.deepStrictEqual(found.toSorted(), expected.toSorted(), JSON.stringify(block.block.transactions))
        }
      })
    )

    it.live("Arbitrum: types 0x64 to 0x6a and 0x78; a deposit is paid by nobody on the chain", () =>
      Effect.gen(function* () {
        const block = recorded([
          {
            tx: {
              type: "0x6a",
              from: "0x00000000000000000000000000000000000a4b05",
              to: "0x00000000000000000000000000000000000a4b05"
            }
          },
          { tx: { type: "0x64", value: "0x1" } },
          { tx: { type: "0x65", value: "0x2" } },
          { tx: { type: "0x66", value: "0x3", to: null }, receipt: { contractAddress: carol } },
          { tx: { type: "0x68", value: "0x4" } },
          { tx: { type: "0x69", value: "0x0", retryValue: "0x9", depositValue: "0x9" } },
          { tx: { type: "0x78", value: "0x5" } }
        ])
        assert.deepStrictEqual(movesOf((yield* blockOf(block, { internal: true }, chainOf("arbitrum"))).transfers), [
          ["coin", undefined, bob, 1n],
          ["coin", alice, bob, 2n],
          ["coin", alice, carol, 3n],
          ["coin", alice, bob, 4n],
          ["coin", alice, bob, 5n]
        ])
      })
    )

    it.live("Arbitrum: what a retryable ticket moves beside calls is told, net for each address, without fees", () =>
      Effect.gen(function* () {
        const escrow = "0xe5c2000000000000000000000000000000000001"
        const network = "0xfee0000000000000000000000000000000000001"
        const moved = (type: string, from: string, to: string, value: bigint) => ({
          ...{ type, from, to, value: `0x${value.toString(16)}` }
        })
        const listed = (purpose: string, from: string | null, to: string | null, value: bigint) => ({
          ...{ purpose, from, to, value: `0x${value.toString(16)}` }
        })
        // As Nitro does it: 100 arrive, 10 are the fee of the submission, 5 of it too much, 60 the value, 20 gas, 3 too much.
        const ticket = (escrowed: boolean) => ({
          beforeEVMTransfers: [],
          afterEVMTransfers: [],
          calls: [
            moved("INVALID", zero, alice, 100n),
            moved("INVALID", alice, network, 10n),
            moved("INVALID", alice, carol, 5n),
            moved("INVALID", alice, escrow, 60n),
            ...(escrowed ? [moved("INVALID", alice, network, 20n), moved("INVALID", alice, carol, 3n)] : []),
            ...(escrowed ? [] : [moved("INVALID", network, alice, 10n), moved("INVALID", alice, carol, 10n)])
          ]
        })
        const submit = (trace: object | undefined, status = "0x1") => ({
          tx: { type: "0x69", value: "0x0", depositValue: "0x64", retryValue: "0x3c", refundTo: carol },
          receipt: { status },
          ...(trace === undefined ? {} : { trace })
        })
        const before = [listed("escrow", escrow, alice, 60n), listed("prepaid", null, alice, 20n)]
        const fees = [listed("gasRefund", null, alice, 4n), listed("undoRefund", alice, null, 4n)]
        const retry = (status: string, after: ReadonlyArray<object>) => ({
          tx: { type: "0x68", value: "0x3c", refundTo: carol },
          receipt: { status },
          trace: {
            beforeEVMTransfers: [...before, listed("feePayment", alice, null, 20n)],
            afterEVMTransfers: [...fees, listed("refund", network, carol, 2n), ...after],
            ...(status === "0x0" ? { error: "execution reverted" } : {})
          }
        })
        const lists = [
          listed("deposit", null, alice, 100n),
          listed("escrow", alice, escrow, 60n),
          listed("refund", alice, carol, 5n)
        ]
        const block = recorded([
          submit(ticket(true)),
          retry("0x1", []),
          retry("0x0", [listed("escrow", alice, escrow, 60n)]),
          submit(ticket(false), "0x0"),
          submit({ beforeEVMTransfers: lists, afterEVMTransfers: [] }),
          submit(undefined),
          { tx: { type: "0x2", value: "0x0" }, trace: ticket(true) }
        ])
        const { parties, transfers } = yield* blockOf(block, { internal: true }, chainOf("arbitrum"))
        const named = (of: typeof parties, index: number) =>
          of?.flatMap(({ from, to, transaction }) => (transaction === index ? [[hex(from), hex(to)]] : []))
        // Who is told of a transaction lists it, too.
        for (const index of [0, 1, 2, 3, 4, 5]) {
          assert.deepStrictEqual(named(parties, index), [
            [alice, bob],
            [alice, carol]
          ])
        }
        assert.deepStrictEqual(named(parties, 6), [[alice, bob]])
        // No trace is needed for them, and so a replay without traces takes none away.
        const untraced = yield* blockOf(block, { internal: false }, chainOf("arbitrum"))
        assert.deepStrictEqual(untraced.parties, parties)
        assert.deepStrictEqual(numbered(transfers), [
          [0, 1, undefined, alice, 100n - 60n - 8n],
          [0, 1, undefined, carol, 8n],
          [1, 0, alice, bob, 60n],
          [1, 1, escrow, undefined, 60n],
          [1, 1, undefined, alice, 60n],
          [1, 1, network, undefined, 2n],
          [1, 1, undefined, carol, 2n],
          [2, 1, network, undefined, 2n],
          [2, 1, undefined, carol, 2n],
          [3, 1, undefined, alice, 100n - 15n],
          [3, 1, undefined, carol, 15n],
          [4, 1, undefined, alice, 100n - 60n - 5n],
          [4, 1, undefined, escrow, 60n],
          [4, 1, undefined, carol, 5n]
        ])
        // Without traces only what the transactions themselves say is told.
        assert.deepStrictEqual(numbered(untraced.transfers), [[1, 0, alice, bob, 60n]])
      })
    )

    it.live("Arbitrum: the tracer's own transfer lists and frame types are not taken for calls", () =>
      Effect.gen(function* () {
        const own = { purpose: "feePayment", from: alice, to: null, value: "0x7b" }
        const trace = {
          beforeEVMTransfers: [own],
          afterEVMTransfers: [own],
          calls: [{ type: "INVALID", from: bob, to: carol, value: "0x9" }]
        }
        assert.deepStrictEqual(
          (yield* blockOf(recorded([{ trace }]), { internal: true }, chainOf("arbitrum"))).transfers,
          []
        )
      })
    )

    describe("Polygon: the state-sync transaction at a block's end", () => {
      const log = { topics: [transferTopic, padded(zero), padded(carol)], data: `0x${"2a".padStart(64, "0")}` }
      const full = recorded([{ tx: { value: "0x1" } }, { tx: { from: zero, to: zero, gas: "0x0" }, logs: [log] }])
      const polygon = chainOf("polygon")
      const expected = [
        ["coin", alice, bob, 1n],
        ["token", zero, carol, 42n]
      ]
      it.live("with its receipt and trace", () =>
        Effect.gen(function* () {
          assert.deepStrictEqual(movesOf((yield* blockOf(full, { internal: true }, polygon)).transfers), expected)
        })
      )
      it.live("without a trace, in either form, and with its receipt only by itself", () =>
        Effect.gen(function* () {
          const answers = EvmNode.answers([{ ...full, callTracer: full.callTracer!.slice(0, 1) }], { chainId: "0x89" })
          const lists = (full.traceBlock as ReadonlyArray<EvmNode.Json>).filter((t) => t.transactionPosition === 0)
          const { source } = yield* sourceOf(
            (method, params) => {
              const answer = answers(method, params)
              return method === "eth_getBlockReceipts" ? (answer as Array<unknown>).slice(0, 1) : answer
            },
            { internal: true },
            polygon
          )
          assert.deepStrictEqual(movesOf((yield* source.blockAt(100)).transfers), expected)
          const flat = { ...full, traceBlock: lists }
          const options = { internal: true, tracers: ["trace_block"] } as const
          assert.deepStrictEqual(
            movesOf((yield* blockOf(flat, options, polygon, { chainId: "0x89" })).transfers),
            expected
          )
        }).pipe(Effect.scoped)
      )
      it.live("its logs go on where those of the block end, also where the node numbers them anew", () =>
        Effect.gen(function* () {
          const anew = { ...log, logIndex: "0x0" }
          const block = recorded([
            { logs: [log, log] },
            { tx: { from: zero, to: zero, gas: "0x0" }, logs: [anew, anew] }
          ])
          const { transfers } = yield* blockOf(block, { internal: false }, polygon)
          assert.deepStrictEqual(
            transfers.map((transfer) => transfer.kind === "token" && transfer.position),
            [0, 1, 2, 3]
          )
        })
      )
      it.live("pays POL by the logs of the coin's contract, whatever the node traces of it", () =>
        Effect.gen(function* () {
          // Of a receipt that Coinbase's chainstorage has recorded: 1,772 POL, and beside that what other contracts log.
          const coin = "0x0000000000000000000000000000000000001010"
          const user = "0xdc7da6884ff2c90c713724e2baa6ab134983927d"
          const token = "0x7d1afa7b718fb893db30a3abc0cfc608aacfebb0"
          const amount = 0x60100cb6f07791fee8n
          const move = "0xe6497e3ee548a3372136af2fcb0696db31fc6cf20260707645068bd3fe97f3c4"
          const data = `0x${[
            "000000000000000000000000000000000000000000000060100cb6f07791fee8",
            "00000000000000000000000000000000000000001daedf11742a4d8df13c3794",
            "0000000000000000000000000000000000000000000000004442033065b19cc4",
            "00000000000000000000000000000000000000001daedeb1641d969d79aa38ac",
            "000000000000000000000000000000000000000000000060544eba20dd439bac"
          ].join("")}`
          const moved = (of: string, address = coin) => ({
            ...{ address, data, topics: [move, padded(of), padded(coin), padded(user)] }
          })
          const deposited = "0x4e2ca0515ed1aef1395f66b5303bb5d6f1bf9d61a353fa53f73f8ac9973fa9f6"
          const logs = [
            log,
            moved(coin),
            { address: coin, data: `0x${data.slice(2, 194)}`, topics: [deposited, padded(token), padded(user)] },
            // Of what a call of the contract logs itself, and of somebody else.
            moved(token),
            moved(coin, alice),
            moved(coin)
          ]
          const call = { type: "CALL", from: coin, to: user, value: `0x${amount.toString(16)}` }
          const told = [
            ["coin", alice, bob, 1n],
            ["token", zero, carol, 42n],
            ["coin", coin, user, amount],
            ["coin", coin, user, amount]
          ]
          const parts = (type: string, trace?: EvmNode.Json) =>
            recorded([
              // Its value is told as that of any transaction.
              { tx: { value: "0x1" }, logs: [moved(coin)] },
              { tx: { from: zero, to: zero, gas: "0x0", type }, logs, ...(trace === undefined ? {} : { trace }) }
            ])
          for (const type of ["0x0", "0x7f"]) {
            const traced = parts(type, { calls: [call, call] })
            const noTrace = { ...traced, callTracer: [traced.callTracer![0]!, { error: "intrinsic gas too low" }] }
            const untraced = { ...traced, callTracer: traced.callTracer!.slice(0, 1) }
            for (const block of [parts(type), traced, noTrace, untraced]) {
              const { missing, notUnderstood, transfers } = yield* blockOf(block, { internal: true }, polygon)
              assert.deepStrictEqual(movesOf(transfers), told)
              assert.isUndefined(missing)
              assert.isUndefined(notUnderstood)
            }
            const options = { internal: true, tracers: ["trace_block"] } as const
            assert.deepStrictEqual(movesOf((yield* blockOf(traced, options, polygon)).transfers), told)
            const { transfers } = yield* blockOf(traced, { internal: false }, polygon)
            assert.deepStrictEqual(
              transfers.flatMap((each) => (each.kind === "coin" ? [each.position] : [])),
              [0, 2, 6]
            )
          }
        })
      )
      it.live("any other transaction must have its receipt", () =>
        lacking(
          blockOf({ ...recorded([{}, {}]), receipts: recorded([{}]).receipts }, { internal: false }, polygon),
          /there is no receipt of the transaction/
        )
      )
      it.live("its own type 0x7f of later blocks", () =>
        Effect.gen(function* () {
          const typed = recorded(
            [{ tx: { value: "0x1" } }, { tx: { from: zero, to: zero, type: "0x7f" }, logs: [log] }],
            {
              receiptsRoot: word("12")
            }
          )
          assert.deepStrictEqual(movesOf((yield* blockOf(typed, { internal: true }, polygon)).transfers), expected)
        })
      )
    })

    it.live("Ethereum: withdrawals are no transfers", () =>
      Effect.gen(function* () {
        const withdrawals = [{ index: "0x1", validatorIndex: "0x2", address: bob, amount: "0x3b9aca00" }]
        assert.deepStrictEqual(
          (yield* blockOf(recorded([], { withdrawals, withdrawalsRoot: word("11") }))).transfers,
          []
        )
      })
    )

    it.live("BNB Smart Chain: system transactions without a gas price move what they say", () =>
      Effect.gen(function* () {
        const block = recorded([
          { tx: { value: "0x5", gasPrice: "0x0", to: "0x0000000000000000000000000000000000001000" } }
        ])
        const { transfers } = yield* blockOf(block, { internal: true }, chainOf("binance-smart-chain"))
        assert.deepStrictEqual(movesOf(transfers), [["coin", alice, "0x0000000000000000000000000000000000001000", 5n]])
      })
    )

    it.live("Avalanche and Ethereum Classic: receipts without a type are legacy", () =>
      Effect.gen(function* () {
        const block = recorded([{ tx: { value: "0x5", type: undefined } }])
        for (const name of ["avalanche", "ethereum-classic"]) {
          assert.deepStrictEqual(movesOf((yield* blockOf(block, { internal: true }, chainOf(name))).transfers), [
            ["coin", alice, bob, 5n]
          ])
        }
      })
    )
  })
})
