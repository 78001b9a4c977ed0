/**
 * What the record of a chain lacks, or has on a node's word alone: the one list that `headwater status`, `replay` and
 * `doctor`, the console and the metrics show. What answers make of gaps is `store/chain/RecordGaps`.
 */
import type * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Proof from "../families/node/Proof.ts"
import * as MissingParts from "../store/chain/MissingParts.ts"
import * as NotUnderstood from "../store/chain/NotUnderstood.ts"
import * as SkippedBlocks from "../store/chain/SkippedBlocks.ts"
import * as UnresolvedEvents from "../store/subscriptions/UnresolvedEvents.ts"

/** In words, for the operator. */
interface Told {
  readonly message: string
}

/** What the store says; undefined, or empty, where nothing is lacking. */
export interface GapReport {
  readonly skipped: ReadonlyArray<SkippedBlocks.SkippedBlocks & Told>
  readonly missing: (MissingParts.MissingInternal & Told) | undefined
  readonly notUnderstood: (NotUnderstood.Count & Told) | undefined
  readonly unresolved: (UnresolvedEvents.Count & Told) | undefined
}

const told = <A>(found: A | undefined, describe: (found: A) => string) =>
  found === undefined ? undefined : { ...found, message: describe(found) }

/** The gaps of a chain, by its store. */
export const of = Effect.fn("GapReport.of")(function* (chain: Chain.Chain) {
  return {
    skipped: (yield* SkippedBlocks.of(chain)).map((found) => ({
      ...found,
      message: SkippedBlocks.describe(chain, found)
    })),
    missing: told(yield* MissingParts.missingInternal(chain), (found) => MissingParts.describe(chain, found)),
    notUnderstood: told(yield* NotUnderstood.count(chain), (found) => NotUnderstood.describe(chain, found)),
    unresolved: told(yield* UnresolvedEvents.count(chain), UnresolvedEvents.describe)
  } satisfies GapReport
})

/** A gap for the operator, and what closes it. */
export interface Gap extends Told {
  readonly kind: keyof GapReport | "unproven"
  readonly advice: string
}

const advice: Record<Gap["kind"], string> = {
  skipped: "add a node that has them, if they are wanted",
  missing:
    "add a node to the chain's nodes that keeps the state of these blocks (an archive node), with the same tracer",
  unproven: "docs/chains says of each part how it is proved elsewhere",
  notUnderstood: "upgrade Headwater, then replay these blocks",
  unresolved: "set txindex=1 at one of the chain's nodes"
}

/** Every gap; with what the daemon has committed without proof since its start, where that is known. */
export const list = (
  { missing, notUnderstood, skipped, unresolved }: GapReport,
  unproven: ReadonlyArray<Proof.Unproven> = []
): ReadonlyArray<Gap> => {
  const gaps = (kind: Gap["kind"], found: ReadonlyArray<Told | undefined>) =>
    found.flatMap(
      (one): ReadonlyArray<Gap> => (one === undefined ? [] : [{ kind, message: one.message, advice: advice[kind] }])
    )
  return [
    ...gaps("skipped", skipped),
    ...gaps("missing", [missing]),
    ...gaps(
      "unproven",
      unproven.map((part) => ({ message: Proof.describe(part) }))
    ),
    ...gaps("notUnderstood", [notUnderstood]),
    ...gaps("unresolved", [unresolved])
  ]
}
