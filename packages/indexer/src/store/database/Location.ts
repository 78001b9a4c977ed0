import type * as Redacted from "effect/Redacted"

/**
 * Where the store is kept. `synchronous`: what `Database.flush` gives of a SQLite store, `full` if not given.
 * `cacheMegabytes`: how much of a SQLite file each of two connections keeps in memory. `secretKeys`: the keys that its callback secrets are encrypted with, as
 * `database/SecretKeys` reads them; if not given, those of a file, which is made where there is none.
 */
export type Location =
  | {
      readonly kind: "sqlite"
      readonly file: string
      readonly synchronous?: "full" | "normal" | undefined
      readonly cacheMegabytes?: number | undefined
      readonly secretKeys?: Redacted.Redacted | undefined
    }
  | {
      readonly kind: "postgres"
      readonly url: Redacted.Redacted
      readonly connections: number
      readonly secretKeys?: Redacted.Redacted | undefined
    }
