/**
 * The network below a PostgreSQL store: connections of the program's own pool, whose statements a real server runs one
 * after another, in the order in which they reach it in simulated time. Time stands still while the server works; a
 * statement that waits for a lock of another connection lets time go on. Connections break before a statement has
 * reached the server and after it was run; the server is gone, is started again, is silent, has a full disk, and ends
 * transactions for a deadlock.
 *
 * A story is that of its seed as far as the server is: statements of several connections that one commit lets go of
 * their locks at once run side by side there.
 */
import { Duplex } from "node:stream"
import type { Socket } from "node:net"
import { ServerSilence } from "@headwater/indexer/store/database/Database"
import { SignalsShared } from "@headwater/indexer/store/database/Signals"
import { ServerSockets } from "@headwater/indexer/store/database/internal/PostgresServer"
import * as Layer from "effect/Layer"
import type { Chance } from "./Chance.ts"
import type * as PostgresSessions from "./PostgresSessions.ts"
import type { SimulatedStore } from "./SimulatedStore.ts"
import type { SimulatedTime } from "./SimulatedTime.ts"

/** What a connection in use may bring nothing for, in milliseconds. */
const silenceMillis = 2_500

/** Connections of a program at most: few, so that statements wait for them. */
const connections = 5

const frame = (type: string, ...parts: ReadonlyArray<Uint8Array>) => {
  const body = Buffer.concat(parts)
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}
const text = (value: string) => Buffer.from(`${value}\0`)

/** A simple statement, as a message. */
const simple = (sql: string) => frame("Q", text(sql))

/** The server accepts the connection, and is ready for a statement. */
const welcome = Buffer.concat([frame("R", Buffer.alloc(4)), frame("Z", Buffer.from("I"))])

const fatal = (code: string, message: string) =>
  frame("E", text("SFATAL"), text("VFATAL"), text(`C${code}`), text(`M${message}`), Buffer.alloc(1))

const shutdown = fatal("57P01", "terminating connection due to administrator command")
const starting = fatal("57P03", "the database system is starting up")

/** Has the server itself fail, so that its transaction is as after such an error; `before`: what it runs first. */
const raise = ([code, message]: readonly [code: string, message: string], before = "") =>
  simple(`${before}do $$ begin raise exception '${message}' using errcode = '${code}'; end $$`)

const failures = [
  ["53100", "could not extend file: No space left on device (simulated)"],
  ["40P01", "deadlock detected (simulated)"],
  ["40001", "could not serialize access due to concurrent update (simulated)"]
] as const

const systemError = (code: string) => Object.assign(new Error(`${code}: simulated`), { code })

/** The end of a client's message: whoever has sent it waits for an answer. */
const isEnd = (type: number) => type === "S".charCodeAt(0) || type === "Q".charCodeAt(0)
const parse = "P".charCodeAt(0)
const goodbye = "X".charCodeAt(0)

/** The first statement of a message. */
const statementOf = (message: Buffer): string => {
  if (message[0] === "Q".charCodeAt(0)) return message.toString("utf8", 5, message.length - 1)
  if (message[0] !== parse) return ""
  const begin = message.indexOf(0, 5) + 1
  return message.toString("utf8", begin, message.indexOf(0, begin))
}

/**
 * What goes wrong meanwhile: statements fail, connections break, all of them end as the server is started again, the
 * server is not to be reached, or nothing comes from it.
 */
type Trouble = "failing" | "breaking" | "restarting" | "gone" | "silent"

export const make = (
  template: string,
  sessions: PostgresSessions.PostgresSessions,
  url: string,
  time: SimulatedTime,
  chance: Chance
): SimulatedStore => {
  const database = `${template}_story`
  sessions.administer(`drop database if exists ${database} with (force)`)
  sessions.administer(`create database ${database} template ${template}`)
  const place = new URL(url)
  place.pathname = `/${database}`

  let trouble: { readonly kind: Trouble; readonly probability: number } | undefined
  /** That a connection breaks, or a transaction fails, while all is well: now and then. */
  let mishap = 0.001
  const all = new Set<Connection>()
  /** Sessions that no connection has. */
  const idle: Array<number> = []
  /** What becomes of the answer of a session that waits for a lock. */
  const awaited = new Map<number, (answer: Uint8Array) => void>()

  const isUnreachable = () => trouble?.kind === "gone" || trouble?.kind === "restarting"

  const latency = () => (chance.happens(0.01) ? chance.between(3, 40) : chance.next() / 2)

  const settle = (session: number, exchanged: PostgresSessions.Exchanged, then: (answer: Uint8Array) => void) => {
    if (exchanged.answer === undefined) awaited.set(session, then)
    else then(exchanged.answer)
    for (const { answer, session } of exchanged.released) {
      const own = awaited.get(session)
      awaited.delete(session)
      own?.(answer)
    }
  }

  const exchange = (session: number, message: Uint8Array, then: (answer: Uint8Array) => void) =>
    settle(session, sessions.exchange(session, message), then)

  /** The server finds that nobody is there any more: what was not committed is undone. */
  const abandon = (session: number) => exchange(session, simple("rollback"), () => idle.push(session))

  class Connection extends Duplex {
    readonly #isAlive: () => boolean
    #session: number | undefined
    #isWelcome = false
    #message: Array<Buffer> = []
    #held: Array<() => void> = []
    #isOver = false
    #isTimed = false
    #lastUse = time.now()

    constructor(isAlive: () => boolean) {
      super({ allowHalfOpen: false })
      this.#isAlive = isAlive
      all.add(this)
    }

    get isAlive() {
      return this.#isAlive()
    }

    connect() {
      time.after(latency(), () => {
        if (this.destroyed) return
        if (isUnreachable() || !this.#isAlive()) {
          if (trouble?.kind === "restarting" && chance.happens(0.5)) return this.#end(starting)
          return this.break("ECONNREFUSED")
        }
        if (trouble?.kind === "silent" && chance.happens(trouble.probability)) return
        this.emit("connect")
      })
      return this
    }

    setNoDelay() {
      return this
    }
    setKeepAlive() {
      return this
    }
    ref() {
      return this
    }
    unref() {
      return this
    }

    /** As a socket's: `late` runs where nothing was sent or has come for so long. */
    setTimeout(millis: number, late: () => void) {
      this.#isTimed = true
      const look = () => {
        if (this.destroyed) return
        const left = this.#lastUse + millis - time.now()
        if (left <= 0) {
          late()
          this.#lastUse = time.now()
        }
        time.after(left <= 0 ? millis : left, look)
      }
      time.after(millis, look)
      return this
    }

    break(code: string) {
      this.destroy(systemError(code))
    }

    /** The server's last words. */
    #end(words = new Uint8Array()) {
      if (this.#isOver || this.destroyed) return
      this.#isOver = true
      if (words.length > 0) this.push(words)
      this.push(null)
    }

    /** The server is stopped by its administrator. */
    shutDown() {
      if (chance.happens(0.5)) this.#end(shutdown)
      else this.break("ECONNRESET")
    }

    /** What was held back of a silent server comes after all, or never does where the program watches for that. */
    goOn() {
      const held = this.#held.splice(0)
      if (this.#isTimed && held.length > 0 && chance.happens(0.5)) return
      for (const run of held) run()
    }

    override _read() {}

    override _write(bytes: Buffer, _: BufferEncoding, done: () => void) {
      this.#lastUse = time.now()
      done()
      if (!this.#isWelcome) {
        this.#isWelcome = true
        this.#session = idle.pop() ?? sessions.open(database, chance.next())
        return this.#answer(welcome)
      }
      this.#message.push(bytes)
      const message = Buffer.concat(this.#message)
      for (let at = 0; at < message.length; at += 1 + message.readInt32BE(at + 1)) {
        if (message[at] === goodbye) return this.#end()
        if (!isEnd(message[at]!)) continue
        this.#message = []
        time.after(latency(), () => this.#ask(message))
        return
      }
    }

    #ask(message: Buffer) {
      const session = this.#session
      if (session === undefined || this.#isOver || this.destroyed) return
      const statement = statementOf(message)
      const kind = this.#faultOf(statement)
      if (kind === "before") return this.break("ECONNRESET")
      const asked = kind === "failure" ? raise(chance.oneOf(failures), statement === "begin" ? "begin; " : "") : message
      exchange(session, asked, (answer) => {
        if (this.#isOver || this.destroyed) return
        if (kind === "after") return this.break("ECONNRESET")
        this.#answer(answer)
      })
    }

    /** What goes wrong with a statement: it fails, or its connection breaks before or after it was run. */
    #faultOf(statement: string): "failure" | "before" | "after" | undefined {
      if (trouble === undefined && !chance.happens(mishap)) return undefined
      const { kind, probability } = trouble ?? { kind: chance.oneOf(["failing", "breaking"] as const), probability: 1 }
      if (!chance.happens(probability)) return undefined
      if (kind === "failing") return /^(rollback|start)/.test(statement) ? undefined : "failure"
      return kind === "breaking" ? chance.oneOf(["before", "after"] as const) : undefined
    }

    #answer(answer: Uint8Array) {
      const deliver = () =>
        time.after(latency(), () => {
          if (this.#isOver || this.destroyed) return
          this.#lastUse = time.now()
          this.push(answer)
        })
      if (trouble?.kind === "silent" && chance.happens(trouble.probability)) this.#held.push(deliver)
      else deliver()
    }

    override _final(done: () => void) {
      done()
      this.#end()
    }

    override _destroy(error: Error | null, done: (error: Error | null) => void) {
      all.delete(this)
      const session = this.#session
      this.#session = undefined
      // What waits for a lock goes on waiting, and is undone as it has come.
      if (session !== undefined) {
        time.after(latency(), () => {
          if (awaited.has(session)) awaited.set(session, () => abandon(session))
          else abandon(session)
        })
      }
      done(error)
    }
  }

  /** Ends all connections at once: with the server ends what waits for locks. */
  const restart = () => {
    for (const connection of [...all]) connection.shutDown()
    for (const session of [...awaited.keys()]) {
      const then = awaited.get(session)
      awaited.delete(session)
      // The end of another one may have let this one go on.
      if (then !== undefined) settle(session, sessions.cancel(session), then)
    }
  }

  const calm = () => {
    trouble = undefined
    for (const connection of [...all]) connection.goOn()
  }

  return {
    settings: () => ({ postgres: place.href, connections }),
    layer: (isAlive) =>
      Layer.mergeAll(
        Layer.succeed(ServerSockets, () => new Connection(isAlive) as unknown as Socket),
        Layer.succeed(ServerSilence, silenceMillis),
        // The server tells of notifications in its own time.
        Layer.succeed(SignalsShared, false)
      ),
    look: <A>(sql: string) => sessions.rows(database, sql) as ReadonlyArray<A>,
    setTrouble: (probability) => {
      calm()
      if (probability === 0) return
      const kind = chance.oneOf(["failing", "breaking", "restarting", "gone", "silent"] as const)
      trouble = { kind, probability }
      if (kind === "restarting") restart()
      if (kind === "gone") for (const connection of [...all]) connection.break("ECONNRESET")
    },
    isTroubled: () => trouble !== undefined,
    mend: () => {
      calm()
      mishap = 0
    },
    crash: (how) => {
      for (const connection of [...all]) if (how === "power" || !connection.isAlive) connection.break("ECONNRESET")
      if (how === "power") restart()
    },
    isShared: true,
    losesCommitted: false,
    remove: () => {
      sessions.close(database)
      sessions.administer(`drop database if exists ${database} with (force)`)
    }
  }
}
