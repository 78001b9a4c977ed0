/** A worker as those see it who give it work: the machine's own, or one that a simulation makes. */
export interface WorkerThread<Request, Reply> {
  readonly ref: () => void
  readonly unref: () => void
  readonly on: {
    (event: "message", listener: (reply: Reply) => void): unknown
    (event: "error", listener: (error: unknown) => void): unknown
    (event: "exit", listener: () => void): unknown
  }
  readonly postMessage: (request: Request, transfer?: ReadonlyArray<ArrayBuffer>) => void
  readonly terminate: () => Promise<unknown>
}
