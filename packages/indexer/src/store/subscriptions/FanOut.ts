/**
 * Callbacks of matches with many subscriptions, in small steps. A commit writes callbacks by itself as long as they are
 * few; of an address with more of them it writes what has happened there, once, and whose turn it is to have callbacks of
 * that. Steps behind the commit take one account after another, each as far as its turn reaches, in transactions of their
 * own: a kill between any two loses nothing, and any process that has the chain goes on.
 *
 * What blocks told that have left the chain is taken back in the same steps (`UndoneBlocks`).
 *
 * The callbacks of a subscription are the same, and in the same order, as if the commit had written them: while an account
 * has its turn at an address before it, later blocks leave what they have for it there to the steps as well, and
 * confirmations of the account wait until everything before them is written. Other accounts wait for nothing of that.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as Wakeup from "../../Wakeup.ts"
import * as ChainRow from "../database/ChainRow.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import * as CallbackState from "./CallbackState.ts"
import * as AccountTurns from "./internal/AccountTurns.ts"
import * as DeferredMatches from "./internal/DeferredMatches.ts"
import * as FanOutRows from "./internal/FanOutRows.ts"
import * as MatchCallbacks from "./internal/MatchCallbacks.ts"
import * as MatchedRows from "./internal/MatchedRows.ts"
import * as OwedSubscribers from "./internal/OwedSubscribers.ts"
import * as PendingConfirmations from "./PendingConfirmations.ts"
import * as UndoneBlocks from "./UndoneBlocks.ts"

/** How much is written at a time, in callbacks. */
export const Bounds = Context.Reference("@headwater/indexer/store/subscriptions/FanOut/Bounds", {
  defaultValue: () => ({
    /** By a commit, for one block, beyond the first callback of each address. */
    commit: 1_000,
    /** Subscriptions of an address that a commit looks at. */
    address: 100,
    /** By an undo, in callbacks, pending confirmations and blocks that subscriptions are told of. */
    undo: 1_000,
    /** By a step: more delay what other accounts are told (`bench/fairness`), fewer cost more a callback. */
    step: 100,
    /** By a step for one account, where others wait. */
    turn: 25
  })
})

/** State that the steps of a chain share. */
export interface FanOut {
  /** An effect that waits for the next commit of this process that leaves something to the steps. */
  readonly wanted: Effect.Effect<Effect.Effect<void>>
  /** Notes that a commit has left something. */
  readonly want: Effect.Effect<void>
  /** How much a step has written, and taken back, and whether there is more to do now. */
  readonly step: Effect.Effect<Step, DatabaseError, Database>
}

export interface Step {
  /** Callbacks that were written or taken back. */
  readonly callbacks: number
  /** Accounts that were passed over, since too many of their callbacks wait. */
  readonly full: number
  readonly more: boolean
}

/** Whether anything on a row of `chain` is to be told, or taken back, by steps. */
export const isWaiting = sql<boolean>`(
  (select min(account) from undoing u where u.chain = chain.id) is not null
  or (select min(account) from fan_out f where f.chain = chain.id) is not null
  or (select min(due_height) from waiting w where w.chain = chain.id) <= chain.height
)`

const noAccounts: ReadonlySet<number> = new Set()

type Owed = ReadonlyMap<number, OwedSubscribers.Owed>

export const make = Effect.fnUntraced(function* (of: Chain, chain: number) {
  const bounds = yield* Bounds
  const wakeup = Wakeup.make()
  const matchedRows = MatchedRows.make()
  const accountTurns = yield* AccountTurns.make
  const matchTurns = accountTurns.turns()
  const confirmationTurns = accountTurns.turns()
  const undoTurns = accountTurns.turns()

  /** Accounts that are looked for at a time. */
  const turns = Math.max(1, Math.ceil(bounds.step / bounds.turn))

  /** The cost of a look at an account, in callbacks. */
  const visit = Math.ceil(bounds.step / 10)

  /** Subscriptions to one address that are looked for together with those to others. */
  const few = Math.ceil(bounds.step / 8)

  /** The first that are owed a match, as many as have `most` rows of it. */
  const firstOwed = (turn: MatchCallbacks.Turn, most: number) =>
    OwedSubscribers.first(turn, Math.max(1, Math.ceil(most / Math.max(1, turn.match.matches.length))))

  /** Matches of which no account lacks callbacks any more are done. */
  const forget = Effect.fnUntraced(function* (done: ReadonlySet<number>) {
    const { numbers, query } = yield* Database
    if (done.size === 0) return
    const gone = yield* query((db) =>
      db
        .deleteFrom("matched")
        .where(sql<boolean>`id in ${numbers([...done])}`)
        .where(DeferredMatches.withoutTurns)
        .returning("id")
    )
    for (const { id } of gone) matchedRows.forget(id)
  })

  /**
   * Serves accounts whose turn it is until as much is done as a step may do: those that have little all in one step. The
   * last ones may take what the others have left. `serveOne` does up to `most` rows for one, and says how many.
   */
  const serve = Effect.fnUntraced(function* <E, R>(
    kind: { readonly took: (account: number) => void },
    next: Effect.Effect<ReadonlyArray<number>, E, R>,
    visit: number,
    serveOne: (account: number, most: number) => Effect.Effect<number, E, R>
  ) {
    const served = new Set<number>()
    let left = bounds.step
    while (left > 0) {
      const found = yield* next
      const accounts = found.filter((account) => !served.has(account))
      for (const [i, account] of accounts.entries()) {
        const most = Math.min(left, Math.max(bounds.turn, Math.floor(left / (accounts.length - i))))
        left -= Math.max(visit, yield* serveOne(account, most))
        kind.took(account)
        served.add(account)
        if (left <= 0) break
      }
      if (accounts.length === 0 || found.length < turns) break
    }
    return served.size > 0
  })

  /** Writes some of what commits have left of matches. */
  const fanOutMatches = Effect.fnUntraced(function* (undoing: ReadonlySet<number>) {
    const done = new Set<number>()
    const due: Array<CallbackState.NewCallback> = []
    const pending: Array<PendingConfirmations.PendingRow> = []
    const ofAccount = Effect.fnUntraced(function* (account: number, most: number) {
      let left = most
      while (left > 0) {
        const count = left
        const rows = yield* FanOutRows.first(chain, account, count)
        if (rows.length === 0) break
        const together = MatchedRows.readTogether(rows)
        const matches = yield* matchedRows.read(together.map(({ matched }) => matched))
        const turns = together.map((row): MatchCallbacks.Turn => ({ ...row, match: matches.get(row.matched)! }))
        // Of what has been told in part, there may be as much left as a turn has.
        const isPart = turns[0]!.subscription > 0
        const owed: Owed = isPart ? new Map() : yield* OwedSubscribers.few(turns, few + 1)
        const ended: Array<number> = []
        for (const turn of isPart ? turns.slice(0, 1) : turns) {
          const told = MatchCallbacks.of(of, turn, owed.get(turn.matched) ?? (yield* firstOwed(turn, left)), left)
          due.push(...told.due)
          pending.push(...told.pending)
          left -= Math.max(1, told.due.length + told.pending.length)
          if (told.isDone) ended.push(turn.matched)
          else yield* FanOutRows.advance(turn, told)
          if (!told.isDone || left <= 0) break
        }
        yield* FanOutRows.remove(chain, account, ended)
        for (const id of ended) done.add(id)
        if (ended.length === rows.length && rows.length < count) break
      }
      return most - left
    })
    const next = matchTurns.next(AccountTurns.withMatches(chain), turns, undoing)
    const any = yield* serve(matchTurns, next, visit, ofAccount)
    yield* CallbackState.enter("matched", due)
    const byHeight = Map.groupBy(pending, ({ height }) => height)
    yield* Effect.forEach(byHeight, ([height, rows]) => PendingConfirmations.addMissing(chain, height, rows), {
      discard: true
    })
    yield* forget(done)
    return { callbacks: due.length, any }
  })

  /** Confirmations that have come and that no commit has told, account by account. */
  const confirm = Effect.fnUntraced(function* (tip: number, undoing: ReadonlySet<number>, now: number) {
    let callbacks = 0
    const ofAccount = Effect.fnUntraced(function* (account: number, most: number) {
      const found = yield* PendingConfirmations.confirmOf(chain, account, tip, most, now)
      yield* CallbackState.enter("matched", found)
      callbacks += found.length
      return found.length
    })
    const next = confirmationTurns.next(AccountTurns.withConfirmations(chain, tip), turns, undoing)
    yield* serve(confirmationTurns, next, visit, ofAccount)
    return callbacks
  })

  /** Takes back some of what undone blocks told; and accounts of which that is not all, which are told nothing else. */
  const takeBack = Effect.fnUntraced(function* () {
    let takenBack = 0
    const ofAccount = Effect.fnUntraced(function* (account: number, most: number) {
      const done = yield* UndoneBlocks.takeBack(of, chain, account, Math.min(most, bounds.turn))
      takenBack += done
      return done
    })
    const any = yield* serve(undoTurns, undoTurns.nextOf(AccountTurns.withUndoneBlocks(chain), turns), 1, ofAccount)
    return { takenBack, undoing: any ? yield* UndoneBlocks.accounts(chain) : noAccounts }
  })

  const step = Effect.gen(function* () {
    const { transaction } = yield* Database
    return yield* transaction(
      Effect.gen(function* () {
        const { height } = yield* ChainRow.lock(chain)
        const now = yield* Clock.currentTimeMillis
        const { takenBack, undoing } = yield* takeBack()
        const matches = yield* fanOutMatches(undoing)
        const confirmed = height === null ? 0 : yield* confirm(height, undoing, now)
        return {
          callbacks: takenBack + matches.callbacks + confirmed,
          full: accountTurns.full(),
          more: matches.any || confirmed > 0 || undoing.size > 0
        } satisfies Step
      })
    )
  }).pipe(Effect.withSpan("FanOut.step"))

  return { wanted: wakeup.next, want: wakeup.signal, step } satisfies FanOut as FanOut
})
