/** What the main thread and a thread that reads blocks say to each other, and how settings of nodes are carried there. */

import type { LogLevel, Severity } from "effect/LogLevel"
import * as Redacted from "effect/Redacted"
import type * as Capability from "../../families/Capability.ts"
import type { NodeSettings } from "../../families/Family.ts"
import type * as BlockMessage from "./BlockMessage.ts"

/** A block as it is committed, or with the parts that any of the nodes can give: `Source.blockAt`, `SideSources.wholeBlockAt`. */
export type Question = "block" | "whole"

export type Request =
  | {
      readonly kind: "connect"
      readonly connection: number
      readonly chain: string
      readonly settings: CarriedSettings
    }
  | {
      readonly kind: "read"
      readonly id: number
      readonly connection: number
      readonly question: Question
      readonly height: number
    }
  | { readonly kind: "giveUp"; readonly id: number }
  | { readonly kind: "disconnect"; readonly connection: number }
  /** Is answered at once. */
  | { readonly kind: "ping" }

export type Reply =
  /** Comes before the first answer; without capabilities where the nodes could not be connected. */
  | {
      readonly kind: "connected"
      readonly connection: number
      readonly capabilities: ReadonlyArray<Capability.Capability> | undefined
    }
  | {
      readonly kind: "block"
      readonly id: number
      readonly block: BlockMessage.BlockMessage
      /** As in `Source`: the thread alone knows how large the blocks are that it reads. */
      readonly blocksOfRequest: number | undefined
    }
  | { readonly kind: "noBlock"; readonly id: number }
  | { readonly kind: "alive" }
  | {
      readonly kind: "log"
      readonly level: Severity
      readonly message: string
      readonly annotations: Readonly<Record<string, unknown>>
    }
  | {
      readonly kind: "counted"
      readonly counter: string
      readonly description: string | undefined
      readonly attributes: Readonly<Record<string, string>>
      readonly count: number
    }

/** A block that was read. */
export type Given = Extract<Reply, { readonly kind: "block" }>

/** What the thread is started with. */
export interface Options {
  readonly minimumLogLevel: LogLevel
}

interface Secret {
  readonly secret: string
}

/** Settings as a message has them: what no log may show is text here, and nowhere but between two threads. */
type CarriedSettings = Readonly<Record<string, unknown>>

const carriedValue = (value: unknown): unknown =>
  Redacted.isRedacted(value)
    ? ({ secret: String(Redacted.value(value)) } satisfies Secret)
    : Array.isArray(value)
      ? value.map(carriedValue)
      : value

const isSecret = (value: unknown): value is Secret => typeof value === "object" && value !== null && "secret" in value

const settingsValue = (value: unknown): unknown =>
  isSecret(value) ? Redacted.make(value.secret) : Array.isArray(value) ? value.map(settingsValue) : value

const mapped = (record: object, to: (value: unknown) => unknown) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, to(value)]))

/** Settings for a message. */
export const carry = (settings: NodeSettings): CarriedSettings => mapped(settings, carriedValue)

/** The settings that a message carries. */
export const settingsOf = (carried: CarriedSettings): NodeSettings =>
  mapped(carried, settingsValue) as unknown as NodeSettings
