import { fileURLToPath } from "node:url"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as Family from "@headwater/indexer/families/Family"
import * as NodeHttp from "@headwater/indexer/families/node/NodeHttp"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SettingsTree from "../../src/settings/internal/SettingsTree.ts"
import * as Settings from "../../src/settings/Settings.ts"
import * as SettingsFile from "../../src/settings/SettingsFile.ts"
import * as SettingsTemplate from "../../src/settings/SettingsTemplate.ts"

const write = Effect.fnUntraced(function* (name: string, text: string) {
  const fs = yield* FileSystem.FileSystem
  const file = `${yield* fs.makeTempDirectoryScoped()}/${name}`
  yield* fs.writeFileString(file, text)
  return file
})

const writeBytes = Effect.fnUntraced(function* (name: string, bytes: Uint8Array) {
  const fs = yield* FileSystem.FileSystem
  const file = `${yield* fs.makeTempDirectoryScoped()}/${name}`
  yield* fs.writeFile(file, bytes)
  return file
})

const loadText = Effect.fnUntraced(function* (
  name: string,
  text: string,
  environment: Readonly<Record<string, string>> = {}
) {
  return yield* SettingsFile.load(yield* write(name, text), environment)
})

/** Path → message of everything that is wrong. */
const problemsOf = (...load: Parameters<typeof loadText>) =>
  loadText(...load).pipe(
    Effect.flip,
    Effect.map((error) => {
      assert.strictEqual(error._tag, "InvalidSettings")
      return error as SettingsFile.InvalidSettings
    }),
    Effect.map(({ problems }) => Object.fromEntries(problems.map(({ message, path }) => [path, message])))
  )

const chain = '[chains."ethereum/devnet"]\nnodes = ["http://127.0.0.1:8545"]\n'
const withServices = Effect.provide(NodeServices.layer)

describe("SettingsFile", () => {
  it.effect("reads the same settings from TOML, YAML and JSON", () =>
    Effect.gen(function* () {
      const toml = yield* loadText("a.toml", `[http]\nport = 9000\n${chain}start = 7\n`)
      const yaml = yield* loadText(
        "a.yaml",
        'http:\n  port: 9000\nchains:\n  ethereum/devnet:\n    nodes: ["http://127.0.0.1:8545"]\n    start: 7\n'
      )
      const json = yield* loadText(
        "a.json",
        '{"http":{"port":9000},"chains":{"ethereum/devnet":{"nodes":["http://127.0.0.1:8545"],"start":7}}}'
      )
      assert.deepStrictEqual(yaml, toml)
      assert.deepStrictEqual(json, toml)
      assert.strictEqual(toml.http.port, 9000)
      const [first] = Settings.chains(toml)
      assert.strictEqual(first?.chain.blockchain, "ethereum")
      assert.strictEqual(first?.settings.start, 7)
      assert.deepStrictEqual(Family.urlsOf(first!.settings), ["http://127.0.0.1:8545"])
    }).pipe(withServices, Effect.scoped)
  )

  it.effect("has a default for everything but the nodes, by chain where chains differ", () =>
    Effect.gen(function* () {
      const settings = yield* loadText("a.toml", `${chain}[chains."bitcoin/mainnet"]\nnodes = ["http://b"]\n`)
      const [bitcoin, ethereum] = Settings.chains(settings)
      assert.strictEqual(settings.http.host, "127.0.0.1")
      assert.deepStrictEqual(Settings.storeLocation(settings), {
        ...{ kind: "sqlite", file: "headwater.db" },
        ...{ synchronous: "full", cacheMegabytes: 16 }
      })
      assert.strictEqual(ethereum?.settings.record, "all")
      assert.strictEqual(ethereum?.settings.internalTransactions, true)
      assert.strictEqual(bitcoin?.settings.record, "watched")
      assert.strictEqual(bitcoin?.settings.internalTransactions, false)
      assert.strictEqual(bitcoin?.settings.undoDepth, 100)
      assert.strictEqual(bitcoin?.settings.silentSeconds, 12_000)
    }).pipe(withServices, Effect.scoped)
  )

  it.effect("lets a flag win over the environment, unless it says nothing", () =>
    Effect.gen(function* () {
      const file = yield* write("a.toml", chain)
      const environment = { HEADWATER_HTTP_HOST: "a", HEADWATER_HTTP_HOST_FILE: yield* write("host", "b") }
      const hostBy = (flag: string | undefined) =>
        Effect.map(SettingsFile.load(file, environment, { HEADWATER_HTTP_HOST: flag }), ({ http }) => http.host)
      assert.deepStrictEqual(yield* Effect.forEach(["c", "", undefined], hostBy), ["c", "b", "b"])
    }).pipe(withServices, Effect.scoped)
  )

  it.effect("lets the environment win, also over what the file lacks", () =>
    Effect.gen(function* () {
      const settings = yield* loadText("a.toml", `[http]\nport = 9000\nhost = "10.0.0.1"\n${chain}`, {
        HEADWATER_HTTP_PORT: "9001\n",
        HEADWATER_METRICS_TOKEN: "a token\n",
        HEADWATER_HTTP_HOST: " ",
        HEADWATER_CREDITS_ENABLED: "true",
        HEADWATER_CALLBACKS_ALLOW_HOSTS: "localhost, hooks.internal",
        HEADWATER_CHAINS_ETHEREUM_DEVNET_NODES: "http://a:1,http://b:2",
        HEADWATER_CHAINS_BITCOIN_CASH_REGTEST_NODES: "http://c:3",
        HEADWATER_CHAINS_BITCOIN_CASH_REGTEST_START: "12",
        HEADWATER_CHAINS_ETHEREUM_DEVNET_START: "latest",
        HEADWATER_SERVICE_HOST: "10.2.3.4",
        HEADWATER_PORT_8080_TCP_ADDR: "10.2.3.4",
        HEADWATER_SEED: "7",
        UNRELATED: "1"
      })
      const [bitcoinCash, ethereum] = Settings.chains(settings)
      assert.strictEqual(settings.http.port, 9001)
      assert.strictEqual(Redacted.value(settings.metrics.token!), "a token")
      assert.strictEqual(settings.http.host, "10.0.0.1")
      assert.strictEqual(settings.credits.enabled, true)
      assert.deepStrictEqual(settings.callbacks.allowHosts, ["localhost", "hooks.internal"])
      assert.deepStrictEqual(Family.urlsOf(ethereum!.settings), ["http://a:1", "http://b:2"])
      assert.strictEqual(ethereum?.settings.start, "latest")
      assert.strictEqual(bitcoinCash?.settings.start, 12)
    }).pipe(withServices, Effect.scoped)
  )

  it.effect("needs no file", () =>
    Effect.gen(function* () {
      const settings = yield* SettingsFile.load(undefined, {
        HEADWATER_CHAINS_XRP_MAINNET_NODES: "https://xrp.example"
      })
      assert.strictEqual(Settings.chains(settings)[0]?.chain.blockchain, "xrp")
    }).pipe(withServices)
  )

  it.effect("takes user and password of nodes as they are, for URLs that name no user", () =>
    Effect.gen(function* () {
      const password = "p@ss/w#rd?%2F:é"
      const file = yield* write("password", `${password}\n`)
      const text = `[chains."bitcoin/mainnet"]
        nodes = ["http://b:8332/x", "http://own:pass@c"]
        user = "us@er"
        password = { file = "${file}" }
        [chains."xrp/mainnet"]
        nodes = ["wss://x"]`
      const settings = yield* loadText("a.toml", text, {
        HEADWATER_CHAINS_XRP_MAINNET_USER: "u",
        HEADWATER_CHAINS_XRP_MAINNET_PASSWORD_FILE: file
      })
      const [bitcoin, xrp] = Settings.chains(settings).map(({ settings }) => Family.urlsOf(settings))
      const [first, own] = bitcoin!.map((url) => new URL(url))
      assert.deepStrictEqual([own!.username, own!.password], ["own", "pass"])
      assert.strictEqual(first!.pathname, "/x")
      for (const [url, user] of [[first!, "us@er"] as const, [new URL(xrp![0]!), "u"] as const]) {
        const sent = Buffer.from(NodeHttp.authorization(url)!.slice("Basic ".length), "base64").toString()
        assert.strictEqual(sent, `${user}:${password}`)
      }
      assert.notInclude(JSON.stringify(settings), password)

      const wrong = `[chains."bitcoin/mainnet"]
        nodes = ["http://b"]
        user = "a:b"
        password = ""
        [chains."ethereum/mainnet"]
        nodes = ["http://b"]
        cookie = "/node/.cookie"`
      assert.deepStrictEqual(yield* problemsOf("a.toml", wrong), {
        'chains."bitcoin/mainnet".user': "must not have a colon",
        'chains."bitcoin/mainnet".password': "must not be empty",
        'chains."ethereum/mainnet".cookie': "is not a setting"
      })
      const together = `[chains."litecoin/mainnet"]
        nodes = ["http://b"]
        password = "hunter2"
        [chains."dogecoin/mainnet"]
        nodes = ["http://b"]
        user = "a"
        password = "hunter2"
        cookie = "/node/.cookie"
        [chains."dash/mainnet"]
        nodes = ["http://x", "http://x/"]
        quorum = 2`
      assert.deepStrictEqual(yield* problemsOf("a.toml", together), {
        'chains."dash/mainnet"': "must have a quorum of at most as many nodes as it names",
        'chains."litecoin/mainnet"': "must have user and password together",
        'chains."dogecoin/mainnet"': "must have either a cookie or user and password, not both"
      })
      assert.notInclude((yield* Effect.flip(loadText("a.toml", together))).message, "hunter2")
    }).pipe(withServices, Effect.scoped)
  )

  it.effect("takes several PostgreSQL servers, and refuses those that are not named as libpq names them", () =>
    Effect.gen(function* () {
      const chain = '[chains."ethereum/devnet"]\nnodes = ["http://node"]\n'
      const file = (url: string) => `[store]\npostgres = "postgres://user:hunter2@${url}"\n${chain}`
      const settings = yield* loadText("a.toml", file("a:5432,b:5433/headwater?target_session_attrs=read-write"))
      const location = Settings.storeLocation(settings)
      assert(location.kind === "postgres")
      assert.match(Redacted.value(location.url), /@a:5432,b:5433/)
      for (const [url, rule] of [
        ["a,,b/headwater", "must have a host before and behind each comma"],
        ["a/headwater ", "must not begin or end with white space"],
        ["a:5432,b:x/headwater", "must have a number up to 65535 as its port"],
        ["a:99999/headwater", "must have a number up to 65535 as its port"],
        ["<host>/headwater", "must have / ? # and @ in its user or password percent-encoded (%2F %3F %23 %40)"],
        [
          "a,b/headwater?target_session_attrs=standby",
          "must have target_session_attrs=read-write or =primary, if any: a store is written"
        ]
      ] as const) {
        assert.deepStrictEqual(yield* problemsOf("a.toml", file(url)), { "store.postgres": rule })
        assert.notInclude((yield* Effect.flip(loadText("a.toml", file(url)))).message, "hunter2")
      }
    }).pipe(withServices, Effect.scoped)
  )

  it.effect("refuses a URL whose password would be taken for a host, and shows no piece of it", () =>
    Effect.gen(function* () {
      const rule = "must have / ? # and @ in its user or password percent-encoded (%2F %3F %23 %40)"
      for (const password of [
        "hunter2@hunt/er",
        "hunter2/er",
        "42/hunter2",
        "42?hunter2",
        "42#hunter2",
        "hunter2#er"
      ]) {
        const text = `[store]
          postgres = "postgres://user:${password}@db/headwater"
          [chains."bitcoin/mainnet"]
          nodes = ["http://user:${password}@127.0.0.1:8332"]`
        assert.deepStrictEqual(
          yield* problemsOf("a.toml", text),
          { "store.postgres": rule, 'chains."bitcoin/mainnet".nodes[0]': rule },
          password
        )
        // Behind the first line, whose path has letters and digits of its own.
        const [, ...problems] = (yield* Effect.flip(loadText("a.toml", text))).message.split("\n")
        assert.lengthOf(problems, 2)
        assert.notMatch(problems.join("\n"), /hunt|42/)
      }
      // What the last @ before a host can only mean.
      const at = yield* loadText("a.toml", '[chains."bitcoin/mainnet"]\nnodes = ["http://user:p@ss@b"]')
      assert.deepStrictEqual(
        Family.urlsOf(Settings.chains(at)[0]!.settings).map((url) => new URL(url).host),
        ["b"]
      )
    }).pipe(withServices, Effect.scoped)
  )

  it.effect("takes ZeroMQ endpoints for UTXO chains alone", () =>
    Effect.gen(function* () {
      const environment = { HEADWATER_CHAINS_BITCOIN_MAINNET_ZMQ: "tcp://127.0.0.1:28332,ipc:///run/hash" }
      const settings = yield* loadText("a.toml", '[chains."bitcoin/mainnet"]\nnodes = ["http://b"]', environment)
      const [bitcoin] = Settings.chains(settings)
      assert.deepStrictEqual(bitcoin!.settings.zmq, ["tcp://127.0.0.1:28332", "ipc:///run/hash"])

      const wrong = `[chains."bitcoin/mainnet"]
        nodes = ["http://b"]
        zmq = ["127.0.0.1:28332"]
        [chains."xrp/mainnet"]
        nodes = ["ws://x"]
        zmq = ["tcp://127.0.0.1:28332"]`
      assert.deepStrictEqual(yield* problemsOf("a.toml", wrong), {
        'chains."bitcoin/mainnet".zmq[0]': "must be a URL that begins with tcp:// or ipc://",
        'chains."xrp/mainnet".zmq': "is not a setting"
      })
    }).pipe(withServices, Effect.scoped)
  )

  it.effect("takes URLs of new heads for EVM chains alone, with a user of theirs, and shows none", () =>
    Effect.gen(function* () {
      const environment = { HEADWATER_CHAINS_ETHEREUM_MAINNET_NEW_HEADS: "ws://a:hunter2@e:8546,wss://f/hunter2" }
      const settings = yield* loadText("a.toml", '[chains."ethereum/mainnet"]\nnodes = ["http://e"]', environment)
      const [ethereum] = Settings.chains(settings)
      assert.deepStrictEqual(ethereum!.settings.newHeads?.map(Redacted.value), [
        "ws://a:hunter2@e:8546",
        "wss://f/hunter2"
      ])
      assert.notInclude(JSON.stringify(settings), "hunter2")
      const wrong = `[chains."ethereum/mainnet"]
        nodes = ["http://e"]
        newHeads = ["http://hunter2@e"]
        [chains."bitcoin/mainnet"]
        nodes = ["http://b"]
        newHeads = ["ws://b"]`
      assert.deepStrictEqual(yield* problemsOf("a.toml", wrong), {
        'chains."ethereum/mainnet".newHeads[0]': "must be a URL that begins with ws:// or wss://",
        'chains."bitcoin/mainnet".newHeads': "is not a setting"
      })
    }).pipe(withServices, Effect.scoped)
  )

  it.effect("takes WebSocket for XRP alone, and a key for Tron alone, which stays secret", () =>
    Effect.gen(function* () {
      const settings = yield* loadText(
        "a.toml",
        `[chains."xrp/mainnet"]
         nodes = ["wss://a", "ws://b:6006", "https://c"]
         [chains."tron/mainnet"]
         nodes = ["http://t"]
         apiKey = "hunter2-key"`
      )
      const [tron, xrp] = Settings.chains(settings)
      assert.deepStrictEqual(Family.urlsOf(xrp!.settings), ["wss://a", "ws://b:6006", "https://c"])
      assert.isFalse("apiKey" in xrp!.settings)
      assert.strictEqual(Redacted.value(tron!.settings.apiKey!), "hunter2-key")
      assert.notInclude(JSON.stringify(settings), "hunter2")

      const wrong = `[chains."xrp/mainnet"]
        nodes = ["ftp://a"]
        apiKey = "hunter2"
        [chains."tron/nile"]
        nodes = ["ws://t"]
        apiKey = "hunter2\\n"`
      assert.deepStrictEqual(yield* problemsOf("a.toml", wrong), {
        'chains."xrp/mainnet".nodes[0]': "must be a URL that begins with ws:// or wss:// or http:// or https://",
        'chains."xrp/mainnet".apiKey': "is not a setting",
        'chains."tron/nile".nodes[0]': "must be a URL that begins with http:// or https://",
        'chains."tron/nile".apiKey': "must be printable ASCII without spaces"
      })
    }).pipe(withServices, Effect.scoped)
  )

  it.effect("reads secrets from files, by the file and by the environment", () =>
    Effect.gen(function* () {
      const url = "postgres://user:hunter2@db/headwater"
      const postgres = yield* write("postgres", `${url}\n`)
      const node = yield* write("node", "http://user:hunter3@node:8332\n")
      const text = `[store]\npostgres = { file = "${postgres}" }\n[chains."bitcoin/mainnet"]\nnodes = ["http://a", { file = "${node}" }]\n`
      for (const settings of [
        yield* loadText("a.toml", text),
        yield* SettingsFile.load(undefined, {
          HEADWATER_STORE_POSTGRES_FILE: postgres,
          HEADWATER_CHAINS_BITCOIN_MAINNET_NODES_FILE: yield* write(
            "nodes",
            "http://a\nhttp://user:hunter3@node:8332\n"
          )
        })
      ]) {
        const location = Settings.storeLocation(settings)
        assert(location.kind === "postgres")
        assert.strictEqual(Redacted.value(location.url), url)
        assert.deepStrictEqual(Family.urlsOf(Settings.chains(settings)[0]!.settings), [
          "http://a",
          "http://user:hunter3@node:8332"
        ])
        assert.notInclude(JSON.stringify(settings), "hunter")
        assert.notInclude(String(settings.store.postgres), "hunter")
      }
    }).pipe(withServices, Effect.scoped)
  )

  it.effect("names every problem at once, with its path, what was meant, and never the value", () =>
    Effect.gen(function* () {
      const text = `
        [http]
        port = 70000
        prot = 1
        [store]
        postgres = "mysql://user:hunter2@db"
        [callback]
        retry = "hosted"
        [chains."ethereum/devnet"]
        nodes = ["ftp://user:hunter2@node", 5]
        start = "genesis"
        record = "some"
        [chains."bitcoin/regtest"]
        nodes = []
        [chains."ethereum/testnet"]
        nodes = ["http://x"]
        [chains."dogecoin/regtest"]
        nodes = ["http://x"]
        pollMillis = 80.5
        [chains."litecoin/regtest"]
        start = 5
        nodes = [{ file = "/nonexistent/node" }]
      `
      const environment = {
        HEADWATER_HTTP_PROT: "1",
        HEADWATER_CHAINS_BITCOIN_REGTEST_POLL_MILLIS: "soon",
        HEADWATER_CALLBACKS_EXTRA_CA_FILE: "/nonexistent/ca"
      }
      assert.deepStrictEqual(yield* problemsOf("a.toml", text, environment), {
        HEADWATER_HTTP_PROT: "is not a setting; did you mean HEADWATER_HTTP_PORT?",
        HEADWATER_CALLBACKS_EXTRA_CA_FILE: "names a file that cannot be read: /nonexistent/ca",
        "http.port": "must be a whole number from 0 to 65535",
        "http.prot": "is not a setting; did you mean port?",
        "store.postgres": "must be a URL that begins with postgres:// or postgresql://",
        callback: "is not a setting; did you mean callbacks?",
        'chains."ethereum/devnet".nodes[0]': "must be a URL that begins with http:// or https://",
        'chains."ethereum/devnet".nodes[1]': "must be a string",
        'chains."ethereum/devnet".start': 'must be "latest" or a height',
        'chains."ethereum/devnet".record': 'must be "all" or "watched"',
        'chains."bitcoin/regtest".nodes[0]': "is missing",
        'chains."bitcoin/regtest".pollMillis': "must be a number (set by HEADWATER_CHAINS_BITCOIN_REGTEST_POLL_MILLIS)",
        'chains."dogecoin/regtest".pollMillis': "must be an integer",
        'chains."ethereum/testnet"': "is not a setting; did you mean ethereum/devnet?",
        'chains."litecoin/regtest".nodes[0]': "names a file that cannot be read: /nonexistent/node"
      })
      const error = yield* Effect.flip(loadText("a.toml", text, environment))
      assert.include(error.message, "15 problems")
      assert.notInclude(error.message, "hunter2")
    }).pipe(withServices, Effect.scoped)
  )

  it.effect("refuses two stores and no chain", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* problemsOf("a.toml", '[store]\nsqlite = "a.db"\npostgres = "postgres://db"\n'), {
        store: "must name either a sqlite file or a postgres URL, not both",
        chains: 'must name at least one chain, as in chains."ethereum/mainnet"'
      })
    }).pipe(withServices, Effect.scoped)
  )

  it.effect("names the line of each problem, in every format", () =>
    Effect.gen(function* () {
      const linesOf = (name: string, text: string) =>
        Effect.map(Effect.flip(loadText(name, text)), (error) =>
          Object.fromEntries(
            (error as SettingsFile.InvalidSettings).problems.map(({ line, path }) => [path, line] as const)
          )
        )
      const toml = [
        ...["# A comment with [http] in it", "[http]", 'host = """', "port = 1", '"""', "prot = 1"],
        ...["allowedOrigins = [", '  "*", # a = b', '  "x"', "]"],
        ...[
          '[chains."ethereum/devnet"]',
          "start = -1",
          "[chains.'bitcoin/mainnet']",
          'nodes = ["http://127.0.0.1:1"]',
          "depht = 1"
        ]
      ].join("\n")
      assert.deepStrictEqual(yield* linesOf("a.toml", toml), {
        "http.prot": 6,
        "http.allowedOrigins[1]": 7,
        'chains."ethereum/devnet".nodes': 11,
        'chains."ethereum/devnet".start': 12,
        'chains."bitcoin/mainnet".depht': 15
      })
      const yaml = 'http:\n  # a comment\n  port: many\nlog:\n  port: 1\nchains:\n  "ethereum/devnet":\n    nodes: 7\n'
      const expected = { "http.port": 3, "log.port": 5, 'chains."ethereum/devnet".nodes': 8 }
      assert.deepStrictEqual(yield* linesOf("a.yaml", yaml), expected)
      const json =
        '{\n  "http": {\n    "port": "many" },\n  "log": { "port": 1 }, "chains": { "ethereum/devnet": { "nodes": 7 } }\n}'
      const found = yield* linesOf("a.json", json)
      assert.strictEqual(found["http.port"], 3)
      assert.strictEqual(found["log.port"], 4)
      const told = yield* Effect.flip(loadText("b.toml", "[http]\nprot = 1\n"))
      assert.include(told.message, "line 2: http.prot is not a setting; did you mean port?")
    }).pipe(Effect.scoped, withServices)
  )

  it.effect("shows the line that cannot be parsed with a mark below the column, and no value on it", () =>
    Effect.gen(function* () {
      const shown = Effect.fnUntraced(function* (name: string, text: string) {
        const { message } = yield* Effect.flip(loadText(name, text))
        assert.notMatch(message, /hunter2/)
        return message.split("\n").slice(2)
      })
      assert.deepStrictEqual(yield* shown("a.toml", "\n[http]\nport = 80 80\n"), [
        "    3 | port = •• ••",
        "      |           ^"
      ])
      assert.deepStrictEqual(yield* shown("a.toml", '[store]\npostgres "postgres://hunter2@db"'), [
        '    2 | postgres "••••••••:••••••••••••"',
        "      |          ^"
      ])
      assert.deepStrictEqual(yield* shown("a.toml", '[chains."ethereum/mainnet"\n'), [
        '    1 | [chains."ethereum/mainnet"',
        "      |                           ^"
      ])
      assert.match((yield* shown("a.toml", "hunter2hunter2 hunter2\n"))[0]!, /^ {4}1 \| •{14} •{7}$/)
      assert.match(
        (yield* shown("a.toml", '[console]\npassword = "hunter2 hunter2\n'))[0]!,
        /^ {4}2 \| password = "•{7} •{7}$/
      )
      assert.deepStrictEqual(yield* shown("a.json", '{"http": {\n  "port": 80 hunter2 }}'), [
        '    2 |   "port": •• ••••••• }}',
        "      |              ^"
      ])
    }).pipe(Effect.scoped, withServices)
  )

  it.effect("says where a file cannot be parsed, and not what stands there", () =>
    Effect.gen(function* () {
      const toml = yield* Effect.flip(loadText("a.toml", "[store]\npostgres = postgres://hunter2\n"))
      assert.match(toml.message, /a\.toml Invalid value at line 2/)
      const json = yield* Effect.flip(loadText("a.json", '{\n"store": {"postgres": "hunter2" "x"}}'))
      assert.match(json.message, /a\.json is not valid JSON at line 2, column 33/)
      const yaml = yield* Effect.flip(loadText("a.yaml", 'store:\n  postgres: "hunter2\n'))
      for (const { message } of [toml, json, yaml]) assert.notInclude(message, "hunter2")
      assert.match((yield* Effect.flip(loadText("a.ini", "x = 1"))).message, /must end in \.toml/)
      assert.match((yield* Effect.flip(SettingsFile.load("/nonexistent.toml", {}))).message, /cannot be read/)
    }).pipe(withServices, Effect.scoped)
  )

  it.effect("names a key that stands twice, unless that may be a secret", () =>
    Effect.gen(function* () {
      const said = (name: string, text: string) =>
        Effect.map(Effect.flip(loadText(name, text)), ({ message }) => message)
      assert.include(
        yield* said("a.toml", "[http]\nport = 1\nport = 2\n"),
        "Cannot redefine existing key 'port' at line 3"
      )
      assert.include(yield* said("a.toml", "http.port = 1\nhttp.port = 2\n"), "key 'http.port' at line 2")
      assert.include(yield* said("a.yaml", "http:\n  port: 1\n  port: 2\n"), "Duplicate key 'port' at line 3")
      for (const [name, text] of [
        ["a.toml", "hunter2 = 1\nhunter2 = 2\n"],
        ["a.toml", "[console]\npassword.hunter2 = 1\npassword.hunter2 = 2\n"],
        ["a.toml", "\"a key 'hunter2' at line 1\" = 1\n\"a key 'hunter2' at line 1\" = 2\n"],
        ["a.toml", "postgres = a key hunter2\n"],
        ["a.toml", '"postgres key \\u001b[31m" = 1\n"postgres key \\u001b[31m" = hunter2 key x\n'],
        ["a.yaml", "hunter2: 1\nhunter2: 2\n"],
        ["a.yaml", "store:\n  a: *hunter2\n"],
        ["a.yaml", 'store: {"hunter2 key": 1, "hunter2 key": 2}\n']
      ] as const) {
        const message = yield* said(name, text)
        assert.notInclude(message, "hunter2", text)
        assert.notInclude(message, "\u001b", text)
      }
    }).pipe(withServices, Effect.scoped)
  )

  it.effect("refuses files that are not in UTF-8: a password in another encoding would be another one", () =>
    Effect.gen(function* () {
      const latin1 = Buffer.from(`${chain}user = "operator"\npassword = "schlüssel"\n`, "latin1")
      for (const bytes of [latin1, Buffer.from(`\ufeff${chain}`, "utf16le")]) {
        const { message } = yield* Effect.flip(SettingsFile.load(yield* writeBytes("a.toml", bytes), {}))
        assert.match(message, /a\.toml is not in UTF-8: save the file in that encoding$/)
      }
      const file = yield* writeBytes("password", Buffer.from("schlüssel\n", "latin1"))
      assert.deepStrictEqual(yield* problemsOf("a.toml", `${chain}user = "a"\npassword = { file = "${file}" }\n`), {
        'chains."ethereum/devnet".password': `names a file that is not in UTF-8: ${file}`
      })
      assert.deepStrictEqual(
        yield* problemsOf("a.toml", chain, { HEADWATER_CHAINS_ETHEREUM_DEVNET_PASSWORD_FILE: file }),
        { HEADWATER_CHAINS_ETHEREUM_DEVNET_PASSWORD_FILE: `names a file that is not in UTF-8: ${file}` }
      )
      const settings = yield* SettingsFile.load(yield* writeBytes("a.toml", Buffer.from(`\ufeff${chain}`)), {})
      assert.lengthOf(Settings.chains(settings), 1)
    }).pipe(withServices, Effect.scoped)
  )

  it.effect("says that a chain stands in quotes where a table in TOML lacks them", () =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(
        loadText("a.toml", "[http]\nport = 1\n[chains.ethereum/devnet]\nnodes = []\n")
      )
      assert.include(message, 'line 3, column 17: a chain stands in quotes, as in [chains."ethereum/mainnet"]\n')
      assert.include(message, "3 | [chains.ethereum/devnet]")
    }).pipe(withServices, Effect.scoped)
  )

  it.effect("takes roles where several daemons can share a store", () =>
    Effect.gen(function* () {
      const stored = 'roles = ["api", "market"]\n[store]\n'
      const shared = yield* loadText("a.toml", `${stored}postgres = "postgres://db/headwater"\n${chain}`)
      assert.deepStrictEqual(shared.roles, ["api", "market"])
      const { store, ...rest } = yield* problemsOf("a.toml", `${stored}sqlite = "a.db"\n${chain}`)
      assert.strictEqual(store, undefined)
      assert.match(rest.roles!, /^must be all four with SQLite/)
      const unknown = yield* problemsOf("a.toml", chain, {
        ...{ HEADWATER_ROLES: "api,sync", HEADWATER_STORE_POSTGRES: "postgres://db/headwater" }
      })
      assert.match(unknown["roles[1]"]!, /^must be "follow" or "deliver" or "api" or "market"/)
    }).pipe(withServices, Effect.scoped)
  )

  it.effect("takes the origins of web pages as browsers write them", () =>
    Effect.gen(function* () {
      const load = (origins: string) => `[http]\nallowedOrigins = [${origins}]\n${chain}`
      const { http } = yield* loadText("a.toml", load('"https://wallet.example", "http://localhost:5173", "*"'), {})
      assert.deepStrictEqual(http.allowedOrigins, ["https://wallet.example", "http://localhost:5173", "*"])
      const rule = 'must be an origin as browsers write it, such as https://wallet.example, or "*"'
      for (const wrong of ["https://wallet.example/", "wallet.example", "https://WALLET.example", "null"]) {
        const problems = yield* problemsOf("a.toml", load(`"${wrong}"`))
        assert.deepStrictEqual(problems, { "http.allowedOrigins[0]": rule }, wrong)
      }
    }).pipe(withServices, Effect.scoped)
  )

  it.effect("reads hosts as URLs have them, and refuses what no URL's host would be", () =>
    Effect.gen(function* () {
      const hosts = 'allowHosts = ["Hooks.INTERNAL", "10.0.0.7", "[::1]"]'
      const { callbacks } = yield* loadText("a.toml", `[callbacks]\n${hosts}\n${chain}`)
      assert.deepStrictEqual(callbacks.allowHosts, ["hooks.internal", "10.0.0.7", "[::1]"])
      const fromEnvironment = yield* loadText("a.toml", chain, { HEADWATER_CALLBACKS_ALLOW_HOSTS: "A.internal,b" })
      assert.deepStrictEqual(fromEnvironment.callbacks.allowHosts, ["a.internal", "b"])
      for (const host of ["", "hooks.internal:8443", "https://a", "a/path", "a b", "::1", "*.internal"]) {
        const problems = yield* problemsOf("a.toml", `[callbacks]\nallowHosts = ["${host}"]\n${chain}`)
        const rule = "must be a host alone, without scheme, port, path or wildcard, an IPv6 address in brackets"
        assert.deepStrictEqual(problems, { "callbacks.allowHosts[0]": rule }, host)
      }
    }).pipe(withServices, Effect.scoped)
  )

  it.effect("reads the example, whose comments show the defaults", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const example = yield* fs.readFileString(fileURLToPath(new URL("../../headwater.example.toml", import.meta.url)))
      const node = yield* write("node", "http://user:password@127.0.0.1:8332")
      const text = example.replace("/run/secrets/bitcoin-node", node)
      const settings = yield* loadText("a.toml", text)
      assert.lengthOf(Settings.chains(settings), 2)
      const uncommented = text
        .replaceAll(/^# (\w+ = )/gm, "$1")
        .replace(/^postgres = .*$/m, "")
        .replace(/^extraCa = .*$/m, "")
        .replace(/^secretKey = .*$/m, "")
        .replace(/^burst = .*$/gm, "")
        .replace(/^(token|otlp|zmq|newHeads|name|threads|user|password|cookie|tracer|traceTimeoutMillis) = .*$/gm, "")
      const explicit = yield* loadText("b.toml", uncommented)
      assert.deepStrictEqual({ ...explicit, store: settings.store }, settings)
      assert.strictEqual(explicit.store.sqlite, "headwater.db")
    }).pipe(withServices, Effect.scoped)
  )

  it.effect("has every setting in the example", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const example = yield* fs.readFileString(fileURLToPath(new URL("../../headwater.example.toml", import.meta.url)))
      const named = new Set(Array.from(example.matchAll(/^#? *(\w+) = /gm), ([, name]) => name))
      const names = SettingsTree.leaves(Schema.toEncoded(Settings.schema).ast).map(({ path }) => path.at(-1)!)
      assert.deepStrictEqual(
        [...new Set(names)].filter((name) => name !== "users" && !named.has(name)),
        []
      )
    }).pipe(withServices)
  )

  it.effect("has an example node for every blockchain, and tables in the example where more is to be said", () =>
    Effect.gen(function* () {
      const chains = new Map(Chain.live.map((chain) => [Chain.nameOf(chain), [chain.exampleNode]]))
      const written = yield* SettingsTemplate.fill({ chains, store: "headwater.db", port: 8080 })
      const settings = Settings.chains(yield* loadText("a.toml", written))
      assert.sameMembers(
        settings.map(({ chain }) => chain.blockchain),
        [...new Set(Chain.all.map(({ blockchain }) => blockchain))]
      )

      const fs = yield* FileSystem.FileSystem
      const example = yield* fs.readFileString(fileURLToPath(new URL("../../headwater.example.toml", import.meta.url)))
      const node = yield* write("node", "http://user:password@127.0.0.1:8332")
      const every = example
        .replaceAll(/^# (\[chains\.)/gm, "$1")
        .replaceAll(/^# {3}((?:nodes|apiKey) = )/gm, "$1")
        .replaceAll(/^# ((?:zmq|cookie) = )/gm, "$1")
        .replaceAll(/\/run\/secrets\/[\w-]+-node/g, node)
        .replaceAll("/run/secrets/trongrid", node)
      const examples = Settings.chains(yield* loadText("b.toml", every)).map(({ chain }) => Chain.nameOf(chain))
      assert.sameMembers(examples, ["ethereum/mainnet", "bitcoin/mainnet", "tron/mainnet", "xrp/mainnet"])
    }).pipe(withServices, Effect.scoped)
  )
})
