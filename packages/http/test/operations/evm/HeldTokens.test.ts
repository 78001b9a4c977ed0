import { assert, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import type { TokenTransfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import * as EvmAddresses from "@headwater/http/contract/EvmAddresses"
import { PositionLength } from "@headwater/http/contract/Paging"
import * as HeldTokens from "@headwater/http/operations/evm/HeldTokens"
import type * as Freshness from "@headwater/http/operations/Freshness"
import * as Cursor from "@headwater/http/server/Cursor"
import type { ConnectedNode } from "@headwater/indexer/families/Family"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

const chain = Result.getOrThrow(Chain.find("optimism", "mainnet"))
const bytes = (text: string) => Result.getOrThrow(Address.decode(chain, text))
const holder = bytes(`0x${"ab".repeat(20)}`)
/** Wrapped ether and the chain's own token stand in a row, as all that the OP stack brings along. */
const contracts = [
  "0x4200000000000000000000000000000000000006",
  "0x4200000000000000000000000000000000000042",
  "0xffffffffffffffffffffffffffffffffffffffff"
]

/** A record of an address that has one of each token. */
const record = {
  chain,
  completeness: () => Effect.succeed(new Map([[Bytes.key(holder), { tokens: 0 }]])),
  each: (_kind: "token", _address: Address.AddressBytes, _upTo: number, use: (transfer: TokenTransfer) => void) =>
    Effect.sync(() => {
      for (const contract of contracts) {
        const parties = { from: bytes(contract), to: holder, contract: bytes(contract) }
        const place = { kind: "token", transaction: 0, position: 0, batchIndex: 0 } as const
        use({ ...place, ...parties, token: "fungible", amount: 1n, tokenId: undefined })
      }
    }),
  tokens: () => Effect.succeed(new Map())
} as unknown as ChainReader

const tip = { height: 1, hash: new Uint8Array(32), reorganisations: 0 }
const freshness = {
  recorded: () => Effect.succeed({ node: { source: {} }, tip }),
  orUnavailable: <A>(self: A) => self
} as unknown as Freshness.Freshness<ConnectedNode>

it.effect("lists every token once, however small the pages", () =>
  Effect.gen(function* () {
    const node = { tokenBalancesAt: (all: ReadonlyArray<unknown>) => Effect.succeed(all.map(() => 1n)) }
    const list = HeldTokens.make(record, freshness, () => node, { record: "all" })
    const endpoint = EvmAddresses.evmAddressEndpoints.find(({ identifier }) => identifier === "evmHeldTokens")!
    const numbers = Context.get(endpoint.annotations, PositionLength)
    const found: Array<string> = []
    let after: ReadonlyArray<number> | undefined
    do {
      const address = Address.encode(chain, holder)!
      const page = yield* list({ account: 1, address, limit: 1, sortingOrder: "ASCENDING", after } as never)
      found.push(...page.items.map(({ contractAddress }) => contractAddress))
      after = page.next && (yield* Cursor.decode(["tokens"], Cursor.encode(["tokens"], page.next), numbers))
    } while (after !== undefined)
    assert.deepStrictEqual(
      found.map((contract) => contract.toLowerCase()),
      contracts
    )
  })
)

it.effect("takes what went from before the record from no other id of the contract", () =>
  Effect.gen(function* () {
    const contract = bytes(contracts[2]!)
    const moved = [
      // Recorded for the sake of the sender, and gone in a block that is not recorded.
      { from: contract, to: holder, tokenId: 3n, amount: 20n, height: 4 },
      { from: holder, to: contract, tokenId: 1n, amount: 10n },
      { from: contract, to: holder, tokenId: 2n, amount: 7n },
      { from: holder, to: holder, tokenId: 2n, amount: 7n },
      { from: holder, to: contract, tokenId: 2n, amount: 3n }
    ]
    const late = {
      ...record,
      completeness: () => Effect.succeed(new Map([[Bytes.key(holder), { tokens: 5 }]])),
      each: (
        _kind: "token",
        _address: Address.AddressBytes,
        _upTo: number,
        use: (transfer: TokenTransfer, height: number) => void
      ) =>
        Effect.sync(() => {
          const place = { kind: "token", transaction: 0, position: 0, batchIndex: 0, contract, token: "multi" } as const
          for (const { height = 5, ...each } of moved) use({ ...place, ...each }, height)
        })
    }
    const node = { tokenBalancesAt: (all: ReadonlyArray<unknown>) => Effect.succeed(all.map(() => undefined)) }
    const list = HeldTokens.make(late as unknown as ChainReader, freshness, () => node, { record: "all" })
    const address = Address.encode(chain, holder)!
    const { completeFrom, items } = yield* list({ account: 1, address, limit: 9, sortingOrder: "ASCENDING" } as never)
    assert.strictEqual(completeFrom, 5)
    assert.deepStrictEqual(
      items.map(({ fungibleValues }) => fungibleValues.amount),
      ["4"]
    )
  })
)
