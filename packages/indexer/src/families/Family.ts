/**
 * A family of chains: what differs from family to family between a node and the rest of Headwater, as one value. Each
 * family's value stands at the top of its folder, and `families.ts` lists them.
 */
import type * as Chain from "@headwater/core/chains/Chain"
import type { EventType } from "@headwater/core/events/EventType"
import type { FamilyName } from "@headwater/core/families/families"
import * as Arr from "effect/Array"
import type * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { Capability } from "./Capability.ts"
import type { NodeError } from "./node/NodeError.ts"
import type * as Proof from "./node/Proof.ts"
import type { NodeFinding } from "./node/NodeFinding.ts"
import type { SideSources } from "./SideSources.ts"
import type { Source } from "./Source.ts"

/** The settings of a chain that its nodes are connected by, in every family. */
export interface NodeSettings {
  /** URLs, in order of preference. */
  readonly nodes: readonly [Redacted.Redacted<string>, ...Array<Redacted.Redacted<string>>]
  /** Basic authentication at nodes whose URL names no user, any characters as they are. */
  readonly user?: string
  readonly password?: Redacted.Redacted<string>
  /** Where the chain begins. */
  readonly start: number | "latest"
  /** How long a node may take for an answer. */
  readonly timeoutMillis: number
  /** Blocks that are fetched at the same time. */
  readonly parallel: number
  /** How many nodes have to say the same of a block before the block is believed. */
  readonly quorum?: number
  /** How far blocks are proved. */
  readonly verify: Proof.Level
  /** Bytes of answers that are held at the same time; 64 MiB by default. */
  readonly bytesInFlight?: number
  /** How many times the fee that is usual at present a transaction that is broadcast may pay; 100 by default. */
  readonly maximumFee?: number
  /** Whether internal transactions are read. */
  readonly internalTransactions: boolean
  /** Whether the nodes' announcements are listened to, where the settings name them; they are by default. */
  readonly announcements?: boolean
}

/** A chain's nodes, connected, as far as all families have the same. A family adds what endpoints ask of its nodes. */
export interface ConnectedNode {
  readonly family: FamilyName
  readonly source: Source
  readonly sideSources: SideSources
}

/**
 * Fields of settings that chains of one family have alone: optional, so that the settings of every chain have the same
 * type.
 */
export type FamilyFields = Readonly<Record<string, Schema.Constraint & { readonly "~type.optionality": "optional" }>>

/** No settings but those of every family. */
type NoFields = Readonly<Record<never, never>>

/** The code that calls the nodes of a family. */
export interface NodeAccess<Node extends ConnectedNode = ConnectedNode, Fields extends FamilyFields = NoFields> {
  /** Connects to the nodes of a chain until the scope closes, and finds out what they can do. */
  readonly connect: (
    chain: Chain.Chain,
    settings: NodeSettings & Schema.Struct.Type<Fields>
  ) => Effect.Effect<Node, NodeError, Scope.Scope>
  /** What the first node says of itself — version, synchronisation, peers — for `doctor`. */
  readonly selfReport: (
    chain: Chain.Chain,
    settings: NodeSettings & Schema.Struct.Type<Fields>
  ) => Effect.Effect<ReadonlyArray<NodeFinding>, NodeError, Scope.Scope>
  /** Whether the chain's nodes announce blocks where the settings say so, for `doctor`, in families that can tell. */
  readonly announcementReport?: (
    chain: Chain.Chain,
    settings: NodeSettings & Schema.Struct.Type<Fields>
  ) => Effect.Effect<ReadonlyArray<NodeFinding>, never, Scope.Scope>
}

export interface Family<Node extends ConnectedNode = ConnectedNode, Fields extends FamilyFields = NoFields> {
  readonly name: FamilyName
  /** Schemes that a node's URL may have. */
  readonly urlSchemes: ReadonlyArray<string>
  /** Settings that chains of the family have beside those of every chain. */
  readonly settings: Fields
  /** The parts of a block that may be without proof. */
  readonly unprovenParts: ReadonlyArray<string>
  /** Loaded with the first node that is called: most commands call none, and start faster without. */
  readonly nodeAccess: () => Promise<NodeAccess<Node, Fields>>
  /**
   * Why events of a type would stay silent at present, by the settings and by what the nodes can do; undefined where
   * they are served.
   */
  readonly unserved?: <E, R>(
    event: EventType,
    settings: Pick<NodeSettings, "internalTransactions">,
    capabilities: Effect.Effect<ReadonlyArray<Capability>, E, R>
  ) => Effect.Effect<string | undefined, E, R>
  /**
   * What following the chain again does not bring back where it is rewound to `height`, below the lowest block that the
   * store can undo to (`restorable`); undefined for nothing.
   */
  readonly lossByRewind?: (height: number, restorable: number) => string | undefined
  /** Advice of `doctor` about a call that failed, by its method, where the family has better than the general advice. */
  readonly adviceByMethod?: Readonly<Record<string, string>>
}

/** The URL with user and password of the settings in it, unless it has its own. */
const withUser = (text: string, user: string, password: string): string => {
  const url = URL.parse(text)
  if (url === null || url.username !== "" || url.password !== "") return text
  url.username = encodeURIComponent(user)
  url.password = encodeURIComponent(password)
  return url.href
}

/** URLs of a chain's nodes in plain, with user and password, for the code that calls them. */
export const urlsOf = ({
  nodes,
  password,
  user
}: Pick<NodeSettings, "nodes" | "user" | "password">): readonly [string, ...Array<string>] =>
  Arr.map(nodes, (node) =>
    user === undefined || password === undefined
      ? Redacted.value(node)
      : withUser(Redacted.value(node), user, Redacted.value(password))
  )

/** Whether a connected node is of a family. */
export const isNodeOf = <Node extends ConnectedNode, Fields extends FamilyFields>(
  family: Family<Node, Fields>,
  node: ConnectedNode
): node is Node => node.family === family.name
