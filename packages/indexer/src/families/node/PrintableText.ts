/** Words of a node, as a person may be shown them: of bounded length, and without what a terminal obeys. */

/** The first `length` characters; control characters are blanks. Of a longer text twice as many are looked at. */
export const of = (text: string, length: number): string =>
  text
    .slice(0, length * 2)
    .replace(/\p{Cc}+/gu, " ")
    .slice(0, length)
