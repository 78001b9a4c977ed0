import { assert, describe, it } from "@effect/vitest"
import * as AccountPace from "@headwater/daemon/console/AccountPace"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { stores } from "../../../../test/Stores.ts"
import * as Fixture from "./ConsoleFixture.ts"

/** An account's API key. */
const tenant = Effect.fnUntraced(function* (name: string) {
  const accounts = yield* Accounts
  const { id } = yield* accounts.create(name)
  return { key: Redacted.value((yield* accounts.createKey(id, { name: "backend" })).key) }
})

describe("the pace of an account at the console", () => {
  it.effect("is slower for searches and stories than for other requests, and none for operators", () =>
    Effect.gen(function* () {
      const { ask } = yield* Fixture.make
      const [own, other] = [yield* tenant("own"), yield* tenant("other")]
      const paths = [
        ...["/api/search?q=abc", "/api/subscriptions?search=abc", "/api/stories/callback?key=abc"],
        ...["block?chain=ethereum/devnet&block=1", `transaction?chain=ethereum/devnet&id=0x${"ab".repeat(32)}`].map(
          (story) => `/api/stories/${story}`
        )
      ]
      const status = (who: Fixture.Who, path: string) => Effect.map(ask(who, "GET", path), ({ status }) => status)
      assert.isBelow(AccountPace.mostSearches, AccountPace.most)
      for (const path of paths) {
        // Another minute may begin meanwhile.
        let refused = yield* ask(own, "GET", path)
        for (let i = 0; i < 2 * AccountPace.mostSearches && refused.status !== 429; i++) {
          refused = yield* ask(own, "GET", path)
        }
        assert.strictEqual(refused.status, 429, path)
        assert.match(refused.text, /Too many searches of the account: try again in \d+ s/)
        assert.isAbove(Number(refused.headers.get("retry-after")), 0)
        for (const who of ["operator", other] as const) assert.notStrictEqual(yield* status(who, path), 429, path)
      }
      assert.strictEqual(yield* status(own, "/api/session"), 200)
    }).pipe(Effect.scoped, Effect.provide(Fixture.services(stores[0]!.layer)))
  )
})

describe("the overview", () => {
  it.effect("is read once for each account, however many pages ask at a time", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const [own, other] = [yield* tenant("own"), yield* tenant("other")]
      let statements = 0
      const { ask } = yield* Fixture.make.pipe(
        Effect.provideService(Database, {
          ...database,
          read: (build) => {
            statements++
            return database.read(build)
          }
        })
      )
      const statementsOf = Effect.fnUntraced(function* (who: Fixture.Who, path: string, pages: number) {
        const before = statements
        const asked = Array.from({ length: pages }, () => ask(who, "GET", path))
        for (const { status } of yield* Effect.all(asked, { concurrency: pages })) assert.strictEqual(status, 200)
        return statements - before
      })
      // What is read of chains is kept for all.
      for (const who of ["operator", own, other] as const) yield* ask(who, "GET", "/api/session")
      yield* ask("operator", "GET", "/api/overview")
      const session = yield* statementsOf(own, "/api/session", 1)
      const one = yield* statementsOf(other, "/api/overview", 1)
      const five = yield* statementsOf(own, "/api/overview", 5)
      assert.isAbove(one, session)
      assert.strictEqual(five - 5 * session, one - session)
    }).pipe(Effect.scoped, Effect.provide(Fixture.services(stores[0]!.layer)))
  )
})
