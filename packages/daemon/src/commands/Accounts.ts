/** `headwater accounts`: the accounts, to which subscriptions and keys belong. */
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { table, time } from "../internal/Table.ts"
import * as Store from "../Store.ts"
import * as WithSettings from "./WithSettings.ts"

const { config, json } = WithSettings

export const account = Argument.String("account").pipe(Argument.withDescription("Name of the account"))

/** The accounts of the configured store. */
export const layer = (input: Parameters<typeof WithSettings.layer>[0]) =>
  Accounts.layer.pipe(Layer.provide(Store.layer), Layer.provideMerge(WithSettings.layer(input)))

const create = Command.make(
  "create",
  { json, account },
  Effect.fnUntraced(function* (input) {
    const created = yield* (yield* Accounts).create(input.account)
    yield* Console.log(input.json ? JSON.stringify(created) : `Account ${created.name} created`)
  })
).pipe(Command.withDescription("Create an account"))

const list = Command.make(
  "list",
  { json },
  Effect.fnUntraced(function* (input) {
    const accounts = yield* (yield* Accounts).list
    yield* Console.log(
      input.json
        ? JSON.stringify(accounts)
        : table(
            ["ACCOUNT", "CREATED", "RETRACTIONS"],
            accounts.map(({ created, name, retractions }) => [name, time(created), retractions ? "on" : "off"])
          )
    )
  })
).pipe(Command.withDescription("List the accounts"))

const retractions = Command.make(
  "retractions",
  { account, wanted: Argument.Literals("wanted", ["on", "off"]).pipe(Argument.withDescription("on or off")) },
  Effect.fnUntraced(function* (input) {
    const accounts = yield* Accounts
    const { id } = yield* accounts.find(input.account)
    yield* accounts.setRetractions(id, input.wanted === "on")
    yield* Console.log(`Retractions are ${input.wanted} for ${input.account}`)
  })
).pipe(Command.withDescription("Set whether a callback is followed by a retraction when its block leaves the chain"))

export const accounts = Command.make("accounts").pipe(
  Command.withDescription("Accounts, to which subscriptions and keys belong"),
  Command.withSharedFlags({ config }),
  Command.withSubcommands([create, list, retractions]),
  Command.provide(layer)
)
