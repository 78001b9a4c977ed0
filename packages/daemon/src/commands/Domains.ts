/** `headwater domains`: the hosts on which accounts may receive callbacks. */
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Database } from "@headwater/indexer/store/database/Database"
import * as AuditLog from "@headwater/indexer/store/operator/AuditLog"
import * as Domains from "@headwater/indexer/store/subscriptions/Domains"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { commandName, quoted } from "../CommandName.ts"
import { printRows, time } from "../internal/Table.ts"
import { account, audited, deed, idOf } from "./Accounts.ts"
import * as WithSettings from "./WithSettings.ts"

const { config, json } = WithSettings

const layer = (input: WithSettings.Input) =>
  Layer.mergeAll(Accounts.layer, Domains.Domains.layer).pipe(
    Layer.provide(Outbox.layer),
    Layer.provide(Subscriptions.layer),
    Layer.provideMerge(WithSettings.withStore(input))
  )

/** As callback URLs have their hosts. */
const isHost = (name: string) => /^[^/?:]+$/.test(name) && URL.parse(`https://${name}/`)?.hostname === name

const domain = Argument.String("domain").pipe(
  Argument.withDescription("A host name, as in callback URLs: hooks.example.com"),
  Argument.map((name) => name.toLowerCase()),
  Argument.withSchema(
    Schema.String.check(
      Schema.makeFilter(
        (name) => isHost(name) || "must be a host name alone, without scheme, port or path, as in hooks.example.com"
      )
    )
  )
)

const list = Command.make(
  "list",
  { json, account },
  Effect.fnUntraced(function* (input) {
    const id = yield* idOf(input.account)
    const domains = yield* (yield* Domains.Domains).list(id)
    yield* printRows(
      input.json,
      domains,
      ["DOMAIN", "ADDED", "VERIFIED", "TOKEN"],
      domains.map(({ created, name, token, verified }) => [
        name,
        time(created),
        verified === undefined ? ({ text: "no", colour: "yellow" } as const) : time(verified),
        token
      ])
    )
  })
).pipe(Command.withDescription("List an account's domains"))

const add = Command.make(
  "add",
  { json, account, domain },
  Effect.fnUntraced(function* (input) {
    const id = yield* idOf(input.account)
    const domains = yield* Domains.Domains
    const added = yield* audited(deed("domain.add", input.account, input.domain), domains.add(id, input.domain))
    const { name, token, verified } = added
    const record = Domains.challengeRecord(name)
    const url = Domains.challengeUrl(name)
    yield* Console.log(input.json ? JSON.stringify({ ...added, record, url }) : token)
    yield* Console.error(
      verified === undefined
        ? [
            `The owner of ${name} publishes the token in one of two places:`,
            `  DNS    ${record}  TXT  "${token}"`,
            `  HTTPS  ${url}, which answers 200 with ${token}`,
            `Then an API key of ${input.account} verifies the domain: POST /domains/${name}/verify`,
            `Without proof, by your word: ${commandName} domains approve ${quoted(input.account)} ${name}`
          ].join("\n")
        : `${input.account} may receive callbacks on ${name} already`
    )
  })
).pipe(
  Command.withDescription(
    "Add a domain, print the token by which its owner proves control, and say where that is published"
  ),
  Command.withShortDescription("Add a domain, and print the token by which its owner proves control")
)

const approve = Command.make(
  "approve",
  { account, domain },
  Effect.fnUntraced(function* (input) {
    const id = yield* idOf(input.account)
    const domains = yield* Domains.Domains
    const added = yield* domains.add(id, input.domain)
    const approval = AuditLog.write(AuditLog.commandLine, deed("domain.approve", input.account, added.name))
    yield* domains.setVerified(id, added.name, Effect.provideService(approval, Database, yield* Database))
    yield* Console.log(`${input.account} may receive callbacks on ${added.name}`)
  })
).pipe(Command.withDescription("Verify a domain without proof, by the operator's word; its parked callbacks are sent"))

export const domains = Command.make("domains").pipe(
  Command.withDescription("Domains on which accounts may receive callbacks"),
  Command.withSharedFlags({ config }),
  Command.withSubcommands([list, add, approve]),
  Command.provide(layer)
)
