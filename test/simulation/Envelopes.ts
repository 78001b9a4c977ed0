/** How the nodes of each family are asked, and how they answer, refusals included. */
import { RpcError } from "../../packages/indexer/test/FakeNode.ts"
import type { Request, Response } from "./SimulatedHttp.ts"

/** Answers a request by what the node says to each question of it. */
export type Envelope = (
  request: Pick<Request, "body" | "path">,
  answer: (method: string, params: ReadonlyArray<unknown>) => unknown
) => Response

const ok = (json: unknown): Response => ({ status: 200, body: JSON.stringify(json) })

/** What was answered, or how it was refused. */
const orRefusal = <A>(answer: () => A, refused: (error: RpcError) => A): A => {
  try {
    return answer()
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    return refused(error)
  }
}

/** JSON-RPC 2.0, one call or several. */
export const jsonRpc: Envelope = ({ body }, answer) => {
  const one = ({ id, method, params }: { id: number; method: string; params: ReadonlyArray<unknown> }) =>
    orRefusal(
      (): object => ({ jsonrpc: "2.0", id, result: answer(method, params) }),
      ({ code, message }) => ({ jsonrpc: "2.0", id, error: { code, message } })
    )
  const request = JSON.parse(body)
  return ok(Array.isArray(request) ? request.map(one) : one(request))
}

/** rippled's JSON-RPC, whose errors are names within the result. */
export const rippled: Envelope = ({ body }, answer) => {
  const { method, params } = JSON.parse(body)
  const result = orRefusal(
    (): object => ({ ...(answer(method, params) as object), status: "success" }),
    ({ code, message }) => ({ error: message, error_code: code, error_message: message, status: "error" })
  )
  return ok({ result })
}

/** A path for each method, as java-tron has them: one that a node has not is not found. */
export const paths: Envelope = ({ body, path }, answer) =>
  orRefusal(
    () => ok(answer(path, [JSON.parse(body)])),
    ({ code }) => ({ status: code, body: "<html>Not Found" })
  )
