/** What a node says of itself — its version, whether it still synchronises, what it has — by family, as findings. */
import type { Chain } from "@headwater/core/chains/Chain"
import * as TronSource from "@headwater/indexer/families/tron/TronSource"
import * as CompleteLedgers from "@headwater/indexer/families/xrp/internal/CompleteLedgers"
import type { Finding } from "./Finding.ts"

export type About = Omit<Finding, "subject">
type Json = Readonly<Record<string, unknown>>

/** How far a node's clock may be from its peers', in seconds. */
export const clockTolerance = 60

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null
const text = (value: unknown) => (typeof value === "string" && value !== "" ? value.slice(0, 100) : undefined)

export const ok = (message: string): About => ({ level: "ok", message })

const synchronises = (block: unknown, of: unknown): About => ({
  level: "warning",
  message: `it still synchronises: block ${Number(block)} of ${Number(of)}`,
  advice: "wait, or follow from a node that is done"
})

const noPeers: About = {
  level: "warning",
  message: "it has no peers",
  advice: "open its peer-to-peer port, and see whether its list of peers is right"
}

/** `web3_clientVersion` and `eth_syncing`. */
export const evm = ([version, syncing]: ReadonlyArray<unknown>): ReadonlyArray<About> => [
  ...(text(version) === undefined ? [] : [ok(text(version)!)]),
  ...(isJson(syncing) ? [synchronises(syncing.currentBlock, syncing.highestBlock)] : [])
]

/** `getnetworkinfo`, `getblockchaininfo` and `getindexinfo`. */
export const utxo = ([network, chain, indexes]: ReadonlyArray<unknown>): ReadonlyArray<About> => [
  ...(isJson(network) ? [ok(text(network.subversion) ?? "unknown")] : []),
  ...(isJson(network) && Math.abs(Number(network.timeoffset)) > clockTolerance
    ? [
        {
          level: "warning",
          message: `its clock is ${Number(network.timeoffset)} s from its peers'`,
          advice: "set the clock of the node's machine by NTP"
        } as const
      ]
    : []),
  ...(isJson(chain) && (chain.initialblockdownload === true || Number(chain.headers) - Number(chain.blocks) > 10)
    ? [synchronises(chain.blocks, chain.headers)]
    : []),
  ...(isJson(indexes) ? [ok(`txindex: ${isJson(indexes.txindex) ? "yes" : "no"}`)] : [])
]

/** States in which rippled has the newest validated ledgers. */
const synchronised = new Set(["full", "validating", "proposing"])

/** `server_info` of rippled or clio; `start` as in the settings. */
export const xrp = (answer: unknown, start: number | "latest"): ReadonlyArray<About> => {
  const info = isJson(answer) ? answer.info : undefined
  if (!isJson(info)) return []
  const clio = text(info.clio_version)
  const version = clio === undefined ? text(info.build_version) : `${clio} (rippled ${text(info.rippled_version)})`
  const state = text(info.server_state)
  const ranges = CompleteLedgers.parse(typeof info.complete_ledgers === "string" ? info.complete_ledgers : "")
  const lacksStart =
    start !== "latest" && ranges.length > 0 && !ranges.some(([first, last]) => first <= start && start <= last)
  return [
    ...(version === undefined ? [] : [ok(`${clio === undefined ? "rippled" : "clio"} ${version}`)]),
    ...(info.amendment_blocked === true
      ? [
          {
            level: "problem",
            message: "it is amendment blocked: it no longer understands the network's rules, and its ledger stands",
            advice: "upgrade it"
          } as const
        ]
      : []),
    // clio has none: it has what its rippled has validated.
    ...(state === undefined
      ? []
      : synchronised.has(state)
        ? [ok(`server state: ${state}`)]
        : [
            {
              level: "warning",
              message: `it still synchronises: server state ${state}`,
              advice: "wait until it is full, or follow from a server that is; see whether it has peers and a fast disk"
            } as const
          ]),
    ...(info.peers === 0 ? [noPeers] : []),
    ...(lacksStart
      ? [
          {
            level: "warning",
            message: `it lacks ledger ${start}, at which the settings start`,
            advice:
              "use a server with full history, or start later; if the store has later ledgers already, all is well"
          } as const
        ]
      : [])
  ]
}

/** `Num:66987565,ID:0000…` */
const blockNumber = (value: unknown) => {
  const match = typeof value === "string" ? /^Num:(\d{1,15}),/.exec(value) : null
  return match === null ? undefined : Number(match[1])
}

/** How many blocks the solid one may be behind the newest: two rounds of the 27 producers. */
const solidTolerance = 54

/** `/wallet/getnodeinfo`, undefined where the node has none, and the id of block 0. */
export const tron = (chain: Chain, answer: unknown, genesis: string | undefined): ReadonlyArray<About> => {
  const info = isJson(answer) ? answer : undefined
  const version = isJson(info?.configNodeInfo) ? text(info.configNodeInfo.codeVersion) : undefined
  const block = blockNumber(info?.block)
  const solid = blockNumber(info?.solidityBlock)
  return [
    info === undefined
      ? ok("it does not show its version and peers (/wallet/getnodeinfo), as TronGrid")
      : ok(`java-tron ${version ?? "of unknown version"}`),
    ...(info?.currentConnectCount === 0 ? [noPeers] : []),
    ...(block !== undefined && solid !== undefined && block - solid > solidTolerance
      ? [
          {
            level: "warning",
            message: `its solid block ${solid} is ${block - solid} behind its newest block ${block}`,
            advice: "see whether it synchronises, and whether the network's producers agree"
          } as const
        ]
      : []),
    ...(genesis === undefined || TronSource.networkOf(chain, genesis) !== undefined
      ? []
      : [
          {
            level: "warning",
            message: `its block 0 is ${text(genesis)}, which is no public network's, not ${chain.network}'s either`,
            advice: "correct the URL of the node, unless this is a network of your own"
          } as const
        ])
  ]
}
