/**
 * Names, symbols and decimals of a chain's token contracts. The store never calls a node: it says which contracts it does
 * not know, takes the node's answers with the commit, and keeps them with the blocks that made the contracts be asked for.
 *
 * A name that a contract does not have, or has as garbage, is kept as empty.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
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

/** Metadata of those contracts that the store knows, by the key of their address. */
export const find = Effect.fn("Tokens.find")(function* (chain: number, contracts: ReadonlyArray<AddressBytes>) {
  const { read } = yield* Database
  const rows = yield* inChunks(contracts, (some) =>
    read((db) => db.selectFrom("token").selectAll().where("chain", "=", chain).where("contract", "in", some))
  )
  return new Map(
    rows.map(({ contract, decimals, name, symbol }): [string, TokenMetadata] => [
      Bytes.key(contract),
      { name, symbol, decimals: decimals ?? undefined }
    ])
  )
})

/** Keeps a node's answers; contracts that are known already stay as they are. */
export const keep = Effect.fnUntraced(function* (chain: number, learned: ReadonlyArray<LearnedToken>) {
  const { insertMany } = yield* Database
  yield* insertMany(
    "token",
    learned.map(({ contract, height, metadata: { decimals, name, symbol } }) => ({
      ...{ chain, contract, height, name, symbol, decimals: decimals ?? null }
    })),
    "on conflict (chain, contract) do nothing"
  )
})

/** Metadata for one block's callbacks. */
interface BlockTokens {
  readonly metadata: (contract: AddressBytes) => TokenMetadata
  /** Fails where `metadata` was asked for contracts that are to be learned first. */
  readonly check: Effect.Effect<void, TokensUnknown>
}

export interface Tokens {
  /** The contracts in watched token transfers of these blocks that the store does not know, each with its first block. */
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

/** The tokens of a chain, with those at hand that its latest blocks were about. */
export const make = Effect.fnUntraced(function* (chain: number, watched: WatchedAddresses) {
  const database = yield* Database
  /** What committed rows say, by the key of the contract. */
  const atHand = new Map<string, LearnedToken>()

  const remember: Tokens["remember"] = (learned) => {
    for (const token of learned) atHand.set(Bytes.key(token.contract), token)
  }

  const mentions = (blocks: ReadonlyArray<Block>) => {
    const found = new Map<string, TokenMention>()
    for (const { height, transfers } of blocks) {
      for (const transfer of transfers) {
        if (transfer.kind !== "token") continue
        const { contract, from, to } = transfer
        const key = Bytes.key(contract)
        if (atHand.has(key) || found.has(key) || !(watched.set.has(from) || watched.set.has(to))) continue
        found.set(key, { contract, height })
      }
    }
    return found
  }

  const unknown: Tokens["unknown"] = Effect.fnUntraced(
    function* (blocks) {
      if (watched.set.size() === 0) return []
      if (atHand.size > kept) atHand.clear()
      const mentioned = mentions(blocks)
      const known = yield* find(
        chain,
        [...mentioned.values()].map(({ contract }) => contract)
      )
      remember([...known].map(([key, metadata]) => ({ ...mentioned.get(key)!, metadata })))
      return [...mentioned].flatMap(([key, mention]) => (known.has(key) ? [] : [mention]))
    },
    Effect.provideService(Database, database)
  )

  const of: Tokens["of"] = ({ height }, learned) => {
    const missing = new Set<string>()
    return {
      metadata: (contract) => {
        const key = Bytes.key(contract)
        const found = atHand.get(key)?.metadata ?? learned?.get(key)?.metadata
        if (found === undefined && learned !== undefined) missing.add(key)
        return found ?? nameless
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
