/** What commands that need the settings share: the flag that names the file, and the layers that follow from it. */
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Log from "../Log.ts"
import * as Store from "../Store.ts"
import * as Settings from "../settings/Settings.ts"
import * as SettingsFile from "../settings/SettingsFile.ts"

export const config = Flag.File("config").pipe(
  Flag.withAlias("c"),
  Flag.withDescription(
    `Settings file (.toml, .yaml or .json); without it, the file that ${SettingsFile.fileVariable} names, else ${SettingsFile.defaultFile} if it exists`
  ),
  Flag.optional
)

export const json = Flag.Boolean("json").pipe(Flag.withDescription("Print JSON, for scripts"), Flag.withDefault(false))

export interface Input {
  readonly config: Option.Option<string>
}

/** The settings, with what flags say named as variables are, and the log in the form that they ask for. */
export const layer = ({ config }: Input, flags?: Parameters<typeof SettingsFile.layer>[1]) =>
  Layer.unwrap(Effect.map(Settings.Settings, ({ log }) => Log.layer(log))).pipe(
    Layer.provideMerge(SettingsFile.layer(Option.getOrUndefined(config), flags))
  )

/** The same, and the store that they name. */
export const withStore = (input: Input) => Store.layer.pipe(Layer.provideMerge(layer(input)))
