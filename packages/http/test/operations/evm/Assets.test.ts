import { assert, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import type { TokenTransfer } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import * as Assets from "@headwater/http/operations/evm/Assets"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))
const extendedPublicKey =
  "xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8"
const key = Result.getOrThrow(ExtendedPublicKey.decode(chain, extendedPublicKey))
const branch = Result.getOrThrow(Derivation.branch(chain, key, { derivation: "bip32" }))
const [first, second] = Derivation.derive(branch, 0, 2).map((each) => Result.getOrThrow(each).bytes) as [
  AddressBytes,
  AddressBytes
]
const contract = new Uint8Array(20).fill(7) as AddressBytes
const stranger = new Uint8Array(20).fill(9) as AddressBytes

const moved = (tokenId: bigint, from: AddressBytes, to: AddressBytes): TokenTransfer => ({
  ...{ kind: "token", transaction: 0, position: 0, batchIndex: 0, token: "non-fungible" },
  ...{ contract, tokenId, amount: 1n, from, to }
})

it.effect("has the collectibles that the wallet had before its record began, once they have moved", () =>
  Effect.gen(function* () {
    const transfers = [
      // Came back.
      moved(1n, first, stranger),
      moved(1n, stranger, first),
      // Within the wallet.
      moved(2n, first, second),
      // To the very same address.
      moved(3n, first, first),
      // Left.
      moved(4n, first, second),
      moved(4n, second, stranger)
    ]
    const tip = { height: 9, hash: new Uint8Array(32), reorganisations: 0 }
    const record = {
      ...{ chain, name: "ethereum/devnet", tip: Effect.succeed(tip) },
      watchedBy: (_: number, addresses: ReadonlyArray<AddressBytes>) => Effect.succeed(addresses),
      wholeFrom: Effect.succeed({ coin: 0, token: 0, internal: 0 }),
      beingRead: () => Effect.succeed(new Set()),
      completeness: (addresses: ReadonlyArray<AddressBytes>) =>
        Effect.succeed(
          new Map(
            addresses.map((address) => [Bytes.key(address), { coins: 0, history: 0, tokens: 5, transactions: 5 }])
          )
        ),
      prunedTotals: () => Effect.succeed(new Map()),
      coinTotals: () => Effect.succeed({ received: 0n, spent: 0n }),
      page: () => Effect.succeed({ transfers: [], next: undefined }),
      tokens: () => Effect.succeed(new Map()),
      each: (
        kind: string,
        address: AddressBytes,
        _upTo: number,
        use: (transfer: TokenTransfer, height: number) => void
      ) =>
        Effect.sync(() => {
          for (const each of kind === "token" ? transfers : []) {
            if (Bytes.equal(each.from, address) || Bytes.equal(each.to, address)) use(each, 5)
          }
        })
    }
    const node: Assets.WalletNode = {
      accountsAt: (addresses) =>
        Effect.succeed(
          addresses.map((address) => ({
            balance: 0n,
            nonce: [first, second].some((used) => Bytes.equal(used, address)) ? 1 : 0
          }))
        ),
      tokenBalancesAt: () => Effect.succeed([])
    }
    const freshness = {
      recorded: () => Effect.succeed({ node: { source: {} }, tip }),
      orUnavailable: <A>(self: A) => self
    }
    const assets = Assets.make(record as unknown as ChainReader, freshness as never, () => node, {
      ...{ record: "watched", gapLimit: 2, nodeCalls: 500 },
      extend: () => Effect.succeed(false),
      isSynced: () => Effect.succeed(true)
    })
    const wallet = { account: 1, paying: undefined as never, extendedPublicKey, derivation: "bip32" } as const
    const { completeFrom, nonFungibleTokens } = yield* assets(wallet)
    assert.strictEqual(completeFrom, 5)
    assert.deepStrictEqual(
      nonFungibleTokens.map(({ tokenId }) => tokenId),
      ["1", "3", "2"]
    )
  })
)
