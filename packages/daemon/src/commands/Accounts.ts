/** `headwater accounts`: the accounts, to which subscriptions and keys belong. */
import * as AccountExport from "@headwater/indexer/store/accounts/AccountExport"
import * as AccountRemoval from "@headwater/indexer/store/accounts/AccountRemoval"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import * as AuditLog from "@headwater/indexer/store/operator/AuditLog"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { printRows, time } from "../internal/Table.ts"
import * as WithSettings from "./WithSettings.ts"

const { config, json } = WithSettings

export const account = Argument.String("account").pipe(Argument.withDescription("Name of the account"))

/** Enters in the audit log that a command has done something to an account. */
export const deed = (action: string, account: string, subject = account, detail?: string): AuditLog.Deed => ({
  ...{ action, subject, account },
  ...(detail === undefined ? {} : { detail })
})

/** Runs a change with its entry in one transaction. */
export const audited = <A, E, R>(of: AuditLog.Deed, change: Effect.Effect<A, E, R>) =>
  AuditLog.during(AuditLog.commandLine, of, change)

/** The accounts of the configured store. */
export const layer = (input: WithSettings.Input) =>
  Accounts.layer.pipe(Layer.provideMerge(WithSettings.withStore(input)))

/** The id of the account with this name. */
export const idOf = Effect.fnUntraced(function* (name: string) {
  const accounts = yield* Accounts
  return (yield* accounts.find(name)).id
})

const create = Command.make(
  "create",
  { json, account },
  Effect.fnUntraced(function* (input) {
    const accounts = yield* Accounts
    const created = yield* audited(deed("account.create", input.account), accounts.create(input.account))
    yield* Console.log(input.json ? JSON.stringify(created) : `Account ${created.name} created`)
  })
).pipe(Command.withDescription("Create an account"))

const list = Command.make(
  "list",
  { json },
  Effect.fnUntraced(function* (input) {
    const accounts = yield* (yield* Accounts).list
    yield* printRows(
      input.json,
      accounts,
      ["ACCOUNT", "CREATED", "RETRACTIONS"],
      accounts.map(({ created, name, retractions }) => [name, time(created), retractions ? "on" : "off"])
    )
  })
).pipe(Command.withDescription("List the accounts"))

const rename = Command.make(
  "rename",
  { account, name: Argument.String("name").pipe(Argument.withDescription("The new name")) },
  Effect.fnUntraced(function* (input) {
    const accounts = yield* Accounts
    const id = yield* idOf(input.account)
    yield* audited(deed("account.rename", input.name, input.account), accounts.rename(id, input.name))
    yield* Console.log(`Account ${input.account} is now ${input.name}`)
  })
).pipe(Command.withDescription("Give an account another name; keys and all else stay as they are"))

const export_ = Command.make(
  "export",
  { account },
  Effect.fnUntraced(function* (input) {
    const accounts = yield* Accounts
    const found = yield* accounts.find(input.account)
    const print = (line: AccountExport.Line) => Console.log(JSON.stringify(line))
    yield* print({ kind: "account", ...found })
    for (const key of yield* accounts.listKeys(found.id)) yield* print({ kind: "key", ...key })
    yield* AccountExport.run(found.id, print)
  })
).pipe(
  Command.withDescription("Print everything that the store has of an account as JSON, a line each, but no secrets"),
  Command.withExamples([{ command: "headwater accounts export acme > acme.jsonl", description: "Into a file" }])
)

/** Nobody has said that the account may go. */
export class NotConfirmed extends Schema.TaggedError<NotConfirmed>()("NotConfirmed", { message: Schema.String }) {}

const remove = Command.make(
  "remove",
  {
    account,
    yes: Flag.Boolean("yes").pipe(
      Flag.withDescription("Remove it; without this nothing is done"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* (input) {
    const id = yield* idOf(input.account)
    if (!input.yes) {
      return yield* new NotConfirmed({
        message:
          `Account ${JSON.stringify(input.account)} would be removed for good with its keys, subscriptions, callbacks, ` +
          "domains, wallets and credits: export it first, then add --yes"
      })
    }
    yield* AccountRemoval.remove(id, AuditLog.write(AuditLog.commandLine, deed("account.remove", input.account)))
    yield* Console.log(`Account ${JSON.stringify(input.account)} removed`)
  })
).pipe(Command.withDescription("Remove an account with everything that it has, also beside the daemon"))

const retractions = Command.make(
  "retractions",
  { account, wanted: Argument.Literals("wanted", ["on", "off"]).pipe(Argument.withDescription("on or off")) },
  Effect.fnUntraced(function* (input) {
    const accounts = yield* Accounts
    const id = yield* idOf(input.account)
    yield* audited(
      deed("account.retractions", input.account, input.account, input.wanted),
      accounts.setRetractions(id, input.wanted === "on")
    )
    yield* Console.log(`Retractions are ${input.wanted} for ${input.account}`)
  })
).pipe(Command.withDescription("Set whether a callback is followed by a retraction when its block leaves the chain"))

export const accounts = Command.make("accounts").pipe(
  Command.withDescription("Accounts, to which subscriptions and keys belong"),
  Command.withSharedFlags({ config }),
  Command.withSubcommands([create, list, rename, export_, remove, retractions]),
  Command.provide(layer)
)
