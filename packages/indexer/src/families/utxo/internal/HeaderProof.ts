/**
 * Proof that a block's hash is that of its header, from the header's fields in a node's JSON: its parent, its time and the
 * root over its transactions cannot be others.
 *
 * Source: Bitcoin's `CBlockHeader`; Zcash protocol specification §7.6, ZIP-221 and ZIP-244 (block commitments).
 */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Result from "effect/Result"
import * as Proof from "../../node/Proof.ts"
import { reading, refuse } from "./Malformed.ts"
import { sha256d } from "./DoubleSha256.ts"
import * as NodeJson from "./NodeJson.ts"
import { written } from "./RawBytes.ts"

const uint32 = (value: unknown, name: string): Buffer => {
  const text = typeof value === "string" && /^[0-9a-f]{8}$/i.test(value) ? `0x${value}` : value
  const number = typeof text === "string" ? Number(text) : text
  if (typeof number !== "number" || !Number.isInteger(number)) return refuse(name, "must be a number of 32 bits")
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(Number(BigInt.asUintN(32, BigInt(number))))
  return bytes
}

const hashOf = (value: unknown, name: string): Uint8Array => written(NodeJson.hash(value, () => name))

const firstParts = (json: NodeJson.Json, height: number): ReadonlyArray<Uint8Array> => [
  uint32(json.version, "version"),
  height === 0 ? new Uint8Array(32) : hashOf(json.previousblockhash, "previousblockhash"),
  hashOf(json.merkleroot, "merkleroot")
]

const bitcoinHeader = (json: NodeJson.Json, height: number): Buffer =>
  Buffer.concat([
    ...firstParts(json, height),
    uint32(json.time, "time"),
    uint32(json.bits, "bits"),
    uint32(json.nonce, "nonce")
  ])

const zcashHeader = (json: NodeJson.Json, height: number, commitment: Uint8Array): Buffer => {
  const solution = NodeJson.bytes(json.solution, () => "solution")
  const size = solution.length < 0xfd ? [solution.length] : [0xfd, solution.length & 0xff, solution.length >> 8]
  return Buffer.concat([
    ...firstParts(json, height),
    commitment,
    uint32(json.time, "time"),
    uint32(json.bits, "bits"),
    hashOf(json.nonce, "nonce"),
    Uint8Array.from(size),
    solution
  ])
}

const notOurs = "hash is not that of the header"

const isHashOf = (json: NodeJson.Json, header: Buffer): boolean =>
  Buffer.compare(
    written(sha256d(header)),
    NodeJson.hash(json.hash, () => "hash")
  ) === 0

/** From Heartwood on a header commits to the history of the chain, which old nodes do not show. */
const heartwood = 903_000

/** Proves a Zcash header; nodes before NU5 do not say which of three fields its commitment is. */
const ofZcash = (json: NodeJson.Json, height: number): Proof.Outcome => {
  const named = json.blockcommitments
  const candidates = named === undefined ? [json.finalsaplingroot, json.chainhistoryroot, "00".repeat(32)] : [named]
  const found = candidates
    .filter((candidate) => candidate !== undefined)
    .some((candidate) => isHashOf(json, zcashHeader(json, height, hashOf(candidate, "blockcommitments"))))
  if (found) return Proof.nothing
  return named === undefined && json.chainhistoryroot === undefined && height >= heartwood
    ? Proof.allBut(Proof.unknown("header", "the node does not show blockcommitments"))
    : Proof.mismatch(notOurs)
}

/** Proves the header of a block as `getblock` shows it at any verbosity above 0. */
export const of = (chain: Chain, json: NodeJson.Json, height: number): Proof.Outcome => {
  const { headerHash, wireFormat } = chain.utxo!
  if (headerHash !== undefined) {
    const reason = `blocks are named by ${headerHash.toUpperCase()}, which is not computed here`
    return Proof.allBut(Proof.unknown("header", reason))
  }
  const outcome = reading(() =>
    wireFormat === "zcash"
      ? ofZcash(json, height)
      : isHashOf(json, bitcoinHeader(json, height))
        ? Proof.nothing
        : Proof.mismatch(notOurs)
  )
  return Result.getOrElse(outcome, (rule) => Proof.allBut(Proof.unknown("header", rule)))
}
