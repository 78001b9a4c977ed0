/**
 * Names, symbols and decimals of a chain's token contracts. The store never calls a node: it says which contracts it does
 * not know, takes the node's answers with the commit, and keeps them with the blocks that made the contracts be asked for.
 *
 * A name that a contract does not have, or has as garbage, is kept as empty. A fungible token that says no decimals is asked
 * for again by and by: a node may have been too busy to run the contract, or the contract was not set up yet, and every amount
 * would be told in smallest units for good.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, TokenTransfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import type { TokenMetadata } from "@headwater/core/events/Callback"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Database, type DatabaseError } from "../database/Database.ts"
import { inChunks } from "../database/Statements.ts"
import type { WatchedAddresses } from "./WatchedAddresses.ts"

/** A contract, and the block that speaks of it. */
export interface TokenMention {
  readonly contract: AddressBytes
  readonly height: number
}

/** A node's answer about a contract. */
export interface LearnedToken extends TokenMention {
  readonly metadata: TokenMetadata
}

/** A block needs contracts that nobody has learned: an address of it has become watched since the node was asked. */
export class TokensUnknown extends Schema.TaggedError<TokensUnknown>()("TokensUnknown", {
  height: Schema.Int,
  contracts: Schema.Int
}) {
  override get message() {
    return `Block ${this.height} has ${this.contracts} token contracts whose names have to be asked for first`
  }
}

/** A contract of which nothing can be known. */
const nameless: TokenMetadata = { name: "", symbol: "", decimals: undefined }

/** What the store knows of those contracts. */
const rowsOf = Effect.fnUntraced(function* (chain: number, contracts: ReadonlyArray<AddressBytes>) {
  const { read } = yield* Database
  const rows = yield* inChunks(contracts, (some) =>
    read((db) => db.selectFrom("token").selectAll().where("chain", "=", chain).where("contract", "in", some))
  )
  return rows.map(({ contract, decimals, height, name, symbol }): LearnedToken => {
    const metadata = { name, symbol, decimals: decimals ?? undefined }
    return { contract: contract as AddressBytes, height, metadata }
  })
})

/** Metadata of those contracts that the store knows, by the key of their address. */
export const find = Effect.fn("Tokens.find")(function* (chain: number, contracts: ReadonlyArray<AddressBytes>) {
  const rows = yield* rowsOf(chain, contracts)
  return new Map(rows.map(({ contract, metadata }): [string, TokenMetadata] => [Bytes.key(contract), metadata]))
})

/** As {@link later}. */
const onConflict = `on conflict (chain, contract) do update set
  height = excluded.height,
  decimals = excluded.decimals,
  name = case when excluded.name = '' then token.name else excluded.name end,
  symbol = case when excluded.symbol = '' then token.symbol else excluded.symbol end
  where token.decimals is null`

/** What is known of a contract after a later answer: decimals that it has said stay, and no name gets lost. */
const later = (known: LearnedToken | undefined, learned: LearnedToken): LearnedToken => {
  if (known === undefined) return learned
  if (known.metadata.decimals !== undefined) return known
  const { decimals, name, symbol } = learned.metadata
  const metadata = { decimals, name: name || known.metadata.name, symbol: symbol || known.metadata.symbol }
  return { ...learned, metadata }
}

/** Keeps a node's answers; contracts that have said their decimals already stay as they are. */
export const keep = Effect.fnUntraced(function* (chain: number, learned: ReadonlyArray<LearnedToken>) {
  const { insertMany } = yield* Database
  yield* insertMany(
    "token",
    learned.map(({ contract, height, metadata: { decimals, name, symbol } }) => ({
      ...{ chain, contract, height, name, symbol, decimals: decimals ?? null }
    })),
    onConflict
  )
})

/** A contract as a transfer speaks of it. */
interface TransferMention extends TokenMention {
  readonly kind: TokenTransfer["token"]
}

/** Metadata for one block's callbacks. */
interface BlockTokens {
  readonly metadata: (contract: AddressBytes) => TokenMetadata
  /** Fails where `metadata` was asked for contracts that are to be learned first. */
  readonly check: Effect.Effect<void, TokensUnknown>
}

export interface Tokens {
  /** The contracts in watched token transfers of these blocks that are to be asked for, each with its first such block. */
  readonly unknown: (blocks: ReadonlyArray<Block>) => Effect.Effect<ReadonlyArray<TokenMention>, DatabaseError>
  /** Without `learned`, no node is asked on this chain, and unknown contracts have no name. */
  readonly of: (block: Block, learned: ReadonlyMap<string, LearnedToken> | undefined) => BlockTokens
  /** Has metadata at hand that the store has now. */
  readonly remember: (learned: ReadonlyArray<LearnedToken>) => void
  /** No longer has at hand what blocks above `fork` speak of. */
  readonly forget: (fork: number) => void
}

/** Tokens at hand, before the next blocks begin anew: an address may be sent tokens of any number of contracts. */
const kept = 50_000

/** Seconds after which a fungible token that has said no decimals is asked for again. */
const silence = 600

/** The tokens of a chain, with those at hand that its latest blocks were about. */
export const make = Effect.fnUntraced(function* (
  chain: number,
  { blockSeconds }: Pick<Chain, "blockSeconds">,
  watched: WatchedAddresses
) {
  const database = yield* Database
  const silentBlocks = Math.ceil(silence / blockSeconds)
  /** What committed rows say, by the key of the contract. */
  const atHand = new Map<string, LearnedToken>()

  const remember: Tokens["remember"] = (learned) => {
    for (const token of learned) {
      const key = Bytes.key(token.contract)
      atHand.set(key, later(atHand.get(key), token))
    }
  }

  const isKnown = (token: LearnedToken | undefined, { height, kind }: TransferMention): boolean =>
    token !== undefined &&
    (kind !== "fungible" || token.metadata.decimals !== undefined || height < token.height + silentBlocks)

  const mentions = (blocks: ReadonlyArray<Block>) => {
    const found = new Map<string, TransferMention>()
    for (const { height, transfers } of blocks) {
      for (const transfer of transfers) {
        if (transfer.kind !== "token") continue
        const { contract, from, to, token: kind } = transfer
        const key = Bytes.key(contract)
        if (found.has(key) || !(watched.set.has(from) || watched.set.has(to))) continue
        const mention = { contract, height, kind }
        if (!isKnown(atHand.get(key), mention)) found.set(key, mention)
      }
    }
    return found
  }

  const unknown: Tokens["unknown"] = Effect.fnUntraced(
    function* (blocks) {
      if (watched.set.size() === 0) return []
      if (atHand.size > kept) atHand.clear()
      const mentioned = [...mentions(blocks).values()]
      remember(
        yield* rowsOf(
          chain,
          mentioned.map(({ contract }) => contract)
        )
      )
      return mentioned.flatMap(({ kind, ...mention }) =>
        isKnown(atHand.get(Bytes.key(mention.contract)), { ...mention, kind }) ? [] : [mention]
      )
    },
    Effect.provideService(Database, database)
  )

  const of: Tokens["of"] = ({ height }, learned) => {
    const missing = new Set<string>()
    return {
      metadata: (contract) => {
        const key = Bytes.key(contract)
        const answer = learned?.get(key)
        const found = answer === undefined ? atHand.get(key) : later(atHand.get(key), answer)
        if (found === undefined && learned !== undefined) missing.add(key)
        return found?.metadata ?? nameless
      },
      check: Effect.suspend(() =>
        missing.size === 0 ? Effect.void : Effect.fail(new TokensUnknown({ height, contracts: missing.size }))
      )
    }
  }

  const forget: Tokens["forget"] = (fork) => {
    for (const [key, { height }] of atHand) if (height > fork) atHand.delete(key)
  }

  return { unknown, of, remember, forget } satisfies Tokens
})
