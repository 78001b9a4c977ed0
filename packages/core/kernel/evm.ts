/** The kernel of EVM chains. */
import { begin, reach } from "./memory"

export { keccak } from "./keccak"
export { begin, reach }
