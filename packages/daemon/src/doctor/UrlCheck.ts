/** Looks at a node by its URL alone, as the doctor does, before there are settings with it. */
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Settings from "../settings/Settings.ts"
import type { Finding } from "./Finding.ts"
import * as NodeCheck from "./NodeCheck.ts"

/** What there is to say of the node with the chain's default settings; undefined where the settings refuse the URL. */
export const check = Effect.fn("UrlCheck.check")(function* (chain: Chain.Chain, url: string) {
  const decoded = yield* Effect.option(
    Schema.decodeEffect(Settings.schema)({ chains: { [Chain.nameOf(chain)]: { nodes: [url] } } })
  )
  if (decoded._tag === "None") return undefined
  const [own] = Settings.chains(decoded.value)
  const found = yield* Effect.forEach(own!.settings.nodes, (node) =>
    NodeCheck.check(chain, own!.settings, node, undefined)
  )
  return found.flat() satisfies ReadonlyArray<Finding>
})
