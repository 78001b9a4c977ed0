/**
 * A bound on the bytes of nodes' answers that a chain holds at a time. Bytes are counted as they come in, and given back
 * once the block, or the request, that they are for has been read.
 *
 * Where the bytes would pass the limit, the reading with the most of them gives way: its requests are broken off, and it
 * begins again in its turn. The oldest never gives way, so one always comes to its end, and every other is broken off in
 * favour of an older one only. Giving way is the exception, since no more blocks are read at a time than have room if
 * they are as large as the last ones.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"

/**
 * What becomes of bytes that have come in. `tooLarge`: the reading would pass the limit by itself. `gaveWay`: the reading
 * has been broken off.
 */
export type Taken = "taken" | "tooLarge" | "gaveWay"

/** Counts what one reading receives. */
export interface Receiver {
  readonly take: (bytes: number) => Taken
  readonly giveBack: (bytes: number) => void
  /** Bytes that the reading may still take. */
  readonly room: () => number
}

export interface BytesInFlight {
  readonly limit: number
  /** Bytes that are held at present. */
  readonly held: () => number
  /** Reads a block: its answers are held to its end. Waits until there is room for one more block. */
  readonly block: <A, E, R>(read: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Sends a request: its answer is held to its end, or to that of the reading that the request is part of. */
  readonly request: <A, E, R>(send: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** 64 MiB. */
export const defaultLimit = 64 * 2 ** 20

/** The receiver of the reading that a request is part of. */
export const CurrentReceiver = Context.Reference<Receiver | undefined>(
  "@headwater/indexer/families/node/BytesInFlight/CurrentReceiver",
  { defaultValue: () => undefined }
)

/** What comes in for one reading, in parts that are given back, is at most so many times the limit. */
const maxInParts = 8

/** Expectations of a block's size fall by this factor a block. */
const decay = 0.8

interface Reading {
  readonly isBlock: boolean
  state: "waiting" | "running" | "gaveWay" | "done"
  held: number
  /** The most that was held at a time. */
  peak: number
  /** All that has come in since the reading began. */
  total: number
  turn: Deferred.Deferred<void>
  brokenOff: Deferred.Deferred<void>
}

export const make = (limit: number): BytesInFlight => {
  /** In the order in which they came. */
  const readings = new Set<Reading>()
  let held = 0
  /** Bytes of a block, to judge by the last ones. */
  let expected = 0

  const isBehind = (reading: Reading, counts: (other: Reading) => boolean): boolean => {
    for (const other of readings) {
      if (other === reading) return false
      if (counts(other)) return true
    }
    return false
  }

  const mayRun = (reading: Reading): boolean => {
    if (reading.state === "gaveWay") return !isBehind(reading, (older) => older.state === "gaveWay" || older.held > 0)
    if (!reading.isBlock) return true
    if (isBehind(reading, (older) => older.isBlock && older.state !== "running")) return false
    const blocks = [...readings].filter(({ isBlock, state }) => isBlock && state === "running").length
    return blocks === 0 || (blocks + 1) * expected <= limit
  }

  const wake = () => {
    for (const reading of readings) {
      if (reading.state === "running" || !mayRun(reading)) continue
      reading.state = "running"
      reading.total = 0
      reading.brokenOff = Deferred.makeUnsafe()
      Deferred.doneUnsafe(reading.turn, Effect.void)
    }
  }

  const count = (reading: Reading, bytes: number) => {
    reading.held += bytes
    reading.peak = Math.max(reading.peak, reading.held)
    held += bytes
  }

  const breakOff = (reading: Reading) => {
    count(reading, -reading.held)
    reading.state = "gaveWay"
    reading.turn = Deferred.makeUnsafe()
    Deferred.doneUnsafe(reading.brokenOff, Effect.void)
  }

  /** Of the readings that hold bytes, or want some, the one with the most, but not the oldest. */
  const largestButOldest = (wanting: Reading, bytes: number): Reading => {
    const [, ...younger] = [...readings].filter((reading) => reading === wanting || reading.held > 0)
    const size = (reading: Reading) => reading.held + (reading === wanting ? bytes : 0)
    return younger.reduce((largest, reading) => (size(reading) >= size(largest) ? reading : largest))
  }

  const receiverOf = (reading: Reading): Receiver => {
    const { brokenOff } = reading
    const room = () => Math.min(limit - reading.held, limit * maxInParts - reading.total)
    const isCurrent = () => reading.state === "running" && reading.brokenOff === brokenOff
    return {
      take: (bytes) => {
        if (!isCurrent()) return "gaveWay"
        if (bytes > room()) return "tooLarge"
        while (held + bytes > limit && isCurrent()) breakOff(largestButOldest(reading, bytes))
        if (isCurrent()) {
          count(reading, bytes)
          reading.total += bytes
        }
        // Only now, since what wakes up takes bytes at once.
        wake()
        return isCurrent() ? "taken" : "gaveWay"
      },
      giveBack: (bytes) => {
        if (!isCurrent()) return
        count(reading, -bytes)
        wake()
      },
      room
    }
  }

  const inTurn = Effect.fnUntraced(function* <A, E, R>(
    reading: Reading,
    read: Effect.Effect<A, E, R>
  ): Effect.fn.Return<A, E, R> {
    for (;;) {
      yield* Deferred.await(reading.turn)
      const done = yield* Effect.raceFirst(
        Effect.asSome(Effect.provideService(read, CurrentReceiver, receiverOf(reading))),
        Effect.as(Deferred.await(reading.brokenOff), Option.none())
      )
      if (Option.isSome(done)) return done.value
    }
  })

  const run = <A, E, R>(isBlock: boolean, read: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      const reading: Reading = {
        ...{ isBlock, state: "waiting", held: 0, peak: 0, total: 0 },
        ...{ turn: Deferred.makeUnsafe(), brokenOff: Deferred.makeUnsafe() }
      }
      const end = Effect.sync(() => {
        readings.delete(reading)
        reading.state = "done"
        if (isBlock) expected = Math.max(reading.peak, expected * decay)
        count(reading, -reading.held)
        wake()
      })
      readings.add(reading)
      wake()
      return Effect.ensuring(inTurn(reading, read), end)
    })

  return {
    limit,
    held: () => held,
    block: (read) => run(true, read),
    request: (send) => Effect.flatMap(CurrentReceiver, (receiver) => (receiver === undefined ? run(false, send) : send))
  }
}

/** The bound of the chain whose nodes are being connected; without one of its own, one for all. */
export const Current = Context.Reference<BytesInFlight>("@headwater/indexer/families/node/BytesInFlight", {
  defaultValue: () => make(defaultLimit)
})

/** Tells at the end of a part of a reading what it was and how many bytes are held for it. */
export const counting = <A, E, R>(
  read: Effect.Effect<A, E, R>,
  ended: (receiver: Receiver, bytes: number, exit: Exit.Exit<A, E>) => void
): Effect.Effect<A, E, R> =>
  Effect.flatMap(CurrentReceiver, (receiver) => {
    if (receiver === undefined) return read
    let taken = 0
    const counted: Receiver = {
      take: (bytes) => {
        const became = receiver.take(bytes)
        if (became === "taken") taken += bytes
        return became
      },
      giveBack: (bytes) => {
        taken -= bytes
        receiver.giveBack(bytes)
      },
      room: receiver.room
    }
    return Effect.onExit(Effect.provideService(read, CurrentReceiver, counted), (exit) =>
      Effect.sync(() => ended(receiver, taken, exit))
    )
  })

/** Reads one part of what is too large together: what comes in for the part is given back at its end. */
export const part = <A, E, R>(read: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  counting(read, (receiver, bytes) => receiver.giveBack(bytes))

/** What comes in for a failed attempt is given back. */
export const attempt = <A, E, R>(read: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  counting(read, (receiver, bytes, exit) => {
    if (Exit.isFailure(exit)) receiver.giveBack(bytes)
  })
