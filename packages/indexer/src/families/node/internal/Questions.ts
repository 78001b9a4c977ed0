/** How each node of a chain is asked for its blocks. */
import type { Block } from "@headwater/core/Block"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Head } from "../../Source.ts"
import type { NodeError } from "../NodeError.ts"
import type * as Proof from "../Proof.ts"

/** How a client is asked for its chain, in one family. */
export interface Questions<C> {
  readonly name: (client: C) => string
  readonly head: (client: C) => Effect.Effect<Head, NodeError>
  readonly hashAt: (client: C, height: number) => Effect.Effect<Uint8Array, NodeError>
  readonly block: (client: C, height: number, believed?: Proof.Believed) => Effect.Effect<Block, NodeError>
}

/** The heads of the clients that answer. */
export const headsOf = <C>({ head }: Questions<C>, clients: ReadonlyArray<C>) =>
  Effect.map(
    Effect.forEach(clients, (client) => Effect.map(Effect.result(head(client)), (answer) => ({ client, answer })), {
      concurrency: "unbounded"
    }),
    (all) => all.flatMap(({ answer, client }) => (Result.isSuccess(answer) ? [{ client, head: answer.success }] : []))
  )
