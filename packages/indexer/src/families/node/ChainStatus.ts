/** The status of each followed chain, for readiness, metrics and the console: in memory, written by the sync loop. */
import * as Chain from "@headwater/core/chains/Chain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as CommitRate from "./internal/CommitRate.ts"
import type { Resting } from "./Failover.ts"
import type { Unproven } from "./Proof.ts"

/**
 * `starting`: no answer from the node yet; `syncing`: catching up; `following`: at the head; `failing`: an attempt
 * failed, and none since has committed a block or found the head committed; `stopped`: an operator has to act.
 */
export type State = "starting" | "syncing" | "following" | "failing" | "stopped"

export interface Status {
  readonly chain: Chain.Chain
  readonly state: State
  /** Why the chain fails or has stopped; undefined where nothing is wrong. */
  readonly message: string | undefined
  /** The last committed height. */
  readonly height: number | undefined
  /** The node's head, as last seen. */
  readonly head: number | undefined
  /** When everything that the node had was last committed, in milliseconds since the Unix epoch. */
  readonly atHeadAt?: number | undefined
  /** When the last block was committed, and its own time: milliseconds and seconds since the Unix epoch. */
  readonly committedAt: number | undefined
  readonly blockTime: number | undefined
  /**
   * What of the blocks committed since the start no hash, root or signature proves; undefined where another daemon follows
   * the chain.
   */
  readonly unproven: ReadonlyArray<Unproven> | undefined
  /** Why it is not proved that the chain's node is on the chain's network; undefined where it is. */
  readonly networkDoubt?: string | undefined
  /** Blocks committed a second, over the last minute at most; undefined where nothing was committed of late. */
  readonly perSecond?: number | undefined
  /** The nodes that are not asked at present, since they lied or stand still. */
  readonly resting: ReadonlyArray<Resting>
  /** When `state` was entered, in milliseconds since the Unix epoch. */
  readonly since: number
}

export class ChainStatus extends Context.Service<
  ChainStatus,
  {
    readonly get: (chain: Chain.Chain) => Status | undefined
    readonly all: Effect.Effect<ReadonlyArray<Status>>
    readonly update: (chain: Chain.Chain, change: Partial<Omit<Status, "chain" | "perSecond">>, now: number) => void
  }
>()("@headwater/indexer/families/node/ChainStatus") {
  static readonly layer = Layer.sync(ChainStatus, () => {
    const statuses = new Map<string, Status>()
    const rates = new Map<string, CommitRate.CommitRate>()
    const rateOf = (name: string) => {
      const rate = rates.get(name) ?? CommitRate.make()
      rates.set(name, rate)
      return rate
    }
    return ChainStatus.of({
      get: (chain) => statuses.get(Chain.nameOf(chain)),
      all: Effect.sync(() => [...statuses.values()]),
      update: (chain, change, now) => {
        const name = Chain.nameOf(chain)
        const before: Status = statuses.get(name) ?? {
          chain,
          state: "starting",
          message: undefined,
          height: undefined,
          head: undefined,
          committedAt: undefined,
          blockTime: undefined,
          unproven: [],
          resting: [],
          since: now
        }
        const since = change.state === undefined || change.state === before.state ? before.since : now
        const perSecond = change.height === undefined ? before.perSecond : rateOf(name)(change.height, now)
        statuses.set(name, { ...before, ...change, since, perSecond })
      }
    })
  })
}
