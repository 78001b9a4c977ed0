/**
 * The thread of {@link PostgresSessions}: sessions of a real server, of which each takes the bytes of a client's message
 * and gives those of the server's answer. An answer that waits for a lock of another session is told from one that only
 * takes its time by what the server says of its locks, never by a clock of this machine.
 */
import type { Socket } from "node:net"
import { type MessagePort, parentPort, workerData } from "node:worker_threads"
import pg from "pg"
import type { Exchanged, Methods, Released } from "./PostgresSessions.ts"

const { cell, port, url } = workerData as {
  readonly cell: Int32Array
  readonly port: MessagePort
  readonly url: string
}

interface Session {
  readonly id: number
  readonly database: string
  readonly pid: number
  readonly socket: Socket
  /** The place of its statement among all that were sent. */
  place: number
  received: Buffer
  /** Runs when the whole answer has come, or never will. */
  answered: () => void
}

interface Answer {
  readonly bytes: Uint8Array
  /** Whether the session is in a transaction that has not failed: such a one keeps its locks. */
  readonly keepsLocks: boolean
}

const sessions = new Map<number, Session>()
/** Of what waits for a lock. */
const waiting = new Set<Session>()
const clients = new Map<string, pg.Client>()
let count = 0
let sent = 0

/** Who waits for a lock looks for a deadlock after this time; a lock is looked for once that is surely over. */
const deadlockMillis = 1
const lockMillis = 6

const options = [`deadlock_timeout=${deadlockMillis}ms`, "jit=off", "max_parallel_workers_per_gather=0"]

const connected = async (database: string) => {
  const own = new URL(url)
  own.pathname = `/${database}`
  const client = new pg.Client({
    connectionString: own.href,
    options: options.map((option) => `-c ${option}`).join(" "),
    types: {
      getTypeParser: ((oid: number, format?: "text" | "binary") =>
        oid === pg.types.builtins.INT8 || oid === pg.types.builtins.NUMERIC
          ? Number
          : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser
    }
  })
  client.on("error", () => {})
  await client.connect()
  return client
}

/** A connection for statements of the world's own. */
const clientOf = async (database: string) => {
  const known = clients.get(database)
  if (known !== undefined) return known
  const client = await connected(database)
  clients.set(database, client)
  return client
}

const administrator = await clientOf(new URL(url).pathname.slice(1))

/** The answer of a session, once its last message has come: the one that says that the next statement may come. */
const answerOf = ({ received }: Session): Answer | undefined => {
  for (let at = 0; at + 5 <= received.length; ) {
    const end = at + 1 + received.readInt32BE(at + 1)
    if (received[at] === "Z".charCodeAt(0) && end <= received.length) {
      return { bytes: new Uint8Array(received), keepsLocks: received[at + 5] === "T".charCodeAt(0) }
    }
    at = end
  }
  return undefined
}

const open = async (database: string, seed: number) => {
  const client = await connected(database)
  await client.query("select setseed($1)", [seed])
  const { connection, processID } = client as unknown as {
    readonly connection: { readonly stream: Socket }
    readonly processID: number
  }
  const socket = connection.stream.removeAllListeners("data")
  const session: Session = {
    ...{ id: ++count, database, pid: processID, socket },
    place: 0,
    received: Buffer.alloc(0),
    answered: () => {}
  }
  sessions.set(session.id, session)
  socket.on("data", (bytes: Buffer) => {
    session.received = Buffer.concat([session.received, bytes])
    if (answerOf(session) !== undefined) session.answered()
  })
  return session.id
}

const isWaiting = async ({ pid }: Session) => {
  const { rowCount } = await administrator.query(
    `select 1 from pg_locks
      where pid = ${pid} and not granted and waitstart < clock_timestamp() - '${lockMillis} ms'::interval`
  )
  return rowCount === 1
}

/** The answer; undefined where the statement waits for a lock. */
const answered = async (session: Session): Promise<Answer | undefined> => {
  for (;;) {
    const answer = answerOf(session)
    if (answer !== undefined) {
      session.received = Buffer.alloc(0)
      waiting.delete(session)
      return answer
    }
    // What waits already is looked at without delay: most often it still does.
    if (!waiting.has(session)) {
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>((resolve) => {
        session.answered = resolve
        timer = setTimeout(resolve, 2)
      })
      clearTimeout(timer)
      if (answerOf(session) !== undefined) continue
    }
    if (await isWaiting(session)) {
      waiting.add(session)
      return undefined
    }
    waiting.delete(session)
  }
}

/** Answers that came as locks were let go, until none is left that would let go of any. */
const released = async () => {
  const all: Array<Released> = []
  for (let goesOn = true; goesOn; ) {
    goesOn = false
    for (const session of [...waiting].sort((one, other) => one.place - other.place)) {
      const answer = await answered(session)
      if (answer === undefined) continue
      all.push({ session: session.id, answer: answer.bytes })
      goesOn ||= !answer.keepsLocks
    }
  }
  return all
}

const exchange = async (id: number, bytes: Uint8Array): Promise<Exchanged> => {
  const session = sessions.get(id)!
  session.place = ++sent
  session.socket.write(bytes)
  const answer = await answered(session)
  const letsGo = answer !== undefined && !answer.keepsLocks
  return { answer: answer?.bytes, released: letsGo ? await released() : [] }
}

const methods: { readonly [M in keyof Methods]: (...args: Parameters<Methods[M]>) => Promise<ReturnType<Methods[M]>> } =
  {
    open,
    exchange,
    cancel: async (id) => {
      const session = sessions.get(id)!
      await administrator.query(`select pg_cancel_backend(${session.pid})`)
      waiting.delete(session)
      for (;;) {
        const answer = await answered(session)
        if (answer !== undefined) return { answer: answer.bytes, released: await released() }
      }
    },
    rows: async (database, sql) => (await (await clientOf(database)).query(sql)).rows,
    close: async (database) => {
      for (const session of sessions.values()) {
        if (session.database !== database) continue
        session.socket.destroy()
        sessions.delete(session.id)
        waiting.delete(session)
      }
      await clients.get(database)?.end()
      clients.delete(database)
      for (;;) {
        const { rowCount } = await administrator.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`
        )
        if (rowCount === 0) return
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
    },
    administer: async (statement) => {
      await administrator.query(statement)
    }
  }

parentPort!.on("message", async ({ args, method }: { readonly method: keyof Methods; readonly args: never }) => {
  let reply: unknown
  try {
    reply = { value: await (methods[method] as (...args: ReadonlyArray<never>) => Promise<unknown>)(...(args as [])) }
  } catch (cause) {
    reply = { error: String(cause) }
  }
  port.postMessage(reply)
  Atomics.store(cell, 0, 1)
  Atomics.notify(cell, 0)
})
