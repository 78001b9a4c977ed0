/** What projections report of the blocks that enter in one transaction. */
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import type { ChainRow } from "../../database/ChainRow.ts"
import type { Entering } from "../Projection.ts"
import type { LearnedToken } from "../Tokens.ts"

export class Entered implements Entering {
  revision: number
  readonly foundRevision: number
  readonly learned: ReadonlyMap<string, LearnedToken> | undefined
  /** Callbacks that were made due. */
  callbacks = 0
  readonly #after: Array<Effect.Effect<void>> = []

  constructor({ revision }: ChainRow, learned: ReadonlyArray<LearnedToken> | undefined) {
    this.revision = revision
    this.foundRevision = revision
    this.learned = learned && new Map(learned.map((token) => [Bytes.key(token.contract), token]))
  }

  readonly moveToRevision: Entering["moveToRevision"] = (revision) => {
    this.revision = revision
  }

  readonly addCallbacks: Entering["addCallbacks"] = (count) => {
    this.callbacks += count
  }

  readonly afterwards: Entering["afterwards"] = (effect) => {
    this.#after.push(effect)
  }

  /** What is left to do when the transaction has been committed. */
  get after() {
    return Effect.all(this.#after, { discard: true })
  }
}
