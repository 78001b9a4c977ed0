/**
 * Sessions of a real PostgreSQL server, each of whose calls ends before anything else happens in the simulation: the
 * thread that has the connections is waited for, while simulated time stands still.
 */
import { MessageChannel, receiveMessageOnPort, Worker } from "node:worker_threads"

export interface Released {
  readonly session: number
  readonly answer: Uint8Array
}

export interface Exchanged {
  /** Undefined where the statement waits for a lock: its answer comes among those released by a later one. */
  readonly answer: Uint8Array | undefined
  /** Answers of other sessions, which had waited for a lock that this one let go. */
  readonly released: ReadonlyArray<Released>
}

export interface Methods {
  /** A new session of a database, with a seed of its own for random numbers from -1 to 1. */
  readonly open: (database: string, seed: number) => number
  /** Sends a client's message, and gives what the server answers. */
  readonly exchange: (session: number, message: Uint8Array) => Exchanged
  /** Ends the statement that waits for a lock. */
  readonly cancel: (session: number) => Exchanged
  /** What a select finds that is committed. */
  readonly rows: (database: string, sql: string) => ReadonlyArray<unknown>
  /** Ends all sessions of a database. */
  readonly close: (database: string) => void
  /** Runs a statement on the server's own database. */
  readonly administer: (statement: string) => void
}

export interface PostgresSessions extends Methods {
  readonly end: () => Promise<void>
}

/** Bytes as `pg` gives them: a message between threads has made them plain ones. */
const asBuffers = (row: unknown) =>
  Object.fromEntries(
    Object.entries(row as object).map(([name, value]) => [
      name,
      value instanceof Uint8Array ? Buffer.from(value) : value
    ])
  )

export const make = (url: string): PostgresSessions => {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  const { port1, port2 } = new MessageChannel()
  const worker = new Worker(new URL("./PostgresSessions.worker.ts", import.meta.url), {
    workerData: { cell, port: port2, url },
    transferList: [port2]
  })
  worker.unref()
  const call =
    <M extends keyof Methods>(method: M) =>
    (...args: Parameters<Methods[M]>): ReturnType<Methods[M]> => {
      worker.postMessage({ method, args })
      let received: { readonly message: unknown } | undefined
      for (;;) {
        Atomics.store(cell, 0, 0)
        received = receiveMessageOnPort(port1)
        if (received !== undefined) break
        // Also the notification of the call before may end this, where the worker was held up behind its answer.
        if (Atomics.wait(cell, 0, 0, 60_000) === "timed-out") throw new Error(`PostgreSQL did not end: ${method}`)
      }
      const reply = received.message as { readonly value: never } | { readonly error: string }
      if ("error" in reply) throw new Error(reply.error)
      return reply.value
    }
  const rows = call("rows")
  return {
    open: call("open"),
    exchange: call("exchange"),
    cancel: call("cancel"),
    rows: (database, sql) => rows(database, sql).map(asBuffers),
    close: call("close"),
    administer: call("administer"),
    end: async () => void (await worker.terminate())
  }
}
