/** The nodes of the simulated chains: each has a branch, and moods in which it answers otherwise than it should. */
import type { Dispatcher } from "undici"
import type { Chance } from "./Chance.ts"
import type { SimulatedChain } from "./Chains.ts"
import type { Lie } from "./Families.ts"
import type { View } from "./NodeView.ts"
import * as SimulatedHttp from "./SimulatedHttp.ts"
import type { SimulatedTime } from "./SimulatedTime.ts"

/** What a node may be like beside `well`. */
export const moods = [
  ...["down", "silent", "failing", "throttling", "behind", "stuck", "mixing", "cutting"],
  ...["wrongReceipts", "wrongParent", "wrongHeight", "withoutParts", "withoutBlocks"]
] as const
export type Mood = (typeof moods)[number] | "well"

/** Those that find most, oftener than others: nodes behind one load balancer that are not of one mind, or lack a part. */
export const oftenest: ReadonlyArray<Mood> = [
  ...moods,
  ...(["mixing", "mixing", "mixing", "withoutBlocks", "withoutParts", "withoutParts", "withoutParts"] as const)
]

/** Those in which a node hides no transaction that a block has: where it answers, it says so, or that it has not come as far. */
const frank: ReadonlySet<Mood> = new Set(["well", "down", "silent", "failing", "throttling", "behind", "cutting"])

export interface SimulatedNode {
  readonly url: string
  readonly chain: SimulatedChain
  readonly isProved: boolean
  /** Among the nodes of its chain. */
  readonly place: number
  mood: Mood
  /** What a node has that is stuck. */
  stuck: Pick<View, "branch" | "final" | "waiting">
}

export interface Nodes {
  readonly all: ReadonlyArray<SimulatedNode>
  readonly setMood: (node: SimulatedNode, mood: Mood) => void
  /** When any node of a chain last may have hidden what a block has, once all are well; undefined where none has. */
  readonly hidUntil: ReadonlyMap<SimulatedChain, number>
  /** Connections of the program to nodes, in one life of it. */
  readonly connections: (isAlive: () => boolean) => (origin: string) => Dispatcher
}

/** Moods that a part of the answers shows. */
const partly: Partial<Record<Mood, number>> = {
  ...{ failing: 0.6, throttling: 0.5, mixing: 0.5, cutting: 0.4 },
  ...{ wrongReceipts: 0.7, wrongParent: 0.7, wrongHeight: 0.5, withoutBlocks: 0.5 }
}

/** How long most answers take at most, and the others, in milliseconds: what happens meanwhile is between two questions. */
const [answerMillis, lateMillis] = [30, 300]

export const make = (
  chains: ReadonlyArray<Pick<SimulatedNode, "chain" | "isProved"> & { readonly nodes: number }>,
  time: SimulatedTime,
  chance: Chance
): Nodes => {
  const all = chains.flatMap(({ chain, isProved, nodes }, c) =>
    Array.from(
      { length: nodes },
      (_, place): SimulatedNode => ({
        url: `http://node-${c}-${place}.test:8545`,
        ...{ chain, isProved, place },
        mood: "well",
        stuck: { branch: [], final: 0, waiting: [] }
      })
    )
  )

  const hidUntil = new Map<SimulatedChain, number>()

  const viewOf = ({ chain, isProved, mood, place, stuck }: SimulatedNode): View => {
    const best = chain.best()
    const own = { lacksParts: mood === "withoutParts", isProved, place }
    if (mood === "stuck" || (mood === "mixing" && chance.happens(0.5))) return { ...stuck, ...own }
    const branch = mood === "behind" ? best.slice(0, Math.max(best.length - 3, 1)) : best
    return { branch, final: chain.final(), waiting: own.lacksParts ? [] : chain.waiting(), ...own }
  }

  const answerOf = (node: SimulatedNode, request: SimulatedHttp.Request): SimulatedHttp.Response => {
    const { family } = node.chain
    const view = viewOf(node)
    const lie = chance.happens(partly[node.mood] ?? 1) ? family.lies[node.mood as Lie] : undefined
    return family.envelope(request, (method, params) => {
      const result = family.answer(view, method, params)
      return lie === undefined ? result : lie(method, result, view, params)
    })
  }

  const lead = (node: SimulatedNode, { end, request }: SimulatedHttp.Exchange) => {
    const { mood } = node
    const later = (run: () => void) =>
      time.after(chance.next() * (chance.happens(0.15) ? lateMillis : answerMillis), run)
    const isSo = chance.happens(partly[mood] ?? 1)
    if (mood === "silent") return
    if (mood === "down") return void later(() => end(SimulatedHttp.systemError("ECONNREFUSED")))
    if (mood === "failing" && isSo)
      return void later(() => end({ status: chance.oneOf([500, 502, 503]), body: "oops" }))
    if (mood === "throttling" && isSo)
      return void later(() => end({ status: 429, headers: { "retry-after": "1" }, body: "slow down" }))
    later(() => {
      const response = answerOf(node, request)
      const cut = mood === "cutting" && isSo
      end(cut ? { ...response, body: response.body.slice(0, Math.floor(response.body.length / 2)) } : response)
    })
  }

  return {
    all,
    hidUntil,
    setMood: (node, mood) => {
      if (!frank.has(node.mood)) hidUntil.set(node.chain, time.now())
      node.mood = mood
      // A node may be stuck on a branch that the others leave.
      const { best, final, waiting } = node.chain
      node.stuck = { branch: best(), final: final(), waiting: waiting() }
    },
    connections: (isAlive) => (origin) => {
      const node = all.find(({ url }) => url === origin)
      const connected = SimulatedHttp.dispatcher(time, origin, (exchange) => {
        if (node === undefined) return exchange.end(SimulatedHttp.systemError("ECONNREFUSED"))
        if (isAlive()) lead(node, { ...exchange, end: (ending) => (isAlive() ? exchange.end(ending) : undefined) })
      })
      return { ...connected, destroy: async () => {} } as unknown as Dispatcher
    }
  }
}
