/** Blocks in a row, and how they are called in messages. */

export interface BlockRange {
  /** The first and the last height. */
  readonly from: number
  readonly to: number
}

/** `7`, or `7 to 9`. */
export const heights = ({ from, to }: BlockRange): string => (from === to ? `${from}` : `${from} to ${to}`)

/** `block 7`, or `blocks 7 to 9`. */
export const describe = (range: BlockRange): string =>
  `${range.from === range.to ? "block" : "blocks"} ${heights(range)}`

/** How many blocks there are. */
export const count = ({ from, to }: BlockRange): number => to - from + 1
