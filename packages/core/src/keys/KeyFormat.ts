/** How an address is made of one public key. */
import type { Affine } from "./BaseMultiples.ts"

export interface KeyFormat<Name extends string = string> {
  /** As responses name the format. */
  readonly name: Name
  /** Public keys → canonical bytes of their addresses; undefined where there is no key, or the format has none for it. */
  readonly addresses: (points: ReadonlyArray<Affine | undefined>) => ReadonlyArray<Uint8Array | undefined>
  /** The addresses of keys as an output descriptor (BIP-380), where nodes read one. */
  readonly descriptor?: (keys: string) => string
}

/** The addresses of a format that makes each address by itself. */
export const each =
  (one: (point: Affine) => Uint8Array): KeyFormat["addresses"] =>
  (points) =>
    points.map((point) => point && one(point))
