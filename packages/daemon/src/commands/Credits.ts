/** `headwater credits`: the credits of an account. */
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Credits } from "@headwater/indexer/store/accounts/Credits"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { printRows, time } from "../internal/Table.ts"
import { account, idOf } from "./Accounts.ts"
import * as PageFlags from "./PageFlags.ts"
import * as WithSettings from "./WithSettings.ts"

const { config, json } = WithSettings

const layer = (input: WithSettings.Input) =>
  Layer.mergeAll(Accounts.layer, Credits.layer.pipe(Layer.provide(Subscriptions.layer))).pipe(
    Layer.provideMerge(WithSettings.withStore(input))
  )

const print = (json: boolean, balance: number) => Console.log(json ? JSON.stringify({ balance }) : String(balance))

const balance = Command.make(
  "balance",
  { json, account },
  Effect.fnUntraced(function* (input) {
    const credits = yield* Credits
    yield* print(input.json, yield* credits.balance(yield* idOf(input.account)))
  })
).pipe(Command.withDescription("Print the balance of an account"))

const grant = Command.make(
  "grant",
  {
    json,
    account,
    amount: Argument.Int("amount").pipe(
      Argument.withSchema(Schema.Int.check(Schema.isGreaterThan(0))),
      Argument.withDescription("Credits to add")
    ),
    detail: Flag.String("detail").pipe(
      Flag.withDescription("What the credits are for, as the statement shows it"),
      Flag.withDefault("grant")
    ),
    key: Flag.String("key").pipe(
      Flag.withDescription("A name for this grant: a second grant of the same name is refused"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* (input) {
    const credits = yield* Credits
    const { amount, detail } = input
    const id = yield* idOf(input.account)
    yield* print(
      input.json,
      yield* credits.grant({ account: id, amount, detail, key: Option.getOrUndefined(input.key) })
    )
  })
).pipe(Command.withDescription("Add credits to an account, and print the new balance"))

const statement = Command.make(
  "statement",
  { json, account, limit: PageFlags.limit },
  Effect.fnUntraced(function* (input) {
    const credits = yield* Credits
    const entries = yield* credits.statement(yield* idOf(input.account), {
      limit: input.limit,
      newestFirst: true,
      after: undefined
    })
    yield* printRows(
      input.json,
      entries,
      ["AT", "KIND", "AMOUNT", "RESULTS", "FOR"],
      entries.map(({ amount, at, detail, kind, results }) => [
        ...[time(at), kind, String(amount), String(results), detail]
      ])
    )
  })
).pipe(Command.withDescription("List the grants and charges of an account, newest first"))

export const credits = Command.make("credits").pipe(
  Command.withDescription("Credits of an account"),
  Command.withSharedFlags({ config }),
  Command.withSubcommands([balance, grant, statement]),
  Command.provide(layer)
)
