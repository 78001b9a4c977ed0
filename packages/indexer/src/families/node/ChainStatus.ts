/** The status of each followed chain, for readiness, metrics and the console: in memory, written by the sync loop. */
import * as Chain from "@headwater/core/chains/Chain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Unproven } from "./Proof.ts"

/**
 * `starting`: no answer from the node yet; `syncing`: behind the head; `following`: at the head; `failing`: the last
 * attempt failed and is tried again; `stopped`: an operator has to act.
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
  /** What of the blocks committed since the start no hash, root or signature proves. */
  readonly unproven: ReadonlyArray<Unproven>
  /** When `state` was entered, in milliseconds since the Unix epoch. */
  readonly since: number
}

export class ChainStatus extends Context.Service<
  ChainStatus,
  {
    readonly get: (chain: Chain.Chain) => Status | undefined
    readonly all: Effect.Effect<ReadonlyArray<Status>>
    readonly update: (chain: Chain.Chain, change: Partial<Omit<Status, "chain">>, now: number) => void
  }
>()("@headwater/indexer/families/node/ChainStatus") {
  static readonly layer = Layer.sync(ChainStatus, () => {
    const statuses = new Map<string, Status>()
    return ChainStatus.of({
      get: (chain) => statuses.get(Chain.nameOf(chain)),
      all: Effect.sync(() => [...statuses.values()]),
      update: (chain, change, now) => {
        const before: Status = statuses.get(Chain.nameOf(chain)) ?? {
          chain,
          state: "starting",
          message: undefined,
          height: undefined,
          head: undefined,
          committedAt: undefined,
          blockTime: undefined,
          unproven: [],
          since: now
        }
        const since = change.state === undefined || change.state === before.state ? before.since : now
        statuses.set(Chain.nameOf(chain), { ...before, ...change, since })
      }
    })
  })
}
