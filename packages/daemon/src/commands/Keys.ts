/** `headwater keys`: the API keys of an account. */
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { table, time } from "../internal/Table.ts"
import { account, layer } from "./Accounts.ts"
import { config, json } from "./WithSettings.ts"

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
        "Operations that the key may call: operation ids of the OpenAPI document, separated by commas; else all"
      ),
      Flag.map((text) => text.split(",").map((name) => name.trim())),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* (input) {
    const accounts = yield* Accounts
    const { id } = yield* accounts.find(input.account)
    const made = yield* accounts.createKey(id, {
      name: input.name,
      endpoints: Option.getOrUndefined(input.endpoints)
    })
    const key = Redacted.value(made.key)
    yield* Console.log(input.json ? JSON.stringify({ id: made.id, key }) : key)
    yield* Console.error(`Key ${made.id} of ${input.account}. Keep the key now: it is not shown again.`)
  })
).pipe(
  Command.withDescription("Create a key, and print it this once"),
  Command.withExamples([
    { command: "headwater keys create acme --name backend", description: "A key for all operations" }
  ])
)

const list = Command.make(
  "list",
  { json, account },
  Effect.fnUntraced(function* (input) {
    const accounts = yield* Accounts
    const keys = yield* accounts.listKeys((yield* accounts.find(input.account)).id)
    yield* Console.log(
      input.json
        ? JSON.stringify(keys)
        : table(
            ["KEY", "NAME", "CREATED", "REVOKED", "OPERATIONS"],
            keys.map((key) => [
              key.id,
              key.name,
              time(key.created),
              key.revoked === undefined ? "no" : time(key.revoked),
              key.endpoints?.join(",") ?? "all"
            ])
          )
    )
  })
).pipe(Command.withDescription("List an account's keys"))

const revoke = Command.make(
  "revoke",
  { account, key: Argument.String("key").pipe(Argument.withDescription("Id of the key, as `list` shows it")) },
  Effect.fnUntraced(function* (input) {
    const accounts = yield* Accounts
    yield* accounts.revokeKey((yield* accounts.find(input.account)).id, input.key)
    yield* Console.log(`Key ${input.key} revoked`)
  })
).pipe(Command.withDescription("Revoke a key for good"))

export const keys = Command.make("keys").pipe(
  Command.withDescription("API keys of an account"),
  Command.withSharedFlags({ config }),
  Command.withSubcommands([create, list, revoke]),
  Command.provide(layer)
)
