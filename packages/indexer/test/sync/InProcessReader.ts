/** Threads that read blocks without being threads: the same program in this process, whose messages go as `deliver` has them. */

import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { ReaderMachine, Thread } from "../../src/sync/internal/ReaderMachine.ts"
import type { Request } from "../../src/sync/internal/ReaderMessage.ts"
import * as ReaderProgram from "../../src/sync/internal/ReaderProgram.ts"

type Listener = (value: never) => void

export interface InProcessThread extends Thread {
  /** Ends as a thread does whose memory does not suffice. */
  readonly crash: () => void
}

/** Starts such a thread; the program has the services of `context`. */
export const start = (
  context: Context.Context<never>,
  deliver: (message: () => void) => void,
  cloned: <A>(message: A, transfer?: ReadonlyArray<ArrayBuffer>) => A = (message, transfer = []) =>
    structuredClone(message, { transfer: [...transfer] })
): InProcessThread => {
  const listeners = new Map<string, Listener>()
  let isOver = false
  const tell = (event: string, value?: unknown) =>
    (listeners.get(event) as ((value: unknown) => void) | undefined)?.(value)
  let serving: ((request: Request) => void) | undefined
  const port: ReaderProgram.Port = {
    on: (_, listener) => {
      serving = listener
    },
    postMessage: (reply, transfer) => {
      if (isOver) return
      const message = cloned(reply, transfer)
      deliver(() => {
        if (!isOver) tell("message", message)
      })
    }
  }
  const fiber = Effect.runForkWith(context)(ReaderProgram.serve(port))
  const end = () => {
    isOver = true
    return Effect.runPromise(Fiber.interrupt(fiber))
  }
  return {
    ref: () => {},
    unref: () => {},
    on: ((event: string, listener: Listener) => {
      listeners.set(event, listener)
    }) as Thread["on"],
    postMessage: (request) => {
      if (isOver) return
      const message = cloned(request)
      deliver(() => {
        if (!isOver) serving?.(message)
      })
    },
    terminate: end,
    crash: () => {
      void end()
      tell(
        "error",
        Object.assign(new Error("heap out of memory at http://user:secret@node"), { code: "ERR_WORKER_OUT_OF_MEMORY" })
      )
      tell("exit")
    }
  }
}

export type Machine = typeof ReaderMachine.Service
