/** The id of a Zcash transaction since version 5 (ZIP-244, ZIP-229), which no signature or proof is part of. */
import * as Steps from "../Steps.ts"
import type * as Wire from "./internal/Wire.ts"
import * as Zip244 from "./internal/Zip244.ts"

/** Shielded parts as they stand in the transaction (ZIP-225). */
export interface Sapling {
  /** 96 bytes each. */
  readonly spends: ReadonlyArray<Uint8Array>
  /** 756 bytes each. */
  readonly outputs: ReadonlyArray<Uint8Array>
  /** 8 bytes. */
  readonly balance: Uint8Array
  /** 32 bytes; empty without spends. */
  readonly anchor: Uint8Array
}

/** Of Orchard, and of Ironwood. */
export interface Orchard {
  /** 820 bytes each. */
  readonly actions: ReadonlyArray<Uint8Array>
  /** Flags, balance and anchor: 41 bytes. */
  readonly rest: Uint8Array
}

export interface Transaction extends Zip244.Header {
  readonly version: 5 | 6
  readonly versionGroupId: number
  readonly inputs: ReadonlyArray<Wire.Outpoint & { readonly sequence: number }>
  readonly outputs: ReadonlyArray<Wire.Output>
  /** Undefined where there is neither spend nor output. */
  readonly sapling: Sapling | undefined
  /** Undefined where there is no action. */
  readonly orchard: Orchard | undefined
  /** Since version 6; undefined where there is no action. */
  readonly ironwood: Orchard | undefined
}

const overwintered = 0x8000_0000

/** Bytes of a note's ciphertext: what light clients read, the memo, and the mark of authenticity. */
const compact = 52
const memo = 512
const ciphertext = compact + memo + 16

const { hash } = Zip244

/** Hashes the slices of each item that begin at these places and have these lengths; bytes in place of one stand as they are. */
const ofSlices = (
  personalization: string,
  items: ReadonlyArray<Uint8Array>,
  ...places: ReadonlyArray<readonly [from: number, length: number] | Uint8Array>
) =>
  Zip244.ofEach(personalization, items, (item, hash) => {
    for (const place of places) {
      hash(place instanceof Uint8Array ? place : item.subarray(place[0], place[0] + place[1]))
    }
  })

function* ofSapling({ anchor, balance, outputs, spends }: Sapling, withAnchor: boolean): Generator<void, Uint8Array> {
  const rest = 96 + ciphertext
  const ofSpends =
    spends.length === 0
      ? []
      : [
          yield* ofSlices("ZTxIdSSpendCHash", spends, [32, 32]),
          withAnchor
            ? yield* ofSlices("ZTxIdSSpendNHash", spends, [0, 32], anchor, [64, 32])
            : yield* ofSlices("ZTxIdSSpendNH_v6", spends, [0, 32], [64, 32])
        ]
  const ofOutputs =
    outputs.length === 0
      ? []
      : [
          yield* ofSlices("ZTxIdSOutC__Hash", outputs, [32, 64 + compact]),
          yield* ofSlices("ZTxIdSOutM__Hash", outputs, [96 + compact, memo]),
          yield* ofSlices("ZTxIdSOutN__Hash", outputs, [0, 32], [96 + compact + memo, 16], [rest, 80])
        ]
  return hash(
    "ZTxIdSaplingHash",
    hash("ZTxIdSSpendsHash", ...ofSpends),
    hash("ZTxIdSOutputHash", ...ofOutputs),
    balance
  )
}

/** The names of the digests of actions: of all, and of the three parts. */
type Names = readonly [all: string, compact: string, memos: string, others: string]

const orchardParts = ["ZTxIdOrcActCHash", "ZTxIdOrcActMHash", "ZTxIdOrcActNHash"] as const
const orchard5: Names = ["ZTxIdOrchardHash", ...orchardParts]
const orchard6: Names = ["ZTxIdOrchardH_v6", ...orchardParts]
const ironwood6: Names = ["ZTxIdIronwd_H_v6", "ZTxIdIrnActCH_v6", "ZTxIdIrnActMH_v6", "ZTxIdIrnActNH_v6"]

/** Bytes of the flags and the balance, which stand before the anchor. */
const beforeAnchor = 1 + 8

function* ofActions(bundle: Orchard | undefined, names: Names, withAnchor: boolean): Generator<void, Uint8Array> {
  const [all, ofCompact, ofMemos, ofOthers] = names
  if (bundle === undefined) return hash(all)
  const { actions, rest } = bundle
  const note = 160
  return hash(
    all,
    yield* ofSlices(ofCompact, actions, [32, 32], [96, 64 + compact]),
    yield* ofSlices(ofMemos, actions, [note + compact, memo]),
    yield* ofSlices(ofOthers, actions, [0, 32], [64, 32], [note + compact + memo, 16 + 80]),
    withAnchor ? rest : rest.subarray(0, beforeAnchor)
  )
}

/** The id in the order in which ids are written, in steps: a transaction may fill a block. */
export function* steps(transaction: Transaction): Generator<void, Uint8Array<ArrayBuffer>> {
  const { branchId, inputs, ironwood, orchard, outputs, sapling, version, versionGroupId } = transaction
  // Since version 6 the anchors are no part of ids, and the digests that had them have other names.
  const withAnchors = version === 5
  const isTransparent = inputs.length + outputs.length > 0
  const ofTransparent = isTransparent
    ? [yield* Zip244.ofOutpoints(inputs), yield* Zip244.ofSequences(inputs), yield* Zip244.ofOutputs(outputs)]
    : []
  return Zip244.ofParts(
    branchId,
    Zip244.ofHeader(transaction, { header: overwintered + version, versionGroupId }),
    hash("ZTxIdTranspaHash", ...ofTransparent),
    sapling === undefined ? Zip244.unshielded[0] : yield* ofSapling(sapling, withAnchors),
    yield* ofActions(orchard, withAnchors ? orchard5 : orchard6, withAnchors),
    ...(version === 5 ? [] : [yield* ofActions(ironwood, ironwood6, withAnchors)])
  ).toReversed()
}

/** As {@link steps}, at once. */
export const of = (transaction: Transaction): Uint8Array<ArrayBuffer> => Steps.atOnce(steps(transaction))
