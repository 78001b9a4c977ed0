/**
 * Blocks and transactions of Tron as endpoints show them, from its nodes. Energy stands for gas, `fee_limit` (in sun) for
 * the limit of gas; a block has no limit, and nothing has a nonce.
 */
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as TimeSlice from "../../TimeSlice.ts"
import type { BlockName, Explorer, ExplorerTransaction, Mined, NewestBlock } from "../evm/Explorer.ts"
import {
  BlockMissing,
  type NodeError,
  NodeInconsistent,
  NodeRejected,
  orNone,
  untilConsistent
} from "../node/NodeError.ts"
import type { OffsetPage } from "../OffsetPage.ts"
import * as InternalTransactions from "./internal/InternalTransactions.ts"
import * as ShownTransaction from "./internal/ShownTransaction.ts"
import * as TransactionOutcome from "./internal/TransactionOutcome.ts"
import * as TronBlock from "./internal/TronBlock.ts"
import * as TronHeaders from "./internal/TronHeaders.ts"
import * as TronInfos from "./internal/TronInfos.ts"
import * as TronJson from "./internal/TronJson.ts"
import * as TronProof from "./internal/TronProof.ts"
import type { Nodes, TronHttp } from "./TronHttp.ts"

const blockPath = "/wallet/getblockbynum"
const newestPath = "/wallet/getnowblock"
const transactionPath = "/wallet/gettransactionbyid"
const infoPath = "/wallet/gettransactioninfobyid"

const textOf = (hash: Uint8Array): string => Buffer.from(hash).toString("hex")

const inconsistent = (http: TronHttp, method: string, message: string) =>
  new NodeInconsistent({ node: http.name, method, message })

const changed = (http: TronHttp, height: number) =>
  inconsistent(http, blockPath, `the chain changed at block ${height} while it was read`)

/** A value that was read of an answer, or that the answer cannot be read. */
const orInconsistent = <A>(
  http: TronHttp,
  method: string,
  read: Result.Result<A, string>
): Effect.Effect<A, NodeInconsistent> =>
  Effect.mapError(Effect.fromResult(read), (message) => inconsistent(http, method, message))

const idBytes = 32
const heightBytes = 8

/** The height that the id of a block begins with; undefined for what is no block's id. */
const heightIn = (hash: Uint8Array): number | undefined => {
  if (hash.length !== idBytes) return undefined
  const height = Number(Buffer.from(hash.subarray(0, heightBytes)).readBigUInt64BE())
  return Number.isSafeInteger(height) ? height : undefined
}

const nameText = (name: BlockName): string =>
  name === "latest" ? "latest" : "height" in name ? String(name.height) : textOf(name.hash)

interface FoundBlock {
  readonly json: TronBlock.Answer
  readonly whole: unknown
  readonly height: number
  readonly hash: Uint8Array
  readonly parent: Uint8Array
  readonly millis: number
}

const foundOf = (whole: unknown, json: TronBlock.Answer): FoundBlock => {
  const { parentHash, timestamp = 0 } = json.block_header.raw_data
  return { json, whole, ...TronBlock.tipOf(json), parent: TronJson.bytes(parentHash), millis: timestamp }
}

const time = (millis: number): number => Math.floor(millis / 1000)

/** A block of the chain: a node shows those by their heights alone, and the height stands in the hash. */
const blockBy = Effect.fnUntraced(function* (http: TronHttp, name: BlockName): Effect.fn.Return<FoundBlock, NodeError> {
  const missing = new BlockMissing({ node: http.name, block: nameText(name) })
  const height = name === "latest" ? undefined : "height" in name ? name.height : heightIn(name.hash)
  if (name !== "latest" && height === undefined) return yield* missing
  const path = height === undefined ? newestPath : blockPath
  const asked = height === undefined ? undefined : `{"num":${height}}`
  const whole = yield* Effect.flatMap(
    http.find(Schema.Unknown, path, asked),
    TronHeaders.orMissing(http, nameText(name))
  )
  const found = foundOf(whole, yield* http.decode(TronBlock.Answer, path, whole))
  if (height !== undefined && found.height !== height) {
    return yield* inconsistent(http, path, `asked for block ${height}, answered block ${found.height}`)
  }
  // Another block of the height: the one that is asked for is none of the chain's.
  if (name !== "latest" && "hash" in name && !Bytes.equal(found.hash, name.hash)) return yield* missing
  return found
})

const idOf = (json: unknown): string =>
  Predicate.isReadonlyObject(json) ? String(json.txID ?? json.id ?? "").toLowerCase() : ""

/** The infos of a block by the ids of their transactions; the block is still the chain's after they were read. */
const infosOf = Effect.fnUntraced(function* (
  http: TronHttp,
  headers: TronHeaders.TronHeaders,
  { hash, height, json }: FoundBlock
): Effect.fn.Return<ReadonlyMap<string, unknown>, NodeError> {
  if (height === 0 || json.transactions === undefined) return new Map()
  const infos = (yield* TronInfos.together(http, height)) ?? (yield* TronInfos.oneByOne(http, json))
  const now = TronBlock.tipOf(yield* headers.at(http, height))
  if (!Bytes.equal(now.hash, hash)) return yield* changed(http, height)
  return new Map(infos.map((info) => [idOf(info), info]))
})

const Used = Schema.Struct({ fee: ShownTransaction.Info.fields.fee, receipt: ShownTransaction.Info.fields.receipt })

const detailsOf = Effect.fnUntraced(function* (
  http: TronHttp,
  headers: TronHeaders.TronHeaders,
  found: FoundBlock,
  parent: { readonly hash: Uint8Array; readonly millis: number } | undefined
): Effect.fn.Return<NewestBlock, NodeError> {
  const infos = yield* infosOf(http, headers, found)
  const { hash, height, json, millis, whole } = found
  const { transactions = [] } = json
  const resources = { bandwidth: 0, energy: 0, burned: 0n }
  for (const transaction of transactions) {
    const info = infos.get(idOf(transaction))
    if (info === undefined && height > 0) {
      return yield* inconsistent(http, blockPath, `there is no info of transaction ${idOf(transaction).slice(0, 64)}`)
    }
    const { fee = 0, receipt = {} } = info === undefined ? {} : yield* http.decode(Used, infoPath, info)
    resources.bandwidth += receipt.net_usage ?? 0
    resources.energy += receipt.energy_usage_total ?? 0
    resources.burned += BigInt(fee)
  }
  const size = yield* orInconsistent(http, blockPath, yield* TimeSlice.run(() => TronProof.sizeOf(whole)))
  return {
    ...{ height, hash, parent: found.parent, time: time(millis), size, resources },
    seconds: parent === undefined ? 0 : time(millis - parent.millis),
    extraData: new Uint8Array(),
    ...{ gasLimit: 0, gasUsed: resources.energy, nonce: 0n, totalDifficulty: 0n },
    transactions: transactions.length
  }
})

/** Newest blocks, and transactions of different blocks, that are read at a time. */
const concurrency = 4

/** `keepsInternal`: whether the nodes keep internal transactions, as far as is known by now. */
export const make = (
  chain: Chain,
  nodes: Nodes,
  headers: TronHeaders.TronHeaders,
  keepsInternal: () => boolean
): Explorer => {
  const ask = <A>(work: (one: TronHttp) => Effect.Effect<A, NodeError>) => untilConsistent(nodes.withOne(work))

  const headerAt = (http: TronHttp, height: number) =>
    Effect.map(headers.at(http, height), (header) => ({
      ...TronBlock.tipOf(header),
      parent: TronJson.bytes(header.block_header.raw_data.parentHash),
      millis: header.block_header.raw_data.timestamp ?? 0
    }))

  /** The header below a block, which has to be its parent's. */
  const parentOf = Effect.fnUntraced(function* (http: TronHttp, { height, parent }: FoundBlock) {
    if (height === 0) return undefined
    const below = yield* Effect.catchTag(headerAt(http, height - 1), "BlockMissing", ({ message }) =>
      Effect.fail(inconsistent(http, blockPath, message))
    )
    return Bytes.equal(below.hash, parent) ? below : yield* changed(http, height)
  })

  const block = Effect.fnUntraced(function* (http: TronHttp, name: BlockName) {
    const found = yield* blockBy(http, name)
    const details = yield* detailsOf(http, headers, found, yield* parentOf(http, found))
    const above = yield* orNone(headerAt(http, found.height + 1))
    if (above !== undefined && !Bytes.equal(above.parent, found.hash)) return yield* changed(http, found.height)
    return { ...details, next: above?.hash }
  })

  const newest = Effect.fnUntraced(function* (http: TronHttp, count: number) {
    const latest = yield* blockBy(http, "latest")
    const below = Array.from({ length: Math.min(count - 1, latest.height) }, (_, index) => latest.height - 1 - index)
    const blocks = [latest, ...(yield* Effect.forEach(below, (height) => blockBy(http, { height }), { concurrency }))]
    const last = yield* parentOf(http, blocks.at(-1)!)
    return yield* Effect.forEach(
      blocks,
      (each, index) =>
        Effect.gen(function* () {
          const parent = blocks[index + 1] ?? last
          if (parent !== undefined && !Bytes.equal(parent.hash, each.parent)) return yield* changed(http, each.height)
          return yield* detailsOf(http, headers, each, parent)
        }),
      { concurrency }
    )
  })

  const transactionsOf = Effect.fnUntraced(function* (http: TronHttp, name: BlockName, { limit, offset }: OffsetPage) {
    const found = yield* blockBy(http, name)
    const infos = yield* infosOf(http, headers, found)
    const { hash, height, json, millis } = found
    const { transactions = [] } = json
    const block = { hash, height, time: time(millis) }
    const items = yield* Effect.forEach(transactions.slice(offset, offset + limit), (transaction, index) => {
      const place = { block, position: offset + index }
      return orInconsistent(
        http,
        blockPath,
        ShownTransaction.of(chain, transaction, infos.get(idOf(transaction)), place)
      )
    })
    return { total: transactions.length, items }
  })

  const infoOf = (http: TronHttp, hash: Uint8Array) =>
    http.find(Schema.Unknown, infoPath, `{"value":"${textOf(hash)}"}`)

  const heightOf = (http: TronHttp, info: unknown) =>
    Effect.map(http.decode(ShownTransaction.Info, infoPath, info), ({ blockNumber = 0 }) => blockNumber)

  const transaction = Effect.fnUntraced(function* (
    http: TronHttp,
    hash: Uint8Array
  ): Effect.fn.Return<ExplorerTransaction | undefined, NodeError> {
    const info = yield* infoOf(http, hash)
    // Those of the first block have no infos.
    const height = info === undefined ? 0 : yield* heightOf(http, info)
    const found = yield* blockBy(http, { height })
    const { transactions = [] } = found.json
    const position = transactions.findIndex((each) => idOf(each) === textOf(hash))
    if (position < 0) return info === undefined ? undefined : yield* changed(http, height)
    // The block has a transaction of this info only if the info was the same before and after.
    const after = yield* infoOf(http, hash)
    if (JSON.stringify(after) !== JSON.stringify(info)) return yield* changed(http, height)
    const block = { hash: found.hash, height, time: time(found.millis) }
    return yield* orInconsistent(
      http,
      infoPath,
      ShownTransaction.of(chain, transactions[position], info, { block, position })
    )
  })

  const mined = Effect.fnUntraced(function* (http: TronHttp, wanted: ReadonlyArray<Mined>) {
    const shown = yield* Effect.forEach(
      wanted,
      ({ hash }) =>
        Effect.all([http.find(Schema.Unknown, transactionPath, `{"value":"${textOf(hash)}"}`), infoOf(http, hash)]),
      { concurrency }
    )
    const heights = [...new Set(wanted.map(({ height }) => height))]
    const headersOf = new Map(
      yield* Effect.forEach(
        heights,
        (height) => Effect.map(headerAt(http, height), (header) => [height, header] as const),
        {
          concurrency
        }
      )
    )
    return yield* Effect.forEach(wanted, ({ block, hash, height, position }, index) => {
      const header = headersOf.get(height)!
      const [json, info] = shown[index]!
      if (!Bytes.equal(header.hash, block)) {
        return Effect.fail(inconsistent(http, blockPath, "the node lacks a block that is recorded"))
      }
      if (json === undefined) {
        return Effect.fail(inconsistent(http, transactionPath, `the node lacks transaction ${textOf(hash)} of a block`))
      }
      const place = { block: { hash: block, height, time: time(header.millis) }, position }
      return orInconsistent(http, transactionPath, ShownTransaction.of(chain, json, info, place))
    })
  })

  const internal = Effect.fnUntraced(function* (http: TronHttp, hash: Uint8Array) {
    const json = yield* infoOf(http, hash)
    if (json === undefined) return undefined
    const info = yield* http.decode(ShownTransaction.Info, infoPath, json)
    const refused = (message: string) => new NodeRejected({ node: http.name, method: infoPath, code: 0, message })
    if ((yield* TimeSlice.run(() => InternalTransactions.areKept([json]))) === false) {
      return yield* refused(`the node did not keep the internal transactions of ${textOf(hash)}`)
    }
    const isUndone = !(yield* orInconsistent(
      http,
      infoPath,
      TransactionOutcome.succeeded({}, json as Readonly<Record<string, unknown>>)
    ))
    const entries = isUndone ? [] : (info.internal_transactions ?? [])
    const transfers = yield* Effect.forEach(entries, (entry, index) =>
      orInconsistent(http, infoPath, InternalTransactions.decode(chain, entry, 0, index))
    )
    return {
      time: time((yield* headerAt(http, info.blockNumber ?? 0)).millis),
      transfers: transfers.filter((transfer) => transfer !== undefined)
    }
  })

  return {
    block: Effect.fn("TronExplorer.block")((name) => orNone(ask((one) => block(one, name)))),
    newest: Effect.fn("TronExplorer.newest")((count) => ask((one) => newest(one, count))),
    transactionsOf: Effect.fn("TronExplorer.transactionsOf")((name, page) =>
      orNone(ask((one) => transactionsOf(one, name, page)))
    ),
    transaction: Effect.fn("TronExplorer.transaction")((hash) => orNone(ask((one) => transaction(one, hash)))),
    mined: Effect.fn("TronExplorer.mined")((wanted) => ask((one) => mined(one, wanted))),
    get internal() {
      return keepsInternal()
        ? Effect.fn("TronExplorer.internal")((hash: Uint8Array) => ask((one) => internal(one, hash)))
        : undefined
    }
  }
}
