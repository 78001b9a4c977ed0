/** A clock that all processes of the machine share, and that no step of the wall clock moves. */

/** Milliseconds, with fractions, since a moment that is the same for every process. */
export const millis = () => Number(process.hrtime.bigint()) / 1e6

/** How far `millis` is ahead of `performance.now()` in this process. */
export const offset = millis() - performance.now()
