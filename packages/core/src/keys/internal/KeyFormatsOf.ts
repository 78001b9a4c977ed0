/** The formats in which a chain pays to one public key. */
import { type FamilyFacts, type FamilyName, families } from "../../families/families.ts"

/** The formats of a family's chain by the chain's own facts, the default first. */
export const keyFormatsOf = <Name extends FamilyName>(family: Name, facts: Partial<FamilyFacts>) =>
  families[family].keyFormatsOf(facts[family]!)
