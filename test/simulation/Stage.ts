/** The stage of a story: the world, the program's lives in it, and what was asked and seen so far. */
import * as Effect from "effect/Effect"
import * as Chance from "./Chance.ts"
import * as ChangedSettings from "./ChangedSettings.ts"
import * as Chains from "./Chains.ts"
import * as Families from "./Families.ts"
import * as Mempool from "./Mempool.ts"
import * as Nodes from "./Nodes.ts"
import type { Opening } from "./Opening.ts"
import * as Receivers from "./Receivers.ts"
import type { Attempt, Called, Listed, Subscribed, Tenant } from "./Record.ts"
import type { SimulatedStore } from "./SimulatedStore.ts"
import { epoch, type SimulatedTime } from "./SimulatedTime.ts"
import type { Payment } from "./Story.ts"
import * as System from "./System.ts"
import * as Wallets from "./Wallets.ts"

export interface Stage {
  readonly seed: number
  readonly time: SimulatedTime
  readonly chance: Chance.Chance
  readonly chains: ReadonlyArray<Chains.SimulatedChain>
  readonly machine: SimulatedStore
  readonly nodes: Nodes.Nodes
  readonly hosts: Receivers.Receivers
  readonly tenants: ReadonlyArray<Tenant>
  readonly subscribed: Array<Subscribed>
  readonly attempts: Array<Attempt>
  readonly calls: Array<Called>
  readonly listed: Array<Listed>
  /** What the program has logged of what nobody has foreseen, while its store could be written. */
  readonly defects: ReadonlyArray<string>
  /** What happened, a line each, with the seconds since the beginning. */
  readonly lines: Array<string>
  readonly say: (line: string) => void
  /** Mines a block with the payments of a chain's family, some of which wait first where they can. */
  readonly mine: (chain: Chains.SimulatedChain, payments: ReadonlyArray<Payment>, failed: boolean) => void
  /** Mines a block that has all of the payments, and nothing else. */
  readonly mineAtOnce: (chain: Chains.SimulatedChain, payments: ReadonlyArray<Payment>) => void
  /** Makes payments that wait, on a chain where they can. */
  readonly send: (chain: Chains.SimulatedChain, payments: ReadonlyArray<Payment>) => void
  /** The present life, of several programs that of any; undefined where the program could not be started. */
  readonly life: () => System.Life | undefined
  /** Starts every program that does not run. */
  readonly begin: () => Promise<void>
  /**
   * Ends the life of every program, or of one of them, and begins another; starts and stops never overlap. `between` is
   * done before that.
   */
  readonly changeLife: (
    which: "every" | "one",
    end: (life: System.Life | undefined) => void | Promise<void>,
    between?: () => Promise<void>
  ) => void
  readonly stop: () => Promise<void>
  /** Changes the settings that later lives have. */
  readonly changeSettings: (chain: Chains.SimulatedChain, change: ChangedSettings.Change) => void
  /** Chains that were recorded for watched addresses alone, at least for a while. */
  readonly watchedOnly: ReadonlySet<Chains.SimulatedChain>
  /** When operators have rewound chains. */
  readonly rewinds: Array<{ readonly from: number; readonly to: number }>
  /** Ends when lives have changed. */
  readonly settled: () => Promise<void>
  /** Runs what a command of an operator does beside no daemon. */
  readonly command: <A, E>(
    effect: Parameters<typeof System.command<A, E>>[2]
  ) => ReturnType<typeof System.command<A, E>>
  /** Reads the store as an operator would with the database's own shell. */
  readonly look: <A>(sql: string) => ReadonlyArray<A>
  readonly call: (tenant: Tenant, what: string, request: System.Call) => Promise<System.Answer | undefined>
  readonly powerLost: () => void
  readonly hasLostPower: () => boolean
  /** Removes what is on disk. */
  readonly end: () => void
}

/** Nodes of each chain in the stories of a seed: what one lacks another may give. */
const nodesOf = (seed: number) => (seed % 3 === 0 ? 1 : 2)

/** Bounds of what a commit, an undo and a step write, with which much is left to steps. */
const small = { commit: 4, address: 2, undo: 3, step: 3, turn: 2 }

/** Blocks come for a while before the watched addresses have been read. */
const slowly = { atOnce: 0, pause: Effect.sleep("20 seconds") }

/** Whether the stories of a seed begin with an upgrade of a store of release 0.1, where there is one. */
const upgrades = (seed: number) => seed % 10 === 3

/** Threads that read blocks long past, in the stories of a seed. */
const threadsOf = (seed: number) => [1, 0, 2][seed % 3]!

/** Programs that run at once in the stories of a seed, where the store lets them. */
const programsOf = (seed: number) => (seed % 5 === 0 ? 2 : 1)

type ChainSettings = NonNullable<System.Written["chains"]>

/** The settings, for chains with nodes at these URLs. */
export const settingsFor = (
  chains: ReadonlyArray<{
    readonly chain: string
    readonly nodes: ReadonlyArray<string>
    readonly isProved?: boolean
  }>,
  threads = 0
): System.Written => ({
  threads,
  chains: Object.fromEntries(
    chains.map(({ chain, isProved = false, nodes }) => [
      chain,
      {
        nodes,
        ...{ verify: isProved ? "roots" : "links", start: 0, pollMillis: 2_000, timeoutMillis: 3_000 },
        ...(chain === Families.all.evm.chain
          ? { traceTimeoutMillis: 2_000, newHeads: [] as ReadonlyArray<string> }
          : {})
      }
    ])
  ) as ChainSettings,
  callbacks: { timeoutMillis: 3_000 },
  credits: { enabled: true, subscriptionDay: 0, addressDay: 0, callback: 1 }
})

/** Chains of a seed: one family, or two. */
const familiesOf = (seed: number): ReadonlyArray<Families.Family> => {
  const { evm, tron, utxo, xrp } = Families.all
  return [[evm], [tron], [utxo], [evm, utxo], [xrp], [evm], [xrp, tron], [utxo, xrp]][seed % 8]!
}

/** Whether the program proves what blocks hold, where hashes are of that. */
const isProved = ({ sealsBlocks }: Families.Family, seed: number) => sealsBlocks && Math.floor(seed / 8) % 2 === 1

/** Payments in transactions: each has at most one of the coin. */
const transactionsOf = (
  { chain, kinds, minesFailed, transaction }: Families.Family,
  payments: ReadonlyArray<Payment>,
  failed: boolean,
  salt: string
): ReadonlyArray<Chains.Transaction> => {
  const groups: Array<Array<Payment>> = []
  for (const { amount, from, kind, to } of payments) {
    const own: Payment = {
      ...{ amount, from, kind: kinds.has(kind) ? kind : "coin" },
      // Where there is no wallet, what would be its own is paid to another one.
      to: Wallets.isOn(chain) || to < Wallets.firstPlace ? to : (from + 1) % Wallets.firstPlace
    }
    const last = groups.at(-1)
    const isAlone = own.kind === "coin" || last === undefined || last.length > 2
    const isKnown = last?.some(({ from, kind, to }) => kind === own.kind && from === own.from && to === own.to)
    if (isAlone || isKnown) groups.push([own])
    else last.push(own)
  }
  return groups.map((group, i) =>
    transaction({
      nonce: Chains.digest(`transaction ${salt} ${i}`),
      failed: failed && i === 0 && minesFailed,
      movements: group.map(({ amount, from, kind, to }) => ({ kind, from, to, amount: BigInt(amount) }))
    })
  )
}

export const make = (opening: Opening, seed: number, time: SimulatedTime): Stage => {
  const chance = Chance.make(seed ^ 0x5eed)
  const lines: Array<string> = []
  const say = (line: string) => {
    // The folder has a name of its own each time.
    const told = line.replace(/headwater-simulation-\w+/g, "headwater-simulation")
    lines.push(`${((time.now() - epoch) / 1000).toFixed(3).padStart(8)} ${told}`)
  }
  const chains = familiesOf(seed).map((family) => Chains.make(family, chance, time.now()))
  const isUpgraded = opening.hasReleased && upgrades(seed)
  const machine = opening.store(time, chance, isUpgraded)
  const nodes = Nodes.make(
    chains.map((chain) => ({ chain, nodes: nodesOf(seed), isProved: isProved(chain.family, seed) })),
    time,
    chance
  )
  // Some are not well from the beginning, for as long as nobody mends them.
  for (const node of nodes.all) if (chance.happens(0.3)) nodes.setMood(node, chance.oneOf(Nodes.oftenest))
  const hosts = Receivers.make(opening.challenges.size, time, chance)
  for (const { challenges, host } of hosts.all) {
    for (const text of opening.challenges.get(host)!) challenges.add(text)
  }
  const attempts: Array<Attempt> = []
  const calls: Array<Called> = []
  const defects: Array<string> = []
  const verified = [...opening.challenges].flatMap(([host, { size }]) => (size > 0 ? [host] : []))
  const tenants = opening.tenants.map(
    (tenant): Tenant => ({ ...tenant, verifiedAt: new Map(verified.map((host) => [host, epoch])) })
  )
  const world: System.World = {
    ...{ chance, machine, nodes, receivers: hosts, bounds: seed % 2 === 0 ? small : undefined },
    filling: seed % 7 < 3 ? slowly : undefined,
    attempted: (attempt) => attempts.push({ at: time.now(), ...attempt }),
    logged: (line, isDefect) => {
      if (isDefect && !machine.isTroubled()) defects.push(line)
      say(`        ${line}`)
    }
  }
  const urlsOf = (chain: Chains.SimulatedChain) => nodes.all.flatMap((node) => (node.chain === chain ? [node.url] : []))
  let settings = settingsFor(
    chains.map((chain) => ({
      chain: chain.family.chain,
      isProved: isProved(chain.family, seed),
      nodes: urlsOf(chain)
    })),
    threadsOf(seed)
  )
  const watchedOnly = new Set<Chains.SimulatedChain>()

  const programs = machine.isShared ? programsOf(seed) : 1
  const lives = Array.from({ length: programs }, (): System.Life | undefined => undefined)
  const hasEnded = lives.map(() => true)
  let changed: Promise<void> = Promise.resolve()

  const start = async (place: number) => {
    const own =
      programs === 1
        ? world
        : { ...world, logged: (line: string, isDefect: boolean) => world.logged(`${place + 1} ${line}`, isDefect) }
    for (let tries = 0; tries <= 20; tries++) {
      lives[place] = await System.start(own, settings)
      hasEnded[place] = lives[place] === undefined
      if (!hasEnded[place]) return
      await time.sleep(500)
    }
  }
  /** An operator upgrades, and the program dies some times while it changes the schema. */
  const upgrade = async () => {
    say("the store of release 0.1 is upgraded")
    for (let deaths = chance.between(0, 3); deaths > 0; deaths--) {
      const death = new AbortController()
      const starting = System.start(world, settings, death.signal)
      const how = chance.oneOf(["killed", "power"] as const)
      await time.sleep(chance.between(1, 250))
      death.abort()
      machine.crash(how)
      say(`    ${how === "power" ? "the power is lost" : "killed"} meanwhile`)
      const died = await starting
      died?.kill()
    }
  }
  let isToUpgrade = isUpgraded

  const begin = async () => {
    if (isToUpgrade) {
      isToUpgrade = false
      await upgrade()
    }
    for (const place of lives.keys()) if (hasEnded[place]) await start(place)
  }
  const life = () => {
    const running = lives.filter((_, place) => !hasEnded[place])
    return running.length > 1 ? chance.oneOf(running) : (running[0] ?? lives[0])
  }

  let mined = 0
  let hasLostPower = false

  return {
    ...{ seed, time, chance, chains, machine, nodes, hosts, tenants, attempts, calls, defects, lines, say, begin },
    subscribed: [],
    listed: [],
    mine: (chain, payments, failed) => {
      const transactions = transactionsOf(chain.family, payments, failed, `${seed} ${mined++}`)
      if (chain.family.hasMempool) Mempool.mine(chain, transactions, chance, time.now())
      else chain.mine(transactions, time.now())
    },
    mineAtOnce: (chain, payments) =>
      void chain.mine(transactionsOf(chain.family, payments, false, `${seed} ${mined++}`), time.now()),
    send: (chain, payments) => {
      const transactions = transactionsOf(chain.family, payments, false, `${seed} ${mined++}`)
      if (chain.family.hasMempool) chain.send(transactions, time.now())
    },
    life,
    changeLife: (which, end, between) => {
      const one = which === "one" && programs > 1 ? chance.between(0, programs - 1) : undefined
      changed = changed.then(async () => {
        for (const [place, life] of lives.entries()) {
          if (one !== undefined && place !== one) continue
          hasEnded[place] = true
          await end(life)
        }
        await between?.()
        await begin()
      })
    },
    stop: async () => {
      for (const life of lives) await life?.stop()
    },
    watchedOnly,
    rewinds: [],
    changeSettings: (chain, change) => {
      const name = chain.family.chain
      settings = ChangedSettings.change(settings, name, urlsOf(chain), change)
      if (ChangedSettings.recordOf(settings, name) === "watched") watchedOnly.add(chain)
    },
    settled: () => changed,
    command: (effect) => System.command(world, settings, effect),
    look: machine.look,
    call: async (tenant, what, request) => {
      // An answer that never comes is a call all the same.
      const called: Called = { tenant, at: time.now(), what, answer: undefined, isExcused: machine.isTroubled() }
      calls.push(called)
      const answer = await life()?.call({ ...request, key: tenant.key })
      called.answer = answer
      called.isExcused ||= machine.isTroubled()
      say(`    ${tenant.name} ${what}: ${answer === undefined ? "no answer" : answer.status}`)
      return answer
    },
    powerLost: () => {
      hasLostPower = machine.losesCommitted
    },
    hasLostPower: () => hasLostPower,
    end: machine.remove
  }
}

/** What a story names by a place in a list. */
export const oneOf = <A>(all: ReadonlyArray<A>, place: number): A | undefined => all[place % all.length]

/** Blocks that are recorded at present. */
export const recorded = ({ look }: Stage): Set<string> =>
  new Set(look<{ hash: Buffer }>("select hash from block").map(({ hash }) => hash.toString("hex")))
