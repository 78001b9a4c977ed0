/** The id of a kernel of Litecoin's MWEB, which is that of a transaction without any other part (LIP-4). */
import { blake3 } from "@noble/hashes/blake3.js"

/** Of the kernel's bytes, in the order in which ids are written. */
export const of = (kernel: Uint8Array): Uint8Array => blake3(kernel).reverse()
