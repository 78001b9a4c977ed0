/**
 * New heads that EVM nodes announce over WebSocket (`eth_subscribe`), as hints to look: what an announcement says of a
 * block is never recorded, and blocks without one are found by looking all the same.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { type NodeSettings, urlsOf } from "../Family.ts"
import * as Hints from "../node/Hints.ts"
import { type NodeFinding, ok } from "../node/NodeFinding.ts"
import type { Head } from "../Source.ts"
import * as HeadSocket from "./internal/HeadSocket.ts"

export interface NewHeads {
  /**
   * Waits until a head was announced that the nodes have not shown yet. While they go on not to show the last one, over
   * HTTP, the wait ends again and again, a few times.
   */
  readonly announced: Effect.Effect<void>
  /** The newest head that was announced, where the nodes have not shown it yet. */
  readonly head: () => HeadSocket.AnnouncedHead | undefined
  /** Takes note of the newest block that the nodes show. */
  readonly shown: (head: Pick<Head, "height" | "hash">) => void
}

type Settings = Pick<NodeSettings, "nodes" | "user" | "password"> & {
  readonly newHeads?: ReadonlyArray<Redacted.Redacted<string>>
}

/** One node's WebSocket, at the first of these URLs that answers. */
interface Endpoint {
  readonly urls: readonly [URL, ...Array<URL>]
  /** By the settings, and not by the URL of the node: that nothing answers there is worth a warning. */
  readonly isNamed: boolean
}

/** Where clients with two ports, geth, reth and Besu among them, serve WebSocket, and where HTTP. */
const [httpPort, webSocketPort] = ["8545", "8546"]

/**
 * The URLs by which the node at an HTTP URL may announce heads: the same over WebSocket, and the usual port for that beside
 * the usual one for HTTP. What may be secret in a URL goes to the same port alone.
 */
const derived = (node: string): Endpoint => {
  const same = new URL(node)
  same.protocol = same.protocol === "https:" ? "wss:" : "ws:"
  const { password, pathname, port, search, username } = same
  if (port !== httpPort || username + password + search !== "" || pathname !== "/") {
    return { urls: [same], isNamed: false }
  }
  const beside = new URL(same)
  beside.port = webSocketPort
  return { urls: [beside, same], isNamed: false }
}

const endpointsOf = ({ newHeads, ...settings }: Settings): ReadonlyArray<Endpoint> => {
  if (newHeads === undefined) return urlsOf(settings).map(derived)
  const [first, ...others] = newHeads
  if (first === undefined) return []
  return urlsOf({ ...settings, nodes: [first, ...others] }).map((url) => ({ urls: [new URL(url)], isNamed: true }))
}

/** Silence after which the connection is made anew: the node may have gone, or forgotten the subscription. */
const silenceMillis = ({ blockSeconds, networkKind }: Chain) =>
  networkKind === "development" ? 600_000 : Math.min(Math.max(20_000 * blockSeconds, 30_000), 600_000)

const firstBackoffMillis = 1_000
const longestBackoffMillis = 60_000
/** Where nothing has ever answered, and no setting says that anything should. */
const derivedBackoffMillis = 600_000

/** How often, and after how long at first, the nodes are looked at again that do not show what was announced. */
const looks = 8
const firstLookMillis = 10

/** Listens at one endpoint for as long as the scope lives: connects again and again, ever later, and by chance. */
const keepListening = Effect.fnUntraced(function* (
  { isNamed, urls }: Endpoint,
  onHead: (head: HeadSocket.AnnouncedHead) => void,
  silenceMillis: number
) {
  let failures = 0
  let index = 0
  /** Whether the log says that heads are announced; undefined before the first word. */
  let isTold: boolean | undefined
  for (;;) {
    const url = urls[index % urls.length]!
    let heard = false
    const { isSilent, name, reason } = yield* HeadSocket.listen(url, {
      silenceMillis,
      onHead: (head) => {
        heard = true
        onHead(head)
      },
      onSubscribed: Effect.suspend(() => {
        if (isTold === true) return Effect.void
        isTold = true
        return Effect.logInfo(`${HeadSocket.nameOf(url)} announces new heads`)
      })
    })
    if (isSilent) continue
    if (isTold !== true) index++
    failures = heard ? 0 : failures + 1
    const hasTold = isTold
    const message = `${name} announces no new heads, the node is asked at intervals only: ${reason}`
    if (hasTold === true || (isNamed && hasTold === undefined)) {
      isTold = false
      yield* Effect.logWarning(message)
    } else if (hasTold === undefined) yield* Effect.logDebug(message)
    const longest = isNamed || hasTold !== undefined ? longestBackoffMillis : derivedBackoffMillis
    const millis = Math.min(firstBackoffMillis * 2 ** failures, longest)
    yield* Effect.sleep(millis * (0.5 + (yield* Random.next)))
  }
})

/** Listens to the nodes of a chain until the scope closes; undefined where the settings name none to listen to. */
export const make = Effect.fnUntraced(function* (
  chain: Chain,
  settings: Settings
): Effect.fn.Return<NewHeads | undefined, never, Scope.Scope> {
  const endpoints = endpointsOf(settings)
  if (endpoints.length === 0) return undefined
  const hints = yield* Hints.make
  let newest: HeadSocket.AnnouncedHead | undefined
  let shown: Pick<Head, "height" | "hash"> | undefined
  let looked = 0

  const onHead = (head: HeadSocket.AnnouncedHead) => {
    // Several nodes announce the same block.
    if (shown !== undefined && Bytes.equal(shown.hash, head.hash)) return
    if (newest === undefined || !Bytes.equal(newest.hash, head.hash)) looked = 0
    newest = head
    hints.offer()
  }

  const head: NewHeads["head"] = () =>
    newest !== undefined &&
    shown !== undefined &&
    shown.height <= newest.height &&
    !Bytes.equal(shown.hash, newest.hash)
      ? newest
      : undefined

  /** Whether the nodes, asked after the announcement, were behind. */
  const isBehind = () => head() !== undefined && looked < looks

  yield* Effect.forEach(endpoints, (endpoint) =>
    Effect.forkScoped(keepListening(endpoint, onHead, silenceMillis(chain)))
  )
  const again = Effect.suspend(() =>
    Effect.andThen(
      Effect.sleep(firstLookMillis * 2 ** looked),
      Effect.sync(() => looked++)
    )
  )
  return {
    head,
    announced: Effect.suspend(() => (isBehind() ? Effect.raceFirst(hints.wait, again) : hints.wait)),
    shown: (head) => {
      shown = head
    }
  }
})

/** Whether heads are announced where the settings say so, or else where they may be, for `doctor`. */
export const report = (settings: Settings & Pick<NodeSettings, "timeoutMillis">) =>
  Effect.forEach(
    endpointsOf(settings),
    Effect.fnUntraced(function* ({ isNamed, urls }) {
      const answers = yield* Effect.forEach(urls, (url) => HeadSocket.probe(url, settings.timeoutMillis), {
        concurrency: "unbounded"
      })
      const well = answers.find(({ reason }) => reason === undefined)
      if (well !== undefined) return ok(`${well.name} announces new heads over WebSocket`)
      const [{ name, reason } = { name: "", reason: "" }] = answers
      return isNamed
        ? ({
            level: "warning",
            code: "no_new_heads",
            message: `${name} announces no new heads over WebSocket: ${reason}`,
            advice:
              "see whether newHeads names the node's WebSocket port, and whether the node serves eth_subscribe there; " +
              "newHeads = [] listens to none"
          } satisfies NodeFinding)
        : ok(
            `${answers.map(({ name }) => name).join(" and ")}: no new heads over WebSocket, so the node is asked at ` +
              "intervals; newHeads says where it announces them"
          )
    }),
    { concurrency: "unbounded" }
  )
