/** Names, symbols and decimals of token contracts: from the record, and from the node where the record has none yet. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import type { TokenMetadata } from "@headwater/core/events/Callback"
import type { Source } from "@headwater/indexer/families/Source"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"

/** Contracts that a node is asked for in one go: their answers are kept even if the next go fails. */
const atOnce = 100

/**
 * A contract of a block that the record does not have may not be there yet, by the node that was asked, and says nothing then; one
 * that the record has may have said nothing to a node that was busy.
 */
const isSaid = ({ decimals, name, symbol }: TokenMetadata) => decimals !== undefined || name !== "" || symbol !== ""

/**
 * Metadata by the key of the contract; those of which the record knows nothing are asked for. `height` is that of the record, or of a younger block that speaks of the contracts: the
 * node has to have it, and what contracts say of themselves is kept as of it. Without a node that can be asked, contracts that the
 * record does not know are absent.
 */
export const find = Effect.fn("TokenNames.find")(function* (
  record: ChainReader,
  { tokenMetadata }: Pick<Source, "tokenMetadata">,
  height: number,
  contracts: ReadonlyArray<AddressBytes>
) {
  const found = new Map<string, TokenMetadata>(yield* record.tokens(contracts))
  if (tokenMetadata === undefined) return found
  const isKnown = (known: TokenMetadata | undefined) => known !== undefined && isSaid(known)
  const unknown = contracts.filter((contract) => !isKnown(found.get(Bytes.key(contract))))
  for (const some of Arr.chunksOf(unknown, atOnce)) {
    const answers = yield* tokenMetadata(some, height)
    const learned = some.map((contract, i) => ({ contract, height, metadata: answers[i]! }))
    for (const { contract, metadata } of learned) found.set(Bytes.key(contract), metadata)
    yield* record.keepTokens(learned.filter(({ metadata }) => isSaid(metadata)))
  }
  return found
})
