import type { Record } from "../Record.ts"

/** Says in words how a story breaks a promise, each time that it does. */
export type Judge = (record: Record) => ReadonlyArray<string>
