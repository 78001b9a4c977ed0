/** Confirmation arithmetic: a block at the tip has one. */

/** Confirmations of a block at `height` when the tip is at `tip`; 0 where the block is above the tip. */
export const at = (tip: number, height: number): number => Math.max(0, tip - height + 1)

/** The tip height at which a block at `height` reaches `confirmations`. */
export const dueHeight = (height: number, confirmations: number): number => height + confirmations - 1
