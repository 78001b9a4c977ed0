/** Answers the POSTs of callbacks: verifies the signature, keeps the event, and only then answers 200. */
import type { IncomingMessage, RequestListener } from "node:http"
import type { DatabaseSync } from "node:sqlite"
import { verifyCallback } from "@headwater/core/Plain"

export interface Event {
  readonly idempotencyKey: string
  readonly data: { readonly event: string; readonly item: unknown }
}

/** A callback is smaller by far. */
const maximumBytes = 1_000_000

/**
 * Keeps events in the table `event` of `database`, and gives each of them to `handle` once, in the transaction that keeps
 * it: where `handle` throws, nothing is kept, and the callback comes again.
 */
export const receiver = (database: DatabaseSync, secret: string, handle: (event: Event) => void): RequestListener => {
  database.exec("create table if not exists event (key text primary key, received integer, body text)")
  const insert = database.prepare("insert or ignore into event values (?, ?, ?)")

  const keep = (key: string, body: string) => {
    database.exec("begin")
    try {
      // The same event may come twice: its key is there then. It is accepted again, and not acted on again.
      if (insert.run(key, Date.now(), body).changes === 1) handle(JSON.parse(body))
      database.exec("commit")
    } catch (error) {
      database.exec("rollback")
      throw error
    }
  }

  /** The status to answer. */
  const receive = async (request: IncomingMessage): Promise<number> => {
    if (request.method !== "POST") return 405
    // The bytes as they came: what is parsed and written again need not be what was signed.
    const chunks: Array<Buffer> = []
    let size = 0
    for await (const chunk of request) {
      size += chunk.length
      if (size > maximumBytes) return 413
      chunks.push(chunk)
    }
    const body = Buffer.concat(chunks)
    let key: string
    try {
      key = verifyCallback(request.headers, body, [secret], Date.now() / 1000).id
    } catch (error) {
      console.error(`Refused: ${(error as Error).message}`)
      return 401
    }
    keep(key, body.toString("utf8"))
    return 200
  }

  return (request, response) => {
    receive(request).then(
      (status) => response.writeHead(status).end(),
      (error: unknown) => {
        console.error(error)
        response.destroy()
      }
    )
  }
}
