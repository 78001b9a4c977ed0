import type * as Redacted from "effect/Redacted"

/** Where the store is kept. */
export type Location =
  | { readonly kind: "sqlite"; readonly file: string }
  | { readonly kind: "postgres"; readonly url: Redacted.Redacted; readonly connections: number }
