/** Requests to nodes by `node:http`: a `fetch` takes as much of the processor as the node takes to answer. */
import { Agent, type OutgoingHttpHeaders, request } from "node:http"
import { buffer } from "node:stream/consumers"

export interface Answer {
  readonly status: number
  readonly body: Buffer
}

/** Connections that nothing used for so long are closed, before a node closes them. */
const agent = new Agent({ keepAlive: true, timeout: 4_000 })

/** A node that hangs is told of: the test that waits for the node would say nothing of that. */
const silenceMillis = 60_000

/** Sends a body, and reads the whole answer. */
export const post = (url: string, headers: OutgoingHttpHeaders, body: string | Buffer): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { agent, method: "POST", headers }, (response) => {
      buffer(response).then((body) => resolve({ status: response.statusCode!, body }), reject)
    })
    sent.setTimeout(silenceMillis, () =>
      sent.destroy(new Error(`${url} has not answered for ${silenceMillis / 1000} s`))
    )
    sent.once("error", reject).end(body)
  })
