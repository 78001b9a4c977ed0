import { readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as StoreLock from "@headwater/indexer/store/database/StoreLock"
import Sqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as LocalServer from "../../../test/LocalServer.ts"
import { program } from "../../../test/Program.ts"
import { packaged, run } from "./Program.ts"
import { runCommand } from "./RunCommand.ts"

const folder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

/** Runs commands, without a process for each, with settings that name a store in this folder. */
const commandsIn = (cwd: string) => {
  const config = `${cwd}/headwater.json`
  const chains = { "ethereum/devnet": { nodes: ["http://127.0.0.1:1"] } }
  writeFileSync(config, JSON.stringify({ chains, store: { sqlite: `${cwd}/headwater.db` } }))
  return (...args: ReadonlyArray<string>) => runCommand([...args, "--config", config])
}

/** What the audit log of a folder's store has of commands, in order. */
const deedsIn = (cwd: string) => {
  const db = new Sqlite(`${cwd}/headwater.db`, { readonly: true })
  const rows = db.prepare("select action, subject, account, actor from audit_entry order by id").all()
  db.close()
  return (rows as ReadonlyArray<Record<string, string>>).map(({ account, action, actor, subject }) => {
    assert.strictEqual(actor, "command line")
    return [action, subject, account]
  })
}

describe("the command line", () => {
  it.live("lists its commands", () =>
    Effect.gen(function* () {
      const { code, stdout } = yield* run(["--help"])
      assert.strictEqual(code, 0)
      for (const command of [
        ...[
          "init",
          "new",
          "serve",
          "status",
          "doctor",
          "explain",
          "upgrade",
          "replay",
          "rewind",
          "skip",
          "audit",
          "backup",
          "restored",
          "migrate-store",
          "demo",
          "accounts",
          "keys"
        ],
        ...["credits", "domains", "subscriptions", "listen", "derive", "sighash", "openapi", "completions"]
      ]) {
        assert.match(stdout, new RegExp(`^  ${command} +[A-Z]`, "m"))
      }
      assert.strictEqual((yield* runCommand(["serve", "--help"])).code, 0)
      const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
      assert.include((yield* run(["--version"])).stdout, version)
      assert.include((yield* runCommand(["--completions", "bash"])).stdout, "derive")
      for (const shell of ["bash", "zsh", "fish", "powershell"]) {
        assert.include((yield* runCommand(["completions", shell])).stdout, "rewind")
      }
    })
  )

  it.live("fails with 1 and a hint on what it does not know", () =>
    Effect.gen(function* () {
      const command = yield* run(["kyes"])
      assert.strictEqual(command.code, 1)
      assert.match(command.stderr, /Unknown subcommand "kyes"[\s\S]*keys/)
      const flag = yield* runCommand(["derive", "--cuont", "5"])
      assert.strictEqual(flag.code, 1)
      assert.match(flag.stderr, /--cuont[\s\S]*--count/)
    })
  )

  it.live("says what is wrong with a call, how it is written and where more stands, and no more", () =>
    Effect.gen(function* () {
      const refused = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
        const { code, stderr, stdout } = yield* runCommand(args)
        assert.strictEqual(code, 1)
        assert.strictEqual(stdout, "")
        return stderr.trim()
      })
      assert.strictEqual(
        yield* refused("accounts", "create"),
        "ERROR\n  Missing required argument: account\n\n" +
          "  Usage: headwater accounts create [flags] <account>\n  More: headwater accounts create --help"
      )
      for (const [args, said] of [
        [["rewind", "ethereum/devnet", "--", "-1"], '"-1". Expected: a number from 0'],
        [["replay", "ethereum/devnet", "--from", "x"], '"x". Expected: a number'],
        [["accounts", "retractions", "acme", "maybe"], '"maybe". Expected: "on" or "off"'],
        [["listen", "--forward", "localhost:1"], "It must be a URL that begins with http:// or https://"],
        [["domains", "add", "acme", "bad host"], "It must be a host name alone"],
        [["domains", "add", "acme", ""], "It must be a host name alone"],
        [["domains", "add", "acme", "https://a.example/"], "It must be a host name alone"],
        [["domains", "approve", "acme", "a.example:8443"], "It must be a host name alone"],
        [["assets", "import", "/nonexistent.jsonl"], "/nonexistent.jsonl"],
        [["derive", "bitcoin", "mainet", "x"], '"bitcoin/mainet" is no chain; use one of bitcoin/mainnet, '],
        [["derive", "etherum/mainnet", "x"], '"etherum/mainnet" is no chain; did you mean ethereum/mainnet?'],
        [["listen", "mainnet", "--forward", "http://a.example"], "write blockchain/network, as in ethereum/mainnet"],
        [
          ["init", "/nonexistent/a.toml", "--chain", "ethereum/devnet=http://127.0.0.1:1"],
          "cannot be written: there is no such"
        ]
      ] as const) {
        assert.include(yield* refused(...args), said)
      }
      const help = yield* runCommand(["accounts"])
      assert.strictEqual(help.code, 0)
      assert.include(help.stdout, "headwater accounts <subcommand>")
      assert.strictEqual((yield* runCommand(["help", "accounts"])).stdout, help.stdout)
      const coloured = yield* runCommand(["keys", "create"], { canColor: true })
      assert.include(coloured.stderr, "\x1b[31m")
    })
  )

  it.live("names init where there are no settings, and the file that is not there", () =>
    Effect.gen(function* () {
      const cwd = yield* folder
      for (const command of [["serve"], ["accounts", "list"]]) {
        const { code, stderr } = yield* run(command, { cwd })
        assert.strictEqual(code, 1)
        assert.include(stderr, "There are no settings")
        assert.include(stderr, "npm start -- init writes one; npm start -- demo needs none")
      }
    }).pipe(Effect.provide(NodeServices.layer), Effect.scoped)
  )

  it.live("takes a chain in one word or two, and says what to do about names that the store does not have", () =>
    Effect.gen(function* () {
      const cwd = yield* folder
      const fs = yield* FileSystem.FileSystem
      const config = `${cwd}/headwater.json`
      const chains = { "ethereum/devnet": { nodes: ["http://127.0.0.1:1"] } }
      yield* fs.writeFileString(config, JSON.stringify({ store: { sqlite: `${cwd}/headwater.db` }, chains }))
      const ended = (...args: ReadonlyArray<string>) => runCommand([...args, "--config", config])
      const said = (...args: ReadonlyArray<string>) => Effect.map(ended(...args), ({ stderr }) => stderr)
      assert.strictEqual((yield* ended("accounts", "create", "acme")).code, 0)
      assert.include(yield* said("replay", "ethereum", "devnet"), "npm start -- replay ethereum/devnet --from <height>")
      assert.include(yield* said("rewind", "ethereum", "devnet", "7"), "No block of ethereum/devnet is stored")
      assert.strictEqual((yield* ended("subscriptions", "list", "acme", "ethereum", "devnet")).stdout, "(none)\n")
      const removed = yield* said("subscriptions", "remove", "acme", "ethereum/devnet", "nothing")
      assert.include(removed, "The account has no subscription of this reference")
      assert.include(removed, "npm start -- subscriptions list <account> <chain>")
      const other = yield* said("skip", "bitcoin", "mainnet")
      assert.include(
        other,
        'The settings have no chain bitcoin/mainnet, only ethereum/devnet; a table [chains."bitcoin/mainnet"]'
      )
      assert.include(yield* said("keys", "list", "nobody"), "npm start -- accounts create <name> makes one")
      assert.include(yield* said("keys", "revoke", "acme", "nothing"), "npm start -- keys list <account>")
      const unreachable = yield* said("replay", "ethereum", "devnet", "--from", "1")
      assert.include(unreachable, "npm start -- doctor looks at every node")
      // A name that an account may have is no chain.
      yield* ended("accounts", "rename", "acme", "bitcoin")
      assert.strictEqual((yield* ended("accounts", "rename", "bitcoin", "mainnet")).code, 0)
    }).pipe(Effect.provide(NodeServices.layer), Effect.scoped)
  )

  it.live("says where a domain's token is published, and how large a copy of the store is", () =>
    Effect.gen(function* () {
      const cwd = yield* folder
      const fs = yield* FileSystem.FileSystem
      const config = `${cwd}/headwater.json`
      const chains = { "ethereum/devnet": { nodes: ["http://127.0.0.1:1"] } }
      yield* fs.writeFileString(config, JSON.stringify({ store: { sqlite: `${cwd}/headwater.db` }, chains }))
      const ended = (...args: ReadonlyArray<string>) => runCommand([...args, "--config", config])
      assert.include((yield* ended("backup", `${cwd}/copy.db`)).stderr, "headwater.db yet: nothing is to be copied")
      yield* ended("accounts", "create", "acme")
      const { stderr, stdout } = yield* ended("domains", "add", "acme", "hooks.example.com")
      const token = stdout.trim()
      assert.include(stderr, `_headwater-challenge.hooks.example.com  TXT  "${token}"`)
      assert.include(
        stderr,
        `https://hooks.example.com/.well-known/headwater-challenge.txt, which answers 200 with ${token}`
      )
      assert.include(stderr, "POST /domains/hooks.example.com/verify")
      const added = JSON.parse((yield* ended("domains", "add", "acme", "b.example", "--json")).stdout)
      assert.deepInclude(added, { name: "b.example", record: "_headwater-challenge.b.example" })
      yield* ended("domains", "approve", "acme", "b.example")
      assert.include((yield* ended("domains", "add", "acme", "b.example")).stderr, "already")
      yield* ended("accounts", "create", "Acme & Co")
      const spaced = yield* ended("domains", "add", "Acme & Co", "hooks.example.com")
      assert.include(spaced.stderr, "domains approve 'Acme & Co' hooks.example.com")

      const copied = yield* run(["backup", `${cwd}/copy.db`, "--config", config])
      assert.strictEqual(copied.code, 0, copied.stderr)
      assert.match(copied.stderr, /Pages copied 100% (\d+)\/\1 .* done/)
      assert.match(copied.stdout, /^The copy is .*copy\.db, [\d.]+ [KM]iB$/m)
      const again = yield* ended("backup", `${cwd}/copy.db`)
      assert.include(again.stderr, "copy.db exists already, and is not replaced: name another file")
      assert.notInclude(again.stderr, "EEXIST")
      const nowhere = yield* ended("backup", "/nonexistent/copy.db")
      assert.include(nowhere.stderr, "/nonexistent/copy.db cannot be made: its folder does not exist")
    }).pipe(Effect.provide(NodeServices.layer), Effect.scoped)
  )

  it.live("says that Node is too old, and ends", () =>
    Effect.gen(function* () {
      const bin = yield* packaged
      const pretend = (version: string) => [
        "--import",
        `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"${version}"}})`,
        bin
      ]
      for (const version of ["18.20.0", "20.20.2", "22.18.0"]) {
        const { code, stderr, stdout } = yield* run(["--version"], { node: pretend(version) })
        assert.strictEqual(code, 1)
        assert.strictEqual(stdout, "")
        assert.include(stderr, `Headwater needs Node 22.19 or newer, and this is Node ${version}.`)
        assert.include(stderr, "npx -p node@24 -p @headwater/daemon headwater")
      }
      assert.strictEqual((yield* run(["--version"], { node: pretend("22.19.0") })).code, 0)
    }).pipe(Effect.scoped)
  )

  it.live("keeps what Node compiled, of threads too, and does without where nothing can be kept", () =>
    Effect.gen(function* () {
      const [bin, cwd] = [yield* packaged, yield* folder]
      commandsIn(cwd)
      const create = (name: string, environment: Readonly<Record<string, string>>) =>
        run(["accounts", "create", name, "--config", `${cwd}/headwater.json`], {
          node: [bin],
          environment: { NODE_COMPILE_CACHE: "", NODE_DEBUG_NATIVE: "COMPILE_CACHE", ...environment }
        })
      const fs = yield* FileSystem.FileSystem
      const temporary = `${cwd}/tmp`
      yield* fs.makeDirectory(temporary)
      const kept = yield* create("acme", { TMPDIR: temporary })
      assert.strictEqual(kept.code, 0)
      assert.match(kept.stderr, /\[compile cache\].*SqliteThread\.worker\.js/)
      // One folder of the program and its threads, so that neither compiles what the other has.
      assert.deepStrictEqual(yield* fs.readDirectory(temporary), ["node-compile-cache"])
      const impossible = yield* create("other", { TMPDIR: `${cwd}/headwater.json/none` })
      assert.strictEqual(impossible.code, 0)
    }).pipe(Effect.provide(NodeServices.layer), Effect.scoped)
  )

  it.live("refuses to serve with bad settings, naming every problem", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const cwd = yield* folder
      yield* fs.writeFileString(
        `${cwd}/headwater.toml`,
        '[http]\nport = "many"\n[store]\npostgres = "postgress://user:hunter2@db"\n[chains."bitcoin/mainet"]\nnodes = []\n'
      )
      const { code, stderr } = yield* run(["serve"], { cwd })
      assert.strictEqual(code, 1)
      assert.include(stderr, "3 problems in the settings (headwater.toml)")
      assert.include(stderr, "http.port must be a number")
      assert.include(stderr, "store.postgres must be a URL that begins with postgres://")
      assert.include(stderr, 'chains."bitcoin/mainet" is not a setting; did you mean bitcoin/mainnet?')
      assert.notInclude(stderr, "hunter2")
      const missing = yield* run(["serve", "--config", "nowhere.toml"], { cwd })
      assert.strictEqual(missing.code, 1)
      assert.include(missing.stderr, "nowhere.toml cannot be read")
    }).pipe(Effect.provide(NodeServices.layer), Effect.scoped)
  )

  it.live("takes the roles from the variable where no flag names them, and says which of both is wrong", () =>
    Effect.gen(function* () {
      const cwd = yield* folder
      const environment = { HEADWATER_CHAINS_ETHEREUM_DEVNET_NODES: "http://127.0.0.1:1", HEADWATER_ROLES: "nothing" }
      const rule = 'roles[0] must be "follow" or "deliver" or "api" or "market"'
      const killWhen = (printed: string) => printed.includes("Listening on")
      const byVariable = yield* run(["serve"], { cwd, environment, killWhen })
      assert.strictEqual(byVariable.code, 1)
      assert.include(byVariable.stderr, `${rule} (set by HEADWATER_ROLES)`)
      const byFlag = yield* run(["serve", "--roles", "everything"], { cwd, environment, killWhen })
      assert.strictEqual(byFlag.code, 1)
      assert.include(byFlag.stderr, `${rule} (set by --roles)`)
    }).pipe(Effect.provide(NodeServices.layer), Effect.scoped)
  )

  it.live("says why it cannot start", () =>
    Effect.gen(function* () {
      const cwd = yield* folder
      const chain = { HEADWATER_CHAINS_ETHEREUM_DEVNET_NODES: "http://127.0.0.1:1" }
      const port = yield* LocalServer.listen(createServer())
      const start = (args: ReadonlyArray<string>, environment: Readonly<Record<string, string>>) =>
        run(args, { cwd, environment: { ...chain, ...environment } })
      const serve = (environment: Readonly<Record<string, string>>) => start(["serve"], environment)
      const http = yield* serve({ HEADWATER_HTTP_PORT: String(port) })
      assert.strictEqual(http.code, 1)
      assert.include(http.stderr, `Cannot listen on 127.0.0.1:${port}`)
      assert.include(http.stderr, "end it, or set another http.port")
      assert.include(http.stderr, "More: npm start -- explain port_in_use")
      const sqlite = yield* serve({ HEADWATER_STORE_SQLITE: "/nonexistent/store.db" })
      assert.strictEqual(sqlite.code, 1)
      assert.include(sqlite.stderr, "Cannot open the SQLite file /nonexistent/store.db")
      assert.include(sqlite.stderr, "check that its folder exists")
      // The daemon would wait for its server.
      const postgres = yield* start(["accounts", "create", "acme"], {
        HEADWATER_STORE_POSTGRES: `postgres://user:hunter2@127.0.0.1:1/db`
      })
      assert.strictEqual(postgres.code, 1)
      assert.include(postgres.stderr, "Cannot open PostgreSQL: ")
      assert.notInclude(postgres.stderr, "hunter2")
    }).pipe(Effect.provide(NodeServices.layer), Effect.scoped)
  )

  it.live("changes no schema under a daemon", () =>
    Effect.gen(function* () {
      const cwd = yield* folder
      const environment = { HEADWATER_CHAINS_ETHEREUM_DEVNET_NODES: "http://127.0.0.1:1" }
      // An empty store, whose schema is as far behind as any.
      yield* StoreLock.acquire({ kind: "sqlite", file: `${cwd}/headwater.db` })
      const { code, stderr } = yield* run(["accounts", "list"], { cwd, environment })
      assert.strictEqual(code, 1)
      assert.match(
        stderr,
        /Cannot open the SQLite file headwater\.db: Its schema is to be brought up to date first\. The store .* is in use/
      )
    }).pipe(Effect.provide(NodeServices.layer), Effect.scoped)
  )

  it.live("makes accounts and keys, and shows a key once", () =>
    Effect.gen(function* () {
      const cwd = yield* folder
      const command = commandsIn(cwd)
      const ok = (...args: ReadonlyArray<string>) =>
        Effect.map(command(...args), ({ code, stderr, stdout }) => {
          assert.strictEqual(code, 0, stderr)
          return stdout.trim()
        })
      const fails = (...args: ReadonlyArray<string>) =>
        Effect.map(command(...args), ({ code, stderr, stdout }) => {
          assert.strictEqual(code, 1)
          assert.strictEqual(stdout, "")
          assert.notMatch(stderr, /^ +at /m, "no stack")
          return stderr
        })
      assert.include(yield* fails("keys", "create", "acme"), 'No account is named "acme"')
      yield* ok("accounts", "create", "acme")
      assert.include(yield* fails("accounts", "create", "acme"), 'An account named "acme" exists')
      const key = yield* ok("keys", "create", "acme", "--name", "backend", "--endpoints", "callbacks.*,domains.list")
      assert.match(key, /^hw_[\w-]{43}$/)
      const [listed] = JSON.parse(yield* ok("keys", "list", "acme", "--json"))
      assert.deepStrictEqual(listed.endpoints, ["callbacks.*", "domains.list"])
      assert.strictEqual(listed.name, "backend")
      const table = yield* ok("keys", "list", "acme")
      assert.include(table, listed.id)
      assert.notInclude(table, key.slice(3, 20))
      yield* ok("keys", "revoke", "acme", listed.id)
      assert.isNumber(JSON.parse(yield* ok("keys", "list", "acme", "--json"))[0].revoked)
      assert.include(yield* fails("keys", "revoke", "acme", "000000000000"), "no key")
      const unknown = yield* fails("keys", "create", "acme", "--endpoints", "list,credit.balance,callbacks.*")
      assert.include(
        unknown,
        '"list" is no operation; did you mean subscriptions.list or bulk.list or addressLists.list or callbacks.list or domains.list or receivers.list?'
      )
      assert.include(unknown, '"credit.balance" is no operation; did you mean credits.balance?')
      assert.include(unknown, "subscriptions.*, ")
      for (const past of ["2020-01-01", "0d", "soon"]) {
        assert.include(yield* fails("keys", "create", "acme", "--expires", past), `and is "${past}"`)
      }
      yield* ok("keys", "create", "acme", "--expires", "90d", "--read-only")
      const [, reading] = JSON.parse(yield* ok("keys", "list", "acme", "--json"))
      assert.strictEqual(Math.round((reading.expires - reading.created) / 86_400_000), 90)
      assert.isTrue(reading.readOnly)
      assert.deepStrictEqual(
        JSON.parse(yield* ok("accounts", "list", "--json")).map(({ name }: { readonly name: string }) => name),
        ["acme"]
      )
      assert.include(yield* fails("accounts", "create", ""), '"" is no name of an account')
      yield* ok("accounts", "rename", "acme", "Acme & Co")
      const exported = (yield* ok("accounts", "export", "Acme & Co")).split("\n").map((line) => JSON.parse(line))
      assert.deepStrictEqual(
        exported.map(({ kind, name }) => [kind, name]),
        [
          ["account", "Acme & Co"],
          ["key", "backend"],
          ["key", "default"]
        ]
      )
      assert.include(yield* fails("accounts", "remove", "Acme & Co"), "add --yes")
      yield* ok("accounts", "remove", "Acme & Co", "--yes")
      // Release 0.1 made accounts with an empty name.
      const db = new Sqlite(`${cwd}/headwater.db`)
      db.exec("insert into account (name, created) values ('', 1)")
      db.close()
      yield* ok("accounts", "remove", "", "--yes")
      assert.strictEqual(yield* ok("accounts", "list", "--json"), "[]")
      assert.deepStrictEqual(deedsIn(cwd), [
        ["account.create", "acme", "acme"],
        ["key.create", "backend", "acme"],
        ["key.revoke", listed.id, "acme"],
        ["key.create", "default", "acme"],
        ["account.rename", "acme", "Acme & Co"],
        ["account.remove", "Acme & Co", "Acme & Co"],
        ["account.remove", "", ""]
      ])
    }).pipe(Effect.provide(NodeServices.layer), Effect.scoped)
  )

  it.live("shows and changes domains, subscriptions and credits of an account", () =>
    Effect.gen(function* () {
      const cwd = yield* folder
      const command = commandsIn(cwd)
      const ok = (...args: ReadonlyArray<string>) =>
        Effect.map(command(...args), ({ code, stderr, stdout }) => {
          assert.strictEqual(code, 0, stderr)
          return stdout.trim()
        })
      yield* ok("accounts", "create", "acme")
      const token = yield* ok("domains", "add", "acme", "Hooks.Example.com")
      assert.match(token, /^\S{16,}$/)
      const domain = JSON.parse(yield* ok("domains", "list", "acme", "--json"))[0]
      assert.deepInclude(domain, { name: "hooks.example.com", token })
      assert.isUndefined(domain.verified)
      yield* ok("domains", "approve", "acme", "hooks.example.com")
      assert.notMatch(yield* ok("domains", "list", "acme"), / no /)
      assert.deepStrictEqual(deedsIn(cwd).slice(1), [
        ["domain.add", "hooks.example.com", "acme"],
        ["domain.approve", "hooks.example.com", "acme"]
      ])
      assert.deepStrictEqual(JSON.parse(yield* ok("subscriptions", "list", "acme", "ethereum/devnet", "--json")), {
        items: [],
        total: 0
      })
      const recovered = yield* ok("subscriptions", "recover", "acme", "ethereum/devnet", "--since", "2026-01-01")
      assert.include(recovered, "callbacks are sent again: 0")
      const everywhere = yield* ok("subscriptions", "recover", "acme", "--host", "hooks.example.com", "--follow")
      assert.include(everywhere, "callbacks are sent again: 0")
      assert.include(everywhere, "All are on their way")
      const placeless = yield* command("subscriptions", "recover", "acme", "--reference", "x")
      assert.strictEqual(placeless.code, 1)
      assert.include(placeless.stderr, "name the chain behind the account")
      const unnumbered = yield* command("subscriptions", "recover", "acme", "--after", "7")
      assert.strictEqual(unnumbered.code, 1)
      assert.include(unnumbered.stderr, "--after takes a number")
      const unknown = yield* command("subscriptions", "activate", "acme", "ethereum/devnet", "nothing")
      assert.strictEqual(unknown.code, 1)
      assert.notMatch(unknown.stderr, /^ +at /m, "no stack")
      yield* ok("credits", "grant", "acme", "500", "--detail", "welcome")
      assert.include(yield* ok("credits", "statement", "acme"), "welcome")
    }).pipe(Effect.provide(NodeServices.layer), Effect.scoped)
  )

  it.live("derives addresses, and refuses a private key without repeating it", () =>
    Effect.gen(function* () {
      // BIP-84's own test vector.
      const account =
        "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"
      const { code, stdout } = yield* run(["derive", "bitcoin", "mainnet", account, "--count", "2"])
      assert.strictEqual(code, 0)
      assert.strictEqual(
        stdout,
        "0 bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu\n1 bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g\n"
      )
      const change = yield* runCommand([
        "derive",
        "bitcoin",
        "mainnet",
        account,
        "--type",
        "change",
        "--count",
        "1",
        "--json"
      ])
      assert.deepStrictEqual(JSON.parse(change.stdout), [
        {
          address: "bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el",
          format: "P2WPKH",
          index: 0,
          derivationType: "account",
          type: "change"
        }
      ])
      const many = yield* runCommand(["derive", "bitcoin", "mainnet", account, "--count", "100001"])
      assert.include(many.stderr, "count: must be an integer from 0 to 100000")
      const secret =
        "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi"
      const refused = yield* runCommand(["derive", "bitcoin", "mainnet", secret])
      assert.strictEqual(refused.code, 1)
      assert.strictEqual(refused.stdout, "")
      assert.notInclude(refused.stderr, secret.slice(4, 30))
      // In the place of something else.
      for (const [args, said] of [
        [["derive", secret, "mainnet", account], 'Unexpected positional argument: "…"'],
        [["derive", secret, account], "This is no chain"],
        [["derive", "bitcoin", "mainnet", account, secret], 'Unexpected positional argument: "…"'],
        [[secret], 'Unknown subcommand "…"']
      ] as const) {
        const { code, stderr, stdout } = yield* runCommand(args)
        assert.strictEqual(code, 1)
        assert.include(stderr, said)
        assert.notInclude(stdout + stderr, secret.slice(4, 30))
      }
    })
  )

  it.live("hashes transactions line by line, bad ones in their place", () =>
    Effect.gen(function* () {
      // The example of EIP-155.
      const good = JSON.stringify({
        ...{ type: 0, chainId: 1, nonce: 9, gasPrice: "20000000000", gasLimit: 21000 },
        ...{ to: "0x3535353535353535353535353535353535353535", value: "1000000000000000000" }
      })
      const digest = "0xdaf5a779ae972f972197303d7b574746c7ef83eadac0f2791ad23db92e4c8e53"
      const clean = yield* run(["sighash"], { input: `${good}\n` })
      assert.deepStrictEqual([clean.code, clean.stdout], [0, `${digest}\n`])
      const mixed = yield* run(["sighash"], { input: `${good}\n{"type":7}\n${good}` })
      assert.strictEqual(mixed.code, 1)
      const [first, second, third] = mixed.stdout.split("\n")
      assert.deepStrictEqual([first, third], [digest, digest])
      assert.match(second!, /^error: /)
    })
  )

  it.live("says on standard error that it is broken, so that a result is never mixed with that", () =>
    Effect.gen(function* () {
      const code = 'require("node:net").Server.prototype.listen = () => { throw new Error("broken by a test") }'
      const cwd = yield* folder
      const fs = yield* FileSystem.FileSystem
      yield* fs.writeFileString(`${cwd}/broken.cjs`, code)
      const chains = { "ethereum/devnet": { nodes: ["http://127.0.0.1:1"] } }
      yield* fs.writeFileString(`${cwd}/headwater.json`, JSON.stringify({ chains }))
      const broken = yield* run(["doctor", "--config", "headwater.json", "--json"], {
        cwd,
        node: ["--require", `${cwd}/broken.cjs`, program]
      })
      assert.deepStrictEqual([broken.code, broken.stdout], [1, ""])
      assert.include(broken.stderr, "broken by a test")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("prints the OpenAPI document", () =>
    Effect.gen(function* () {
      const { code, stdout } = yield* run(["openapi"])
      assert.strictEqual(code, 0)
      assert.include(Object.keys(JSON.parse(stdout).paths), "/blockchain-events/{blockchain}/{network}/block-mined")
    })
  )
})
