/** The logs of a chain: one for each kind of transfer. */
import type { Transfer } from "@headwater/core/Block"

export type Kind = Transfer["kind"]

/** The transfer type of a kind. */
export type TransferOf<K extends Kind> = Extract<Transfer, { readonly kind: K }>

export const kinds: ReadonlyArray<Kind> = ["coin", "token", "internal"]

/** The number under which a chain's transfers of one kind are kept. */
export const logOf = (chain: number, kind: Kind): number => chain * 4 + kinds.indexOf(kind)
