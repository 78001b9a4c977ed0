/**
 * How deep the values of a request lie in one another: JSON is read at any depth, and what walks it by recursion, as writing it
 * again does, runs out of the stack at some ten thousand levels.
 */

const maxLevels = 64

export const rule = `must have at most ${maxLevels} levels of objects and lists`

const [quote, backslash, list, listEnd, object, objectEnd] = [...'"\\[]{}'].map((character) => character.charCodeAt(0))

/** Whether values of a JSON text, as bytes of UTF-8, lie deeper. */
export const isTooDeep = (json: Uint8Array): boolean => {
  let level = 0
  let isInText = false
  for (let i = 0; i < json.length; i++) {
    const byte = json[i]
    if (byte === quote) isInText = !isInText
    else if (isInText) i += byte === backslash ? 1 : 0
    else if (byte === list || byte === object) {
      if (++level > maxLevels) return true
    } else if (byte === listEnd || byte === objectEnd) level--
  }
  return false
}
