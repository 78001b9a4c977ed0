/** Names, symbols and decimals of token contracts: from the record, and from the node where the record has none yet. */
import type { TokenTransfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type { TokenMetadata } from "@headwater/core/events/Callback"
import type { Source } from "@headwater/indexer/families/Source"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Tokens from "@headwater/indexer/store/chain/Tokens"
import { chunksOf } from "@headwater/indexer/Chunks"
import * as UnixTime from "@headwater/indexer/UnixTime"
import * as Effect from "effect/Effect"

/** Contracts that a node is asked for in one go: their answers are kept even if the next go fails. */
const atOnce = 100

/** A contract of a block that the record does not have may not be there yet, by the node that was asked, and says nothing then. */
const isSaid = ({ decimals, name, symbol }: TokenMetadata) => decimals !== undefined || name !== "" || symbol !== ""

/** A contract as transfers of its tokens speak of it. */
type Mention = Pick<TokenTransfer, "contract" | "token">

/**
 * Metadata by the key of the contract, each looked for once. A node is asked for those that are to be asked for by
 * `Tokens.isKnown`. `height` is that of the record, or of a younger block that speaks of the contracts: the node has to have it,
 * and what contracts say of themselves is kept as of it. Without a node that can be asked, contracts that the record does not know
 * are absent.
 */
export const find = Effect.fn("TokenNames.find")(
  function* (
    record: ChainReader,
    { tokenMetadata }: Pick<Source, "tokenMetadata">,
    height: number,
    mentions: ReadonlyArray<Mention>
  ) {
    const distinct = [...new Map(mentions.map((mention) => [Bytes.key(mention.contract), mention])).values()]
    const known = yield* record.tokens(distinct.map(({ contract }) => contract))
    const found = new Map([...known].map(([key, { metadata }]) => [key, metadata]))
    if (tokenMetadata === undefined) return found
    const now = yield* UnixTime.seconds
    const unknown = distinct.filter(
      ({ contract, token }) => !Tokens.isKnown(known.get(Bytes.key(contract)), token, now)
    )
    for (const some of chunksOf(unknown, atOnce)) {
      const contracts = some.map(({ contract }) => contract)
      const answers = yield* tokenMetadata(contracts, height)
      const learned = contracts.map((contract, i) => ({ contract, height, metadata: answers[i]! }))
      for (const { contract, metadata } of learned) {
        const key = Bytes.key(contract)
        found.set(key, Tokens.later(found.get(key), metadata))
      }
      yield* record.keepTokens(
        learned.filter(({ contract, metadata }) => known.has(Bytes.key(contract)) || isSaid(metadata))
      )
    }
    return found
  },
  Effect.catchTag("DatabaseError", Effect.die)
)
