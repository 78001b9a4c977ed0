/**
 * Time that goes as fast as there is nothing to do: while it is installed, the process's clocks, timers and random
 * numbers are those of the simulation. All that is timed is one queue; between two events everything that promises
 * continue has run.
 */
import crypto from "node:crypto"
import { syncBuiltinESMExports } from "node:module"
import * as Chance from "./Chance.ts"

interface Event {
  readonly at: number
  readonly order: number
  readonly run: () => void
  cancelled: boolean
}

export interface SimulatedTime {
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
  /** Runs something of the world after so many milliseconds; the function returned takes that back. */
  readonly after: (millis: number, run: () => void) => () => void
  readonly sleep: (millis: number) => Promise<void>
}

/** The beginning of every simulation: 2026-01-01. */
export const epoch = Date.UTC(2026, 0, 1)

const realImmediate = globalThis.setImmediate

/** Ends when all that promises continue at this moment has run. */
const settled = () => new Promise<void>((resolve) => realImmediate(resolve))

/** A binary heap by time, and by the order of arrival at the same time. */
class Queue {
  readonly #heap: Array<Event> = []

  push(event: Event) {
    const heap = this.#heap
    let at = heap.push(event) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#before(heap[at]!, heap[parent]!)) break
      ;[heap[at], heap[parent]] = [heap[parent]!, heap[at]!]
      at = parent
    }
  }

  pop(): Event | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    heap[0] = last
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2]
      let least = at
      if (left < heap.length && this.#before(heap[left]!, heap[least]!)) least = left
      if (right < heap.length && this.#before(heap[right]!, heap[least]!)) least = right
      if (least === at) return first
      ;[heap[at], heap[least]] = [heap[least]!, heap[at]!]
      at = least
    }
  }

  #before(one: Event, other: Event) {
    return one.at < other.at || (one.at === other.at && one.order < other.order)
  }
}

/** What a timer's function gets as `setTimeout` returns it. */
class Timer {
  readonly #set: () => Event
  #event: Event
  constructor(set: () => Event) {
    this.#set = set
    this.#event = set()
  }
  cancel() {
    this.#event.cancelled = true
  }
  ref() {
    return this
  }
  unref() {
    return this
  }
  hasRef() {
    return true
  }
  refresh() {
    this.cancel()
    this.#event = this.#set()
    return this
  }
  close() {
    this.cancel()
  }
}

/** Gives the process the simulation's time and chance while `run` runs. */
export const simulated = async <A>(chance: Chance.Chance, run: (time: SimulatedTime) => Promise<A>): Promise<A> => {
  let now = epoch
  let order = 0
  let immediates: Array<{ readonly run: () => void; cancelled: boolean }> = []
  const queue = new Queue()

  const push = (millis: number, run: () => void): Event => {
    const event = { at: now + Math.max(millis, 0), order: order++, run, cancelled: false }
    queue.push(event)
    return event
  }

  const turn = async (isOver: () => boolean) => {
    while (true) {
      await settled()
      if (isOver()) return
      if (immediates.length > 0) {
        const batch = immediates
        immediates = []
        for (const immediate of batch) if (!immediate.cancelled) immediate.run()
        continue
      }
      let event = queue.pop()
      while (event?.cancelled) event = queue.pop()
      if (event === undefined) throw new Error("Nothing is left that could ever happen")
      now = Math.max(now, event.at)
      event.run()
    }
  }

  const time: SimulatedTime = {
    now: () => Math.floor(now),
    after: (millis, run) => {
      const event = push(millis, run)
      return () => {
        event.cancelled = true
      }
    },
    sleep: (millis) => new Promise((resolve) => push(millis, resolve))
  }

  const setTimer = (run: (...args: Array<unknown>) => void, millis = 0, ...args: Array<unknown>) =>
    new Timer(() => push(Math.max(Number(millis) || 0, 1), () => run(...args)))
  const randomBytes = (length: number) => Buffer.from(chance.bytes(length))
  const randomUuid = () => {
    const bytes = randomBytes(16)
    bytes[6] = (bytes[6]! & 0x0f) | 0x40
    bytes[8] = (bytes[8]! & 0x3f) | 0x80
    return bytes.toString("hex").replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5")
  }

  const restore: Array<() => void> = []
  const replace = (owner: object, name: string, value: unknown) => {
    const before = Object.getOwnPropertyDescriptor(owner, name)
    Object.defineProperty(owner, name, { value, configurable: true, writable: true })
    restore.push(() => {
      if (before === undefined) Reflect.deleteProperty(owner, name)
      else Object.defineProperty(owner, name, before)
    })
  }
  replace(globalThis, "setTimeout", setTimer)
  replace(globalThis, "clearTimeout", (timer: unknown) => timer instanceof Timer && timer.cancel())
  replace(globalThis, "setImmediate", (run: (...args: Array<unknown>) => void, ...args: Array<unknown>) => {
    const immediate = { run: () => run(...args), cancelled: false }
    immediates.push(immediate)
    return immediate
  })
  replace(globalThis, "clearImmediate", (immediate: { cancelled: boolean } | undefined) => {
    if (immediate !== undefined) immediate.cancelled = true
  })
  replace(Date, "now", () => Math.floor(now))
  replace(performance, "now", () => now - epoch)
  // Effect's clock has its monotonic time from here.
  replace(process.hrtime, "bigint", () => BigInt(Math.floor((now - epoch) * 1e6)))
  // Some of what libraries draw here they draw once a process: that much is taken from nobody else.
  replace(Math, "random", Chance.make(0).next)
  replace(globalThis.crypto, "randomUUID", randomUuid)
  replace(globalThis.crypto, "getRandomValues", (array: Uint8Array) => {
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(chance.bytes(array.byteLength))
    return array
  })
  replace(crypto, "randomBytes", randomBytes)
  replace(crypto, "randomUUID", randomUuid)
  syncBuiltinESMExports()
  try {
    let isOver = false
    const result = run(time).finally(() => {
      isOver = true
    })
    // Whoever waits for the result learns of its failure.
    result.catch(() => {})
    await turn(() => isOver)
    return await result
  } finally {
    for (const back of restore.reverse()) back()
    syncBuiltinESMExports()
  }
}
