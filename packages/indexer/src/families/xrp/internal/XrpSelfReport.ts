/** What rippled or clio says of itself. */
import { isJson, type NodeFinding, noPeers, ok, textOf } from "../../node/NodeFinding.ts"

/** States in which rippled has the newest validated ledgers. */
const synchronised = new Set(["full", "validating", "proposing"])

const ofVersion = (info: Readonly<Record<string, unknown>>): ReadonlyArray<NodeFinding> => {
  const clio = textOf(info.clio_version)
  if (clio !== undefined) return [ok(`clio ${clio} (rippled ${textOf(info.rippled_version)})`)]
  const version = textOf(info.build_version)
  return version === undefined ? [] : [ok(`rippled ${version}`)]
}

const amendmentBlocked: NodeFinding = {
  level: "problem",
  code: "amendment_blocked",
  message:
    "the server is amendment blocked: it no longer understands the network's rules, and validates no further ledger",
  advice: "upgrade the server"
}

/** clio has no state: it has what its rippled has validated. */
const ofState = (state: string | undefined): ReadonlyArray<NodeFinding> => {
  if (state === undefined) return []
  if (synchronised.has(state)) return [ok(`server state: ${state}`)]
  return [
    {
      level: "warning",
      code: "node_synchronising",
      message: `the server still synchronises: server state ${state}`,
      advice: "wait until its state is full, or follow from a server that is; see whether it has peers and a fast disk"
    }
  ]
}

/** The answer to `server_info`. */
export const read = (answer: unknown): ReadonlyArray<NodeFinding> => {
  const info = isJson(answer) ? answer.info : undefined
  if (!isJson(info)) return []
  return [
    ...ofVersion(info),
    ...(info.amendment_blocked === true ? [amendmentBlocked] : []),
    ...ofState(textOf(info.server_state)),
    ...(info.peers === 0 ? [noPeers] : [])
  ]
}
