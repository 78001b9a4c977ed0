/** Does on a stage what a story says, without waiting for what follows. */
import * as Exit from "effect/Exit"
import * as Operating from "./Operating.ts"
import type * as Receivers from "./Receivers.ts"
import type { FeedEntry, Subscribed, Tenant } from "./Record.ts"
import { oneOf, recorded, type Stage } from "./Stage.ts"
import type { Action } from "./Story.ts"
import * as Subscribing from "./Subscribing.ts"
import * as Tending from "./Tending.ts"

const words = (action: Action): string => {
  const { kind, ...rest } = action
  if (action.kind !== "mine") return `${kind} ${JSON.stringify(rest).replaceAll('"', "").slice(1, -1)}`
  const payments = action.payments.map(({ amount, from, kind, to }) => `${kind} ${from}→${to} ${amount}`)
  return `mine on ${action.chain}: ${payments.join(", ") || "nothing"}${action.failed ? " (the first fails)" : ""}`
}

/** Has a host prove itself, whose owner has published what proves it, or not. */
export const verify = async (stage: Stage, tenant: Tenant, host: Receivers.Receiver, isPublished: boolean) => {
  const item = { domain: host.host }
  const added = await stage.call(tenant, `adds ${host.host}`, { method: "POST", path: "/domains/", item })
  if (added === undefined || added.status >= 300) return
  if (isPublished) host.challenges.add(added.body.data.item.token)
  const askedAt = stage.time.now()
  const path = `/domains/${host.host}/verify`
  const answer = await stage.call(tenant, `verifies ${host.host}`, { method: "POST", path, item: {} })
  // What was lost on its way may have been done.
  const isPossible = answer === undefined || answer.status === 200 || answer.status >= 500
  if (isPossible) tenant.verifiedAt.set(host.host, Math.min(askedAt, tenant.verifiedAt.get(host.host) ?? Infinity))
}

const lists = {
  token: ["addresses-historical", "tokens-transfers"],
  internal: ["addresses-latest", "internal-transactions"]
} as const

/** Reads what an address has on record. */
export const read = async (
  stage: Stage,
  action: Pick<Extract<Action, { kind: "read" }>, "account" | "address" | "what">
) => {
  const { call, chains, listed, tenants } = stage
  const { address, what: kind } = action
  const chain = chains.find(({ family }) => family.kinds.has(kind))
  if (chain === undefined) return
  const [group, list] = lists[kind]
  const before = recorded(stage)
  const answer = await call(oneOf(tenants, action.account)!, `reads ${list} of ${address}`, {
    path: `/${group}/evm/${chain.family.chain}/${chain.family.addressAt(address)}/${list}?limit=50`
  })
  if (answer?.status !== 200 || answer.body.data.hasMore === true) return
  const after = recorded(stage)
  const { completeFrom, items } = answer.body.data
  listed.push({
    ...{ chain, kind, address, completeFrom },
    transactions: new Set(
      items.map(({ transactionHash }: { readonly transactionHash: string }) => transactionHash.replace(/^0x/, ""))
    ),
    recorded: new Set([...before].filter((hash) => after.has(hash)))
  })
}

const feedOf = async ({ call }: Stage, one: Subscribed): Promise<ReadonlyArray<FeedEntry> | undefined> => {
  const answer = await call(one.tenant, `reads the feed of ${one.path}`, {
    path: `${Subscribing.pathTo(one)}/callbacks?limit=50`
  })
  return answer?.status === 200 ? answer.body.data.items : undefined
}

const redeliver = async (stage: Stage, one: Subscribed, place: number) => {
  const feed = await feedOf(stage, one)
  const entry = feed && oneOf(feed, place)
  if (entry === undefined) return
  one.askedAgainAt.push(stage.time.now())
  const path = `${Subscribing.pathTo(one)}/callbacks/${entry.idempotencyKey}/redeliver`
  await stage.call(one.tenant, `asks for ${entry.sequence} of ${one.path} again`, { method: "POST", path, item: {} })
}

const ended = (exit: Exit.Exit<unknown, unknown>) => (Exit.isSuccess(exit) ? "done" : String(exit.cause).slice(0, 200))

export const perform = (stage: Stage, action: Action): void => {
  const { chains, chance, changeLife, command, hosts, life, machine, mine, nodes, say, tenants, time } = stage
  say(words(action))
  const chain = "chain" in action ? oneOf(chains, action.chain)! : chains[0]!
  const one = "subscription" in action ? oneOf(Subscribing.known(stage, action.kind), action.subscription) : undefined
  switch (action.kind) {
    case "mine":
      mine(chain, action.payments, action.failed)
      break
    case "fork":
      say(
        `    ${chain.fork(action.depth, action.longer, time.now(), () => chance.happens(action.kept))} blocks are left`
      )
      break
    case "goBack":
      say(chain.goBack(time.now()) ? "    the branch that was left is the best one again" : "    there is none")
      break
    case "node":
      nodes.setMood(oneOf(nodes.all, action.node)!, action.mood)
      break
    case "receiver":
      // The first host is always well, so that it is seen whether others hold it up.
      hosts.all[1 + (action.receiver % (hosts.all.length - 1))]!.mood = action.mood
      break
    case "disk":
      machine.setTrouble(action.fullness)
      time.after(action.millis, () => machine.setTrouble(0))
      break
    case "kill":
      changeLife(
        action.how === "power" ? "every" : "one",
        (life) => {
          life?.kill()
          machine.crash(action.how)
          if (action.how === "power") stage.powerLost()
        },
        () => time.sleep(30)
      )
      break
    case "restart":
      changeLife("one", (life) => life?.stop())
      break
    case "rewind":
      changeLife(
        "every",
        (life) => life?.stop(),
        async () => {
          const from = time.now()
          say(`    rewound: ${ended(await command(Operating.rewind(chain, action.blocks)))}`)
          stage.rewinds.push({ from, to: time.now() })
        }
      )
      break
    case "replay":
      void life()
        ?.run(Operating.replay(chain, action.blocks))
        .then((exit) => say(`    replayed: ${ended(exit)}`))
      break
    case "subscribe":
      void Subscribing.subscribe(stage, action)
      break
    case "subscribeToMany":
      void Subscribing.subscribeToMany(stage, action)
      break
    case "subscribeInBulk":
      void Subscribing.subscribeInBulk(stage, action)
      break
    case "editList":
      if (one !== undefined) void Subscribing.editList(stage, one, action.edit, action.addresses)
      break
    case "verify":
      void verify(stage, oneOf(tenants, action.account)!, oneOf(hosts.all, action.receiver)!, action.published)
      break
    case "tend":
      if (one !== undefined) void Tending.tend(stage, one, action)
      break
    case "settings":
      changeLife(
        "every",
        (life) => life?.stop(),
        async () => stage.changeSettings(chain, action.change)
      )
      break
    case "unsubscribe":
      if (one !== undefined) void Subscribing.unsubscribe(stage, one)
      break
    case "activate":
      if (one !== undefined) void Subscribing.activate(stage, one)
      break
    case "redeliver":
      if (one !== undefined) void redeliver(stage, one, action.callback)
      break
    case "read":
      void read(stage, action)
      break
    case "readFeed":
      if (one !== undefined) void feedOf(stage, one)
  }
}
