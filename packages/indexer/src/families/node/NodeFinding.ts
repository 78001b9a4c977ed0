/** What `doctor` finds out about a node: how it is, and what to do where it is not well. */
export interface NodeFinding {
  /**
   * `problem`: something does not work; `warning`: it works, with less than it could; `unknown`: nothing has shown whether
   * it works.
   */
  readonly level: "ok" | "unknown" | "warning" | "problem"
  readonly message: string
  /** What to do about it. */
  readonly advice?: string
}

/** How far a node's clock may be from its peers', in seconds. */
export const clockTolerance = 60

export const ok = (message: string): NodeFinding => ({ level: "ok", message })

/** The node is at block `block` of `of`, as it says. */
export const synchronising = (block: unknown, of: unknown): NodeFinding => ({
  level: "warning",
  message: `the node still synchronises: block ${Number(block)} of ${Number(of)}`,
  advice: "wait, or follow from a node that is done"
})

export const noPeers: NodeFinding = {
  level: "warning",
  message: "the node has no peers",
  advice: "open its peer-to-peer port, and see whether its list of peers is right"
}

/** A text that a node said of itself, of bounded length; undefined where it said none. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value.slice(0, 100) : undefined

export const isJson = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null
