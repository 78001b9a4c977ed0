import { execFileSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { commandName } from "@headwater/daemon/CommandName"
import type { FindingCode } from "@headwater/daemon/doctor/FindingExplanations"
import * as Needs from "@headwater/daemon/console/Needs"
import type { State } from "@headwater/indexer/store/subscriptions/ReceiverHealth"

const none = { count: 0, oldest: undefined }
const host = (state: State): Needs.Facts["hosts"][number] =>
  ({ account: "acme", host: `${state}.test`, state, error: "status 500", inactiveSubscriptions: 1 }) as never

/** What an account or the operator is told where everything fails that can fail at deliveries. */
const told = (isAccount: boolean) =>
  Needs.of({
    ...{ now: 1_000_000_000, isAccount, outages: [], damage: undefined, chains: [] },
    accepting: { count: 1, oldest: 1 },
    counts: { healthy: 0, recovering: 0, failing: 2, paused: 0, inactive: 1, unverified: 1 },
    hosts: [host("failing"), host("inactive"), host("unverified")],
    full: { waitingCallbacks: 10, names: ["acme"] }
  })

describe("Needs", () => {
  it("tells the operator the commands as they are typed here", () => {
    const commands = told(false).flatMap(({ command }) => command ?? [])
    assert.deepStrictEqual(commands, [
      `${commandName} subscriptions recover acme --host failing.test`,
      `${commandName} domains approve acme unverified.test`
    ])
    const damaged = Needs.of({
      ...{ now: 1, isAccount: false, outages: [], damage: "malformed", chains: [], hosts: [] },
      accepting: none,
      counts: { healthy: 0, recovering: 0, failing: 0, paused: 0, inactive: 0, unverified: 0 },
      full: { waitingCallbacks: 10, names: [] }
    })
    const code: FindingCode = "file_damaged"
    assert.deepInclude(damaged[0], { code, command: `${commandName} doctor` })
  })

  it("names an account so that a shell runs nothing of its name", () => {
    const account = "$(touch x) o'clock"
    const [one] = Needs.of({
      ...{ now: 1, isAccount: false, outages: [], damage: undefined, chains: [], accepting: none },
      counts: { healthy: 0, recovering: 0, failing: 1, paused: 0, inactive: 0, unverified: 0 },
      hosts: [{ ...host("failing"), account }],
      full: { waitingCallbacks: 10, names: [] }
    })
    const words = execFileSync("sh", ["-c", `printf '%s\n' ${one!.command!.slice(commandName.length)}`], {
      encoding: "utf8"
    })
    assert.deepStrictEqual(words.split("\n").slice(0, 3), ["subscriptions", "recover", account])
  })

  it("tells an account of the same, with what the account itself can do", () => {
    const [own, all] = [told(true), told(false)]
    assert.deepStrictEqual(
      own.map(({ what }) => what),
      all.map(({ what }) => what)
    )
    for (const { code, command } of own) assert.deepStrictEqual([code, command], [null, null])
    assert.notMatch(JSON.stringify(own), /operator|limits\.|callbacks\.|headwater|the receiver's owner/i)
    assert.match(JSON.stringify(all), /limits\.waitingCallbacks.*callbacks\.perHost.*an operator approves/)
  })
})
