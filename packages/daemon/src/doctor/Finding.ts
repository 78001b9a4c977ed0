/** What the doctor has looked at: how it is, and what to do where it is not well. */
export interface Finding {
  /** `settings`, `store`, or a chain and its node. */
  readonly subject: string
  /** `problem`: something does not work; `warning`: it works, with less than it could. */
  readonly level: "ok" | "warning" | "problem"
  readonly message: string
  /** What to do about it. */
  readonly advice?: string
}
