/** Signed transactions of Tron: decoded and checked, given to the nodes, and looked for there. The chain sets their fees. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import * as TronTransaction from "@headwater/core/tron/TronTransaction"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Broadcasting from "../Broadcasting.ts"
import { type NodeError, NodeInconsistent } from "../node/NodeError.ts"
import * as TronBlock from "./internal/TronBlock.ts"
import type * as TronHeaders from "./internal/TronHeaders.ts"
import * as TronJson from "./internal/TronJson.ts"
import type { Nodes, TronHttp } from "./TronHttp.ts"

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

interface Decoded {
  readonly id: Uint8Array
  readonly owner: AddressBytes
  readonly permissionId: number
  readonly signers: ReadonlyArray<AddressBytes>
  /** Milliseconds since the Unix epoch. */
  readonly expiration: number
}

const decode = (raw: Uint8Array): Result.Result<Decoded, Broadcasting.BroadcastRefused> =>
  Result.gen(function* () {
    const fail = (message: string) => Result.fail(Broadcasting.invalid(message))
    const invalid = ({ message }: TronTransaction.InvalidTransaction) =>
      Broadcasting.invalid(`must be a signed transaction of Tron: ${message}`)
    const { otherSignatures, rawData, signatures } = yield* Result.mapError(TronTransaction.decodeSigned(raw), invalid)
    const { contracts, expiration } = yield* Result.mapError(TronTransaction.decode(rawData), invalid)
    const [contract] = contracts
    if (contract === undefined || contracts.length > 1)
      return yield* fail("must be a signed transaction of one contract")
    const { owner, permissionId } = contract
    if (owner === undefined) return yield* fail("its contract must name an owner")
    // Whether other signatures are right, and whose they are, is for the node to say.
    if (signatures.length + otherSignatures.length === 0) return yield* fail("must be signed")
    const id = TronTransaction.id(rawData)
    const signers = signatures.map((signature) => TronTransaction.signer(id, signature))
    if (signers.includes(undefined)) return yield* fail("its signatures must each be of a key")
    return { id, owner, permissionId, signers: signers as ReadonlyArray<AddressBytes>, expiration }
  })

const Permission = Schema.Struct({
  id: Schema.optionalKey(Schema.Int),
  keys: Schema.optionalKey(Schema.Array(Schema.Struct({ address: Schema.String })))
})

/** Who may sign for an account, where that is not its own key alone. */
const Owner = Schema.Struct({
  owner_permission: Schema.optionalKey(Permission),
  active_permission: Schema.optionalKey(Schema.Array(Permission))
})

const Sent = Schema.Struct({
  result: Schema.optionalKey(Schema.Boolean),
  code: Schema.optionalKey(Schema.Union([Schema.String, Schema.Int])),
  message: Schema.optionalKey(Schema.String)
})

const Info = Schema.Struct({
  blockNumber: TronJson.Count,
  result: Schema.optionalKey(Schema.String),
  receipt: Schema.optionalKey(Schema.Struct({ result: Schema.optionalKey(Schema.String) }))
})

/** What the node says of itself, and not of the transaction. */
const passing: ReadonlySet<unknown> = new Set([
  ...["SERVER_BUSY", "NO_CONNECTION", "NOT_ENOUGH_EFFECTIVE_CONNECTION", "BLOCK_UNSOLIDIFIED", "OTHER_ERROR"]
])

/** Text that nodes write as hexadecimal. */
const textOf = (said: string): string =>
  /^([0-9a-f]{2})+$/i.test(said) ? Buffer.from(said, "hex").toString("utf8") : said

const give = (raw: Uint8Array) => (node: TronHttp) =>
  Effect.map(
    node.read(Sent, "/wallet/broadcasthex", JSON.stringify({ transaction: hexOf(raw) })),
    ({ code, message = "", result }): Broadcasting.Answer => {
      if (result === true || code === "SUCCESS" || code === "DUP_TRANSACTION_ERROR") return { state: "taken" }
      const said = `${code ?? "no code"}: ${textOf(message)}`.slice(0, 300)
      return { state: code === undefined || passing.has(code) ? "unanswered" : "refused", message: said }
    }
  )

/** Whether a node has something under a path; false where it lacks the path. */
const has = (node: TronHttp, path: string, id: Uint8Array) =>
  node.find(Schema.Unknown, path, JSON.stringify({ value: hexOf(id) })).pipe(
    Effect.map((found) => found !== undefined),
    Effect.catchTag("NodeRejected", () => Effect.succeed(false))
  )

const succeeded: ReadonlySet<string | undefined> = new Set([undefined, "SUCCESS", "DEFAULT", "SUCESS"])

export const make = (http: Nodes, headers: TronHeaders.TronHeaders): Broadcasting.Broadcasting => {
  const newestTime = (node: TronHttp) =>
    Effect.map(headers.newest(node), ({ block_header }) => block_header.raw_data.timestamp ?? 0)

  const locatedAt = (id: Uint8Array) =>
    Effect.fnUntraced(function* (node: TronHttp): Effect.fn.Return<Broadcasting.Located, NodeError> {
      const path = "/wallet/gettransactioninfobyid"
      const info = yield* node.find(Info, path, JSON.stringify({ value: hexOf(id) }))
      if (info === undefined) return { state: "absent" }
      const { height, hash } = TronBlock.tipOf(yield* headers.at(node, info.blockNumber))
      if (height !== info.blockNumber) {
        return yield* new NodeInconsistent({ node: node.name, method: path, message: "blockNumber is of no block" })
      }
      const outcome = info.result ?? info.receipt?.result
      return { state: "mined", height, hash, ...(succeeded.has(outcome) ? {} : { error: outcome! }) }
    })

  /** A node that has not come to the height of the chain at which it is asked knows nothing of blocks since. */
  const locatedUpTo = (id: Uint8Array, upTo: number) =>
    Effect.fnUntraced(function* (node: TronHttp): Effect.fn.Return<Broadcasting.Located, NodeError> {
      const { height } = TronBlock.tipOf(yield* headers.newest(node))
      const located = yield* locatedAt(id)(node)
      if (located.state !== "absent" || height >= upTo) return located
      const message = `the node is at block ${height}, and has not come to block ${upTo}`
      return yield* new NodeInconsistent({ node: node.name, method: "/wallet/gettransactioninfobyid", message })
    })

  const standingAt = ({ expiration, id }: Decoded) =>
    Effect.fnUntraced(function* (node: TronHttp): Effect.fn.Return<Broadcasting.Standing, NodeError> {
      // Before it is looked for: a block may have it in between, and none after that.
      const time = yield* newestTime(node)
      const located = yield* locatedAt(id)(node)
      if (located.state !== "absent") return located
      if (yield* has(node, "/wallet/gettransactionfrompending", id)) return { state: "waiting" }
      return time >= expiration
        ? { state: "dropped", message: "its expiration is past" }
        : { state: "absent", mayCome: true }
    })

  /** Whether those who signed are all keys of the permission that the transaction uses. */
  const maySign = Effect.fnUntraced(function* ({ owner, permissionId, signers }: Decoded) {
    const body = JSON.stringify({ address: TronJson.addressHex(owner) })
    const account = yield* http.find(Owner, "/wallet/getaccount", body)
    if (account === undefined) return yield* Broadcasting.contradicted("its owner has no account")
    const permission =
      permissionId === 0 ? account.owner_permission : account.active_permission?.find(({ id }) => id === permissionId)
    const keys = permission?.keys?.map(({ address }) => address.toLowerCase())
    return signers.every((signer) =>
      keys === undefined ? Bytes.equal(signer, owner) : keys.includes(TronJson.addressHex(signer).toLowerCase())
    )
  })

  return {
    idOf: Effect.fn("TronBroadcasting.idOf")((raw) => Effect.map(Effect.fromResult(decode(raw)), ({ id }) => id)),
    check: Effect.fn("TronBroadcasting.check")(function* (raw) {
      const decoded = yield* Effect.fromResult(decode(raw))
      if (!(yield* maySign(decoded))) return yield* Broadcasting.invalid("must be signed by its owner's keys")
      const time = yield* newestTime(http)
      if (decoded.expiration <= time) {
        return yield* Broadcasting.contradicted(
          `its expiration must be after the newest block, ${time}, and is ${decoded.expiration} (milliseconds)`
        )
      }
    }),
    send: Effect.fn("TronBroadcasting.send")((raw) => Broadcasting.toEvery(http.each, give(raw))),
    standing: Effect.fn("TronBroadcasting.standing")(function* (raw) {
      const decoded = yield* Effect.orDie(Effect.fromResult(decode(raw)))
      return yield* Broadcasting.ofEvery(http.each, standingAt(decoded))
    }),
    find: Effect.fn("TronBroadcasting.find")((id, upTo) => Broadcasting.ofAny(http.each, locatedUpTo(id, upTo)))
  }
}
