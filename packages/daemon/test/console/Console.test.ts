import { assert, layer } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Address from "@headwater/core/address/Address"
import { commandName } from "@headwater/daemon/CommandName"
import * as Access from "@headwater/daemon/console/Access"
import * as AccountPace from "@headwater/daemon/console/AccountPace"
import * as Console from "@headwater/daemon/console/Console"
import * as Login from "@headwater/daemon/console/Login"
import * as AllowList from "@headwater/http/contract/AllowList"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import { rows } from "@headwater/indexer/store/database/Statements"
import { Domains } from "@headwater/indexer/store/subscriptions/Domains"
import * as Recovery from "@headwater/indexer/store/subscriptions/Recovery"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Placements from "@headwater/indexer/store/placement/Placements"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { sql } from "kysely"
import { takenStores } from "../../../../test/Stores.ts"
import * as Seed from "../../../indexer/test/store/Seed.ts"
import * as Fixture from "./ConsoleFixture.ts"

const staff = Object.keys(Fixture.passwords) as ReadonlyArray<Access.StaffRole>
const address = new Uint8Array(20).fill(9) as AddressBytes
const secret = "a secret that no answer may show"
let tenants = 0

/** An account with a key, a subscription, two callbacks and a domain. */
const tenant = Effect.fnUntraced(function* (
  key: { readonly endpoints?: ReadonlyArray<string>; readonly readOnly?: boolean } = {}
) {
  const accounts = yield* Accounts
  const { id, name } = yield* accounts.create(`tenant ${tenants++}`)
  const made = yield* accounts.createKey(id, { name: "backend", ...key })
  const host = `hooks${tenants}.test`
  const subscription = yield* (yield* Subscriptions).create({
    ...{ account: id, chain: Seed.chain, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", address, secret },
    ...{ callbackUrl: `https://${host}/`, confirmations: 1, allowDuplicates: true }
  })
  yield* Seed.callbacks(subscription, 2, { state: "delivered" })
  const { query } = yield* Database
  yield* query((db) => db.updateTable("callback").set({ sequence: 1 }).where("subscription", "=", subscription.id))
  yield* (yield* Domains).add(id, host)
  const reference = subscription.referenceId
  return { id, name, host, reference, callback: `${reference}-0`, key: Redacted.value(made.key), keyId: made.id }
})

/** An address of a wallet, which no subscription names. */
const ofWallet = new Uint8Array(20).fill(7) as AddressBytes

const wallet = Effect.fnUntraced(function* (account: number, publicKey: string) {
  const { insertMany, query } = yield* Database
  const [{ id } = { id: 0 }] = yield* query((db) =>
    db
      .insertInto("wallet")
      .values({
        ...{ account, chain: 1, public_key: publicKey, derivation: "account", format: "P2WPKH", created: 1 },
        ...{ balance: "0", state: "synced", scan_height: null }
      })
      .returning("id")
  )
  yield* insertMany("wallet_address", [
    {
      ...{ wallet: id, chain: 1, branch: 0, address_index: 0, address: ofWallet, revision: 0 },
      ...{ used_height: null, requested: null }
    }
  ])
})

type Tenant = Effect.Success<ReturnType<typeof tenant>>

/** A path of a route that names what is `of` the tenant. */
const pathOf = ({ path }: Access.Route, of: Tenant) => {
  const account = encodeURIComponent(of.name)
  const named = path
    .replace(":reference", of.reference)
    .replace(":key", of.callback)
    .replace(":account", account)
    .replace(":domain", of.host)
    .replace(":id", of.keyId)
  const text = Address.encode(Seed.chain, address)!
  const queries: Readonly<Record<string, string>> = {
    "/api/search": `?q=${of.callback}`,
    "/api/stories/block": "?chain=ethereum/devnet&block=100",
    "/api/stories/callback": `?key=${of.callback}`,
    "/api/stories/transaction": `?chain=ethereum/devnet&id=0x${"ab".repeat(32)}`,
    "/api/stories/address": `?chain=ethereum/devnet&address=${text}`,
    "/api/credits": `?account=${account}`
  }
  return `${named}${queries[path] ?? ""}`
}

/** A block of Seed's chain, which tests of stories read. */
const block = Effect.gen(function* () {
  const store = yield* ChainStore.open(Seed.chain, { record: "watched", undoDepth: 10 })
  const [hash, parent] = [new Uint8Array(32).fill(100), new Uint8Array(32).fill(99)]
  yield* store.commit([{ height: 100, hash, parent, time: 1_700_000_000, transactions: [], transfers: [], spends: [] }])
}).pipe(Effect.catchTag("NotNext", () => Effect.void))

for (const store of takenStores(import.meta.url)) {
  layer(Fixture.services(store.layer), { excludeTestServices: true })(`the console on ${store.name}`, (it) => {
    it.effect("answers each route to the roles that it declares, and to nobody else", () =>
      Effect.gen(function* () {
        yield* block
        const { ask } = yield* Fixture.make
        const routes = (yield* Console.declared) as ReadonlyArray<Access.Route>
        const of = yield* tenant()
        assert.isAbove(routes.length, 30)
        for (const route of routes) {
          const [path, name] = [pathOf(route, of), Access.nameOf(route)]
          assert.strictEqual((yield* ask(undefined, route.method, path)).status, 401, name)
          for (const role of staff) {
            // What is refused is asked in full; what is allowed is asked of nothing that is there, so that it changes nothing.
            const allowed = route.roles.includes(role)
            const body = allowed && route.method === "POST" ? { account: "nobody", since: "no time", name: "" } : {}
            const gone = {
              ...of,
              reference: "gone",
              name: "nobody",
              host: "gone.test",
              callback: "gone",
              keyId: "gone"
            }
            const asked = allowed && route.method === "POST" ? pathOf(route, gone) : path
            const { status, text } = yield* ask(role, route.method, asked, body)
            if (allowed) assert.include([200, 400, 404], status, `${name} as ${role}: ${text}`)
            else assert.strictEqual(status, 403, `${name} as ${role}`)
            assert.notInclude(text, secret)
            assert.notInclude(text, of.key)
          }
          if (route.operation === undefined) {
            assert.strictEqual((yield* ask({ key: of.key }, route.method, path)).status, 403, `${name} as an account`)
          } else assert.include(AllowList.operations, route.operation, name)
        }
        // The rules themselves, which the routes above only repeat.
        const may = (role: Access.StaffRole) => routes.filter(({ roles }) => roles.includes(role)).map(Access.nameOf)
        assert.deepStrictEqual(
          may("read-only").filter((name) => name.startsWith("POST")),
          []
        )
        assert.notInclude(may("support"), "GET /api/audit")
        assert.deepStrictEqual(
          may("support")
            .filter((name) => name.startsWith("POST"))
            .map((name) => name.split("/").at(-1)),
          ["recover", "redeliver", "test", "activate", "recoveries"]
        )
        assert.strictEqual(may("operator").length, routes.length)
      }).pipe(Effect.scoped)
    )

    it.effect("shows and does to an account what is its own alone, by every route", () =>
      Effect.gen(function* () {
        yield* block
        const { ask } = yield* Fixture.make
        const [own, other] = [yield* tenant(), yield* tenant()]
        const routes = (yield* Console.declared) as ReadonlyArray<Access.Route>
        const open = routes.filter(({ operation }) => operation !== undefined)
        assert.isAbove(open.length, 15)
        const who = { key: own.key }
        for (const route of open) {
          const { status, text } = yield* ask(who, route.method, pathOf(route, other), { name: other.host })
          const name = `${Access.nameOf(route)}: ${status} ${text}`
          const isList = /^\/api\/(overview|deliveries|search|domains|credits|subscriptions)$/.test(route.path)
          const isStory = /^\/api\/stories\/(block|transaction|address)$/.test(route.path)
          assert.include(isList || isStory ? [200] : [403, 404], status, name)
          for (const foreign of [other.name, other.host, other.reference, other.keyId]) {
            assert.notInclude(text, foreign, name)
          }
        }
        const { query } = yield* Database
        const entries = yield* query((db) => db.selectFrom("audit_entry").select("account"))
        assert.notInclude(
          entries.map(({ account }) => account),
          other.name
        )

        const session = (yield* ask(who, "GET", "/api/session")).body
        assert.deepInclude(session, { user: own.name, role: "account", account: own.name, command: null })
        assert.strictEqual((yield* ask("read-only", "GET", "/api/session")).body.command, commandName)
        assert.deepStrictEqual([...session.may].sort(), open.map(Access.nameOf).sort())
        const get = (path: string) => Effect.map(ask(who, "GET", path), ({ body }) => body)
        assert.deepStrictEqual(
          (yield* get("/api/subscriptions")).items.map((item: { referenceId: string }) => item.referenceId),
          [own.reference]
        )
        assert.strictEqual((yield* get(`/api/stories/callback?key=${own.callback}`)).outcome, "received")
        const shown = yield* get(`/api/accounts/${encodeURIComponent(own.name)}`)
        assert.deepStrictEqual(
          shown.keys.map(({ name }: { name: string }) => name),
          ["backend"]
        )
        assert.notInclude(JSON.stringify(shown), own.key)
        const test = yield* ask(who, "POST", `/api/subscriptions/${own.reference}/test`)
        assert.strictEqual(test.status, 200, test.text)
        const redelivered = yield* ask(who, "POST", pathOf(redelivery, own))
        assert.strictEqual(redelivered.status, 200, redelivered.text)
        const found = (yield* get(`/api/search?q=${own.host}`)).items.map(({ kind }: { kind: string }) => kind)
        assert.include(found, "host")
        assert.include(found, "subscription")
      }).pipe(Effect.scoped)
    )

    it.effect("keeps an account to its key's allow-list, and ends the session with the key", () =>
      Effect.gen(function* () {
        const { ask } = yield* Fixture.make
        const narrow = yield* tenant({ endpoints: ["domains.list"] })
        const reader = yield* tenant({ readOnly: true })
        const as = ({ key }: Tenant) => ({ key })
        assert.strictEqual((yield* ask(as(narrow), "GET", "/api/domains")).status, 200)
        for (const path of ["/api/subscriptions", "/api/overview", "/api/search?q=a", "/api/credits"]) {
          assert.strictEqual((yield* ask(as(narrow), "GET", path)).status, 403, path)
        }
        assert.deepStrictEqual((yield* ask(as(narrow), "GET", "/api/session")).body.may, ["GET /api/domains"])
        assert.strictEqual((yield* ask(as(reader), "GET", "/api/subscriptions")).status, 200)
        assert.strictEqual((yield* ask(as(reader), "POST", `/api/subscriptions/${reader.reference}/test`)).status, 403)
        // The count begins anew with each minute of the clock.
        let answer = yield* ask(as(narrow), "GET", "/api/session")
        for (let i = 0; answer.status === 200 && i < 5 * AccountPace.most; i++) {
          answer = yield* ask(as(narrow), "GET", "/api/session")
        }
        assert.strictEqual(answer.status, 429)
        assert.isAbove(Number(answer.headers.get("retry-after")), 0)
        assert.strictEqual((yield* ask(as(reader), "GET", "/api/subscriptions")).status, 200, "others are answered")
        yield* (yield* Accounts).revokeKey(reader.id, reader.keyId)
        assert.strictEqual((yield* ask(as(reader), "GET", "/api/subscriptions")).status, 401)
      }).pipe(Effect.scoped)
    )

    it.effect("leaves out of an answer what the key may not read by the interface's own operations", () =>
      Effect.gen(function* () {
        yield* block
        const { ask } = yield* Fixture.make
        const of = yield* tenant()
        // Base58 has no 0.
        const publicKey = `xpub6Wat${String(of.id).replaceAll("0", "o")}ch${"z".repeat(20)}`
        yield* wallet(of.id, publicKey)
        const accounts = yield* Accounts
        const keys = new Map<string, Redacted.Redacted>()
        /** What is answered of a path to a key that may call these operations alone, or all. */
        const read = Effect.fnUntraced(function* (path: string, endpoints?: ReadonlyArray<string>) {
          const name = endpoints?.join() ?? "all"
          const made =
            keys.get(name) ??
            (yield* accounts.createKey(of.id, { name, ...(endpoints === undefined ? {} : { endpoints }) })).key
          keys.set(name, made)
          const { body, status, text } = yield* ask({ key: Redacted.value(made) }, "GET", path)
          assert.strictEqual(status, 200, text)
          return body
        })
        const has = (answer: object, parts: ReadonlyArray<string>, are: boolean) => {
          for (const part of parts) assert.strictEqual(Object.hasOwn(answer, part), are, part)
        }

        const account = `/api/accounts/${encodeURIComponent(of.name)}`
        const narrow = yield* read(account, ["limits.get"])
        has(narrow, ["account", "limits"], true)
        has(narrow, ["balance", "keys", "domains", "subscriptions"], false)
        assert.notInclude(JSON.stringify(narrow), of.host)
        const wider = yield* read(account, ["limits.get", "credits.balance", "domains.list", "subscriptions.list"])
        has(wider, ["balance", "domains", "subscriptions"], true)
        has(wider, ["keys"], false)
        has(yield* read(account), ["balance", "keys", "domains", "subscriptions"], true)

        const kinds = (text: string, ...more: ReadonlyArray<string>) =>
          Effect.map(
            read(`/api/search?q=${text}`, ["subscriptions.list", ...more]),
            ({ items }: { items: ReadonlyArray<{ kind: string }> }) => items.map(({ kind }) => kind)
          )
        const key = publicKey.slice(0, 20)
        assert.deepStrictEqual(yield* kinds(key), [])
        assert.deepStrictEqual(yield* kinds(key, "hdWallets.syncedWallets"), ["wallet"])
        assert.notInclude(yield* kinds(of.callback), "callback")
        assert.include(yield* kinds(of.callback, "callbacks.list"), "callback")
        assert.deepStrictEqual(yield* kinds(of.host), ["host", "subscription"])
        assert.deepStrictEqual(yield* kinds(of.host, "domains.list"), ["host", "domain", "subscription"])
        assert.deepStrictEqual(yield* kinds(Address.encode(Seed.chain, ofWallet)!), [])
        assert.deepStrictEqual(yield* kinds(Address.encode(Seed.chain, ofWallet)!, "hdWallets.*"), ["address"])

        const story = (whose: AddressBytes) =>
          `/api/stories/address?chain=ethereum/devnet&address=${Address.encode(Seed.chain, whose)}`
        const untold = yield* read(story(ofWallet), ["callbacks.list"])
        has(untold, ["subscriptions", "synced", "wallets"], false)
        assert.isNull(untold.watchedFrom)
        assert.notInclude(JSON.stringify(untold), publicKey)
        has(yield* read(story(ofWallet), ["callbacks.list", "addresses.syncedAddresses"]), ["wallets"], false)
        const [shown] = (yield* read(story(ofWallet), ["callbacks.list", "hdWallets.syncedWallets"])).wallets
        assert.strictEqual(shown.publicKey, publicKey)
        assert.strictEqual((yield* read(story(address))).subscriptions[0].referenceId, of.reference)

        const told = yield* read(`/api/stories/callback?key=${of.callback}`, ["callbacks.list"])
        has(told.subscription, ["callbackUrl", "address"], false)
        const one = yield* read(`/api/subscriptions/${of.reference}`, ["callbacks.list"])
        assert.strictEqual(one.callbacks.length, 2)
        has(one.subscription, ["callbackUrl", "address", "health"], false)
        const [listed] = (yield* read("/api/subscriptions", ["subscriptions.list"])).items
        has(listed, ["health", "lastSequence"], false)
        has(yield* read("/api/overview", ["receivers.list"]), ["failures"], false)
        has(yield* read("/api/deliveries", ["receivers.list"]), ["failures"], false)
        has(yield* read("/api/overview", ["receivers.list", "callbacks.status"]), ["failures"], true)
      }).pipe(Effect.scoped)
    )

    it.effect("lets an operator manage accounts, keys, domains and subscriptions, and enters each deed", () =>
      Effect.gen(function* () {
        const { ask } = yield* Fixture.make
        const of = yield* tenant()
        const post = (path: string, body: unknown = {}) => ask("operator", "POST", path, body)
        const name = `made ${of.id}`
        const own = `/api/accounts/${encodeURIComponent(name)}`
        const ok = Effect.fnUntraced(function* (path: string, body: unknown = {}) {
          const { body: answer, status, text } = yield* post(path, body)
          assert.strictEqual(status, 200, `${path}: ${text}`)
          return answer
        })
        yield* ok("/api/accounts", { name })
        assert.strictEqual((yield* post("/api/accounts", { name: " " })).status, 400)
        assert.strictEqual((yield* post("/api/accounts", { name })).status, 409)
        const { id, key } = yield* ok(`${own}/keys`, { name: "web", endpoints: ["callbacks.*"], readOnly: true })
        assert.match(key, /^hw_/)
        assert.strictEqual((yield* post(`${own}/keys`, { name: "x", endpoints: ["callback.list"] })).status, 400)
        assert.strictEqual((yield* post(`${own}/keys`, { name: "x", expires: 1 })).status, 400)
        assert.strictEqual((yield* post(`${own}/keys`, { name: "\u202egnp.exe" })).status, 400)
        yield* ok(`${own}/keys/${id}/revoke`)
        assert.isUndefined(yield* (yield* Accounts).authenticate(Redacted.make(key)))
        const domain = yield* ok(`${own}/domains`, { name: "Good.test" })
        assert.deepInclude(domain, { name: "good.test", verified: null, record: "_headwater-challenge.good.test" })
        assert.strictEqual((yield* post(`${own}/domains`, { name: "good.test/path" })).status, 400)
        yield* ok(`${own}/domains`, { name: "wrong.test" })
        assert.strictEqual((yield* post(`${own}/domains/wrong.test/verify`)).status, 409)
        assert.isNumber((yield* ok(`${own}/domains/good.test/verify`)).verified)
        assert.isNumber((yield* ok(`${own}/domains/wrong.test/approve`)).verified)
        const account = yield* (yield* Accounts).find(name)
        assert.isTrue(yield* (yield* Domains).isVerified(account.id, "good.test"))
        const one = `/api/subscriptions/${of.reference}`
        yield* ok(`${one}/deactivate`, { reason: "unpaid" })
        const { subscription } = (yield* ask("support", "GET", one)).body
        assert.deepInclude(subscription, { active: false })
        assert.strictEqual(subscription.deactivationReasons[0].reason, "unpaid")
        assert.strictEqual((yield* ask("support", "POST", `${one}/activate`)).status, 200)
        assert.strictEqual((yield* ask("support", "POST", `${one}/activate`)).status, 409)
        yield* ok("/api/recoveries", { account: of.name })
        yield* ok(`${one}/delete`)
        assert.strictEqual((yield* ask("support", "GET", one)).status, 404)

        const entries: Array<Record<string, unknown>> = []
        const auditOf = `/api/audit?account=${encodeURIComponent(name)}`
        for (let next: number | null = Number.MAX_SAFE_INTEGER; next !== null; ) {
          const { body: page }: Fixture.Answer = yield* ask("operator", "GET", `${auditOf}&before=${next}`)
          entries.push(...page.items)
          next = page.next
        }
        const deedsOf = (outcome: string) =>
          entries.flatMap((entry) => (entry.outcome === outcome ? [entry.action] : [])).reverse()
        assert.deepStrictEqual(deedsOf("done"), [
          ...["account.create", "key.create", "key.revoke", "domain.add", "domain.add", "domain.verify"],
          "domain.approve"
        ])
        // Refusals of an hour are one entry, at the place of the first.
        assert.sameMembers(deedsOf("refused"), ["account.create", "key.create", "domain.verify"])
        for (const entry of entries) assert.deepInclude(entry, { user: "operator", role: "operator" })
        const sues = (yield* ask("operator", "GET", "/api/audit?user=sue")).body
        assert.include(
          sues.items.map(({ action }: { action: string }) => action),
          "subscription.activate"
        )
        const log = (yield* ask("operator", "GET", "/api/audit")).text
        for (const hidden of [key, of.key, secret, ...Object.values(Fixture.passwords)]) assert.notInclude(log, hidden)
      }).pipe(Effect.scoped)
    )

    it.effect("refuses what has a NUL character, in a path, a query or a body", () =>
      Effect.gen(function* () {
        yield* block
        const { ask } = yield* Fixture.make
        const of = yield* tenant()
        const refused = Effect.fnUntraced(function* (method: "GET" | "POST", path: string, body: unknown = {}) {
          const { body: answer, status, text } = yield* ask("operator", method, path, body)
          assert.deepStrictEqual([status, text.includes("must have no NUL character")], [400, true], `${path}: ${text}`)
          return answer.error
        })
        const chain = "chain=ethereum/devnet"
        const asked = ["/api/accounts/a%00", "/api/credits?account=%00", `/api/stories/block?${chain}&block=%00`]
        asked.push("/api/stories/callback?key=%00", `/api/stories/address?${chain}&address=%00`, "/api/audit?user=%00")
        asked.push("/api/search?q=%00", "/api/subscriptions?search=%00", "/api/subscriptions/%00")
        for (const path of asked) yield* refused("GET", path)
        assert.strictEqual(yield* refused("GET", "/api/audit?user=%00"), "user must have no NUL character")
        const own = `/api/accounts/${encodeURIComponent(of.name)}`
        yield* refused("POST", `/api/subscriptions/${of.reference}/callbacks/%00/redeliver`)
        yield* refused("POST", `${own}/domains/%00/verify`)
        yield* refused("POST", `${own}/keys`, { name: "a\0b" })
        yield* refused("POST", `/api/subscriptions/${of.reference}/deactivate`, { reason: "\0" })
        yield* refused("POST", "/api/recoveries", { account: "\0" })
        yield* refused("POST", "/api/login", { user: "\0", password: "b" })
        const written = yield* ask("operator", "POST", `${own}/keys`, { name: "a\\u0000" })
        assert.strictEqual(written.status, 200, written.text)
      }).pipe(Effect.scoped)
    )

    it.effect("makes no change of which the audit log cannot have the entry", () =>
      Effect.gen(function* () {
        const { ask } = yield* Fixture.make
        const of = yield* tenant()
        const { query } = yield* Database
        const own = `/api/accounts/${encodeURIComponent(of.name)}/domains`
        const add = { name: `late${of.id}.test` }
        assert.strictEqual((yield* ask({ key: of.key }, "POST", own, add)).status, 200)
        yield* ask("operator", "GET", "/api/session")
        const verify = ask({ key: of.key }, "POST", `${own}/${add.name}/verify`)
        const recover = ask("operator", "POST", "/api/recoveries", { account: of.name, since: 1_000 })
        const rename = (from: string, to: string) =>
          query(rows(sql`alter table ${sql.ref(from)} rename to ${sql.ref(to)}`))
        yield* Effect.gen(function* () {
          for (const change of [verify, recover]) assert.strictEqual((yield* change).status, 503)
        }).pipe((broken) =>
          Effect.acquireUseRelease(
            rename("audit_entry", "audit_elsewhere"),
            () => broken,
            () => Effect.orDie(rename("audit_elsewhere", "audit_entry"))
          )
        )
        assert.isFalse(yield* (yield* Domains).isVerified(of.id, add.name))
        assert.strictEqual((yield* Recovery.leftOf(of.id)).subscriptions, 0)
        for (const change of [verify, recover]) assert.strictEqual((yield* change).status, 200)
        // Nothing is verified a second time.
        assert.strictEqual((yield* verify).status, 200)
        assert.isTrue(yield* (yield* Domains).isVerified(of.id, add.name))
        assert.strictEqual((yield* Recovery.leftOf(of.id)).subscriptions, 1)
        const { items } = (yield* ask("operator", "GET", `/api/audit?account=${encodeURIComponent(of.name)}`)).body
        const deeds = items.map(({ action, detail, user }: Record<string, unknown>) => [action, detail, user])
        assert.deepStrictEqual(deeds.slice(0, 2), [
          ["account.recover", "since 1970-01-01T00:00:01.000Z", "operator"],
          ["domain.verify", null, of.name]
        ])
      }).pipe(Effect.scoped)
    )

    it.effect("counts failed logins in one entry, and takes no login and no change from another site's page", () =>
      Effect.gen(function* () {
        yield* Effect.gen(function* () {
          const { send } = yield* Fixture.make
          const login = (body: unknown, headers = {}) => send("POST", "/api/login", body, headers)
          for (let i = 0; i < 30; i++) yield* login({ user: "mallory", password: "guess" })
          assert.strictEqual((yield* login({ user: "mallory", password: "guess" })).status, 429)
          assert.strictEqual((yield* login({ key: "hw_guess" })).status, 401)
          assert.strictEqual((yield* login({ password: Fixture.passwords.operator })).status, 200, "nobody else waits")
          assert.strictEqual((yield* login({ password: 1 })).status, 400)
          const plain = yield* login({ password: Fixture.passwords.operator }, { "content-type": "text/plain" })
          assert.strictEqual(plain.status, 415)
          assert.include(plain.headers.get("cache-control"), "no-store")
        }).pipe(Effect.scoped)
        // Written when the console ends at the latest.
        const { query } = yield* Database
        const failed = yield* query((db) => db.selectFrom("audit_entry").selectAll().where("outcome", "=", "failed"))
        // Other tests' users have failed, too.
        const actors = failed.map(({ actor, times }) => [actor, times])
        assert.includeDeepMembers(actors, [
          ["others", 31],
          ["an API key", 1]
        ])
        assert.isFalse(
          failed.some(({ actor }) => actor === "mallory"),
          "nobody fills the log with names"
        )
      })
    )

    it.effect("lets no account's logins end the sessions of others, and no stranger's guesses keep a user out", () =>
      Effect.gen(function* () {
        const { ask, send } = yield* Fixture.make
        const [own, other] = [yield* tenant(), yield* tenant()]
        assert.strictEqual((yield* ask({ key: other.key }, "GET", "/api/session")).status, 200)
        assert.strictEqual((yield* ask("operator", "GET", "/api/session")).status, 200)
        const login = (body: unknown, from: string) =>
          Effect.map(send("POST", "/api/login", body, { "x-forwarded-for": from }), ({ headers, status }) => ({
            status,
            retryAfter: Number(headers.get("retry-after"))
          }))
        // The count begins anew with each minute of the clock.
        let [refused, logins] = [yield* login({ key: own.key }, "192.0.2.1"), 1]
        for (; refused.status === 200 && logins < 5 * Login.most; logins++) {
          refused = yield* login({ key: own.key }, "192.0.2.1")
        }
        assert.isAbove(logins, Login.most)
        assert.strictEqual(refused.status, 429)
        assert.isAbove(refused.retryAfter, 0)
        assert.strictEqual((yield* login({ key: other.key }, "192.0.2.1")).status, 200)
        assert.strictEqual((yield* ask({ key: other.key }, "GET", "/api/session")).status, 200)
        assert.strictEqual((yield* ask("operator", "GET", "/api/session")).status, 200)

        const password = Fixture.passwords.support
        for (let i = 0; i < 5; i++) yield* login({ user: "sue", password: "guess" }, "192.0.2.1")
        assert.strictEqual((yield* login({ user: "sue", password }, "192.0.2.1")).status, 429)
        assert.strictEqual((yield* login({ user: "sue", password }, "192.0.2.2")).status, 200)
      }).pipe(Effect.scoped)
    )

    it.effect(
      "tells in the overview what fails, what is parked, and how deliveries went, of all or of one account",
      () =>
        Effect.gen(function* () {
          const { ask } = yield* Fixture.make
          const [own, other] = [yield* tenant(), yield* tenant()]
          const { insertMany, query } = yield* Database
          const now = Date.now()
          const [{ id } = { id: 0 }] = yield* query((db) =>
            db.selectFrom("subscription").select("id").where("reference_id", "=", own.reference)
          )
          yield* (yield* Domains).setVerified(own.id, own.host)
          yield* insertMany("failing_subscription", [
            {
              subscription: id,
              account: own.id,
              host: own.host,
              since: now,
              last: now,
              status: 500,
              error: "status 500",
              paused_until: 0
            }
          ])
          const period = now - (now % 600_000)
          yield* insertMany("delivery_count", [
            { account: own.id, host: own.host, period, outcome: "accepted", millis: 10, attempts: 30 },
            { account: own.id, host: own.host, period, outcome: "refused", millis: 1000, attempts: 10 }
          ])
          yield* insertMany("delivery_day", [
            {
              account: own.id,
              day: now - (now % 86_400_000) - 86_400_000,
              outcome: "accepted",
              millis: 10,
              attempts: 60
            }
          ])
          const mine = (yield* ask({ key: own.key }, "GET", "/api/overview")).body
          assert.deepInclude(mine.deliveries.last24h, {
            attempts: 40,
            accepted: 30,
            failed: 10,
            successRate: 0.75,
            p50: 10,
            p95: 1000
          })
          assert.deepInclude(mine.deliveries.last30d, { attempts: 100, accepted: 90 })
          assert.deepInclude(mine.deliveries.day.at(-1), { at: period, attempts: 40 })
          assert.strictEqual(mine.deliveries.month.length, 30)
          assert.deepInclude(mine.failures[0], { referenceId: own.reference, error: "status 500" })
          assert.deepInclude(mine.needs[0], {
            ...{ severity: "warning", command: null, to: { view: "host", account: own.name, host: own.host } },
            what: `${own.host} of ${own.name} does not accept callbacks: status 500`
          })
          const theirs = (yield* ask({ key: other.key }, "GET", "/api/overview")).body
          assert.strictEqual(theirs.deliveries.last30d.attempts, 0)
          assert.deepStrictEqual(theirs.failures, [])
          const all = (yield* ask("read-only", "GET", "/api/overview")).body
          assert.isAtLeast(all.deliveries.last24h.attempts, 40)
          const need = all.needs.find(
            ({ to }: { to: unknown }) => JSON.stringify(to) === JSON.stringify(mine.needs[0].to)
          )
          assert.include(need.command, `${commandName} subscriptions recover`)
          assert.deepInclude(all.chains[0], { name: "ethereum/devnet", state: "starting" })
        }).pipe(Effect.scoped)
    )

    it.effect("shows operators the daemons of the store, and moves a chain to the one that they name", () =>
      Effect.gen(function* () {
        const { ask } = yield* Fixture.make
        for (const name of ["north", "south"]) {
          const daemon = { name, version: "0.1.0", roles: ["follow"], chains: ["ethereum/devnet"] }
          yield* Placements.register(daemon, { restarted: true })
        }
        const daemons = Effect.map(ask("read-only", "GET", "/api/overview"), ({ body }) => body.daemons)
        const follows = (yield* daemons).map(({ follows, name }: Placements.ShownDaemon) => [name, ...follows])
        assert.deepStrictEqual(follows, [["north", "ethereum/devnet"], ["south"]])
        const account = yield* ask({ key: (yield* tenant()).key }, "GET", "/api/overview")
        assert.deepStrictEqual(account.body.daemons, [])

        const move = (body: object) => ask("operator", "POST", "/api/chains/move", body)
        assert.strictEqual((yield* move({ chain: "ethereum/devnet", daemon: "south" })).status, 200)
        const placed = Effect.map(Placements.read, (found) => Placements.shown(found).chains[0])
        assert.deepInclude(yield* placed, { daemon: "north", successor: "south", pinned: "south" })
        assert.strictEqual((yield* move({ chain: "ethereum/devnet" })).status, 200)
        assert.deepInclude(yield* placed, { daemon: "north", successor: null, pinned: null })
        const { body, status } = yield* move({ chain: "ethereum/devnet", daemon: "west" })
        assert.strictEqual(status, 409)
        assert.match(body.error, /^No daemon "west" runs that may follow ethereum\/devnet: use one of north, south/)
      }).pipe(Effect.scoped)
    )
  })
}

const redelivery = Access.post("/api/subscriptions/:reference/callbacks/:key/redeliver", [], () => Effect.never)
