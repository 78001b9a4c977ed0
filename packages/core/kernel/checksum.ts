/** The kernel of checksums: a hash alone, so that it is small wherever addresses are written. */
export { keccak } from "./keccak"
export { begin, reach } from "./memory"
