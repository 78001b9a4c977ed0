/** What receivers of a test truly did, beside what the console and the metrics say of them. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Headwater } from "./Headwater.ts"
import type { Delivery, Receiver } from "./Receiver.ts"

/** Outcomes that were noted this close to each other may have come in another order. */
const togetherMillis = 100

/**
 * Whether the last attempt of any subscription may have failed, and whether that of none may have, as the store had it at some
 * moment from `from` on: earlier attempts are in the store by then.
 */
const possible = (deliveries: ReadonlyArray<Delivery>, from: number) => {
  const lasts = [...Map.groupBy(deliveries, ({ body }) => body.referenceId as string).values()].map((own) => {
    const settled = own.filter(({ at }) => at < from)
    const last = settled.at(-1)?.at ?? 0
    const until = own.slice(settled.length)
    const before = settled.filter(({ at }) => at >= last - togetherMillis)
    // Before its first attempt a subscription does not fail.
    return [...(before.length === 0 ? [true] : []), ...[...before, ...until].map(({ accepted }) => accepted)]
  })
  return {
    failing: lasts.some((accepted) => accepted.includes(false)),
    well: lasts.every((accepted) => accepted.includes(true))
  }
}

interface ShownHost {
  readonly host: string
  readonly state: string
  readonly successRate?: number
  readonly error?: string
  readonly failingSubscriptions: number
}

const isBad = (state: string) => state === "failing" || state === "paused"

/** What the console and the metrics say of the hosts; undefined where the daemon does not answer. */
export const look = (headwater: Headwater, console_: string, password: string) => {
  let cookie = ""
  const login = async () => {
    const entered = await fetch(`${console_}/api/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ password })
    })
    cookie = entered.headers.get("set-cookie")?.split(";")[0] ?? ""
  }
  const ask = async () => {
    let answer = await fetch(`${console_}/api/deliveries`, { headers: { cookie } })
    // A daemon that has been started again knows no sessions.
    if (answer.status === 401) {
      await login()
      answer = await fetch(`${console_}/api/deliveries`, { headers: { cookie } })
    }
    const metrics = await fetch(`${headwater.url}/metrics`, { headers: headwater.operator })
    if (answer.status !== 200 || metrics.status !== 200) return undefined
    const { hosts } = (await answer.json()) as { readonly hosts: ReadonlyArray<ShownHost> }
    const counts = new Map(
      [...(await metrics.text()).matchAll(/^headwater_receivers\{state="(\w+)"\} (\d+)$/gm)].map(
        ([, state, count]) => [state!, Number(count)] as const
      )
    )
    return { hosts: new Map(hosts.map((host) => [host.host, host])), counts }
  }
  return Effect.tryPromise(ask).pipe(Effect.orElseSucceed(() => undefined))
}

export type Look = Exclude<Effect.Success<ReturnType<typeof look>>, undefined>

/** Fails where a look says what no receiver can have done; whether it says that the last of them fails. `from`: as {@link possible}. */
export const check = (
  { counts, hosts }: Look,
  receivers: { readonly well: ReadonlyArray<Receiver>; readonly dying: Receiver },
  from: number
) => {
  const of = ({ url }: Receiver) => hosts.get(new URL(url).hostname)!
  for (const receiver of receivers.well) {
    const { failingSubscriptions, host, state, successRate = 1 } = of(receiver)
    assert.deepStrictEqual([state, successRate, failingSubscriptions], ["healthy", 1, 0], host)
  }
  const { error, state } = of(receivers.dying)
  const truth = possible(receivers.dying.deliveries, from)
  const said = `the console says ${state}`
  if (isBad(state)) assert.isTrue(truth.failing, said)
  else assert.isTrue(truth.well, said)
  assert.strictEqual(error !== undefined, isBad(state), said)

  const bad = (counts.get("failing") ?? 0) + (counts.get("paused") ?? 0)
  const numbers = JSON.stringify([...counts])
  assert.isAtLeast(counts.get("healthy") ?? 0, receivers.well.length, numbers)
  assert.isAtMost(bad, 1, numbers)
  assert.isTrue(bad === 1 ? truth.failing : truth.well, `the metrics say ${numbers}`)
  return isBad(state)
}
