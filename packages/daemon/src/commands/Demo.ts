/** `headwater demo`: what `npm start` runs. */
import { readFileSync } from "node:fs"
import { findPackageJSON } from "node:module"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { commandName } from "../CommandName.ts"
import * as Log from "../Log.ts"
import { packageFile } from "../PackageFile.ts"
import { version } from "../Version.ts"
import { stopsCleanly } from "./Serve.ts"

/** Warnings and errors only: the demo prints its own messages. */
const quiet = Log.layer({ format: "pretty", level: "warn" })

/** Packages of the demo alone are not installed. */
export class DemoNotInstalled extends Schema.TaggedError<DemoNotInstalled>()("DemoNotInstalled", {
  /** With their versions. */
  packages: Schema.NonEmptyArray(Schema.String)
}) {
  override get message() {
    const run = [`@headwater/daemon@${version}`, ...this.packages]
    return [
      "The demo needs packages that a production installation does not have. Install them beside this one:",
      `    npm install ${this.packages.join(" ")}`,
      "  or run the demo without installing anything:",
      `    npx ${run.map((name) => `-p ${name}`).join(" ")} headwater demo`,
      `  With a node of your own nothing more is needed: ${commandName} init`
    ].join("\n")
  }
}

/** What the demo alone needs: a chain, and certificates. */
const own = ["@foundry-rs/anvil", "@peculiar/x509", "reflect-metadata"]

const isInstalled = (name: string) => Result.isSuccess(Result.try(() => findPackageJSON(name, import.meta.url)))

const checkInstalled = Effect.suspend(() => {
  if (own.every(isInstalled)) return Effect.void
  const { peerDependencies } = JSON.parse(readFileSync(packageFile("package.json"), "utf8"))
  const [first, ...others] = own.map((name) => `${name}@${peerDependencies[name]}`)
  return Effect.fail(new DemoNotInstalled({ packages: [first!, ...others] }))
})

export const options = {
  console: Flag.Boolean("console").pipe(Flag.withDescription("Open the console in a browser"), Flag.withDefault(false))
}

export const program = ({ console }: { readonly console: boolean }) =>
  checkInstalled.pipe(
    Effect.andThen(Effect.promise(() => import("../demo/Demo.ts"))),
    Effect.flatMap(({ run }) => run({ openConsole: console })),
    Effect.provide(quiet),
    stopsCleanly
  )

export const demo = Command.make("demo", options, program).pipe(
  Command.withDescription(
    "Show Headwater at work on this machine: a development chain, subscriptions, signed callbacks, a reorganisation"
  ),
  Command.withExamples([{ command: "headwater demo --console", description: "With the console in a browser" }])
)
