import { randomBytes } from "node:crypto"
import { chmodSync, existsSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Anvil from "../../../../test/Anvil.ts"
import * as Folder from "../../../../test/Folder.ts"
import * as Headwater from "../../../../test/Headwater.ts"
import * as FakeNode from "../../../indexer/test/FakeNode.ts"
import { recorded } from "../../../indexer/test/families/evm/EvmBlocks.ts"
import * as EvmNode from "../../../indexer/test/families/evm/EvmNode.ts"
import * as Tron from "../../../indexer/test/families/tron/TronBlocks.ts"
import * as TronNode from "../../../indexer/test/families/tron/TronNode.ts"
import * as Utxo from "../../../indexer/test/families/utxo/UtxoBlocks.ts"
import * as UtxoNode from "../../../indexer/test/families/utxo/UtxoNode.ts"
import { chainOf } from "../../../indexer/test/families/xrp/XrpLedgers.ts"
import * as XrpServer from "../../../indexer/test/families/xrp/XrpServer.ts"
import type { Finding } from "../../src/doctor/Finding.ts"
import { doctor, without } from "../doctor/RunDoctor.ts"
import { run } from "../Program.ts"
import { runCommand } from "../RunCommand.ts"

describe("headwater doctor", () => {
  it.live(
    "finds nothing wrong with what is well",
    () =>
      Effect.gen(function* () {
        const cwd = yield* Folder.scoped
        const anvil = yield* Anvil.start()
        yield* anvil.rpc("anvil_mine", ["0x3"])
        const { code, findings, problems } = yield* doctor(cwd, {
          chains: { "ethereum/devnet": { nodes: [anvil.url] } }
        })
        assert.deepStrictEqual(problems, [])
        assert.strictEqual(code, 0)
        const messages = findings.map(({ message }) => message).join("\n")
        assert.match(messages, /anvil\/v/)
        assert.match(messages, /block 3 is read, \d+ s old/)
        assert.match(messages, /GiB free in /)
        assert.match(messages, /readable by its owner alone/)
        chmodSync(join(cwd, "headwater.db"), 0o644)
        const key = join(cwd, "headwater.db.key")
        writeFileSync(key, randomBytes(32).toString("base64"))
        chmodSync(key, 0o644)
        const opened = yield* runCommand(["doctor", "--config", join(cwd, "headwater.json")])
        assert.strictEqual(opened.code, 0)
        assert.match(
          opened.stdout,
          /warning {2}other users of this machine may read[^\n]*\n +→ chmod 600 [^\n]*headwater\.db\*/
        )
        assert.include(opened.stdout, `warning  other users of this machine may read ${key}`)
      }).pipe(Effect.scoped),
    { timeout: 300_000 }
  )

  it.live("sees a file of assets that is not there, or is none", () =>
    Effect.gen(function* () {
      const cwd = yield* Folder.scoped
      const path = join(cwd, "assets.jsonl")
      const found = Effect.fnUntraced(function* (path: string) {
        const { findings } = yield* doctor(cwd, {
          chains: { "ethereum/devnet": { nodes: ["http://127.0.0.1:1"] } },
          marketData: { file: { path } }
        })
        return findings.filter(({ subject }) => subject === "marketData.file")
      })
      const codes = (findings: ReadonlyArray<Finding>) => findings.map((finding) => [finding.level, finding.code])
      assert.deepStrictEqual(codes(yield* found(path)), [["warning", "asset_file_unreadable"]])
      assert.deepStrictEqual(codes(yield* found(cwd)), [["warning", "asset_file_unreadable"]])
      writeFileSync(path, "")
      assert.deepStrictEqual(codes(yield* found(path)), [["ok", undefined]])
    }).pipe(Effect.scoped)
  )

  it.live(
    "finds a wrong URL, a node without traces, a wrong network and a store that does not open, and says what to do",
    () =>
      Effect.gen(function* () {
        const cwd = yield* Folder.scoped
        const anvil = yield* Anvil.start({ args: ["--chain-id", "1"] })
        const blind = yield* without(anvil.url, /^(debug|trace)_/)
        const wrong = "http://user:hunter2@127.0.0.1:1/secret-path"
        const { code, findings, problems, stderr } = yield* doctor(cwd, {
          store: { sqlite: "/nonexistent/store.db" },
          chains: {
            "ethereum/devnet": { nodes: [wrong, blind], start: 5 },
            "polygon/mainnet": { nodes: [anvil.url] },
            "litecoin/regtest": { nodes: [anvil.url] }
          }
        })
        assert.strictEqual(code, 1)
        assert.include(stderr, "5 problems")
        const of = (subject: string) => problems.filter((problem) => problem.subject === subject)
        const [store] = of("store")
        assert.match(store!.message, /Cannot open the SQLite file/)
        assert.match(store!.advice!, /folder exists/)
        // Nobody knows which block is next, or where the chain began.
        assert.notInclude(findings.map(({ message }) => message).join("\n"), "block 5")
        const [unreachable] = of("ethereum/devnet 127.0.0.1:1")
        assert.match(unreachable!.message, /ECONNREFUSED/)
        assert.match(unreachable!.advice!, /whether the node runs, and whether the URL names its RPC port/)
        const [untraced] = of(`ethereum/devnet ${new URL(blind).host}`)
        assert.match(untraced!.message, /gives no traces, so there are no internal transactions/)
        assert.match(untraced!.advice!, /debug or trace API.* or set internalTransactions = false/)
        const [network] = of(`polygon/mainnet ${new URL(anvil.url).host}`)
        assert.match(network!.message, /is on chain id 1, not 137/)
        assert.match(network!.advice!, /correct the URL/)
        const [family] = of(`litecoin/regtest ${new URL(anvil.url).host}`)
        assert.isDefined(family!.advice)
        assert.notInclude(JSON.stringify(findings) + stderr, "hunter2")
        assert.notInclude(JSON.stringify(findings) + stderr, "secret-path")

        const bad = yield* doctor(cwd, { chains: { "ethereum/mainet": { nodes: [] } } })
        assert.strictEqual(bad.code, 1)
        assert.include(bad.stderr, "did you mean ethereum/mainnet?")
      }).pipe(Effect.scoped),
    { timeout: 300_000 }
  )

  it.live(
    "finds a node whose newest block cannot be traced",
    () =>
      Effect.gen(function* () {
        const answers = EvmNode.answers([recorded([{}])], { without: ["trace_block"] })
        const { url } = yield* FakeNode.make((method, params) => {
          if (method !== "debug_traceBlockByHash") return answers(method, params)
          throw new FakeNode.RpcError(-32000, "required historical state unavailable (reexec=128)")
        })
        const { code, problems } = yield* doctor(yield* Folder.scoped, {
          chains: { "ethereum/devnet": { nodes: [url] } }
        })
        assert.strictEqual(code, 1)
        const [problem] = problems
        assert.match(problem!.message, /^block 100 is read without internal transactions: .*state unavailable/)
        assert.match(problem!.advice!, /keeps the state of that block/)
      }).pipe(Effect.scoped),
    { timeout: 300_000 }
  )
})

describe("headwater doctor, where serve would record a part", () => {
  it.live(
    "finds transactions that are not understood, in the newest block and in the one that is read next",
    () =>
      Effect.gen(function* () {
        const { url } = yield* FakeNode.make(
          EvmNode.answers([recorded([{ tx: { value: "0x1" } }, { tx: { type: "0x55" } }])], {
            without: ["trace_block"]
          })
        )
        const { code, findings } = yield* doctor(yield* Folder.scoped, {
          chains: { "ethereum/devnet": { nodes: [url], start: 100 } }
        })
        assert.strictEqual(code, 0)
        const message = "in block 100, 1 transaction is not understood in full: transaction.type 0x55 is not known"
        assert.deepStrictEqual(
          findings.flatMap(({ level, message, subject }) =>
            message.includes("not understood in full") ? [[level, subject, message]] : []
          ),
          [
            ["warning", "ethereum/devnet", message],
            ["warning", `ethereum/devnet ${new URL(url).host}`, message]
          ]
        )
      }).pipe(Effect.scoped),
    { timeout: 300_000 }
  )
})

describe("headwater doctor, where serve would fail", () => {
  it.live(
    "finds an address that is taken, and knows a daemon of ours",
    () =>
      Effect.gen(function* () {
        const cwd = yield* Folder.scoped
        const anvil = yield* Anvil.start()
        const chains = { "ethereum/devnet": { nodes: [anvil.url], start: 0 } }
        const taken = yield* FakeNode.http((_, response) => response.end("something else"))
        const port = Number(new URL(taken.url).port)
        const console = { port, password: "correct horse" }
        const { code, problems } = yield* doctor(cwd, { http: { port }, console, chains })
        assert.strictEqual(code, 1)
        assert.deepStrictEqual(
          problems.map(({ message, subject }) => [subject, message]),
          ["http", "console"].map((subject) => [subject, `cannot listen on 127.0.0.1:${port}: EADDRINUSE`])
        )
        const elsewhere = yield* doctor(cwd, { http: { host: "203.0.113.7", port: 0 }, chains })
        assert.match(elsewhere.problems[0]!.message, /^cannot listen on 203\.0\.113\.7:0: EADDRNOTAVAIL$/)
        assert.match(elsewhere.problems[0]!.advice!, /whether http\.host is an address of this machine/)

        const headwater = yield* Headwater.start({ kind: "sqlite", file: join(cwd, "store.db") }, { chains })
        const ours = Number(new URL(headwater.url).port)
        const beside = yield* doctor(cwd, { http: { port: ours }, chains })
        assert.strictEqual(beside.code, 0, beside.stderr)
        assert.include(
          beside.findings.map(({ message }) => message),
          `a daemon answers on 127.0.0.1:${ours}`
        )
      }).pipe(Effect.scoped),
    { timeout: 300_000 }
  )

  it.live(
    "finds a pruned node below whose blocks the chain starts, and says of prevouts what the node showed",
    () =>
      Effect.gen(function* () {
        const cwd = yield* Folder.scoped
        const node = (kind: UtxoNode.Kind, blocks = Utxo.part.blocks) => {
          const good = UtxoNode.answers(kind, { ...Utxo.part, blocks })
          return FakeNode.make((method, params) => {
            if (method === "getblockchaininfo")
              return { ...(good(method, params) as object), chain: "regtest", pruned: true, pruneheight: 100 }
            if (method === "getblock" && params[0] === Utxo.parent.json.hash) {
              throw new FakeNode.RpcError(-1, "Block not available (pruned data)")
            }
            return good(method, params)
          })
        }
        const of = Effect.fnUntraced(function* (url: string, start: number | "latest") {
          const settings = { nodes: [url], start, silentSeconds: 604_800, timeoutMillis: 2_000 }
          const { code, findings } = yield* doctor(cwd, { chains: { "bitcoin/regtest": settings } })
          const about = (word: string) => findings.find(({ message }) => message.includes(word))
          return { code, about }
        })
        const core = yield* node("core")
        const below = yield* of(core.url, 99)
        assert.strictEqual(below.code, 1)
        const lacks = below.about("next block to be read")!
        assert.deepInclude(lacks, { subject: "bitcoin/regtest", level: "problem" })
        assert.match(
          lacks.message,
          /cannot be had: .* does not have block [0-9a-f]{64} \(.*pruned data\)\); the nodes have blocks from 100 on$/
        )
        assert.match(lacks.advice!, /; or set start = 100, the first block that the nodes have$/)
        const above = yield* of(core.url, 100)
        assert.strictEqual(above.code, 0)
        assert.deepInclude(above.about("read next"), {
          level: "ok",
          message: "block 100, which is read next, can be read"
        })
        assert.deepInclude(above.about("pruned"), {
          level: "warning",
          message: "history: the node is pruned and has blocks from height 100 on: a replay cannot begin below"
        })
        assert.deepInclude(above.about("prevouts"), {
          level: "ok",
          message: "prevouts: inputs show what they spend (getblock verbosity 3)"
        })
        const later = yield* of(core.url, 200)
        assert.strictEqual(later.about("nothing is recorded")!.level, "warning")

        const old = yield* of((yield* node("numeric")).url, "latest")
        assert.strictEqual(old.about("prevouts")!.level, "warning")
        assert.match(old.about("prevouts")!.message, /^prevouts: inputs do not show what they spend/)
        const reward = Utxo.transaction([], [Utxo.paid("50.00000000", Utxo.p2pkh(8))])
        const empty = yield* node("core", [Utxo.block(0, "00".repeat(32), [reward]).json])
        const unknown = yield* of(empty.url, "latest")
        assert.strictEqual(unknown.about("prevouts")!.level, "unknown")
        assert.match(unknown.about("prevouts")!.message, /^prevouts: the newest blocks have no input by which to tell/)
      }).pipe(Effect.scoped),
    { timeout: 300_000 }
  )

  it.live(
    "finds nodes whose chain is behind the store's, or another one, and says what is read next",
    () =>
      Effect.gen(function* () {
        const cwd = yield* Folder.scoped
        const name = "ethereum/devnet"
        const mined = Effect.fnUntraced(function* (blocks: number, timestamp: number) {
          const anvil = yield* Anvil.start({ args: ["--timestamp", String(timestamp)] })
          yield* anvil.rpc("anvil_mine", [`0x${blocks.toString(16)}`])
          return anvil
        })
        const anvil = yield* mined(20, 1_700_000_000)
        const store = join(cwd, "store.db")
        const chain = { start: 0, pollMillis: 200, undoDepth: 5, silentSeconds: 604_800, newHeads: [] }
        const headwater = yield* Headwater.start(
          { kind: "sqlite", file: store },
          { chains: { [name]: { ...chain, nodes: [anvil.url] } } }
        )
        for (let i = 0; (yield* headwater.get("/ready")).body.chains[name].height !== 20; i++) {
          assert.isBelow(i, 2_400)
          yield* Effect.sleep("50 millis")
        }
        yield* headwater.terminate
        const of = Effect.fnUntraced(function* (url: string) {
          const chains = { [name]: { ...chain, nodes: [url] } }
          const { code, findings } = yield* doctor(cwd, { store: { sqlite: store }, chains })
          return [code, ...findings.filter(({ subject }) => subject === name).map(({ message }) => message)]
        })
        assert.deepStrictEqual(yield* of(anvil.url), [0, "block 20 is recorded, and is the newest"])
        yield* anvil.rpc("anvil_mine", ["0x2"])
        assert.deepStrictEqual(yield* of(anvil.url), [0, "block 21, which is read next, can be read"])
        yield* anvil.rpc("anvil_reorg", [3, []])
        assert.deepStrictEqual(yield* of(anvil.url), [0, "block 20 has left the chain, and will be undone"])
        const young = yield* mined(3, 1_700_000_000)
        assert.deepStrictEqual(yield* of(young.url), [1, "the node is at block 3, and the store at block 20"])
        yield* anvil.rpc("anvil_reorg", [12, []])
        assert.deepStrictEqual(yield* of(anvil.url), [
          1,
          "the nodes' chain differs from the store's at block 15 already, below which nothing is undone"
        ])
        const right = yield* mined(22, 1_700_000_000)
        const { findings } = yield* doctor(cwd, {
          store: { sqlite: store },
          chains: { [name]: { ...chain, nodes: [right.url, anvil.url] } }
        })
        const problems = findings.filter(({ level }) => level === "problem")
        assert.deepStrictEqual(
          problems.map(({ message, subject }) => [subject, message]),
          [
            [
              `${name} ${new URL(anvil.url).host}`,
              "the node's chain differs from the store's at block 15 already, below which nothing is undone"
            ]
          ]
        )
        for (const blocks of [3, 40]) {
          const reset = yield* mined(blocks, 1_600_000_000)
          assert.deepStrictEqual(yield* of(reset.url), [
            1,
            "the nodes' chain differs from the store's at block 0 already, the first one in the store"
          ])
        }
      }).pipe(Effect.scoped),
    { timeout: 300_000 }
  )
})

/** Problems and warnings about one node, each of which has to say what to do. */
const wrongs = (findings: ReadonlyArray<Finding>, url: string, chain: string) =>
  findings
    .filter(({ level, subject }) => level !== "ok" && subject === `${chain} ${new URL(url).host}`)
    .map(({ advice, level, message }) => {
      assert.isDefined(advice, message)
      return `${level}: ${message} → ${advice}`
    })

describe("headwater doctor on the XRP Ledger", () => {
  it.live(
    "finds another network, gaps, a server that synchronises and old ledgers, over both transports",
    () =>
      Effect.gen(function* () {
        const cwd = yield* Folder.scoped
        const ledgers = chainOf(1_000, 5, () => [{ from: 1, to: 2, drops: 1n }])
        const well = yield* XrpServer.make({ ledgers, networkId: 0 })
        const other = yield* XrpServer.make({ ledgers, networkId: 1 })
        const gaps = yield* XrpServer.make({ ledgers, completeLedgers: "1000-1001,1003-1004" })
        const busy = yield* XrpServer.make({ ledgers })
        busy.override = (command) =>
          command === "server_info"
            ? {
                info: { build_version: "2.2.3", complete_ledgers: "empty", server_state: "syncing" },
                status: "success"
              }
            : { error: "noNetwork", error_code: 17, error_message: "Not synced to the network.", status: "error" }
        const { code, findings } = yield* doctor(cwd, {
          chains: {
            "xrp/mainnet": {
              nodes: [well.wsUrl, other.wsUrl, gaps.httpUrl, busy.wsUrl],
              start: 1_002,
              timeoutMillis: 2_000
            }
          }
        })
        assert.strictEqual(code, 1)
        const of = (url: string) => wrongs(findings, url, "xrp/mainnet")
        const old = /^warning: block 1004 is read, \d+ s old → see whether the node has peers/
        const [unproven, age, ...none] = of(well.wsUrl)
        assert.match(
          unproven!,
          /^unknown: network: not proved: .* hash of ledger 256; network_id 0 is the server's word/
        )
        assert.match(age!, old)
        assert.lengthOf(none, 0)
        const messages = findings.filter(({ subject }) => subject.endsWith(new URL(well.wsUrl).host))
        assert.includeMembers(
          messages.map(({ message }) => message),
          ["rippled 2.2.3", "server state: full"]
        )
        assert.match(
          of(other.wsUrl)[0]!,
          /^problem: the server is on network 1, not 0: .* → correct the URL of the node$/
        )
        assert.lengthOf(of(other.wsUrl), 1)
        const [network, history] = of(gaps.httpUrl)
        assert.match(
          network!,
          /^unknown: network: not proved: .*; the server does not say its network_id, which should be 0 →/
        )
        assert.match(history!, /^warning: history: .*1000 to 1001, 1003 to 1004, and lacks 1002/)
        const [syncing, , , answer] = of(busy.wsUrl)
        assert.match(syncing!, /^warning: the server still synchronises: server state syncing →/)
        assert.match(answer!, /^problem: .*Not synced to the network/)
      }).pipe(Effect.scoped),
    { timeout: 300_000 }
  )
})

describe("headwater doctor on Tron", () => {
  it.live(
    "finds another network, no internal transactions, no solid block and no transaction infos",
    () =>
      Effect.gen(function* () {
        const cwd = yield* Folder.scoped
        const called = Tron.call(3, 60)
        const info = (more: object) =>
          Tron.infoOf(called, 2, { contract_address: Tron.account(60), log: [Tron.trc20(50, 6, 7, 1n)], ...more })
        const genesis = (id: string) => {
          const { block, infos } = Tron.blockOf(0, [])
          return { block: { ...block, blockID: Tron.mainnet.tron!.genesis[id] }, infos }
        }
        const blocks = (id: string, more: object = { internal_transactions: [Tron.internal(60, 4, 1)] }) =>
          Tron.linked([genesis(id), Tron.blockOf(1, []), Tron.blockOf(2, [called], [info(more)])])
        const solid = ["/walletsolidity/getblock", "/walletsolidity/getnowblock", "/wallet/getnodeinfo"]
        const well = yield* TronNode.make({ blocks: blocks("mainnet"), solid: 1 })
        const other = yield* TronNode.make({ blocks: blocks("nile"), solid: 1 })
        const blind = yield* TronNode.make({ blocks: blocks("mainnet", {}), without: solid })
        const bare = yield* TronNode.make({
          blocks: blocks("mainnet"),
          solid: 1,
          without: ["/wallet/gettransactioninfobyblocknum"]
        })
        const { code, findings } = yield* doctor(cwd, {
          chains: { "tron/mainnet": { nodes: [well.url, other.url, blind.url, bare.url], silentSeconds: 604_800 } }
        })
        assert.strictEqual(code, 1)
        // The blocks are as old as they are.
        const of = (url: string) => wrongs(findings, url, "tron/mainnet").filter((line) => !/is read, \d+ s/.test(line))
        assert.deepStrictEqual(of(well.url), [])
        assert.isTrue(findings.some(({ message }) => message === "network: mainnet, by the id of block 0"))
        assert.deepStrictEqual(of(other.url), [
          "problem: the node is on nile, not mainnet: it belongs to another network; correct the node's URL → correct the URL of the node"
        ])
        const [internal, finality, ...more] = of(blind.url)
        assert.match(internal!, /^problem: the node does not keep internal transactions: .* → set vm\.saveInternalTx/)
        assert.match(
          finality!,
          /^warning: finality: the node names no solidified block: .* → enable the node's solidity/
        )
        assert.lengthOf(more, 0)
        const [infos, ...rest] = of(bare.url)
        assert.match(infos!, /^problem: \/wallet\/gettransactioninfobyblocknum: .* → allow this path on the node/)
        assert.lengthOf(rest, 0)
      }).pipe(Effect.scoped),
    { timeout: 300_000 }
  )
})

describe("headwater backup", () => {
  it.live(
    "copies the store of a running daemon, and the copy runs",
    () =>
      Effect.gen(function* () {
        const cwd = yield* Folder.scoped
        const anvil = yield* Anvil.start()
        yield* anvil.rpc("anvil_mine", ["0x20"])
        const name = "ethereum/devnet"
        const settings = { chains: { [name]: { nodes: [anvil.url], start: 0, pollMillis: 200 } } }
        const store = join(cwd, "store.db")
        const headwater = yield* Headwater.start({ kind: "sqlite", file: store }, settings)
        const reached = (daemon: Headwater.Headwater, height: number) =>
          Effect.gen(function* () {
            for (let i = 0; (yield* daemon.get("/ready")).body.chains[name].height !== height; i++) {
              assert.isBelow(i, 2_400)
              yield* Effect.sleep("50 millis")
            }
          })
        yield* reached(headwater, 32)
        const config = join(cwd, "headwater.json")
        writeFileSync(config, JSON.stringify({ ...settings, store: { sqlite: store } }))
        const copy = join(cwd, "copy.db")
        const command = ["backup", copy, "--config", config]
        const done = yield* run(command)
        assert.strictEqual(done.code, 0, done.stderr)
        assert.match(done.stdout, /^The copy is .*copy\.db, [\d.]+ [KM]iB\n$/)
        assert.strictEqual(statSync(copy).mode & 0o777, 0o600)
        assert.isFalse(existsSync(`${copy}.partial`))
        const again = yield* runCommand(command)
        assert.strictEqual(again.code, 1)
        assert.match(again.stderr, /copy\.db exists already, and is not replaced/)
        yield* headwater.terminate
        yield* anvil.rpc("anvil_mine", ["0x8"])
        // Restored as an operator would: the copy takes the store's place.
        for (const end of ["", "-wal", "-shm"]) rmSync(store + end, { force: true })
        renameSync(copy, store)
        const status = yield* runCommand(["status", "--config", config, "--json"])
        assert.strictEqual(JSON.parse(status.stdout).chains[0].height, 32)
        const restored = yield* runCommand(["restored", "--config", config])
        assert.match(restored.stdout, /^The store has the epoch [0-9a-f]{12} now: readers of feeds are told/)
        yield* headwater.launch
        yield* reached(headwater, 40)
        assert.strictEqual((yield* headwater.get("/domains")).status, 200, "the account's key is in the copy")
      }).pipe(Effect.scoped),
    { timeout: 300_000 }
  )
})
