/** `headwater subscriptions`: the subscriptions of an account. */
import * as Address from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Hash from "@headwater/core/Hash"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import * as Recovery from "@headwater/indexer/store/subscriptions/Recovery"
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
import * as ChainArgument from "./ChainArgument.ts"
import * as PageFlags from "./PageFlags.ts"
import * as WithSettings from "./WithSettings.ts"

const { config, json } = WithSettings

const layer = (input: WithSettings.Input) =>
  Layer.mergeAll(Accounts.layer, Callbacks.layer).pipe(
    Layer.provide(Outbox.layer),
    Layer.provideMerge(Subscriptions.layer),
    Layer.provideMerge(WithSettings.withStore(input))
  )

const reference = Argument.String("reference").pipe(
  Argument.withDescription("Reference id of the subscription, as `list` shows it")
)

const placeOf = Effect.fnUntraced(function* (input: { readonly account: string; readonly chain: string }) {
  const { chain } = yield* ChainArgument.find(input.chain)
  return { account: yield* idOf(input.account), chain }
})

const list = Command.make(
  "list",
  {
    json,
    account,
    chain: ChainArgument.argument,
    ...{ limit: PageFlags.limit, offset: PageFlags.offset }
  },
  Effect.fnUntraced(function* (input) {
    const of = yield* placeOf(input)
    const { limit, offset } = input
    const { subscriptions, total } = yield* (yield* Subscriptions).list(of, { limit, offset })
    const items = subscriptions.map(
      ({ address, callbackUrl, confirmations, created, deactivationReasons, event, referenceId, ...one }) => ({
        ...{ referenceId, event, callbackUrl, confirmations, created, active: one.active, deactivationReasons },
        address: address === undefined ? null : Address.encode(of.chain, address),
        ...(one.transactionId === undefined ? {} : { transactionId: Hash.encode(of.chain, one.transactionId) })
      })
    )
    yield* printRows(
      input.json,
      { items, total },
      ["REFERENCE", "EVENT", "ADDRESS OR TRANSACTION", "URL", "CREATED", "ACTIVE"],
      items.map((item) => [
        ...[item.referenceId, item.event, item.transactionId ?? item.address ?? "-", item.callbackUrl],
        time(item.created * 1000),
        item.active
          ? ({ text: "yes", colour: "green" } as const)
          : ({ text: `no: ${item.deactivationReasons.at(-1)?.reason ?? "unknown"}`, colour: "red" } as const)
      ])
    )
    yield* PageFlags.sayRest(input.json, items.length, total)
  })
).pipe(Command.withDescription("List an account's subscriptions on a chain"))

const activate = Command.make(
  "activate",
  { account, chain: ChainArgument.argument, reference },
  Effect.fnUntraced(function* (input) {
    yield* (yield* Subscriptions).activate({ ...(yield* placeOf(input)), referenceId: input.reference })
    yield* Console.log(`${input.reference} is active; its parked callbacks are sent`)
  })
).pipe(Command.withDescription("Activate a subscription, and send its parked callbacks"))

const remove = Command.make(
  "remove",
  { account, chain: ChainArgument.argument, reference },
  Effect.fnUntraced(function* (input) {
    yield* (yield* Subscriptions).remove({ ...(yield* placeOf(input)), referenceId: input.reference })
    yield* Console.log(`${input.reference} is removed`)
  })
).pipe(Command.withDescription("Remove a subscription with all of its callbacks"))

/** How often `--follow` looks. */
const lookMillis = 1_000

/** Says how far the account's recoveries are until they are over. */
const follow = Effect.fnUntraced(function* (account: number) {
  for (;;) {
    const { left, subscriptions } = yield* Recovery.leftOf(account)
    if (subscriptions === 0) return yield* Console.log("All are on their way to their receivers")
    yield* Console.error(`Subscriptions: ${subscriptions}; callbacks to be looked at: ${left}`)
    yield* Effect.sleep(lookMillis)
  }
})

/** Flags that do not go together. */
class UnusableFlag extends Schema.TaggedError<UnusableFlag>()("UnusableFlag", { message: Schema.String }) {}

interface Which {
  readonly after: number | undefined
  readonly host: string | undefined
  readonly since: number | undefined
}

const recoverOne = Effect.fnUntraced(function* (
  account: number,
  chain: Chain | undefined,
  referenceId: string,
  { after, host, since }: Which
) {
  if (chain === undefined) {
    return yield* new UnusableFlag({
      message: "--reference names a subscription of a chain: name the chain behind the account"
    })
  }
  if (host !== undefined) return yield* new UnusableFlag({ message: "--host is not for a single subscription" })
  yield* (yield* Callbacks).recover({ account, chain, referenceId }, { time: since, after })
  return 1
})

const recover = Command.make(
  "recover",
  {
    account,
    chain: ChainArgument.argument.pipe(Argument.optional),
    reference: Flag.String("reference").pipe(
      Flag.withDescription("Only this subscription of the chain; without it, all of the account's"),
      Flag.optional
    ),
    host: Flag.String("host").pipe(
      Flag.withDescription("Only subscriptions with this host of callbacks"),
      Flag.optional
    ),
    since: Flag.Date("since").pipe(
      Flag.withDescription("Only callbacks since this time: 2026-11-22 or 2026-11-22T10:00:00Z"),
      Flag.optional
    ),
    after: Flag.Int("after").pipe(
      Flag.withDescription("With --reference, only callbacks behind this number"),
      Flag.optional
    ),
    follow: Flag.Boolean("follow").pipe(
      Flag.withDescription("Print the progress until all callbacks are on their way"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* (input) {
    const id = yield* idOf(input.account)
    const found = Option.map(input.chain, ChainArgument.find)
    const chain = Option.isSome(found) ? (yield* found.value).chain : undefined
    const which = {
      after: Option.getOrUndefined(input.after),
      host: Option.getOrUndefined(input.host)?.toLowerCase(),
      since: Option.getOrUndefined(input.since)?.getTime()
    }
    if (which.after !== undefined && (which.after < 0 || Option.isNone(input.reference))) {
      return yield* new UnusableFlag({ message: "--after takes a number of the subscription that --reference names" })
    }
    const begun = Option.isSome(input.reference)
      ? yield* recoverOne(id, chain, input.reference.value, which)
      : yield* Recovery.beginAll(id, { chain, host: which.host, time: which.since })
    yield* Console.log(
      `Subscriptions whose callbacks are sent again: ${begun}; the status of each shows how far that is`
    )
    if (input.follow) yield* follow(id)
  })
).pipe(Command.withDescription("Send callbacks again that were sent already, after a receiver has lost what it had"))

export const subscriptions = Command.make("subscriptions").pipe(
  Command.withDescription("Subscriptions of an account"),
  Command.withSharedFlags({ config }),
  Command.withSubcommands([list, activate, recover, remove]),
  Command.provide(layer)
)
