/**
 * One chain's part of the store: its cursor, its headers, and the one commit by which a block enters — header, output
 * map, matched callbacks and cursor in a single transaction — or leaves again.
 */
import type { AddressBytes } from "@headwater/core/Address"
import type { Block, BlockHeader } from "@headwater/core/Block"
import * as Callback from "@headwater/core/Callback"
import * as Chain from "@headwater/core/Chain"
import * as Confirmations from "@headwater/core/Confirmations"
import { isEachConfirmation } from "@headwater/core/EventType"
import * as Matcher from "@headwater/core/Matcher"
import * as Watched from "@headwater/core/Watched"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type Insertable, sql } from "kysely"
import { Database, type DatabaseError } from "./Database.ts"
import * as OutputMap from "./OutputMap.ts"
import type { Row, Tables } from "./Tables.ts"

/** The last committed block; its hash is absent where a reorganisation left nothing of what was ever committed. */
export interface Cursor {
  readonly height: number
  readonly hash: Uint8Array | undefined
}

/** The block does not continue the stored chain: a reorganisation, or another process has moved the cursor. */
export class NotNext extends Schema.TaggedError<NotNext>()("NotNext", {
  height: Schema.Int,
  cursor: Schema.UndefinedOr(Schema.Int)
}) {
  override get message() {
    return `Block ${this.height} does not follow the stored block ${this.cursor ?? "(none)"}`
  }
}

/** Which transfers and outputs are kept. */
export type Record = "all" | "watched"

/** Where the facts about a token contract come from when a callback needs them. */
export interface Tokens {
  readonly known: (contract: AddressBytes) => Callback.TokenMetadata | undefined
  /** Makes `known` know these contracts. */
  readonly learn: (contracts: ReadonlyArray<AddressBytes>) => Effect.Effect<void, DatabaseError>
}

export interface Options {
  readonly record: Record
  readonly undoDepth: number
  readonly tokens?: Tokens
}

export interface Committed {
  /** Callbacks that became due with the block. */
  readonly callbacks: number
}

export interface ChainStore {
  readonly chain: Chain.Chain
  readonly cursor: Effect.Effect<Cursor | undefined, DatabaseError>
  /** The newest height that a node has called final, ever. */
  readonly final: Effect.Effect<number | undefined, DatabaseError>
  /** Hash of the stored block at a height. */
  readonly hashAt: (height: number) => Effect.Effect<Uint8Array | undefined, DatabaseError>
  /** Enters the block that follows the cursor, or any block where there is no cursor yet. */
  readonly commit: (block: Block) => Effect.Effect<Committed, NotNext | DatabaseError>
  /** Leaves every block above `fork`; callbacks of theirs that have not left yet are taken back. */
  readonly undo: (fork: number) => Effect.Effect<void, DatabaseError>
  readonly setFinal: (height: number) => Effect.Effect<void, DatabaseError>
}

type Subscriber = Pick<Row<"subscription">, "id" | "reference_id" | "host" | "event" | "confirmations"> & {
  readonly address: AddressBytes | undefined
}

/** Rows read at a time when the watched set is filled. */
const pageSize = 50_000
/** Addresses asked for in one query. */
const lookupSize = 500
/** How often spent outputs beyond the undo depth are forgotten, in blocks. */
const pruneEvery = 100

const unknownToken: Callback.TokenMetadata = { name: "", symbol: "", decimals: undefined }

/** Opens a chain in the store, making its row at the first time, and fills the watched set. */
export const open = Effect.fn("ChainStore.open")(function* (chain: Chain.Chain, options: Options) {
  const database = yield* Database
  const { insertMany, query, read, transaction } = database
  const name = Chain.nameOf(chain)

  yield* query((db) =>
    db
      .insertInto("chain")
      .values({ name })
      .onConflict((conflict) => conflict.doNothing())
  )
  const row = read((db) => db.selectFrom("chain").selectAll().where("name", "=", name)).pipe(
    Effect.map(([row]) => row!)
  )
  const { id } = yield* row
  /** Takes the lock by which commits and changes of subscriptions exclude one another. */
  const lock = query((db) => {
    const select = db.selectFrom("chain").selectAll().where("id", "=", id)
    return database.dialect === "postgres" ? select.forUpdate() : select
  }).pipe(Effect.map(([row]) => row!))

  const key = new Uint32Array(2)
  crypto.getRandomValues(key)
  const watched = Watched.make([key[0]!, key[1]!])
  let watchedRevision = 0

  /** Brings the watched set up to the chain's revision. */
  const watch = Effect.fnUntraced(function* (revision: number) {
    let after = 0
    while (watchedRevision < revision) {
      const rows = yield* read((db) =>
        db
          .selectFrom("subscription")
          .select(["id", "address"])
          .where("chain", "=", id)
          .where("revision", ">", watchedRevision)
          .where("revision", "<=", revision)
          .where("id", ">", after)
          .where("active", "=", 1)
          .orderBy("id")
          .limit(pageSize)
      )
      for (const { address } of rows) if (address !== null) watched.add(address)
      if (rows.length < pageSize) watchedRevision = revision
      else {
        after = rows.at(-1)!.id
        yield* Effect.logInfo(`Watching ${watched.size()} addresses so far`)
      }
    }
  })
  yield* watch((yield* row).revision)

  const subscribers = Effect.fnUntraced(function* (addresses: ReadonlyMap<string, AddressBytes>) {
    const select = query((db) =>
      db
        .selectFrom("subscription")
        .select(["id", "reference_id", "host", "event", "confirmations", "address"])
        .where("chain", "=", id)
        .where("active", "=", 1)
        .where("event", "=", "BLOCK_MINED")
        .where("address", "is", null)
        .orderBy("id")
    )
    const toSubscriber = (row: Effect.Success<typeof select>[number]): Subscriber => ({
      ...row,
      address: (row.address ?? undefined) as AddressBytes | undefined
    })
    const blockMined = (yield* select).map(toSubscriber)
    const byAddress = new Map<string, Array<Subscriber>>()
    const list = [...addresses.values()]
    for (let i = 0; i < list.length; i += lookupSize) {
      const rows = yield* query((db) =>
        db
          .selectFrom("subscription")
          .select(["id", "reference_id", "host", "event", "confirmations", "address"])
          .where("chain", "=", id)
          .where("active", "=", 1)
          .where("address", "in", list.slice(i, i + lookupSize))
          .orderBy("id")
      )
      for (const row of rows) {
        const hex = Buffer.from(row.address!).toString("hex")
        const known = byAddress.get(hex)
        if (known === undefined) byAddress.set(hex, [toSubscriber(row)])
        else known.push(toSubscriber(row))
      }
    }
    for (const [hex, address] of addresses) if (!byAddress.has(hex)) watched.remove(address)
    return { blockMined, byAddress }
  })

  type CallbackRow = Insertable<Tables["callback"]>
  const callbackRow = (
    subscriber: Pick<Subscriber, "id" | "reference_id" | "host" | "event">,
    occurrence: { readonly occurrence: string; readonly item: Callback.Item; readonly confirmation: number },
    block: Pick<BlockHeader, "height" | "hash">,
    state: { readonly state: "due" | "held"; readonly now: number }
  ): CallbackRow => {
    const { event, reference_id: referenceId } = subscriber
    const idempotencyKey = Callback.idempotencyKey({
      referenceId,
      event,
      blockHash: block.hash,
      occurrence: occurrence.occurrence,
      confirmation: occurrence.confirmation
    })
    return {
      subscription: subscriber.id,
      host: subscriber.host,
      chain: id,
      height: block.height,
      idempotency_key: idempotencyKey,
      event,
      body: Callback.body({ referenceId, idempotencyKey, event, item: occurrence.item }),
      state: state.state,
      due: state.now,
      created: state.now
    }
  }

  /** Callbacks whose wanted confirmation comes with the tip at `height`, oldest block first. */
  const release = Effect.fnUntraced(function* (height: number, now: number) {
    const rows = yield* query((db) =>
      db
        .selectFrom("waiting")
        .innerJoin("subscription", "subscription.id", "waiting.subscription")
        .selectAll("waiting")
        .select(["subscription.reference_id", "subscription.host", "subscription.event", "subscription.active"])
        .where("waiting.chain", "=", id)
        .where("waiting.due_height", "<=", height)
        .orderBy("waiting.height")
        .orderBy("waiting.id")
    )
    if (rows.length === 0) return []
    yield* query((db) =>
      db
        .deleteFrom("waiting")
        .where("chain", "=", id)
        .where("due_height", "<=", height)
        .where(sql<boolean>`(each_confirmation = 0 or confirmation >= target)`)
    )
    yield* query((db) =>
      db
        .updateTable("waiting")
        .set({ confirmation: sql`confirmation + 1`, due_height: sql`due_height + 1` })
        .where("chain", "=", id)
        .where("due_height", "<=", height)
    )
    return rows.map((row) => {
      const item = JSON.parse(row.item) as Callback.Item
      const counted =
        row.each_confirmation === 1 ? Callback.withConfirmations(item, row.confirmation, row.target) : item
      return callbackRow(
        { id: row.subscription, reference_id: row.reference_id, host: row.host, event: row.event },
        { occurrence: row.occurrence, item: counted, confirmation: row.confirmation },
        { height: row.height, hash: row.block_hash },
        { state: row.active === 1 ? "due" : "held", now }
      )
    })
  })

  /** What the block's occurrences become: callbacks that are due at once, and waits for later confirmations. */
  const sortOccurrences = (block: Block, occurrences: ReadonlyArray<Matcher.Occurrence<Subscriber>>, now: number) => {
    const due: Array<CallbackRow> = []
    const waiting: Array<Insertable<Tables["waiting"]>> = []
    for (const { subscription, occurrence, item } of occurrences) {
      const each = isEachConfirmation(subscription.event)
      const target = subscription.confirmations
      const first = each ? 1 : target
      if (first === 1) {
        const counted = each ? Callback.withConfirmations(item, 1, target) : item
        due.push(
          callbackRow(subscription, { occurrence, item: counted, confirmation: 1 }, block, { state: "due", now })
        )
      }
      const next = each ? 2 : target
      if (next === 1 || next > target) continue
      waiting.push({
        subscription: subscription.id,
        chain: id,
        height: block.height,
        due_height: Confirmations.dueHeight(block.height, next),
        confirmation: next,
        target,
        each_confirmation: each ? 1 : 0,
        block_hash: block.hash,
        occurrence,
        item: JSON.stringify(item)
      })
    }
    return { due, waiting }
  }

  const learnTokens = Effect.fnUntraced(function* (block: Block) {
    const { tokens } = options
    if (tokens === undefined || watched.size() === 0) return
    const unknown = new Map<string, AddressBytes>()
    for (const transfer of block.transfers) {
      if (transfer.kind !== "token" || tokens.known(transfer.contract) !== undefined) continue
      if (!watched.has(transfer.from) && !watched.has(transfer.to)) continue
      unknown.set(Buffer.from(transfer.contract).toString("hex"), transfer.contract)
    }
    if (unknown.size > 0) yield* tokens.learn([...unknown.values()])
  })

  const commit = Effect.fn("ChainStore.commit")(function* (block: Block) {
    // Metadata comes from the node, so it is fetched before the transaction takes the store's one writer.
    yield* watch((yield* row).revision)
    yield* learnTokens(block)
    return yield* transaction(
      Effect.gen(function* () {
        const { hash, height, revision } = yield* lock
        const fits = hash === null || Buffer.compare(hash, block.parent) === 0
        if (height !== null && !(block.height === height + 1 && fits))
          return yield* new NotNext({ height: block.height, cursor: height ?? undefined })
        yield* watch(revision)
        const resolved =
          chain.family === "utxo"
            ? yield* OutputMap.apply(
                id,
                block,
                options.record === "all" ? () => true : (script) => watched.has(script)
              ).pipe(Effect.provideService(Database, database))
            : block
        const candidates = yield* subscribers(Matcher.touched(resolved, watched))
        const metadata = (contract: AddressBytes) => options.tokens?.known(contract) ?? unknownToken
        const occurrences = Matcher.match(chain, resolved, { ...candidates, metadata })
        const now = yield* Clock.currentTimeMillis
        const { due, waiting } = sortOccurrences(block, occurrences, now)
        const released = yield* release(block.height, now)
        yield* insertMany("block", [
          { chain: id, height: block.height, hash: block.hash, parent: block.parent, time: block.time }
        ])
        yield* insertMany("waiting", waiting)
        yield* insertMany(
          "callback",
          [...released, ...due],
          // The same event has the same key: it is there already after a replay, or orphaned until its block returned.
          "on conflict (idempotency_key) do update set state = 'due' where callback.state = 'orphaned'"
        )
        if (block.height % pruneEvery === 0) {
          yield* OutputMap.prune(id, block.height - options.undoDepth).pipe(Effect.provideService(Database, database))
        }
        yield* query((db) =>
          db
            .updateTable("chain")
            .set({
              height: block.height,
              hash: block.hash,
              ...(height === null ? { first_height: block.height } : {})
            })
            .where("id", "=", id)
        )
        return { callbacks: released.length + due.length }
      })
    )
  })

  const undo = Effect.fn("ChainStore.undo")(function* (fork: number) {
    const at = yield* Clock.currentTimeMillis
    yield* transaction(
      Effect.gen(function* () {
        const { hash, height } = yield* lock
        if (hash === null || height === null || height <= fork) return
        const [forkBlock] = yield* query((db) =>
          db.selectFrom("block").select("hash").where("chain", "=", id).where("height", "=", fork)
        )
        yield* OutputMap.undo(id, fork).pipe(Effect.provideService(Database, database))
        yield* query((db) => db.deleteFrom("block").where("chain", "=", id).where("height", ">", fork))
        yield* query((db) => db.deleteFrom("waiting").where("chain", "=", id).where("height", ">", fork))
        yield* query((db) =>
          db
            .deleteFrom("callback")
            .where("chain", "=", id)
            .where("height", ">", fork)
            .where("sequence", "is", null)
            .where("state", "in", ["due", "held"])
        )
        yield* query((db) =>
          db
            .updateTable("callback")
            .set({ state: "orphaned" })
            .where("chain", "=", id)
            .where("height", ">", fork)
            .where("state", "in", ["due", "held"])
        )
        yield* insertMany("reorganisation", [
          { chain: id, at, fork_height: fork, depth: height - fork, old_hash: hash }
        ])
        yield* query((db) =>
          db
            .updateTable("chain")
            .set({ height: fork, hash: forkBlock?.hash ?? null })
            .where("id", "=", id)
        )
      })
    )
  })

  const store: ChainStore = {
    chain,
    cursor: Effect.map(row, ({ hash, height }) => (height === null ? undefined : { height, hash: hash ?? undefined })),
    final: Effect.map(row, ({ final_height }) => final_height ?? undefined),
    hashAt: (height) =>
      read((db) => db.selectFrom("block").select("hash").where("chain", "=", id).where("height", "=", height)).pipe(
        Effect.map(([row]) => row?.hash)
      ),
    commit,
    undo,
    setFinal: (height) =>
      query((db) =>
        db
          .updateTable("chain")
          .set({ final_height: height })
          .where("id", "=", id)
          .where((where) => where.or([where("final_height", "is", null), where("final_height", "<", height)]))
      )
  }
  return store
})
