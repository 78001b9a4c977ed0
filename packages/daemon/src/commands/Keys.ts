/** `headwater keys`: the API keys of an account. */
import { suggest } from "@headwater/core/Suggestion"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { commandName } from "../CommandName.ts"
import { printRows, time } from "../internal/Table.ts"
import { account, audited, deed, idOf, layer } from "./Accounts.ts"
import { config, json } from "./WithSettings.ts"

/** A key cannot be made so. */
export class CannotCreateKey extends Schema.TaggedError<CannotCreateKey>()("CannotCreateKey", {
  message: Schema.String
}) {}

/** What a name that is not known may stand for: the operations of all groups that are called so, else the nearest name. */
const meant = (name: string, known: ReadonlyArray<string>): ReadonlyArray<string> => {
  const called = known.filter((pattern) => pattern.split(".")[1] === name)
  if (called.length > 0) return called
  const near = suggest(name, known)
  return near === undefined ? [] : [near]
}

/** Refuses names that stand for no operation, all at once. */
const checkEndpoints = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
  // Loaded here only: the contract takes longer to load than the other commands take to run.
  const { patterns } = yield* Effect.promise(() => import("@headwater/http/contract/AllowList"))
  const unknown = names.filter((name) => !patterns.includes(name))
  if (unknown.length === 0) return
  const problems = unknown.map((name) => {
    const found = meant(name, patterns)
    return `"${name}" is no operation${found.length === 0 ? "" : `; did you mean ${found.join(" or ")}?`}`
  })
  const groups = patterns.filter((pattern) => pattern.endsWith(".*"))
  const advice = `Operations are named as in \`${commandName} openapi\`, and those of a group together: ${groups.join(", ")}`
  return yield* new CannotCreateKey({ message: [...problems, advice].join("\n  ") })
})

const dayMillis = 86_400_000

/** When a key ends: after a number of days, as in 90d, or at a date, as in 2027-01-31, in milliseconds. */
const parseExpiry = Effect.fnUntraced(function* (text: string) {
  const now = yield* Clock.currentTimeMillis
  const days = /^(\d{1,5})d$/.exec(text)
  const at = days === null ? (/^\d{4}-/.test(text) ? Date.parse(text) : Number.NaN) : now + Number(days[1]) * dayMillis
  if (at > now) return at
  return yield* new CannotCreateKey({
    message: `--expires must be a date to come, as in 2027-01-31, or a number of days, as in 90d, and is "${text}"`
  })
})

const create = Command.make(
  "create",
  {
    json,
    account,
    name: Flag.String("name").pipe(
      Flag.withDescription("Name of the key, to distinguish it from others"),
      Flag.withDefault("default")
    ),
    endpoints: Flag.String("endpoints").pipe(
      Flag.withDescription(
        "Operations that the key may call: operation ids of the OpenAPI document, separated by commas, or all of a " +
          "group, as in subscriptions.*; else all"
      ),
      Flag.map((text) => text.split(",").map((name) => name.trim())),
      Flag.optional
    ),
    readOnly: Flag.Boolean("read-only").pipe(
      Flag.withDescription("The key may call what is asked by GET alone, which changes nothing"),
      Flag.withDefault(false)
    ),
    expires: Flag.String("expires").pipe(
      Flag.withDescription("When the key ends: a date, as in 2027-01-31, or a number of days, as in 90d; else never"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* (input) {
    const accounts = yield* Accounts
    const id = yield* idOf(input.account)
    const endpoints = Option.getOrUndefined(input.endpoints)
    if (endpoints !== undefined) yield* checkEndpoints(endpoints)
    const expires = Option.getOrUndefined(input.expires)
    const options = {
      ...{ name: input.name, endpoints, readOnly: input.readOnly },
      expires: expires === undefined ? undefined : yield* parseExpiry(expires)
    }
    const made = yield* audited(deed("key.create", input.account, input.name), accounts.createKey(id, options))
    const key = Redacted.value(made.key)
    yield* Console.log(input.json ? JSON.stringify({ id: made.id, key }) : key)
    yield* Console.error(`Key ${made.id} of ${input.account}. Keep the key now: it is not shown again.`)
  })
).pipe(
  Command.withDescription("Create a key, and print it this once"),
  Command.withExamples([
    { command: "headwater keys create acme --name backend", description: "A key for all operations" },
    {
      command: "headwater keys create acme --endpoints 'subscriptions.*,callbacks.list' --expires 90d",
      description: "A key for some operations and 90 days"
    }
  ])
)

const list = Command.make(
  "list",
  { json, account },
  Effect.fnUntraced(function* (input) {
    const accounts = yield* Accounts
    const keys = yield* accounts.listKeys(yield* idOf(input.account))
    yield* printRows(
      input.json,
      keys,
      ["KEY", "NAME", "CREATED", "LAST USED", "EXPIRES", "REVOKED", "OPERATIONS"],
      keys.map((key) => [
        ...[key.id, key.name, time(key.created)],
        key.lastUsed === undefined ? "never" : time(key.lastUsed),
        key.expires === undefined ? "never" : time(key.expires),
        key.revoked === undefined ? "no" : ({ text: time(key.revoked), colour: "dim" } as const),
        `${key.endpoints?.join(",") ?? "all"}${key.readOnly ? " (reads only)" : ""}`
      ])
    )
  })
).pipe(Command.withDescription("List an account's keys"))

const revoke = Command.make(
  "revoke",
  { account, key: Argument.String("key").pipe(Argument.withDescription("Id of the key, as `list` shows it")) },
  Effect.fnUntraced(function* (input) {
    const accounts = yield* Accounts
    const id = yield* idOf(input.account)
    yield* audited(deed("key.revoke", input.account, input.key), accounts.revokeKey(id, input.key))
    yield* Console.log(`Key ${input.key} revoked`)
  })
).pipe(Command.withDescription("Revoke a key for good"))

export const keys = Command.make("keys").pipe(
  Command.withDescription("API keys of an account"),
  Command.withSharedFlags({ config }),
  Command.withSubcommands([create, list, revoke]),
  Command.provide(layer)
)
