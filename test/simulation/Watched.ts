/** What a subscription is about, and of which addresses it is surely told, or may be told, what a block has. */
import type { Block, SimulatedChain } from "./Chains.ts"
import * as Wallets from "./Wallets.ts"

/** Something that a tenant has asked of a list, which counts from the next block on. */
export interface Edit {
  readonly kind: "add" | "remove"
  readonly places: ReadonlySet<number>
  readonly askedAt: number
  /** Blocks that were recorded then. */
  readonly recordedBefore: ReadonlySet<string>
  /** Undefined until the program has answered that it is done; of an edit without an answer nothing is known. */
  done: { readonly at: number; readonly recorded: ReadonlySet<string> } | undefined
}

export type Watched =
  | { readonly kind: "blocks" }
  | { readonly kind: "transaction"; readonly id: string }
  | { readonly kind: "address"; readonly place: number }
  | {
      readonly kind: "list"
      readonly edits: Array<Edit>
      /** The places of the addresses that were in the list at the end; undefined where it was not read. */
      atEnd: ReadonlySet<number> | undefined
    }
  /**
   * The wallet's addresses, as far as a window behind what is used of each branch. What came before the window has reached
   * an address is told "if it lies above the block at which the subscription was made", which is no higher than `madeAt`.
   */
  | { readonly kind: "key"; readonly window: number; madeAt: number }

/** The places of the addresses that a subscription was ever meant to be told of. */
export const placesOf = (watched: Watched): ReadonlyArray<number> => {
  switch (watched.kind) {
    case "blocks":
    case "transaction":
      return []
    case "address":
      return [watched.place]
    case "key":
      return Array.from({ length: Wallets.places }, (_, i) => Wallets.firstPlace + i)
    case "list":
      return [...new Set(watched.edits.flatMap(({ kind, places }) => (kind === "add" ? [...places] : [])))]
  }
}

/** The addresses that blocks pay. */
const paidBy = (blocks: Iterable<Pick<Block, "transactions">>): ReadonlySet<number> => {
  const paid = new Set<number>()
  for (const { transactions } of blocks) {
    for (const { failed, movements } of transactions) {
      if (!failed) for (const { to } of movements) paid.add(to)
    }
  }
  return paid
}

/** The addresses of the wallet that are derived where these are used. */
const derivedFrom = (used: ReadonlySet<number>, window: number): ReadonlySet<number> => {
  const derived = new Set<number>()
  for (let branch = 0; branch * Wallets.perBranch < Wallets.places; branch++) {
    const first = Wallets.firstPlace + branch * Wallets.perBranch
    for (let index = 0, end = window; index < Math.min(end, Wallets.perBranch); index++) {
      derived.add(first + index)
      if (used.has(first + index)) end = index + 1 + window
    }
  }
  return derived
}

/** The addresses of the wallet that are derived where these blocks are all that ever was. */
const derivedBy = (blocks: Iterable<Block>, window: number) => derivedFrom(paidBy(blocks), window)

/** Whether an edit was surely over when another one was asked for. */
const isBefore = (edit: Edit, other: Edit) => edit.done !== undefined && edit.done.at <= other.askedAt

type Decides = (place: number, block: Block) => boolean

/**
 * The addresses of the wallet that were derived by the time of each block of the best branch, where what came before is
 * unknown: what the windows began with, and what blocks moved them by that came later than the subscription. A payment
 * beyond the window moves nothing.
 */
const derivedMeanwhile = (chain: SimulatedChain, window: number, recorded: ReadonlySet<string>): Decides => {
  const derived = new Map<string, ReadonlySet<number>>()
  const used = new Set<number>()
  for (const { hash, transactions } of chain.best()) {
    if (recorded.has(hash)) continue
    // What is internal may become known later.
    const known = transactions.map((one) => ({
      ...one,
      movements: one.movements.filter(({ kind }) => kind !== "internal")
    }))
    const paid = paidBy([{ transactions: known }])
    let reached = derivedFrom(used, window)
    for (let fresh = [...paid]; fresh.length > 0; reached = derivedFrom(used, window)) {
      fresh = [...paid].filter((place) => reached.has(place) && !used.has(place))
      for (const place of fresh) used.add(place)
    }
    derived.set(hash, reached)
  }
  return (place, { hash }) => derived.get(hash)?.has(place) === true
}

export interface Known {
  /** Blocks that were recorded when the subscription was made. */
  readonly recorded: ReadonlySet<string>
  /** Whether the chain was recorded for watched addresses alone at times. */
  readonly isWatchedOnly: boolean
  /** Whether a block was part of the record all the time from some moment on. */
  readonly isLasting: (hash: string, since: number) => boolean
}

/** Whether what a block has at an address is surely told, as far as the block is recorded later than the subscription. */
export const promised = (
  watched: Watched,
  chain: SimulatedChain,
  { isLasting, isWatchedOnly, recorded }: Known
): Decides => {
  switch (watched.kind) {
    case "blocks":
    case "transaction":
    case "address":
      return () => true
    case "key": {
      const { madeAt, window } = watched
      if (isWatchedOnly) return derivedMeanwhile(chain, window, recorded)
      const derived = derivedBy(chain.best(), window)
      const first = derivedBy([], window)
      return (place, { height }) => first.has(place) || (height > madeAt && derived.has(place))
    }
    case "list":
      return (place, { hash }) => {
        const edits = watched.edits.filter(({ places }) => places.has(place))
        return edits.some(
          (edit) =>
            edit.kind === "add" &&
            edit.done !== undefined &&
            !edit.done.recorded.has(hash) &&
            edits.every(
              (other) =>
                other.kind === "add" ||
                isBefore(other, edit) ||
                // What was there before the address left is told all the same.
                (isBefore(edit, other) && other.recordedBefore.has(hash) && isLasting(hash, other.askedAt))
            )
        )
      }
  }
}

/** How a list differs from what was asked of it, in words. */
export const wrongIn = (edits: ReadonlyArray<Edit>, atEnd: ReadonlySet<number>): ReadonlyArray<string> => {
  const places = new Set([...atEnd, ...edits.flatMap((edit) => [...edit.places])])
  return [...places].flatMap((place) => {
    const own = edits.filter((edit) => edit.places.has(place))
    /** Whether an edit of a kind was surely the last one. */
    const isLast = (kind: Edit["kind"]) =>
      own.some(
        (edit) =>
          edit.kind === kind && edit.done !== undefined && own.every((one) => one.kind === kind || isBefore(one, edit))
      )
    if (atEnd.has(place)) return isLast("remove") || own.length === 0 ? [`the address ${place} is there`] : []
    return isLast("add") ? [`the address ${place} is not there`] : []
  })
}

/** Which of the places anything may ever be told of. */
export const possible = (watched: Watched, chain: SimulatedChain): ((place: number) => boolean) => {
  switch (watched.kind) {
    case "blocks":
    case "transaction":
    case "address":
      return () => true
    case "key": {
      const derived = derivedBy(chain.blocks.values(), watched.window)
      return (place) => derived.has(place)
    }
    case "list":
      return () => true
  }
}

/** Whether an address had surely left a list before a block came to be, up to a time. */
export const hasLeft = (edits: ReadonlyArray<Edit>, place: number, { bornAt }: Block, until: number): boolean => {
  const own = edits.filter(({ places }) => places.has(place))
  return own.some(
    (edit) =>
      edit.kind === "remove" &&
      edit.done !== undefined &&
      edit.done.at < bornAt &&
      own.every((other) => other.kind === "remove" || other.askedAt > until || isBefore(other, edit))
  )
}
