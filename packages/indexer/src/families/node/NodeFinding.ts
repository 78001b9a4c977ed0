/** What `doctor` looked at and found well. */
export interface WellFinding {
  readonly level: "ok"
  readonly code?: never
  readonly message: string
  readonly advice?: never
}

/** What `doctor` found that is not well, by a code that stays the same from version to version. */
export interface CodedFinding<Code extends string> {
  /**
   * `problem`: something does not work; `warning`: it works, with less than it could; `unknown`: nothing has shown whether
   * it works.
   */
  readonly level: "unknown" | "warning" | "problem"
  readonly code: Code
  readonly message: string
  /** What to do about it. */
  readonly advice?: string
}

/** What a node says of itself. */
export type NodeFinding =
  | WellFinding
  | CodedFinding<
      "node_synchronising" | "no_peers" | "node_clock" | "amendment_blocked" | "solid_block_behind" | "no_new_heads"
    >

/** How far a node's clock may be from its peers', in seconds. */
export const clockTolerance = 60

export const ok = (message: string): WellFinding => ({ level: "ok", message })

/** The node is at block `block` of `of`, as it says. */
export const synchronising = (block: unknown, of: unknown): NodeFinding => ({
  level: "warning",
  code: "node_synchronising",
  message: `the node still synchronises: block ${Number(block)} of ${Number(of)}`,
  advice: "wait, or follow from a node that is done"
})

export const noPeers: NodeFinding = {
  level: "warning",
  code: "no_peers",
  message: "the node has no peers",
  advice: "open its peer-to-peer port, and see whether its list of peers is right"
}

/** A text that a node said of itself, of bounded length; undefined where it said none. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value.slice(0, 100) : undefined

export const isJson = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null
