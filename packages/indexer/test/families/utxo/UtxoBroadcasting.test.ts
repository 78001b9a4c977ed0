/** What a node without an index of transactions shows of one that was broadcast, whatever has been spent since. */
import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import type { Call, JsonRpc } from "@headwater/indexer/families/node/JsonRpc"
import * as Nodes from "@headwater/indexer/families/node/JsonRpc"
import { NodeRejected } from "@headwater/indexer/families/node/NodeError"
import * as UtxoBroadcasting from "@headwater/indexer/families/utxo/Broadcasting"
import { Transaction } from "bitcoinjs-lib"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Litecoind from "../../../../../test/Litecoind.ts"

const chain = Chain.ofName("litecoin/regtest")!
const script = Uint8Array.of(0x00, 20, ...new Uint8Array(20).fill(3))
const parents = [1, 2].map((byte) => new Uint8Array(32).fill(byte))

const sent = new Transaction()
for (const parent of parents) sent.addInput(parent, 0)
sent.addOutput(script, 5_000n)
const id = sent.getId()
const outpoints = parents.map((parent) => `${Buffer.from(parent).toString("hex")}:0`)

const hashAt = (height: number, branch: string) => `${branch}${height}`.padStart(64, "0")

/** The only node of a chain, which answers calls so. */
const nodeOf = (node: string, answer: (call: Call) => Result.Result<unknown, NodeRejected>): Nodes.Nodes => {
  const rpc: JsonRpc = {
    node,
    call: (method, params) => Effect.suspend(() => Effect.fromResult(answer({ method, params }))),
    batch: (calls) => Effect.fromResult(Result.all(calls.map(answer))),
    results: (calls) => Effect.succeed(calls.map(answer))
  }
  return { ...rpc, each: [rpc] } as never
}

/** Litecoin Core 0.21 with `txindex=0`, as it answers. */
const fakeNode = () => {
  const state = {
    tip: 300,
    branch: "a",
    minedAt: undefined as number | undefined,
    /** By outpoint: unspent in blocks, or in the mempool. */
    inBlocks: new Set<string>(),
    inMempool: new Set<string>(),
    /** Ids of transactions that wait, each with one output. */
    waiting: new Set<string>(),
    /** Ids of mined transactions, which a node with an index of transactions shows. */
    indexed: new Set<string>(),
    shown: 0,
    pruned: 0,
    noTransaction: "No such mempool transaction. Use -txindex or provide a block hash.",
    /** Asked for the hash at this height, it changes to another branch behind its answer. */
    leavesAt: undefined as number | undefined,
    blocks: 0
  }
  const refused = (method: string, code: number, message: string) =>
    Result.fail(new NodeRejected({ node: "node", method, code, message }))
  const answer = ({ method, params }: Call): Result.Result<unknown, NodeRejected> => {
    switch (method) {
      case "getrawtransaction": {
        const made = String(params[0])
        const vout = [{ ismweb: false, value: "1.00000000", n: 0, scriptPubKey: { hex: "00" } }]
        if (state.waiting.has(made)) return Result.succeed({ txid: made, vout })
        if (!state.indexed.has(made)) return refused(method, -5, state.noTransaction)
        state.shown++
        return Result.succeed({ txid: made, vout, blockhash: hashAt(1, state.branch) })
      }
      case "getblockcount":
        return Result.succeed(state.tip)
      case "getblockhash": {
        if ((params[0] as number) > state.tip) return refused(method, -8, "Block height out of range")
        const hash = hashAt(params[0] as number, state.branch)
        if (params[0] === state.leavesAt) state.branch = "b"
        return Result.succeed(hash)
      }
      case "getblock": {
        const height = Number((params[0] as string).replace(/^0*[a-z]/, ""))
        if (height < state.pruned) return refused(method, -1, "Block not available (pruned data)")
        state.blocks++
        const branch = /[a-z]/.exec(params[0] as string)![0]
        const isIn = height === state.minedAt && branch === state.branch
        return Result.succeed({
          ...{ height, previousblockhash: hashAt(height - 1, branch) },
          tx: [hashAt(height, "c"), ...(isIn ? [id] : [])]
        })
      }
      case "gettxout": {
        const outpoint = `${params[0]}:${params[1]}`
        const isThere = (params[2] === true ? state.inMempool : state.inBlocks).has(outpoint)
        return Result.succeed(isThere ? { value: "1.00000000" } : null)
      }
      default:
        return refused(method, -32601, "Method not found")
    }
  }
  const { check, find, standing } = UtxoBroadcasting.make(chain, nodeOf("node", answer), {
    maximumFee: 1,
    verbose: [true]
  })
  /** Asked until the search is over; how often that was. */
  const settled = Effect.fnUntraced(function* (since: number) {
    for (let asked = 1; ; asked++) {
      const found = yield* standing(sent.toBuffer(), since)
      if (found.state !== "searching") return { asked, found }
      assert.isBelow(asked, 100)
    }
  })
  const found = (upTo: number, one = id) => Effect.result(find(Buffer.from(one, "hex"), upTo))
  return { check: check(sent.toBuffer()), found, settled, standing: standing(sent.toBuffer()), state }
}

describe("a Dash transaction", () => {
  it.effect("that locks coins for the Platform, in an output that nobody can spend, pays no fee with these", () =>
    Effect.gen(function* () {
      const amount = (satoshis: bigint) => {
        const bytes = Buffer.alloc(8)
        bytes.writeBigUInt64LE(satoshis)
        return bytes.toString("hex")
      }
      const key = `1976a914${"07".repeat(20)}88ac`
      const credits = `0101${amount(100_000_000n)}${key}`
      const input = `${"ab".repeat(32)}00000000${"00"}ffffffff`
      const raw = (locked: bigint) =>
        Buffer.from(
          `0300080001${input}02${amount(locked)}026a00${amount(899_990_000n)}${key}00000000${(credits.length / 2).toString(16)}${credits}`,
          "hex"
        )
      const answer = ({ method }: Call): Result.Result<unknown, NodeRejected> => {
        if (method === "gettxout") return Result.succeed({ value: "10", confirmations: 3, scriptPubKey: { hex: "00" } })
        if (method === "getnetworkinfo") return Result.succeed({ relayfee: "0.00001" })
        return Result.fail(new NodeRejected({ node: "dash", method, code: -32601, message: "Method not found" }))
      }
      const { check } = UtxoBroadcasting.make(Chain.ofName("dash/mainnet")!, nodeOf("dash", answer), {
        maximumFee: 10,
        verbose: [true]
      })
      yield* check(raw(100_000_000n))
      assert.match((yield* Effect.flip(check(raw(1n)))).message, /^the fee must be at most/)
      assert.match((yield* Effect.flip(check(raw(100_010_001n)))).message, /^its outputs must be at most its inputs/)
    })
  )
})

describe("a Zcash transaction", () => {
  /** Of testnet block 4,368,633, which spends 9,955,000. */
  const raw = Buffer.from(
    [
      "0600008098b684d85b16a537000000005ca942000174809dd1e32df6a22e4aecbc1fb8feff1fd62fdba80e3f8f1666bc1419a3b5d200000000",
      "6b483045022100b78a1461db30d256ececae36738faa4af79f9b89f79a5cb531bc411aded93cd702204753b0e80e4eeae7a4c8fbe9338597a06",
      "22ee00f09734e5a5fe643141d69680f012102e6a829db766cdf6488cfae3cd9588b1871317b625becdd5381c356923004a8cdffffffff020000",
      "000000000000266a2441524f3274f6ba041e253bb75e523e1b0d00422e44221c7a0240757cd1a40ad15d51366220ac9700000000001976a914",
      "210c1452fa23b003f258d03dbfad4eb5e063eb7988ac00000000"
    ].join(""),
    "hex"
  )

  it.effect("is checked and sent at Zebra, which has no method to decode it", () =>
    Effect.gen(function* () {
      const rejected = (method: string, code: number, message: string) =>
        Result.fail(new NodeRejected({ node: "zebra", method, code, message }))
      const zebra = (value: string, standardFee?: number) => {
        const answer = ({ method }: Call): Result.Result<unknown, NodeRejected> => {
          if (method === "getstandardfee" && standardFee !== undefined) {
            return Result.succeed({ standard_fee: standardFee, version: 0 })
          }
          if (method === "gettxout") return Result.succeed({ value, confirmations: 3, scriptPubKey: { hex: "00" } })
          if (method === "getnetworkinfo") return Result.succeed({ relayfee: "0.000001" })
          if (method === "sendrawtransaction") return rejected(method, -1, "transaction already exists in mempool")
          return rejected(method, -32601, "Method not found")
        }
        return UtxoBroadcasting.make(Chain.ofName("zcash/mainnet")!, nodeOf("zebra", answer), {
          maximumFee: 100,
          verbose: [1]
        })
      }
      const { check, idOf, send } = zebra("0.09955")
      const txid = "eeaa894c3c46814f7228a7ecf2be84c0006c1154b5101688dd413d9a419689c0"
      assert.strictEqual(Buffer.from(yield* idOf(raw)).toString("hex"), txid)
      yield* check(raw)
      assert.deepStrictEqual(yield* send(raw), { state: "taken" })
      const tooMuch = yield* Effect.flip(zebra("1.09955").check(raw))
      assert.match(tooMuch.message, /^the fee must be at most/)
      // Forty recipients make it dear by its bytes: 5,000 zatoshi each, as all wallets paid until ZIP-2009.
      const recipient = `a086010000000000${"1976a914"}${"07".repeat(20)}88ac`
      const payout = Buffer.from(
        `050000800a27a726${"30f33754"}${"00".repeat(8)}01${"ab".repeat(32)}00000000${"6b"}${"47".repeat(107)}ffffffff28${recipient.repeat(40)}000000`,
        "hex"
      )
      const coins = (fee: number) => ((40 * 100_000 + fee) / 1e8).toFixed(8)
      for (const standardFee of [undefined, 5_000, 1_000]) yield* zebra(coins(200_000), standardFee).check(payout)
      for (const [fee, standardFee] of [
        [30_000_000, 5_000],
        [6_000_000, 1_000]
      ] as const) {
        const fault = yield* Effect.flip(zebra(coins(fee), standardFee).check(payout))
        assert.match(fault.message, /^the fee must be at most/)
      }
    })
  )

  it.effect("that shields coins pays what does not come into the pool", () =>
    Effect.gen(function* () {
      const answer = ({ method }: Call): Result.Result<unknown, NodeRejected> => {
        if (method === "gettxout") return Result.succeed({ value: "10", confirmations: 3, scriptPubKey: { hex: "00" } })
        if (method === "getnetworkinfo") return Result.succeed({ relayfee: "0.000001" })
        return Result.fail(new NodeRejected({ node: "zebra", method, code: -32601, message: "Method not found" }))
      }
      const { check } = UtxoBroadcasting.make(Chain.ofName("zcash/mainnet")!, nodeOf("zebra", answer), {
        maximumFee: 100,
        verbose: [1]
      })
      /** Version 4 with one output of Sapling, into which goes what the balance says below zero. */
      const shielding = (zatoshi: bigint) => {
        const balance = Buffer.alloc(8)
        balance.writeBigInt64LE(-zatoshi)
        const input = `${"ab".repeat(32)}00000000${"6b"}${"47".repeat(107)}ffffffff`
        const sapling = `${balance.toString("hex")}0001${"11".repeat(948)}`
        return Buffer.from(`0400008085202f8901${input}00${"00".repeat(8)}${sapling}00${"22".repeat(64)}`, "hex")
      }
      yield* check(shielding(999_985_000n))
      assert.match((yield* Effect.flip(check(shielding(100_000_000n)))).message, /^the fee must be at most/)
      assert.match(
        (yield* Effect.flip(check(shielding(1_000_000_001n)))).message,
        /^its outputs must be at most its inputs/
      )
    })
  )

  for (const pool of ["orchard", "ironwood"]) {
    it.effect(`whose coins come out of ${pool} has inputs that nobody sees`, () =>
      Effect.gen(function* () {
        const txid = "ab".repeat(32)
        const vout = [{ n: 0, value: "1.00000000", scriptPubKey: { hex: Buffer.from(script).toString("hex") } }]
        const shown = { txid, vin: [], vout, [pool]: { actions: [{}, {}] } }
        const rpc = { node: "node", call: () => Effect.succeed(shown) }
        const { idOf } = UtxoBroadcasting.make(Chain.ofName("zcash/mainnet")!, { ...rpc, each: [rpc] } as never, {
          maximumFee: 1,
          verbose: [1]
        })
        assert.strictEqual(Buffer.from(yield* idOf(Uint8Array.of(6, 0, 0, 0x80))).toString("hex"), txid)
      })
    )
  }
})

describe("the fee of a UTXO transaction that pays for those that it waits for", () => {
  it.effect("is weighed by the bytes of all of them, where it would be beyond measure by its own", () =>
    Effect.gen(function* () {
      const checked = (fee: number, confirmations: number, entry: unknown, relayfee = "0.00001000") => {
        const value = ((5_000 + fee) / 2 / 1e8).toFixed(8)
        const output = { value, confirmations, scriptPubKey: { hex: Buffer.from(script).toString("hex") } }
        const answer = ({ method, params }: Call): Result.Result<unknown, NodeRejected> => {
          if (method === "gettxout") return Result.succeed(output)
          if (method === "getnetworkinfo") return Result.succeed({ relayfee })
          const known = method === "getmempoolentry" && outpoints[0]!.startsWith(String(params[0]))
          if (known && entry !== undefined) return Result.succeed(entry)
          return Result.fail(new NodeRejected({ node: "node", method, code: -5, message: "not in mempool" }))
        }
        const { check } = UtxoBroadcasting.make(chain, nodeOf("node", answer), {
          maximumFee: 100,
          verbose: [true]
        })
        return Effect.map(Effect.result(check(sent.toBuffer())), (found) =>
          Result.isFailure(found) ? found.failure.message : "fine"
        )
      }
      // Ten times the relay fee is usual: 10 for a byte, and 1,000 at the most; it has 124 bytes.
      const own = 1_000 * sent.toBuffer().length
      assert.strictEqual(yield* checked(own, 1, undefined), "fine")
      // As much at Bitcoin Core since 29.1, which relays for a tenth.
      assert.strictEqual(yield* checked(own, 1, undefined, "0.00000100"), "fine")
      assert.match(yield* checked(own + 2_000, 1, undefined, "0.00000100"), /maximumFee/)
      assert.match(yield* checked(own + 2_000, 1, { ancestorsize: 20_000 }), /maximumFee/)
      assert.match(yield* checked(own + 2_000, 0, undefined), /maximumFee/)
      assert.strictEqual(yield* checked(own + 2_000, 0, { ancestorsize: 20_000 }), "fine")
      assert.match(yield* checked(own + 1_000 * 20_000 + 2_000, 0, { ancestorsize: 20_000 }), /maximumFee/)
      // Of old nodes.
      assert.strictEqual(yield* checked(own + 1_000 * 300, 0, { size: 400 }), "fine")
    })
  )
})

describe("the standing of a UTXO transaction whose outputs are spent", () => {
  it.effect("is by all blocks since it was broadcast, in bounded steps that go on where they ended", () =>
    Effect.gen(function* () {
      const { settled, state } = fakeNode()
      // Mined while nobody looked.
      state.minedAt = 210
      const { asked, found } = yield* settled(200)
      assert.deepInclude(found, { state: "mined", height: 210 })
      assert.strictEqual(asked, 6)
      assert.isAtMost(state.blocks, 111)

      state.minedAt = undefined
      state.blocks = 0
      const replaced = yield* settled(200)
      assert.deepInclude(replaced.found, { state: "replaced" })
      assert.strictEqual(state.blocks, 201 - 110)
      state.tip = 301
      assert.deepInclude((yield* settled(200)).found, { state: "replaced" })
      assert.strictEqual(state.blocks, 202 - 110)
      // Other blocks have taken the place of those that were looked through.
      state.branch = "b"
      state.minedAt = 205
      assert.deepInclude((yield* settled(200)).found, { state: "mined", height: 205 })
    })
  )

  it.effect("is by blocks of one branch: those of one that is left in the middle prove nothing", () =>
    Effect.gen(function* () {
      const { settled, state } = fakeNode()
      state.leavesAt = 296
      state.minedAt = 296
      assert.deepInclude((yield* settled(299)).found, { state: "mined", height: 296 })
    })
  )

  it.effect("is none that takes it for replaced while an input is unspent, or a block is not shown", () =>
    Effect.gen(function* () {
      const { settled, standing, state } = fakeNode()
      state.pruned = 250
      assert.deepStrictEqual((yield* settled(300)).found, { state: "absent", mayCome: true })
      state.pruned = 0

      // It would have spent both inputs: no block is asked for.
      state.inBlocks.add(outpoints[0]!)
      const half = yield* settled(0)
      assert.deepInclude(half.found, { state: "replaced" })
      assert.include(JSON.stringify(half.found), outpoints[1]!)
      // The transaction that makes the other one waits for a block itself.
      state.inMempool.add(outpoints[1]!)
      assert.deepStrictEqual((yield* settled(0)).found, { state: "absent" })
      assert.strictEqual(state.blocks, 0)

      // Another transaction that waits spends that one too: no block has either.
      state.inMempool.clear()
      state.waiting.add(outpoints[1]!.slice(0, 64))
      assert.deepStrictEqual((yield* settled(0)).found, { state: "absent" })
      state.inBlocks.clear()
      assert.deepInclude((yield* settled(0)).found, { state: "replaced" })
      state.waiting.add(outpoints[0]!.slice(0, 64))
      state.blocks = 0
      assert.deepStrictEqual((yield* settled(0)).found, { state: "absent" })
      assert.strictEqual(state.blocks, 0)

      state.waiting.clear()
      state.minedAt = 296
      assert.deepInclude(yield* standing, { state: "mined", height: 296 })
    })
  )
})

describe("the check of a UTXO transaction whose inputs are spent", () => {
  it.effect("has the node show one transaction that made them, and not all, however large they are", () =>
    Effect.gen(function* () {
      const { check, state } = fakeNode()
      for (const outpoint of outpoints) state.indexed.add(outpoint.slice(0, 64))
      assert.match((yield* Effect.flip(check)).message, /^the input 0, .* must be an unspent output/)
      assert.strictEqual(state.shown, 1)
    })
  )
})

describe("a UTXO transaction that is looked for by its id", () => {
  it.effect("costs few blocks, however many are looked for", () =>
    Effect.gen(function* () {
      const { found, state } = fakeNode()
      for (let one = 0; one < 50; one++) {
        const absent = yield* found(300, one.toString(16).padStart(64, "0"))
        assert.deepStrictEqual(absent, Result.succeed({ state: "absent" as const }))
      }
      assert.strictEqual(state.blocks, 6)
      // Other blocks have taken their place.
      state.branch = "b"
      state.minedAt = 298
      const mined = yield* found(300)
      assert.deepInclude(Result.getOrThrow(mined), { state: "mined", height: 298 })
      assert.strictEqual(state.blocks, 9)
    })
  )

  it.effect("is not said to be nowhere by a node that has not come to the block, or whose index is being made", () =>
    Effect.gen(function* () {
      const { found, state } = fakeNode()
      state.minedAt = 301
      assert.include(String(yield* found(301)), "out of range")
      state.tip = 301
      assert.deepInclude(Result.getOrThrow(yield* found(301)), { state: "mined", height: 301 })

      // Blocks of before are remembered by their hashes: these are others.
      state.branch = "b"
      state.minedAt = 100
      state.noTransaction =
        "No such mempool transaction. Blockchain transactions are still in the process of being indexed. Use gettransaction for wallet transactions."
      assert.include(String(yield* found(301)), "being indexed")
      // The blocks themselves say so.
      state.minedAt = 300
      state.branch = "c"
      assert.deepInclude(Result.getOrThrow(yield* found(301)), { state: "mined", height: 300 })
    })
  )
})

describe("a node below the height at which a transaction was broadcast", () => {
  it.effect("does not say that no block has it", () =>
    Effect.gen(function* () {
      const { settled, state } = fakeNode()
      assert.deepStrictEqual((yield* settled(state.tip + 1)).found, { state: "absent", mayCome: true })
      assert.strictEqual((yield* settled(state.tip)).found.state, "replaced")
    })
  )
})

describe.skipIf(!Litecoind.installed)("A litecoind that stands still behind the address of another one", () => {
  it.live("knows nothing of a transaction that was broadcast since, rather than that no node has it", () =>
    Effect.gen(function* () {
      const flags = ["-vbparams=mweb:4000000000:4000000000", "-txindex=0"]
      const [ahead, still] = yield* Effect.all([Litecoind.start(...flags), Litecoind.start(...flags)], {
        concurrency: 2
      })
      for (const hash of yield* ahead.mine(102)) {
        yield* still.rpc("submitblock", yield* ahead.rpc<string>("getblock", hash, 0))
      }
      yield* ahead.mine(1)
      const since = yield* ahead.rpc<number>("getblockcount")
      assert.strictEqual(yield* still.rpc<number>("getblockcount"), since - 1)
      const id = yield* ahead.rpc<string>("sendtoaddress", yield* ahead.rpc<string>("getnewaddress"), 1)
      const { hex } = yield* ahead.rpc<{ readonly hex: string }>("gettransaction", id)
      yield* ahead.mine(1)
      const standingAt = Effect.fnUntraced(function* (url: string) {
        const broadcasting = UtxoBroadcasting.make(chain, yield* Nodes.make({ urls: [url] }), {
          ...{ maximumFee: 100, verbose: [1] }
        })
        return yield* broadcasting.standing(Buffer.from(hex, "hex"), since)
      })
      assert.deepInclude(yield* standingAt(ahead.url), { state: "mined", height: since + 1 })
      assert.deepStrictEqual(yield* standingAt(still.url), { state: "absent", mayCome: true })
      yield* still.rpc("submitblock", yield* ahead.rpc<string>("getblock", yield* ahead.rpc("getblockhash", since), 0))
      // It has come to where the transaction was broadcast, and does not have it.
      assert.deepStrictEqual(yield* standingAt(still.url), { state: "absent" })
    }).pipe(Effect.scoped)
  )
})

describe.skipIf(!Litecoind.installed)("A transaction that is in MWEB alone", () => {
  it.live("is found in its block, which lists it by its kernel, and not by its id", () =>
    Effect.gen(function* () {
      const node = yield* Litecoind.start()
      yield* node.mweb
      const shielded = yield* node.wallet("shielded")
      yield* node.rpc("sendtoaddress", yield* shielded<string>("getnewaddress", "", "mweb"), 5)
      yield* node.mine(1)
      const since = yield* node.rpc<number>("getblockcount")
      const id = yield* shielded<string>("sendtoaddress", yield* node.rpc<string>("getnewaddress"), 1)
      const raw = Buffer.from(yield* node.rpc<string>("getrawtransaction", id), "hex")
      const { check, idOf, standing } = UtxoBroadcasting.make(chain, yield* Nodes.make({ urls: [node.url] }), {
        ...{ maximumFee: 100, verbose: [1] }
      })
      assert.strictEqual(Buffer.from(yield* idOf(raw)).toString("hex"), id)
      yield* check(raw)
      assert.deepStrictEqual(yield* standing(raw, since), { state: "waiting" })
      // What stays in MWEB is no output that another transaction may spend, though the node lists it with those.
      const into = yield* node.rpc<string>("sendtoaddress", yield* shielded<string>("getnewaddress", "", "mweb"), 1)
      const inputs = [{ txid: into, vout: 1 }]
      const spending = yield* node.rpc<string>("createrawtransaction", inputs, {
        [yield* node.rpc<string>("getnewaddress")]: 0.1
      })
      const refusal = yield* Effect.flip(check(Buffer.from(spending, "hex")))
      assert.match(refusal.message, /^the input 0, .* must be an unspent output/)
      const [hash] = yield* node.mine(2)
      const found = yield* Effect.repeat(standing(raw, since), {
        until: ({ state }) => state !== "searching",
        times: 20
      })
      assert.deepStrictEqual(found, {
        ...{ state: "mined", height: since + 1 },
        hash: new Uint8Array(Buffer.from(hash!, "hex"))
      })
    }).pipe(Effect.scoped)
  )
})
