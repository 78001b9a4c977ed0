/** Whether all is recorded that an HD wallet's answer needs: its addresses watched, their past known from its begin. */
import * as Address from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Completeness from "@headwater/indexer/store/chain/Completeness"
import type * as RecordGaps from "@headwater/indexer/store/chain/RecordGaps"
import type { RecordingMode } from "@headwater/indexer/store/chain/RecordingMode"
import * as Effect from "effect/Effect"
import {
  type InvalidData,
  type InvalidXpub,
  Unimplemented,
  XpubNotSynced,
  XpubSyncInProgress
} from "../../contract/Errors.ts"
import type { WalletRequest } from "../Operations.ts"
import type * as Wallet from "../Wallet.ts"

export interface Options {
  readonly record: RecordingMode
  /** Unused addresses in a row after which a wallet ends; 20 in BIP-44. */
  readonly gapLimit: number
  /** Watches addresses of a wallet from now on; whether the account has synced the wallet. */
  readonly extend: (
    request: WalletRequest,
    addresses: ReadonlyArray<Address.AddressBytes>
  ) => Effect.Effect<boolean, InvalidXpub | InvalidData>
  /** Whether the account has synced the wallet, and so has said from where on its past counts. */
  readonly isSynced: (request: WalletRequest) => Effect.Effect<boolean, InvalidXpub | InvalidData>
}

export const make = (record: ChainReader, options: Options) => {
  const text = (address: Address.AddressBytes) => Address.encode(record.chain, address)!

  /** Fails where the account has not asked for the record of an address that may be the wallet's. */
  const checkWatched = Effect.fnUntraced(function* (
    request: WalletRequest,
    addresses: ReadonlyArray<Address.AddressBytes>
  ) {
    const watched = yield* Effect.orDie(record.watchedBy(request.account, addresses))
    const keys = new Set(watched.map(Bytes.key))
    const lacking = addresses.filter((address) => !keys.has(Bytes.key(address)))
    const [first] = lacking
    if (first === undefined) return
    if (yield* options.extend(request, lacking)) {
      return yield* new XpubSyncInProgress({
        message: `The past of ${lacking.length} further addresses of the wallet is being read: try again later`
      })
    }
    if (options.record === "all") return
    return yield* new XpubNotSynced({
      message:
        `Nothing is recorded of ${lacking.length} addresses of the wallet, as ${text(first)}: sync the wallet, or ` +
        `subscribe to each address up to ${options.gapLimit} behind the last used one`
    })
  })

  /** Fails where what an address received and spent is not recorded from its first transaction on. */
  const checkTotals = Effect.fnUntraced(function* (
    address: Address.AddressBytes,
    { coins, history }: Completeness.Completeness,
    wholeFrom: RecordGaps.WholeFrom,
    isBeingRead: boolean,
    isSynced: boolean
  ) {
    if (history !== 0) {
      if (isBeingRead) {
        return yield* new XpubSyncInProgress({ message: `The past of ${text(address)} is being read: try again later` })
      }
      // Of a whole record nodes are asked about no other addresses than those that somebody has asked to watch.
      if (coins === undefined && (options.record === "watched" || isSynced)) {
        return yield* new XpubSyncInProgress({
          message: `The node is being asked whether ${text(address)} was used before: try again in some seconds`
        })
      }
      return yield* new XpubNotSynced({
        message:
          `${text(address)} was used before its record begins${history === undefined ? "" : `, at block ${history}`}: ` +
          "what it received and spent earlier is not known. Where the node keeps the states of old blocks, " +
          "sync the address with its birthHeight"
      })
    }
    const { coin: coinsFrom, internal: internalFrom } = wholeFrom
    if (coinsFrom > (coins ?? 0)) {
      return yield* new XpubNotSynced({
        message:
          `A transaction of block ${coinsFrom - 1} was not understood, and ${text(address)} may have had coins of it: a ` +
          "newer version of Headwater fills the gap with headwater replay"
      })
    }
    if (internalFrom === undefined) {
      return yield* new Unimplemented({
        message: "Totals count internal transactions, which are not recorded: the chain's node has to give traces"
      })
    }
    if (internalFrom > (coins ?? 0)) {
      return yield* new XpubNotSynced({
        message:
          `Internal transactions are recorded without a gap from block ${internalFrom} on, and ${text(address)} is ` +
          `recorded from block ${coins ?? 0} on: the operator fills the gap with headwater replay`
      })
    }
  })

  /**
   * Fails where the wallet may go on behind an address that is unused as far as anybody knows: one that had tokens alone
   * before they were recorded looks like that. Who syncs a wallet says from where on its past counts.
   */
  const checkUnused = Effect.fnUntraced(function* (
    address: Address.AddressBytes,
    tokens: number,
    isBeingRead: boolean,
    isSynced: boolean
  ) {
    if (isBeingRead) {
      return yield* new XpubSyncInProgress({ message: `The past of ${text(address)} is being read: try again later` })
    }
    if (tokens === 0 || isSynced) return
    return yield* new XpubNotSynced({
      message:
        `${text(address)} may have had tokens before block ${tokens}, and the wallet more addresses behind it: sync the ` +
        "wallet, with the block at which it began as birthHeight where the chain's nodes show the past"
    })
  })

  /** Fails where the totals are not whole; the first block from which on its tokens are recorded, of every address. */
  const checkComplete = Effect.fnUntraced(function* (
    request: WalletRequest,
    wallet: ReadonlyArray<Wallet.WalletAddress>
  ) {
    const wholeFrom = yield* record.wholeFrom
    const addresses = wallet.map(({ address }) => address)
    // Before the completeness: an address of which the reading ends in between is complete.
    const beingRead = yield* record.beingRead(addresses)
    const known = yield* record.completeness(addresses)
    const isSynced = yield* options.isSynced(request)
    const tokensFrom = new Map<string, number>()
    for (const { address, hasCoins, isUsed } of wallet) {
      const completeness = known.get(Bytes.key(address)) ?? Completeness.unknown
      if (hasCoins) yield* checkTotals(address, completeness, wholeFrom, beingRead.has(Bytes.key(address)), isSynced)
      if (completeness.tokens === undefined) {
        return yield* new XpubNotSynced({
          message: `It is not known yet from which block on ${text(address)} is recorded: try again after the next block`
        })
      }
      if (!isUsed) yield* checkUnused(address, completeness.tokens, beingRead.has(Bytes.key(address)), isSynced)
      tokensFrom.set(Bytes.key(address), completeness.tokens)
    }
    return tokensFrom
  })

  return { checkWatched, checkComplete }
}
