/** Confirmation arithmetic: a block at the tip has one confirmation. */

/**
 * Confirmations of a block at `height` when the tip is at `tip`; 0 where the block is above the tip.
 *
 * @example
 * ```ts
 * import * as Confirmations from "@headwater/core/events/Confirmations"
 *
 * Confirmations.at(102, 100) // => 3
 * ```
 */
export const at = (tip: number, height: number): number => Math.max(0, tip - height + 1)

/**
 * The tip height at which a block at `height` reaches `confirmations`.
 *
 * @example
 * ```ts
 * import * as Confirmations from "@headwater/core/events/Confirmations"
 *
 * Confirmations.dueHeight(100, 3) // => 102
 * ```
 */
export const dueHeight = (height: number, confirmations: number): number => height + confirmations - 1
