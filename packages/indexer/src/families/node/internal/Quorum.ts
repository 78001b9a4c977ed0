/** What so many nodes of a chain say the same of, as the setting `quorum` asks for. */
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Head } from "../../Source.ts"
import { type NodeError, NodeInconsistent, NodeUnreachable } from "../NodeError.ts"
import { headsOf, type Questions } from "./Questions.ts"

/** A quorum is looked for so many blocks below the height that enough nodes have reached. */
const forkDepth = 10

const hex = (hash: Uint8Array) => Buffer.from(hash).toString("hex")

/** Asks `each` node, of which `quorum` have to agree. */
export const make = <C>(each: ReadonlyArray<C>, questions: Questions<C>, quorum: number) => {
  const node = each.map(questions.name).join(", ")

  const tooFew = (answered: number) =>
    new NodeUnreachable({
      ...{ node, method: "quorum" },
      message: `${answered} of the ${quorum} nodes that quorum = ${quorum} asks for have answered: waiting for more`
    })

  const disagreement = (height: number, said: ReadonlyArray<readonly [C, Uint8Array]>) =>
    new NodeInconsistent({
      ...{ node, method: "quorum" },
      message:
        `fewer than ${quorum} nodes (quorum) say the same of block ${height}: ` +
        said.map(([client, hash]) => `${questions.name(client)} ${hex(hash)}`).join(", ")
    })

  /** The hash that enough nodes say, with those nodes; fails where fewer have answered, or agree. */
  const agreed = Effect.fnUntraced(function* (height: number, clients: ReadonlyArray<C>) {
    const answers = yield* Effect.forEach(
      clients,
      (client) => Effect.map(Effect.result(questions.hashAt(client, height)), (hash) => [client, hash] as const),
      { concurrency: "unbounded" }
    )
    const said = answers.flatMap(
      ([client, hash]): ReadonlyArray<readonly [C, Uint8Array]> =>
        Result.isSuccess(hash) ? [[client, hash.success]] : []
    )
    const [, first] = answers.find(([, hash]) => Result.isFailure(hash) && hash.failure._tag === "BlockMissing") ?? []
    if (said.length < quorum) {
      return yield* first !== undefined && Result.isFailure(first) ? first.failure : tooFew(said.length)
    }
    for (const [, hash] of said) {
      const same = said.filter(([, other]) => Bytes.equal(other, hash)).map(([client]) => client)
      if (same.length >= quorum) return { hash, clients: same }
    }
    return yield* disagreement(height, said)
  })

  /** The newest block that enough nodes have, final as far as all of those nodes call it so. */
  const head = Effect.gen(function* (): Effect.fn.Return<Head, NodeError> {
    const heads = yield* headsOf(questions, each)
    if (heads.length < quorum) return yield* tooFew(heads.length)
    const reached = heads.map(({ head }) => head.height).sort((a, b) => b - a)[quorum - 1]!
    const clients = heads.filter(({ head }) => head.height >= reached).map(({ client }) => client)
    for (let height = reached; ; height--) {
      const found = yield* Effect.result(agreed(height, clients))
      if (Result.isFailure(found)) {
        if (found.failure._tag !== "NodeInconsistent" || height === 0 || reached - height >= forkDepth)
          return yield* found.failure
        continue
      }
      const agreeing = heads.filter(({ client }) => found.success.clients.includes(client))
      const finals = agreeing.flatMap(({ head: { final, finalHash } }) =>
        final === undefined ? [] : { final, finalHash }
      )
      const lowest = finals.reduce<(typeof finals)[number]>(
        (lowest, one) => (one.final < lowest.final ? one : lowest),
        { final: height, finalHash: undefined }
      )
      return {
        height,
        hash: found.success.hash,
        ...(finals.length === agreeing.length ? lowest : { final: undefined })
      }
    }
  })

  return { head, hashAt: (height: number) => Effect.map(agreed(height, each), ({ hash }) => hash) }
}
