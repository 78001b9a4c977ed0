/**
 * A block as one node gives it, proved; or, where it fits its hashes by no form that is known, as all nodes say: then it is not
 * the nodes that lie.
 */
import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Shared } from "../Failover.ts"
import { NodeInconsistent } from "../NodeError.ts"
import type { Questions } from "./Questions.ts"

const hex = (hash: Uint8Array) => Buffer.from(hash).toString("hex")

/** Reads blocks, each with the hash that `quorum` nodes say where there is one. `isStill`: nodes that are not woken. */
export const make = <C>(nodes: Shared<C>, questions: Questions<C>, quorum: number, isStill: (client: C) => boolean) => {
  /** The newest block that was read fits its hashes by no form that is known, whichever node gives it. */
  let isFormUnknown = false

  const fromOne = (height: number, isWanted: (block: Block) => boolean, wanted: Uint8Array | undefined) =>
    nodes.withOne((one) =>
      Effect.filterOrFail(
        questions.block(one, height),
        isWanted,
        (block) =>
          new NodeInconsistent({
            node: questions.name(one),
            method: "quorum",
            message: `block ${height} is ${hex(block.hash)}, and ${quorum} nodes (quorum) say ${hex(wanted!)}`
          })
      )
    )

  /** A block of which every node, two at least, says the same that does not fit. Undefined where they do not agree. */
  const agreedByAll = Effect.fnUntraced(function* (height: number) {
    const believed = new Set<string>()
    for (;;) {
      const answers = yield* Effect.forEach(
        nodes.each,
        (client) => Effect.result(questions.block(client, height, believed)),
        { concurrency: "unbounded" }
      )
      const proved = answers.find(Result.isSuccess)
      if (proved !== undefined) {
        isFormUnknown = believed.size > 0
        return proved.success
      }
      const failed = answers.flatMap((answer) =>
        Result.isFailure(answer) && answer.failure._tag === "ProofFailed" ? [answer.failure.content] : []
      )
      const [content] = failed
      const isAgreed = failed.length > 1 && failed.every((other) => other === content)
      if (content === undefined || !isAgreed || believed.has(content)) return undefined
      believed.add(content)
    }
  })

  return Effect.fnUntraced(function* (height: number, wanted?: Uint8Array) {
    const isWanted = ({ hash }: Block) => wanted === undefined || Bytes.equal(hash, wanted)
    const known = isFormUnknown ? yield* agreedByAll(height) : undefined
    if (known !== undefined && isWanted(known)) return known
    const block = yield* Effect.result(fromOne(height, isWanted, wanted))
    if (Result.isSuccess(block)) return block.success
    const error = block.failure
    if (error._tag !== "ProofFailed" || error.content === undefined || nodes.each.length < 2) return yield* error
    const agreed = yield* agreedByAll(height)
    if (agreed === undefined || !isWanted(agreed)) return yield* error
    for (const client of nodes.each) if (!isStill(client)) yield* nodes.wake(client)
    return agreed
  })
}
