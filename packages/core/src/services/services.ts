/** All services of core, by their names. `Secp256k1` for Node stands in a module of its own, `Secp256k1Tiny`. */
export { CreditLedger } from "./CreditLedger.ts"
export { Derivation } from "./Derivation.ts"
export { EventMatcher } from "./EventMatcher.ts"
export { Secp256k1 } from "./Secp256k1.ts"
export { Sighash } from "./Sighash.ts"
