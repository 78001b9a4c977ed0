/**
 * Keeps a chain followed: what fails is started again, so that a broken node, or a defect in the code that reads the node,
 * ends nothing.
 */
import * as Chain from "@headwater/core/chains/Chain"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { ChainStatus } from "../families/node/ChainStatus.ts"
import { WrongNetwork } from "./ChainConnection.ts"
import { UnrecoverableFork } from "./Fork.ts"

/** Waits before a chain is started again: doubling from one second, at most 30 seconds. */
const restarts = Schedule.min([Schedule.exponential("1 second"), Schedule.spaced("30 seconds")])

/** Where only an operator can help. */
export type Stopped = UnrecoverableFork | WrongNetwork

const isStopped = (error: unknown): error is Stopped =>
  error instanceof UnrecoverableFork || error instanceof WrongNetwork

/**
 * Runs what follows a chain, again after each failure. Fails where only an operator can help; the chain's status says so.
 */
export const keepFollowing = Effect.fnUntraced(function* <E extends { readonly message: string }, R>(
  chain: Chain.Chain,
  follow: Effect.Effect<never, E, R>
) {
  const statuses = yield* ChainStatus
  const report = (state: "failing" | "stopped", message: string) =>
    Effect.map(Clock.currentTimeMillis, (now) => statuses.update(chain, { state, message }, now))
  // The log says once why a chain has stopped, however often the chain is looked at since.
  const isSaid = (message: string) => {
    const status = statuses.get(chain)
    return status?.state === "stopped" && status.message === message
  }

  return yield* follow.pipe(
    Effect.tapError((error) =>
      isStopped(error)
        ? isSaid(error.message)
          ? Effect.void
          : Effect.andThen(report("stopped", error.message), Effect.logError(error.message))
        : Effect.andThen(report("failing", error.message), Effect.logWarning(`Cannot follow: ${error.message}`))
    ),
    Effect.tapDefect((defect) =>
      Effect.andThen(
        report("failing", "Unexpected failure; the log has it"),
        Effect.logError("Failed", Cause.die(defect))
      )
    ),
    Effect.catchDefect((defect) => Effect.fail(defect)),
    Effect.retry({ schedule: restarts, while: (error) => !isStopped(error) }),
    Effect.catchIf(
      (error) => !isStopped(error),
      (error) => Effect.die(error)
    ),
    Effect.annotateLogs({ chain: Chain.nameOf(chain) })
  ) as Effect.Effect<never, Stopped, R>
})

/** How soon a chain that has stopped is looked at again. */
const lookAgain = "1 minute"

/**
 * As {@link keepFollowing}, and goes on once the operator has acted where a chain had stopped: the node behind the URL is the
 * right one again, or the chain was rewound beside this process.
 */
export const keepFollowingForGood = <E extends { readonly message: string }, R>(
  chain: Chain.Chain,
  follow: Effect.Effect<never, E, R>
) =>
  keepFollowing(chain, follow).pipe(
    Effect.catch(() => Effect.sleep(lookAgain)),
    Effect.forever
  )
