/**
 * Which network an XRP server is on. Servers keep few old ledgers, but each ledger's state lists the hashes of every 256th
 * one before it. The oldest of them proves the network; the `network_id` of a server is no more than its word.
 */
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Capability from "../../Capability.ts"
import type { NodeError } from "../../node/NodeError.ts"
import type { XrpNode } from "../XrpNode.ts"

/** The entry of a ledger's state that lists ledgers 256 to 65280: the half of the SHA-512 of its space, `s`, and 0. */
export const earlyLedgers = "692ECE2D61FD5074F298DC168177CA6E17B7282B9630E606AE519D7FE32B5940"

const Answer = Schema.Struct({
  node: Schema.Struct({
    LedgerEntryType: Schema.Literal("LedgerHashes"),
    Hashes: Schema.NonEmptyArray(Schema.String)
  })
})
const isAnswer = Schema.is(Answer)

/** The first hash that the newest validated ledger lists; none where it lists none; undefined where the server refuses. */
const firstListed = (node: XrpNode): Effect.Effect<string | "none" | undefined, NodeError> =>
  node.request("ledger_entry", { index: earlyLedgers, ledger_index: "validated" }).pipe(
    Effect.map((answer) => (isAnswer(answer) ? answer.node.Hashes[0].toUpperCase() : undefined)),
    Effect.catchTag("NodeRejected", ({ message }) =>
      Effect.succeed(message.startsWith("entryNotFound") ? "none" : undefined)
    )
  )

/** `networkId` as the server says it, if it does. */
export const capability = Effect.fnUntraced(function* (
  chain: Chain.Chain,
  node: XrpNode,
  networkId: number | undefined
) {
  const known = chain.xrp!
  if (networkId !== undefined && networkId !== known.networkId) {
    return Capability.networkWrong(`the server is on network ${networkId}, not ${known.networkId}`)
  }
  const listed = yield* firstListed(node)
  const word =
    networkId === undefined
      ? `the server does not say its network_id, which should be ${known.networkId}`
      : `network_id ${networkId} is the server's word alone`
  if (listed === undefined)
    return Capability.networkPresumed(`the server does not show the hash of ledger 256; ${word}`)
  if (listed === known.ledger256) return Capability.has(Capability.network, `${Chain.nameOf(chain)}, by ledger 256`)
  const other = Chain.all.find(({ xrp }) => xrp?.ledger256 === listed)
  if (other !== undefined)
    return Capability.networkWrong(`the server is on ${Chain.nameOf(other)}, not on ${Chain.nameOf(chain)}`)
  if (known.ledger256 === undefined) {
    return Capability.networkPresumed(
      `no ledger of ${Chain.nameOf(chain)} is known, which is reset now and then; ${word}`
    )
  }
  return Capability.networkWrong(
    listed === "none"
      ? `the server's ledgers list no hash of ledger 256, as those of ${Chain.nameOf(chain)} do`
      : `the server's ledger 256 is ${listed.slice(0, 64)}, not that of ${Chain.nameOf(chain)}`
  )
})
