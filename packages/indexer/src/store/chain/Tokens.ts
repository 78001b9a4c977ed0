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
import type { TokenMetadata } from "@headwater/core/events/Callback"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as UnixTime from "../../UnixTime.ts"
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

/** What the store knows of a contract. */
export interface KnownToken extends LearnedToken {
  /** When a node was asked last, in seconds since the Unix epoch. */
  readonly askedAt: number
}

/** Seconds after which a fungible token that has said no decimals is asked for again. */
const silence = 600

/** Whether no node is to be asked, at a time in seconds since the Unix epoch, for a contract that a transfer speaks of. */
export const isKnown = (known: KnownToken | undefined, kind: TokenTransfer["token"], now: number): boolean =>
  known !== undefined && (kind !== "fungible" || known.metadata.decimals !== undefined || now < known.askedAt + silence)

/** What the store knows of those contracts, by the key of their address. */
export const find = Effect.fn("Tokens.find")(function* (chain: number, contracts: ReadonlyArray<AddressBytes>) {
  const { read } = yield* Database
  const rows = yield* inChunks(contracts, (some) =>
    read((db) => db.selectFrom("token").selectAll().where("chain", "=", chain).where("contract", "in", some))
  )
  return new Map(
    rows.map(({ asked_at: askedAt, contract, decimals, height, name, symbol }): [string, KnownToken] => {
      const metadata = { name, symbol, decimals: decimals ?? undefined }
      return [Bytes.key(contract), { contract: contract as AddressBytes, height, metadata, askedAt }]
    })
  )
})

/** What is known of a contract after a later answer: decimals that it has said stay, and no name gets lost. */
export const later = (known: TokenMetadata | undefined, said: TokenMetadata): TokenMetadata => {
  if (known === undefined) return said
  if (known.decimals !== undefined) return known
  return { decimals: said.decimals, name: said.name || known.name, symbol: said.symbol || known.symbol }
}

/** As {@link later}. */
const onConflict = `on conflict (chain, contract) do update set
  height = excluded.height,
  asked_at = excluded.asked_at,
  decimals = excluded.decimals,
  name = case when excluded.name = '' then token.name else excluded.name end,
  symbol = case when excluded.symbol = '' then token.symbol else excluded.symbol end
  where token.decimals is null`

/** Keeps a node's answers; contracts that have said their decimals already stay as they are. */
export const keep = Effect.fnUntraced(function* (chain: number, learned: ReadonlyArray<LearnedToken>) {
  const { insertMany } = yield* Database
  const askedAt = yield* UnixTime.seconds
  // Two who keep the same contracts wait for one another's rows: in one order, neither waits for ever.
  const inOrder = learned.toSorted((a, b) => Buffer.compare(a.contract, b.contract))
  yield* insertMany(
    "token",
    inOrder.map(({ contract, height, metadata: { decimals, name, symbol } }) => ({
      ...{ chain, contract, height, name, symbol, decimals: decimals ?? null, asked_at: askedAt }
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
  readonly remember: (learned: ReadonlyArray<LearnedToken>) => Effect.Effect<void>
  /** No longer has at hand what blocks above `fork` speak of. */
  readonly forget: (fork: number) => void
}

/** Tokens at hand, before the next blocks begin anew: an address may be sent tokens of any number of contracts. */
const kept = 50_000

/**
 * Contracts that have said no decimals and are asked for again at once: anybody can have any number of them move, each of which a
 * node may take seconds for (`TronContract`), and the blocks wait.
 */
const askedAgain = 32

/** The tokens of a chain, with those at hand that its latest blocks were about. */
export const make = Effect.fnUntraced(function* (chain: number, watched: WatchedAddresses) {
  const database = yield* Database
  /** What committed rows say, by the key of the contract. */
  const atHand = new Map<string, KnownToken>()

  const remember: Tokens["remember"] = Effect.fnUntraced(function* (learned) {
    const askedAt = yield* UnixTime.seconds
    for (const token of learned) {
      const key = Bytes.key(token.contract)
      atHand.set(key, { ...token, askedAt, metadata: later(atHand.get(key)?.metadata, token.metadata) })
    }
  })

  const mentions = (blocks: ReadonlyArray<Block>, now: number) => {
    const found = new Map<string, TransferMention>()
    for (const { height, transfers } of blocks) {
      for (const transfer of transfers) {
        if (transfer.kind !== "token") continue
        const { contract, from, to, token: kind } = transfer
        const key = Bytes.key(contract)
        if (found.has(key) || isKnown(atHand.get(key), kind, now)) continue
        if (watched.set.has(from) || watched.set.has(to)) found.set(key, { contract, height, kind })
      }
    }
    return found
  }

  const unknown: Tokens["unknown"] = Effect.fnUntraced(
    function* (blocks) {
      if (watched.set.size() === 0) return []
      if (atHand.size > kept) atHand.clear()
      const now = yield* UnixTime.seconds
      const mentioned = mentions(blocks, now)
      const known = yield* find(
        chain,
        [...mentioned.values()].map(({ contract }) => contract)
      )
      for (const [key, token] of known) atHand.set(key, token)
      let again = 0
      return [...mentioned].flatMap(([key, { kind, ...mention }]) => {
        const token = known.get(key)
        return isKnown(token, kind, now) || (token !== undefined && ++again > askedAgain) ? [] : [mention]
      })
    },
    Effect.provideService(Database, database)
  )

  const of: Tokens["of"] = ({ height }, learned) => {
    const missing = new Set<string>()
    return {
      metadata: (contract) => {
        const key = Bytes.key(contract)
        const known = atHand.get(key)?.metadata
        const answer = learned?.get(key)?.metadata
        const found = answer === undefined ? known : later(known, answer)
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
