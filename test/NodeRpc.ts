/** Calls of tests to the nodes that they start themselves. */
import * as Effect from "effect/Effect"
import * as NodeHttp from "./NodeHttp.ts"

/** What a node answered instead of a result. */
export class Refused extends Error {
  readonly code: number
  constructor(method: string, code: number, message: string) {
    super(`${method}: ${message}`)
    this.code = code
  }
}

/** One call; numbers are read by `JSON.parse`. Dies with {@link Refused}. The result's type is the caller's word. */
export type Rpc = <A = unknown>(method: string, ...params: ReadonlyArray<unknown>) => Effect.Effect<A>

/** Calls a node at a URL with user and password, with promises. */
export const caller =
  (url: string) =>
  async (path: string, method: string, params: ReadonlyArray<unknown>): Promise<unknown> => {
    const { origin, password, username } = new URL(url)
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`
    const { body } = await NodeHttp.post(
      `${origin}${path}`,
      { authorization },
      JSON.stringify({ id: 1, method, params })
    )
    const { error, result } = JSON.parse(body.toString()) as {
      readonly result: unknown
      readonly error: { readonly code: number; readonly message: string } | null
    }
    if (error) throw new Refused(method, error.code, error.message)
    return result
  }

/** Calls a node at a path below its URL. */
export const rpcAt =
  (url: string, path = "/"): Rpc =>
  <A>(method: string, ...params: ReadonlyArray<unknown>) =>
    Effect.promise(() => caller(url)(path, method, params) as Promise<A>)

/** What the unspent outputs of a node have of these descriptors: the node scans once at a time, and its daemon scans as well. */
export const scan = <A>(rpc: Rpc, descriptors: ReadonlyArray<unknown>): Effect.Effect<A> =>
  rpc<A>("scantxoutset", "start", descriptors).pipe(
    Effect.catchDefect((defect) =>
      defect instanceof Refused && defect.message.includes("already in progress")
        ? Effect.delay(scan<A>(rpc, descriptors), "50 millis")
        : Effect.die(defect)
    )
  )

/** `otherwise` where a node refuses. */
export const orElse = <A>(self: Effect.Effect<A>, otherwise: A): Effect.Effect<A> =>
  Effect.catchDefect(self, (defect) => (defect instanceof Refused ? Effect.succeed(otherwise) : Effect.die(defect)))
