/** What needs the operator now, or an account of what is its own, the worst first: from what `/ready`, doctor and metrics rest on. */
import type { Target } from "@headwater/indexer/store/operator/OperatorView"
import type { HostHealth, State } from "@headwater/indexer/store/subscriptions/ReceiverHealth"
import { commandName, quoted } from "../CommandName.ts"
import type { FindingCode } from "../doctor/FindingExplanations.ts"
import { codeOfGap } from "../doctor/StoreCheck.ts"
import type { OwnOutage } from "../supervision/OwnOutages.ts"
import type { Standing } from "./Chains.ts"

export interface Need {
  readonly severity: "critical" | "warning" | "note"
  readonly what: string
  readonly remedy: string | null
  /** A command line that helps. */
  readonly command: string | null
  /** For the command `explain`. */
  readonly code: FindingCode | null
  readonly to: Target | null
}

interface Part {
  readonly count: number
  readonly oldest: number | undefined
}

export interface Facts {
  readonly now: number
  /** Whether an account is told, which has no command line and no settings. */
  readonly isAccount: boolean
  readonly outages: ReadonlyArray<OwnOutage>
  /** What a statement said that found the file of the store damaged. */
  readonly damage: string | undefined
  readonly chains: ReadonlyArray<Standing>
  /** Callbacks before their first attempt, for hosts that refuse nothing. */
  readonly accepting: Part
  readonly counts: Readonly<Record<State, number>>
  readonly hosts: ReadonlyArray<Omit<HostHealth, "account"> & { readonly account: string }>
  readonly full: { readonly waitingCallbacks: number; readonly names: ReadonlyArray<string> }
}

const doctor = `${commandName} doctor`

/** Callbacks that wait for their first attempt for longer, in milliseconds, are told of. */
const longWait = 300_000

const need = (severity: Need["severity"], what: string, more: Partial<Omit<Need, "severity" | "what">> = {}): Need => ({
  ...{ severity, what, remedy: null, command: null, code: null, to: null },
  ...more
})

const many = (count: number, one: string, several: string) => (count === 1 ? `1 ${one}` : `${count} ${several}`)

const ofOutages = ({ damage, outages }: Facts): ReadonlyArray<Need> => [
  ...(damage === undefined
    ? []
    : [
        need("critical", `The store's file is damaged: ${damage}`, {
          ...{ remedy: "Stop the daemon, check the disk, and restore a backup", command: doctor },
          code: "file_damaged"
        })
      ]),
  ...outages.map(({ lack, message }) =>
    need("critical", `This machine lacks something of its own: ${message}`, {
      command: doctor,
      code: lack === "store" ? "store_failing" : null
    })
  )
]

const ofChain = ({ catchingUp, gaps, name, problem, state, status }: Standing): ReadonlyArray<Need> => {
  const to = { view: "chains" } as const
  const command = doctor
  const severity = state === "stopped" || state === "failing" ? "critical" : catchingUp !== null ? "note" : "warning"
  return [
    ...(problem === null ? [] : [need(severity, `${name} ${problem}`, { command, to })]),
    ...(status?.networkDoubt === undefined
      ? []
      : [need("warning", `${name}: ${status.networkDoubt}`, { command, to, code: "network_unproven" })]),
    ...(status?.resting ?? []).map(({ node, reason }) =>
      need("note", `${name}: the node ${node} rests: ${reason}`, { command, to })
    ),
    ...gaps.map(({ advice, kind, message }) =>
      need(kind === "unproven" ? "note" : "warning", `${name}: ${message}`, {
        ...{ remedy: `${advice[0]!.toUpperCase()}${advice.slice(1)}`, command, code: codeOfGap[kind], to }
      })
    )
  ]
}

const ofHost = (
  { account, error, host, inactiveSubscriptions, state }: Facts["hosts"][number],
  isAccount: boolean
): ReadonlyArray<Need> => {
  const to: Target = { view: "host", account, host }
  const own = `${host} of ${account}`
  switch (state) {
    case "failing":
    case "paused":
      return [
        need("warning", `${own} does not accept callbacks: ${error ?? "the reason is not kept"}`, {
          remedy: isAccount
            ? "Mend the receiver; what was given up meanwhile can be sent again"
            : "The receiver's owner mends it; what was given up meanwhile can be sent again",
          command: `${commandName} subscriptions recover ${quoted(account)} --host ${host}`,
          to
        })
      ]
    case "inactive":
      return [
        need("warning", `Every subscription of ${own} is inactive: ${inactiveSubscriptions}`, {
          remedy: "Activate the subscriptions once the receiver accepts again",
          to
        })
      ]
    case "unverified":
      return [
        need("note", `${own} is not verified: its callbacks are parked`, {
          remedy: isAccount
            ? "Publish the domain's token, then verify the domain"
            : "The account publishes the domain's token and verifies it, or an operator approves it",
          command: `${commandName} domains approve ${quoted(account)} ${host}`,
          to
        })
      ]
    case "recovering":
    case "healthy":
      return []
  }
}

const ofDeliveries = ({ accepting, counts, full, hosts, isAccount, now }: Facts): ReadonlyArray<Need> => {
  const shown = hosts.flatMap((host) => ofHost(host, isAccount))
  const unwell = counts.failing + counts.paused + counts.inactive + counts.unverified
  const waited = accepting.oldest === undefined ? 0 : now - accepting.oldest
  return [
    ...full.names.map((name) =>
      need("warning", `As many callbacks of ${name} wait as may: ${full.waitingCallbacks}`, {
        remedy: isAccount
          ? "See which of the receivers do not accept"
          : "See which of the account's receivers do not accept, or raise limits.waitingCallbacks",
        to: { view: "account", account: name }
      })
    ),
    ...(waited < longWait
      ? []
      : [
          need("warning", `A callback has waited for its first attempt for ${Math.floor(waited / 60_000)} min`, {
            remedy: isAccount ? null : "Raise callbacks.concurrency or callbacks.perHost where the receivers are fast",
            to: { view: "deliveries" }
          })
        ]),
    ...shown,
    ...(unwell <= shown.length
      ? []
      : [
          need("note", `${many(unwell - shown.length, "more host needs", "more hosts need")} a look`, {
            to: { view: "deliveries" }
          })
        ])
  ]
}

const rank: Readonly<Record<Need["severity"], number>> = { critical: 0, warning: 1, note: 2 }

/** The needs that follow from the facts. */
export const of = (facts: Facts): ReadonlyArray<Need> =>
  [...ofOutages(facts), ...facts.chains.flatMap(ofChain), ...ofDeliveries(facts)]
    .map((one) => (facts.isAccount ? { ...one, command: null, code: null } : one))
    .sort((a, b) => rank[a.severity] - rank[b.severity])
