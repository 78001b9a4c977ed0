/**
 * JSON that every reader reads the same. Of a name that stands twice in an object some take the first value and some the
 * last, and a number that is not written in digits alone is rounded: what one program shows is not what another signs.
 */
import * as Result from "effect/Result"

/** The rule of a number. */
export const wholeRule = "must be a whole number as decimal or 0x text, or a JSON number up to 2^53 - 1"

/** The place behind a text that begins at `from`: behind the first quotation mark with an even number of \ before it. */
const behind = (text: string, from: number): number => {
  for (let at = text.indexOf('"', from + 1); ; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text[at - 1 - slashes] === "\\") slashes++
    if (slashes % 2 === 0) return at + 1
  }
}

/** The tokens of valid JSON, without words and white space: the beginning of a text, a number, or one character. */
function* tokensOf(text: string): Generator<string> {
  const token = /["{}[\]:]|-?\d[\d.eE+-]*/g
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    if (found[0] === '"') token.lastIndex = behind(text, found.index)
    yield text.slice(found.index, token.lastIndex)
  }
}

/** Text → value; the failure is `name: rule`, of `line` where the text is no JSON. `shown` is a name as errors have it. */
export const parse = (text: string, shown: (name: string) => string): Result.Result<unknown, string> =>
  Result.gen(function* () {
    const value = yield* Result.try({ try: (): unknown => JSON.parse(text), catch: () => "line: must be JSON" })
    /** Names of the objects around a token; a list has none. */
    const around: Array<Set<string>> = []
    let [before, name] = ["", "line"]
    for (const token of tokensOf(text)) {
      if (token === "{" || token === "[") around.push(new Set())
      else if (token === "}" || token === "]") around.pop()
      else if (token === ":") {
        name = JSON.parse(before)
        const names = around.at(-1)!
        if (names.has(name)) return yield* Result.fail(`${shown(name)}: must be given once`)
        names.add(name)
      } else if (token[0] !== '"' && !/^-?\d+$/.test(token)) return yield* Result.fail(`${shown(name)}: ${wholeRule}`)
      before = token
    }
    return value
  })
