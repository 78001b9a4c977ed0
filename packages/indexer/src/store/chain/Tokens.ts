/**
 * Names, symbols and decimals of a chain's token contracts: asked of the node once, then kept in the store.
 *
 * What a contract does not say, or says as garbage, is kept as empty. A node that cannot answer is a failure, which
 * keeps nothing: whoever needed the answer tries again.
 */

import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import type { TokenMetadata } from "@headwater/core/events/Callback"
import * as Effect from "effect/Effect"
import type { NodeError } from "../../families/node/NodeError.ts"
import { Database, type DatabaseError } from "../database/Database.ts"

/** Asks the node about contracts; the answers are in the order of the contracts. */
export type Fetch = (contracts: ReadonlyArray<AddressBytes>) => Effect.Effect<ReadonlyArray<TokenMetadata>, NodeError>

export interface Tokens {
  readonly known: (contract: AddressBytes) => TokenMetadata | undefined
  /** Makes `known` know these contracts, of which a block at `height` speaks. */
  readonly learn: (
    contracts: ReadonlyArray<AddressBytes>,
    height: number
  ) => Effect.Effect<void, NodeError | DatabaseError>
  /**
   * Forgets what was learned above `fork`, in the transaction that undoes it: after a reorganisation another contract,
   * or none, may stand at the same address.
   */
  readonly undo: (fork: number) => Effect.Effect<void, DatabaseError>
}

/** Contracts looked up in one query, and asked of the node in one go. */
const step = 100

/** Metadata of contracts by the key of their address: out of the store, else from the node and then kept. */
export const find = Effect.fn("Tokens.find")(function* (
  chain: number,
  fetch: Fetch,
  contracts: ReadonlyArray<AddressBytes>,
  height: number
) {
  const { insertMany, read } = yield* Database
  const found = new Map<string, TokenMetadata>()
  for (let from = 0; from < contracts.length; from += step) {
    const some = contracts.slice(from, from + step)
    const rows = yield* read((db) =>
      db.selectFrom("token").selectAll().where("chain", "=", chain).where("contract", "in", some)
    )
    for (const { contract, decimals, name, symbol } of rows) {
      found.set(Bytes.key(contract), { name, symbol, decimals: decimals ?? undefined })
    }
    const unknown = some.filter((contract) => !found.has(Bytes.key(contract)))
    if (unknown.length === 0) continue
    const answers = yield* fetch(unknown)
    unknown.forEach((contract, i) => {
      const { decimals, name, symbol } = answers[i]!
      found.set(Bytes.key(contract), { name, symbol, decimals })
    })
    yield* insertMany(
      "token",
      unknown.map((contract, i) => {
        const { decimals, name, symbol } = answers[i]!
        return { chain, contract, height, name, symbol, decimals: decimals ?? null }
      }),
      "on conflict (chain, contract) do nothing"
    )
  }
  return found
})

/** Opens the tokens of a chain for its commits, which need them at hand. */
export const make = Effect.fn("Tokens.make")(function* (chainName: string, fetch: Fetch) {
  const database = yield* Database
  const memory = new Map<string, { readonly metadata: TokenMetadata; readonly height: number }>()
  const chainId = Effect.map(
    database.query((db) => db.selectFrom("chain").select("id").where("name", "=", chainName)),
    ([row]) => row!.id
  )
  const tokens: Tokens = {
    known: (contract) => memory.get(Bytes.key(contract))?.metadata,
    learn: Effect.fn("Tokens.learn")(
      function* (contracts, height) {
        const found = yield* find(yield* chainId, fetch, contracts, height)
        for (const [key, metadata] of found) memory.set(key, { metadata, height })
      },
      Effect.provideService(Database, database)
    ),
    undo: Effect.fn("Tokens.undo")(function* (fork) {
      const chain = yield* chainId
      yield* database.query((db) => db.deleteFrom("token").where("chain", "=", chain).where("height", ">", fork))
      for (const [key, { height }] of memory) if (height > fork) memory.delete(key)
    })
  }
  return tokens
})
