/**
 * The modules that programs embed, a namespace each; every module is an entry point of its own beside that. The services have their
 * names under `Services`, since the modules of their pure functions are called the same.
 */
export * as Address from "./address/Address.ts"
export * as Amount from "./Amount.ts"
export type { Block, Transfer } from "./Block.ts"
export * as Chain from "./chains/Chain.ts"
export * as Callback from "./events/Callback.ts"
export * as Matcher from "./events/Matcher.ts"
export * as Payers from "./events/Payers.ts"
export * as Signature from "./events/Signature.ts"
export * as Watched from "./events/Watched.ts"
export * as Sighash from "./evm/Sighash.ts"
export * as Derivation from "./keys/Derivation.ts"
export * as Descriptor from "./keys/Descriptor.ts"
export * as ExtendedPublicKey from "./keys/ExtendedPublicKey.ts"
export * as Services from "./services/services.ts"
