/**
 * A network of its own for a process under test, on Linux and for root alone: one link to this machine for the test, and
 * one to the outside, at whose end receivers and a name server are, and which can be cut.
 */
import { execFileSync } from "node:child_process"
import { createSocket } from "node:dgram"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { connect, createServer } from "node:net"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as LocalServer from "./LocalServer.ts"

const ip = (...args: ReadonlyArray<string>) => execFileSync("ip", args, { stdio: "pipe" })

/** Why there can be no such network here; undefined where there can. */
export const impossible: string | undefined = (() => {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "needs root on Linux"
  const name = `headwater-probe-${process.pid}`
  try {
    ip("netns", "add", name)
    ip("netns", "del", name)
    return undefined
  } catch (error) {
    return `needs network namespaces: ${(error as Error).message.trim()}`
  }
})()

let counter = 0

export interface Namespace {
  /** Before the command of a process that is to be in it. */
  readonly command: ReadonlyArray<string>
  /** The address under which the test reaches the process, and the process the test. */
  readonly inside: string
  readonly outside: string
  /** Addresses at the end of the link that can be cut. */
  readonly receivers: readonly [string, string]
  readonly cut: Effect.Effect<void>
  readonly mend: Effect.Effect<void>
}

export const make = Effect.acquireRelease(
  Effect.sync(() => {
    const id = `${process.pid % 10_000}${counter++}`
    const name = `headwater-${id}`
    const block = (Number(id) * 8) % 250
    const test = `10.${201 + (Number(id) % 20)}.${block}`
    const far = `10.${221 + (Number(id) % 20)}.${block}`
    ip("netns", "add", name)
    ip("-n", name, "link", "set", "lo", "up")
    for (const [link, own, theirs] of [
      [`t${id}`, [`${test}.1/24`], `${test}.2/24`],
      [`o${id}`, [`${far}.1/24`, `${far}.3/24`], `${far}.2/24`]
    ] as const) {
      ip("link", "add", link, "type", "veth", "peer", "name", `${link}n`, "netns", name)
      for (const address of own) ip("addr", "add", address, "dev", link)
      ip("link", "set", link, "up")
      ip("-n", name, "addr", "add", theirs, "dev", `${link}n`)
      ip("-n", name, "link", "set", `${link}n`, "up")
    }
    // What `ip netns exec` shows as /etc/resolv.conf.
    const etc = join("/etc/netns", name)
    mkdirSync(etc, { recursive: true })
    writeFileSync(join(etc, "resolv.conf"), `nameserver ${far}.1\noptions timeout:1 attempts:1\n`)
    return {
      name,
      etc,
      command: ["ip", "netns", "exec", name],
      inside: `${test}.2`,
      outside: `${test}.1`,
      receivers: [`${far}.1`, `${far}.3`],
      cut: Effect.sync(() => ip("-n", name, "link", "set", `o${id}n`, "down")),
      mend: Effect.sync(() => ip("-n", name, "link", "set", `o${id}n`, "up"))
    } satisfies Namespace & Record<string, unknown>
  }),
  ({ etc, name }) =>
    Effect.sync(() => {
      ip("netns", "del", name)
      rmSync(etc, { recursive: true, force: true })
    })
)

/** Passes connections at an address on to a port of this machine; the port there. */
export const forward = (address: string, port: number) =>
  LocalServer.listen(
    createServer((socket) => {
      const upstream = connect(port, "127.0.0.1")
      socket.pipe(upstream)
      upstream.pipe(socket)
      socket.on("error", () => upstream.destroy())
      upstream.on("error", () => socket.destroy())
    }),
    address
  )

/** A name server at an address, which knows these names and says of others that there are none; `stop` takes it away. */
export const nameServer = (address: string, names: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly stop: Effect.Effect<void>; readonly start: Effect.Effect<void> }>((resume) => {
      const listen = () => {
        const socket = createSocket("udp4")
        socket.on("message", (query, from) => {
          const labels: Array<string> = []
          let at = 12
          while (query[at] !== 0 && at < query.length) {
            labels.push(query.toString("latin1", at + 1, at + 1 + query[at]!))
            at += query[at]! + 1
          }
          const question = query.subarray(12, at + 5)
          const isA = query.readUInt16BE(at + 1) === 1
          const known = names[labels.join(".").toLowerCase()]
          const answer =
            known === undefined || !isA
              ? Buffer.alloc(0)
              : Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...known.split(".").map(Number)])
          const header = Buffer.from(query.subarray(0, 12))
          // A recursive answer; a name that is not known does not exist.
          header.writeUInt16BE(0x8180 | (known === undefined ? 3 : 0), 2)
          header.writeUInt16BE(answer.length === 0 ? 0 : 1, 6)
          header.writeUInt32BE(0, 8)
          socket.send(Buffer.concat([header, question, answer]), from.port, from.address)
        })
        return new Promise<typeof socket>((done) => socket.bind(53, address, () => done(socket)))
      }
      let socket: Awaited<ReturnType<typeof listen>> | undefined
      const start = Effect.promise(async () => {
        socket ??= await listen()
      })
      const stop = Effect.sync(() => {
        socket?.close()
        socket = undefined
      })
      resume(Effect.as(start, { start, stop }))
    }),
    ({ stop }) => stop
  )
