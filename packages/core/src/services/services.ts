/** All services of core, by their names. */
export { CreditLedger } from "./CreditLedger.ts"
export { Derivation } from "./Derivation.ts"
export { EventMatcher } from "./EventMatcher.ts"
export { Sighash } from "./Sighash.ts"
