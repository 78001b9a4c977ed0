/** Part of a node's answer that breaks a rule. Thrown while reading one, and a value again at the reader's edge. */
import * as Result from "effect/Result"

export class Malformed extends Error {
  override readonly name = "Malformed"
}

/** Part of a node's answer that does not fit what commits to it. */
export class Mismatch extends Error {
  override readonly name = "Mismatch"
}

/** Refuses a field: `tx[3].vout[0].value` and the rule that it breaks. */
export const refuse = (field: string, rule: string): never => {
  throw new Malformed(`${field} ${rule}`)
}

/** What `read` returns, or the message of what it refused; a defect stays a defect. */
export const reading = <A>(read: () => A): Result.Result<A, string> =>
  Result.try({
    try: read,
    catch: (error) => {
      if (error instanceof Malformed) return error.message
      throw error
    }
  })
