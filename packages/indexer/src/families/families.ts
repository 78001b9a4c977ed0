/** The families that Headwater knows, each a value at the top of its folder. */
import type * as Chain from "@headwater/core/chains/Chain"
import type { FamilyName } from "@headwater/core/families/families"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { EvmFamily } from "./evm/EvmFamily.ts"
import type { ConnectedNode, Family, NodeSettings } from "./Family.ts"
import * as BytesInFlight from "./node/BytesInFlight.ts"
import type { NodeError } from "./node/NodeError.ts"
import type { NodeFinding } from "./node/NodeFinding.ts"
import * as SecondLook from "./SecondLook.ts"
import type { Source } from "./Source.ts"
import { TronFamily } from "./tron/TronFamily.ts"
import { UtxoFamily } from "./utxo/UtxoFamily.ts"
import { XrpFamily } from "./xrp/XrpFamily.ts"

const families = { evm: EvmFamily, tron: TronFamily, utxo: UtxoFamily, xrp: XrpFamily } satisfies Record<
  FamilyName,
  Family
>

/**
 * The family of a chain.
 *
 * @example
 * ```ts
 * import * as Chain from "@headwater/core/chains/Chain"
 * import * as Families from "@headwater/indexer/families/families"
 * import * as Result from "effect/Result"
 *
 * const xrp = Result.getOrThrow(Chain.find("xrp", "mainnet"))
 * Families.of(xrp).urlSchemes // => ["ws", "wss", "http", "https"]
 * ```
 */
export const of = (chain: Chain.Chain): Family => families[chain.family]

type Fields<F = (typeof families)[FamilyName]["settings"]> = F extends unknown ? (fields: F) => void : never

/** Settings that chains of some family have. */
type AllFields = Fields extends (fields: infer All) => void ? All : never

/** The fields of a chain's family. The fields of all families are optional, so that the type may have them all. */
export const settingsOf = (chain: Chain.Chain) => families[chain.family].settings as AllFields

/** Connects to the nodes of a chain until the scope closes, and finds out what they can do. */
export const connect = (
  chain: Chain.Chain,
  settings: NodeSettings
): Effect.Effect<ConnectedNode, NodeError, Scope.Scope> =>
  Effect.gen(function* () {
    const access = yield* Effect.promise(of(chain).nodeAccess)
    const bytesInFlight = BytesInFlight.make(settings.bytesInFlight ?? BytesInFlight.defaultLimit)
    const connected = yield* Effect.provideService(
      access.connect(chain, settings),
      BytesInFlight.Current,
      bytesInFlight
    )
    const { sideSources, source } = connected
    const { wholeBlockAt } = sideSources
    const bounded: Source = {
      ...source,
      blockAt: (height) => bytesInFlight.block(source.blockAt(height)),
      ...(source.byEach && { byEach: (height: number) => source.byEach!(height).map(bytesInFlight.block) })
    }
    return {
      ...connected,
      source: SecondLook.of(bounded),
      sideSources:
        wholeBlockAt === undefined
          ? sideSources
          : { ...sideSources, wholeBlockAt: (height) => bytesInFlight.block(wholeBlockAt(height)) }
    }
  })

/** What the first of a chain's nodes says of itself, for `doctor`. */
export const selfReport = (
  chain: Chain.Chain,
  settings: NodeSettings
): Effect.Effect<ReadonlyArray<NodeFinding>, NodeError, Scope.Scope> =>
  Effect.flatMap(Effect.promise(of(chain).nodeAccess), (access) => access.selfReport(chain, settings))

/** Whether a chain's nodes announce blocks, for `doctor`; nothing where the family has nothing to tell. */
export const announcementReport = (
  chain: Chain.Chain,
  settings: NodeSettings
): Effect.Effect<ReadonlyArray<NodeFinding>, never, Scope.Scope> =>
  Effect.flatMap(
    Effect.promise(of(chain).nodeAccess),
    ({ announcementReport }) => announcementReport?.(chain, settings) ?? Effect.succeed([])
  )
