/** `headwater secrets`: the keys that callback secrets are encrypted with in the store. */
import * as SecretKeyChange from "@headwater/indexer/store/database/SecretKeyChange"
import * as SecretKeys from "@headwater/indexer/store/database/SecretKeys"
import type { Location } from "@headwater/indexer/store/database/Location"
import * as StoreLock from "@headwater/indexer/store/database/StoreLock"
import * as Placements from "@headwater/indexer/store/placement/Placements"
import * as LostSecrets from "@headwater/indexer/store/subscriptions/LostSecrets"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Store from "../Store.ts"
import * as Settings from "../settings/Settings.ts"
import * as WithSettings from "./WithSettings.ts"

const layer = (input: WithSettings.Input) => Layer.provideMerge(Store.layer, WithSettings.layer(input))

const location = Effect.map(Settings.Settings, Settings.storeLocation)

const status = Command.make(
  "status",
  {},
  Effect.fnUntraced(function* () {
    const where = yield* location
    const needed = yield* SecretKeyChange.needed
    const keys = yield* SecretKeys.read(where)
    const lines = [
      ...keys.map(({ id }, i) => `${id}  ${i === 0 ? "encrypts" : needed.includes(id) ? "decrypts" : "not needed"}`),
      ...needed.filter((id) => keys.every((key) => key.id !== id)).map((id) => `${id}  missing`)
    ]
    yield* Console.log([`Keys in ${SecretKeys.placeOf(where)}:`, ...(lines.length === 0 ? ["none"] : lines)].join("\n"))
  })
).pipe(Command.withDescription("List the keys by their ids, and those that the store needs and are missing"))

/** Fails where a daemon has the database. */
const withoutDaemons = Effect.fnUntraced(function* (where: Location) {
  if (where.kind === "sqlite") return
  const { daemons } = yield* Placements.read
  if (daemons.length === 0) return
  const names = daemons.map(({ name }) => name).join(", ")
  return yield* new StoreLock.StoreInUse({
    message: `The store is in use by the daemons ${names}: stop each of them first`
  })
})

/**
 * Keeps the keys to this command. Fails where a daemon has the store: beside this it would go on with the keys that it has
 * read, encrypt with one that is gone then, and find no key for what is encrypted anew.
 */
const alone = Effect.fnUntraced(function* (where: Location) {
  yield* StoreLock.acquire(where)
  // Of two keys that were added to a file at the same time one would be lost, with what is encrypted with it.
  if (where.kind === "postgres" && where.secretKeys === undefined) {
    const file = SecretKeys.fileOf(where)
    yield* StoreLock.hold(
      `${file}.lock`,
      `Another headwater secrets changes ${file} at this moment: let that end first`
    )
  }
  yield* withoutDaemons(where)
})

const rotate = Command.make(
  "rotate",
  {},
  Effect.fnUntraced(function* () {
    const where = yield* location
    const ofFile = where.secretKeys === undefined
    // Daemons that share a database have the keys of the setting from their start on, the new one among them.
    yield* ofFile ? alone(where) : StoreLock.acquire(where)
    if (ofFile && (yield* SecretKeys.read(where)).length > 0) yield* SecretKeys.addToFile(where)
    const id = yield* SecretKeyChange.encryptAll(where)
    if (ofFile) {
      // One that has begun since may have read the file before.
      yield* withoutDaemons(where)
      yield* SecretKeys.keepUpTo(where, id)
    }
    yield* Console.log(`Every callback secret is encrypted with the key ${id} of ${SecretKeys.placeOf(where)}`)
    yield* Console.error(
      ofFile
        ? "Back up that file, apart from the store. Earlier backups of the store need the key that they were made with."
        : "The other keys of that setting are needed by earlier backups of the store alone."
    )
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "Encrypt every callback secret with a new key, while every daemon is stopped. Where the settings have the keys, with the " +
      "first of them, on PostgreSQL beside daemons that all have that key first"
  ),
  Command.withShortDescription("Encrypt every callback secret with a new key")
)

/** Nobody has said that the secrets may go. */
export class NotConfirmed extends Schema.TaggedError<NotConfirmed>()("NotConfirmed", { message: Schema.String }) {}

const forget = Command.make(
  "forget",
  {
    yes: Flag.Boolean("yes").pipe(
      Flag.withDescription("Confirm; without this flag nothing is changed"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ yes }) {
    const where = yield* location
    if (!yes) {
      return yield* new NotConfirmed({
        message:
          "Callback secrets that no key opens would be removed for good, and their subscriptions deactivated. Look for a " +
          `backup of ${SecretKeys.placeOf(where)} first; then add --yes`
      })
    }
    yield* alone(where)
    const count = yield* LostSecrets.forget(where)
    yield* Console.log(
      `The secrets of ${count} subscriptions are removed, which are deactivated (${LostSecrets.reason})`
    )
  }, Effect.scoped)
).pipe(Command.withDescription("Give up the callback secrets whose key is lost, while the daemon is stopped"))

export const secrets = Command.make("secrets").pipe(
  Command.withDescription("Keys that callback secrets are encrypted with in the store"),
  Command.withSharedFlags({ config: WithSettings.config }),
  Command.withSubcommands([status, rotate, forget]),
  Command.provide(layer)
)
