/** What a java-tron node says of itself. */
import { isJson, type NodeFinding, noPeers, ok, textOf } from "../../node/NodeFinding.ts"

/** `Num:66987565,ID:0000…` */
const blockNumber = (value: unknown) => {
  const match = typeof value === "string" ? /^Num:(\d{1,15}),/.exec(value) : null
  return match === null ? undefined : Number(match[1])
}

/** How many blocks the solid one may be behind the newest: two rounds of the 27 producers. */
const solidTolerance = 54

const behind = (solid: number, block: number): NodeFinding => ({
  level: "warning",
  code: "solid_block_behind",
  message: `the node's solid block ${solid} is ${block - solid} behind its newest block ${block}`,
  advice: "see whether the node synchronises, and whether the network's producers agree"
})

/** The answer to `/wallet/getnodeinfo`, undefined where the node has none. */
export const read = (answer: unknown): ReadonlyArray<NodeFinding> => {
  const info = isJson(answer) ? answer : undefined
  const version = isJson(info?.configNodeInfo) ? textOf(info.configNodeInfo.codeVersion) : undefined
  const block = blockNumber(info?.block)
  const solid = blockNumber(info?.solidityBlock)
  return [
    info === undefined
      ? ok("the node does not show its version and peers (/wallet/getnodeinfo), as TronGrid")
      : ok(`java-tron ${version ?? "of unknown version"}`),
    ...(info?.currentConnectCount === 0 ? [noPeers] : []),
    ...(block !== undefined && solid !== undefined && block - solid > solidTolerance ? [behind(solid, block)] : [])
  ]
}
