import { assert, describe, it } from "@effect/vitest"
import * as PostgresUrl from "@headwater/indexer/store/database/PostgresUrl"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"

const decode = Schema.decodeUnknownExit(Schema.String.check(PostgresUrl.rules))

describe("the URL of a PostgreSQL store", () => {
  it("stays as it is where it names one server", () => {
    for (const url of [
      "postgres://u:p%40ss@db.internal/headwater",
      "postgres://u:a,b@db.internal:5433/headwater?sslmode=verify-full&application_name=a+b",
      "postgres:///headwater?host=/var/run/postgresql",
      "postgresql://[::1]:5432/headwater?target_session_attrs=read-write"
    ]) {
      assert.deepStrictEqual(PostgresUrl.each(url), [url])
      assert.isTrue(Exit.isSuccess(decode(url)), url)
    }
  })

  it("names several servers as libpq's URLs do", () => {
    for (const [url, ...urls] of [
      [
        "postgres://u:p,q@a:1,b,[::1]:3/d",
        "postgres://u:p,q@a:1/d",
        "postgres://u:p,q@b/d",
        "postgres://u:p,q@[::1]:3/d"
      ],
      [
        "postgres://u@a,b/d?port=1,2&target_session_attrs=primary",
        "postgres://u@a/d?port=1&target_session_attrs=primary",
        "postgres://u@b/d?port=2&target_session_attrs=primary"
      ],
      ["postgres://u@/d?host=a,b&port=7", "postgres://u@a/d?port=7", "postgres://u@b/d?port=7"],
      [
        "postgres://u@x/d?host=/run/a,b&port=7,8",
        "postgres://u@localhost/d?host=%2Frun%2Fa&port=7",
        "postgres://u@b/d?port=8"
      ]
    ]) {
      assert.deepStrictEqual(PostgresUrl.each(url!), urls)
      assert.isTrue(Exit.isSuccess(decode(url)), url)
      for (const one of urls) assert.isTrue(URL.canParse(one), one)
    }
  })

  it("says what is wrong with the servers, without a password", () => {
    for (const [url, message] of [
      ["postgres://u:secret@a,,b/d", "must have a host before and behind each comma"],
      ["postgres://u:secret@a,b,/d", "must have a host before and behind each comma"],
      ["postgres://u:secret@/d?host=a&host=b", "must have host= and port= once, with commas between several"],
      ["postgres://u:secret@a,b,c/d?port=1,2", "must have one port=, or as many as hosts"],
      ["postgres://u:secret@a,b/d?port=1,x", "must have numbers up to 65535 as port="],
      ["postgres://u:secret@a/d?sslmode=verify", "must have one of disable, no-verify, prefer, require, verify-ca"],
      ["postgres://u:secret@a,b/d?target_session_attrs=any", "must have target_session_attrs=read-write or =primary"],
      ["postgres://u:secret@a/d?target_session_attrs=standby", "must have target_session_attrs=read-write or =primary"]
    ] as const) {
      const exit = decode(url)
      assert.isTrue(Exit.isFailure(exit), url)
      const text = String(exit)
      assert.include(text, message)
    }
  })

  it("names a server in messages by host and port alone", () => {
    assert.strictEqual(PostgresUrl.nameOf("postgres://u:secret@a:5433/d"), "a:5433")
    assert.strictEqual(PostgresUrl.nameOf("postgres://u:secret@/d?host=b&port=7"), "b:7")
    assert.strictEqual(PostgresUrl.nameOf("postgres:///d"), "localhost")
  })
})
