/** What the page asks of the daemon, and who asks. */
import { useEffect, useReducer, useState } from "/hooks.js"

/** The session, once there is one: its user, role, account, the routes that it may call, and how the program is called. */
export const session = { user: "", role: "", account: null, may: [], command: null }

/** Whether the session may call a route, as "GET /api/accounts/:account". */
export const may = (route) => /** @type {string[]} */ (session.may).includes(route)

/** Shows a message for some seconds, which is also read aloud. */
export const say = (text) => dispatchEvent(new CustomEvent("said", { detail: text }))

/** How long an answer may take: a connection that was lost on its way says nothing of itself. What is done may take longer. */
const patienceMillis = 30_000

/** Asks the daemon, with a body where something is to be done; throws an Error with the daemon's words, and the `status`. */
export const ask = async (path, body) => {
  const headers = { "content-type": "application/json" }
  const request =
    body === undefined
      ? { signal: AbortSignal.timeout(patienceMillis) }
      : { method: "POST", headers, body: JSON.stringify(body) }
  const silent = () => {
    throw new Error("The daemon does not answer")
  }
  const response = await fetch(path, request).catch(silent)
  const { ok, status } = response
  // A refusal by a proxy has words of another form.
  const answer = await response.json().catch(ok ? silent : () => ({}))
  if (ok) return answer
  if (status === 401 && path !== "/api/login") dispatchEvent(new Event("loggedout"))
  throw Object.assign(new Error(answer.error ?? `The daemon answered ${status}`), { status })
}

/** As `ask`; where that fails, the daemon's words are shown, and there is no answer. */
export const askOrSay = (path, body) =>
  ask(path, body).catch((error) => {
    say(error.message)
  })

/** The path of a route, with the values of its parameters. */
export const pathOf = (route, values = {}) =>
  route.replace(/^\w+ /, "").replace(/:(\w+)/g, (_, name) => encodeURIComponent(values[name]))

/** What the daemon answers, asked again every so often: `answer` and when it came, `error` of the last question. */
export const useAnswer = (path, everyMillis = 0) => {
  const [found, set] = useState(/** @type {any} */ ({}))
  const [turn, again] = useReducer((turn) => turn + 1, 0)
  useEffect(() => {
    let over = false
    let timer = 0
    const step = async () => {
      let next = everyMillis
      try {
        if (!document.hidden || turn === 0) {
          const answer = await ask(path)
          if (!over) set({ answer, at: Date.now() })
        }
      } catch (error) {
        next = 3_000
        if (!over) set((before) => ({ ...before, error }))
      }
      if (!over && next > 0) timer = setTimeout(step, next)
    }
    step()
    return () => {
      over = true
      clearTimeout(timer)
    }
  }, [path, turn])
  return { ...found, again: () => again(undefined) }
}
