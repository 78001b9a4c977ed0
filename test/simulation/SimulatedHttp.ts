/** HTTP without sockets, at the level of undici's dispatchers: the program's own client code runs above it. */
import type { Dispatcher } from "undici"
import type { SimulatedTime } from "./SimulatedTime.ts"

export interface Request {
  readonly origin: string
  readonly path: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Response {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
}

/** How an exchange ends: an answer, an error of the connection, or nothing at all. */
export type Ending = Response | Error | undefined

export interface Exchange {
  readonly request: Request
  /** Ends the exchange now. */
  readonly end: (ending: Ending) => void
  /** Whether the client has given up. */
  readonly isOver: () => boolean
}

/** A dispatcher whose exchanges are led by `lead`. */
export const dispatcher = (
  time: SimulatedTime,
  origin: string | undefined,
  lead: (exchange: Exchange) => void
): Pick<Dispatcher, "dispatch"> => ({
  dispatch: (options, handler) => {
    let over = false
    const controller = {
      aborted: false,
      paused: false,
      reason: null,
      rawHeaders: null,
      rawTrailers: null,
      pause: () => {},
      resume: () => {},
      abort: (reason: Error) => {
        if (over) return
        over = true
        time.after(0, () => handler.onResponseError?.(controller as never, reason))
      }
    }
    const end = (ending: Ending) => {
      if (over || ending === undefined) return
      if (ending instanceof Error) {
        over = true
        handler.onResponseError?.(controller as never, ending)
        return
      }
      handler.onResponseStart?.(controller as never, ending.status, { ...ending.headers }, "")
      // The client may have had enough of it.
      if (over) return
      if (ending.body !== "") handler.onResponseData?.(controller as never, Buffer.from(ending.body))
      if (over) return
      over = true
      handler.onResponseEnd?.(controller as never, {})
    }
    const { body, headers, method, path } = options
    time.after(0, () => {
      handler.onRequestStart?.(controller as never, {})
      if (over) return
      lead({
        request: {
          origin: origin ?? String(options.origin),
          path,
          method: method as string,
          headers: headers as Record<string, string>,
          body: (body ?? "") as string
        },
        end,
        isOver: () => over
      })
    })
    return true
  }
})

/** An error of the system's, as a socket has it. */
export const systemError = (code: string, message = code): Error => Object.assign(new Error(message), { code })
