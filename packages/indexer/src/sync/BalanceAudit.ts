/**
 * Compares the stored balances of a UTXO chain's wallets with the coins that a node finds at their addresses, both as of
 * the same block: whichever is behind is brought forward by the blocks in between.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type { Coin, CoinsAt } from "@headwater/core/utxo/Coin"
import * as Effect from "effect/Effect"
import type { NodeError } from "../families/node/NodeError.ts"
import type { CoinSearch } from "../families/SideSources.ts"
import type { Source } from "../families/Source.ts"
import * as FoundCoins from "../store/chain/FoundCoins.ts"
import * as UtxoSet from "../store/chain/UtxoSet.ts"
import type { Database, DatabaseError } from "../store/database/Database.ts"
import * as StoredBalances from "../store/wallets/StoredBalances.ts"

export interface BalanceFinding {
  readonly wallet: StoredBalances.StoredWallet
  readonly verdict: "right" | "wrong" | "undecided"
  /** In the coin's smallest unit, both as of `height`; undefined where nothing can be said. */
  readonly stored: bigint | undefined
  readonly actual: bigint | undefined
  readonly height: number | undefined
  /** Why nothing can be said, for people. */
  readonly reason: string | undefined
}

/** Addresses of one search, unless one wallet alone has more. */
const searchSize = 20_000
/** Blocks that the store may be behind the node, or ahead of the search. */
const mostBlocks = 1_000

const reasons = {
  noSearch: "the node cannot search its coins (scantxoutset), and has no index of addresses",
  refused: "the balance is refused until the daemon has looked for the wallet's coins",
  far: "the store is too far from the node's newest block: let the daemon catch up first",
  moved: "the chain was reorganised meanwhile: run the audit again"
}

interface WatchedWallet extends StoredBalances.StoredWallet {
  readonly addresses: ReadonlyArray<AddressBytes>
}

type Sums = ReadonlyMap<string, bigint>

/** What is added by coins, by the key of their script. */
const sumsOf = (
  coins: ReadonlyArray<Pick<Coin, "script" | "amount">>,
  sign: bigint,
  into = new Map<string, bigint>()
) => {
  for (const { amount, script } of coins) {
    const key = Bytes.key(script)
    into.set(key, (into.get(key) ?? 0n) + sign * amount)
  }
  return into
}

/** What a wallet's addresses have in sums. */
const ofWallet = ({ addresses }: WatchedWallet, sums: Sums): bigint =>
  addresses.reduce((sum, address) => sum + (sums.get(Bytes.key(address)) ?? 0n), 0n)

const undecided = (wallets: ReadonlyArray<WatchedWallet>, reason: string): ReadonlyArray<BalanceFinding> =>
  wallets.map(({ addresses: _, ...wallet }) => ({
    ...{ wallet, reason, verdict: "undecided" as const },
    ...{ stored: undefined, actual: undefined, height: undefined }
  }))

const make = (source: Source, search: CoinSearch) => {
  const { chain } = source

  /** Coins at a later block; undefined where that is not a descendant of theirs. */
  const forward = Effect.fnUntraced(function* <E, R>(
    from: FoundCoins.FoundCoins,
    to: Pick<CoinsAt, "height" | "hash">,
    wanted: ReadonlySet<string>,
    before: (at: FoundCoins.FoundCoins, block: Block) => Effect.Effect<FoundCoins.FoundCoins, E, R>
  ) {
    let at = from
    while (at.height < to.height) {
      const block = yield* source.blockAt(at.height + 1)
      if (!Bytes.equal(block.parent, at.hash)) return undefined
      at = FoundCoins.advance(yield* before(at, block), block, wanted)
    }
    return Bytes.equal(at.hash, to.hash) ? at : undefined
  })

  /** What the blocks above the store's last one add to balances as the daemon will count, by script. */
  const toCome = Effect.fnUntraced(function* (
    stored: Pick<CoinsAt, "height" | "hash">,
    found: CoinsAt,
    wanted: ReadonlySet<string>
  ) {
    const find = yield* UtxoSet.finder(chain)
    const taken: Array<Coin> = []
    const at = yield* forward(
      FoundCoins.at({ ...stored, coins: [] }),
      found,
      wanted,
      Effect.fnUntraced(function* (at, block) {
        const coins = yield* find(block.spends.map(({ outpoint }) => outpoint))
        const own = coins.filter(({ height, script }) => height <= stored.height && wanted.has(Bytes.key(script)))
        taken.push(...own)
        return { ...at, coins: [...at.coins, ...own] }
      })
    )
    return at === undefined ? undefined : sumsOf(at.coins, 1n, sumsOf(taken, -1n))
  })

  return Effect.fnUntraced(function* (
    wallets: ReadonlyArray<WatchedWallet>
  ): Effect.fn.Return<ReadonlyArray<BalanceFinding>, NodeError | DatabaseError, Database> {
    const addresses = new Map(wallets.flatMap((wallet) => wallet.addresses.map((one) => [Bytes.key(one), one])))
    const wanted = new Set(addresses.keys())
    const found = yield* search.find([...addresses.values()])
    if (found === undefined) return undecided(wallets, reasons.noSearch)
    const ids = wallets.map(({ id }) => id)
    const stored = yield* StoredBalances.at(chain, ids)
    if (stored === undefined || Math.abs(stored.height - found.height) > mostBlocks) {
      return undecided(wallets, reasons.far)
    }
    const added: Sums | undefined = stored.height < found.height ? yield* toCome(stored, found, wanted) : new Map()
    const coins = yield* forward(FoundCoins.at(found), stored, wanted, Effect.succeed)
    const atSame = stored.height < found.height ? found : coins
    if (added === undefined || atSame === undefined) return undecided(wallets, reasons.moved)
    const actualSums = sumsOf(atSame.coins, 1n)
    return wallets.flatMap((wallet): ReadonlyArray<BalanceFinding> => {
      const before = stored.balances.get(wallet.id)
      // Removed, or searched anew, meanwhile.
      if (before === undefined) return []
      const balance = before + ofWallet(wallet, added)
      const actual = ofWallet(wallet, actualSums)
      const { addresses: _, ...rest } = wallet
      const verdict = balance === actual ? "right" : "wrong"
      return [{ wallet: rest, verdict, stored: balance, actual, height: atSame.height, reason: undefined }]
    })
  })
}

/** Every wallet's balance, a search for many wallets at once. */
export const run = Effect.fn("BalanceAudit.run")(function* (source: Source, search: CoinSearch | undefined) {
  const findings: Array<BalanceFinding> = []
  const check = search === undefined ? undefined : make(source, search)
  let next: Array<WatchedWallet> = []
  const checkNext = Effect.gen(function* () {
    if (next.length === 0) return
    findings.push(...(check === undefined ? undecided(next, reasons.noSearch) : yield* check(next)))
    next = []
  })
  for (const wallet of yield* StoredBalances.wallets(source.chain)) {
    if (!wallet.synced) {
      findings.push(...undecided([{ ...wallet, addresses: [] }], reasons.refused))
      continue
    }
    const addresses = yield* StoredBalances.addresses(wallet.id)
    const size = next.reduce((sum, { addresses }) => sum + addresses.length, addresses.length)
    if (size > searchSize) yield* checkNext
    next.push({ ...wallet, addresses })
  }
  yield* checkNext
  return findings
})
