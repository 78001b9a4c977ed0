/** Mistakes that somebody could make in the program, each of which the simulation has to catch: `tryMutations.ts` tries them. */
export interface Mutation {
  /** What is wrong then. */
  readonly name: string
  readonly file: string
  readonly from: string
  readonly to: string
}

const store = "packages/indexer/src/store"
const sync = "packages/indexer/src/sync"
const delivery = "packages/daemon/src/delivery"

export const mutations: ReadonlyArray<Mutation> = [
  {
    name: "A number is sent before it is on the disk",
    file: `${store}/subscriptions/internal/Leases.ts`,
    from: "if (leases.some(({ callbacks }) => callbacks.some(({ attempts }) => attempts === 0))) yield* flush",
    to: ""
  },
  {
    name: "A subscription is answered before it is on the disk",
    file: "packages/http/src/server/ResponseEnvelope.ts",
    from: "Effect.matchCauseEffect(flush, {",
    to: "Effect.matchCauseEffect(Effect.void, {"
  },
  {
    name: "A node without a newest block decides that nothing is traced",
    file: "packages/indexer/src/families/evm/internal/Capabilities.ts",
    from: 'if (latest === null) return yield* Headers.missing(rpc, "latest")',
    to: "if (latest === null) return undefined"
  },
  {
    name: "A block that has left its node decides that nothing is traced",
    file: "packages/indexer/src/families/evm/internal/Capabilities.ts",
    from: 'if (Headers.missingWords.test(message) && !isMethodMissing(answer.failure)) return "unknown"',
    to: ""
  },
  {
    name: "Finality is taken from another node than the newest block",
    file: `${sync}/Follow.ts`,
    from: "    const behind = head.height - cursor.height\n",
    to: "    if (head.final !== undefined) yield* store.setFinal(Math.min(head.final, cursor.height))\n    const behind = head.height - cursor.height\n"
  },
  {
    name: "Pending confirmations of an undone block stay",
    file: `${store}/subscriptions/PendingConfirmations.ts`,
    from: '.where("chain", "=", chain).where("height", ">", fork))',
    to: '.where("chain", "=", chain).where("height", ">", fork + 1))'
  },
  {
    name: "A confirmation too late",
    file: "packages/core/src/events/Confirmations.ts",
    from: "height + confirmations - 1",
    to: "height + confirmations"
  },
  {
    name: "A confirmation too early",
    file: "packages/core/src/events/Confirmations.ts",
    from: "height + confirmations - 1",
    to: "Math.max(height + confirmations - 2, height)"
  },
  {
    name: "A redirect counts as acceptance",
    file: `${delivery}/ReceiverClient.ts`,
    from: "status >= 200 && status < 300",
    to: "status >= 200 && status < 400"
  },
  {
    name: "A failed connection counts as acceptance",
    file: `${delivery}/internal/DeliveryAttempt.ts`,
    from: 'verdict === "receiver"\n        ? notAccepted(',
    to: 'verdict === "receiver"\n        ? accepted(callback, { at, duration: 0, status: 200 }) ?? notAccepted('
  },
  {
    name: "Callbacks are acknowledged as they are leased",
    file: `${store}/subscriptions/CallbackState.ts`,
    from: 'when: "A sender leases the callback for an attempt",\n    from: ["due"],',
    to: 'when: "A sender leases the callback for an attempt",\n    from: ["due"],\n    to: "delivered",'
  },
  {
    name: "Every host counts as verified",
    file: `${store}/subscriptions/Domains.ts`,
    from: "allowedHosts.has(host) ? Effect.succeed(true) : domains.isVerified(account, host)",
    to: "Effect.succeed(true)"
  },
  {
    name: "One public address among others is enough",
    file: `${delivery}/CallbackTarget.ts`,
    from: "if (!addresses.every(isPublic))",
    to: "if (!addresses.some(isPublic))"
  },
  {
    name: "A private address is connected to",
    file: `${delivery}/CallbackTarget.ts`,
    from: "if (!addresses.every(isPublic))",
    to: "if (addresses.length === 0)"
  },
  {
    name: "The chain's revision is not counted up by a subscription",
    file: `${store}/database/ChainRow.ts`,
    from: "revision: sql<number>`revision + 1`",
    to: "revision: sql<number>`revision + 0`"
  },
  {
    name: "New subscriptions are not watched for until the next start",
    file: `${store}/chain/WatchedAddresses.ts`,
    from: "if (revision <= reached) return",
    to: "if (revision <= reached || reached > 0) return"
  },
  {
    name: "A block is committed whatever its parent",
    file: `${store}/database/ChainRow.ts`,
    from: "(block.height === height + 1 && (hash === null || Bytes.equal(hash, block.parent)))",
    to: "block.height === height + 1"
  },
  {
    name: "A reorganisation is never seen",
    file: `${sync}/Fork.ts`,
    from: "return Effect.map(theirs, (theirs) => Bytes.equal(theirs, hash))",
    to: "return Effect.map(theirs, () => true)"
  },
  {
    name: "The fork is found one block too high",
    file: `${sync}/Fork.ts`,
    from: "    yield* refuseUnlinked(source, height, ours)\n    return height\n",
    to: "    yield* refuseUnlinked(source, height, ours)\n    return height + 1\n"
  },
  {
    name: "Nothing is taken back",
    file: `${store}/subscriptions/Retractions.ts`,
    from: "yield* takeBackSome(yield* numbered({ chain, fork }), { chain, tip }, now)",
    to: ""
  },
  {
    name: "What nobody was told is not withdrawn",
    file: `${store}/subscriptions/Retractions.ts`,
    from: 'yield* lockSubscriptions(undone)\n  yield* CallbackState.apply("withdraw", undone)',
    to: "yield* lockSubscriptions(undone)"
  },
  {
    name: "A retraction does not end its key",
    file: `${store}/subscriptions/CallbackState.ts`,
    from: 'again === undefined ? callbacks : yield* Returns.toldAgain(callbacks, past ? "every_callback" : "callback")',
    to: "callbacks"
  },
  {
    name: "The key of an event does not name its block",
    file: "packages/core/src/events/Callback.ts",
    from: "parts.referenceId, parts.event, blockHash, parts.occurrence",
    to: "parts.referenceId, parts.event, blockHash.slice(0, 0), parts.occurrence"
  },
  {
    name: "Each lease gives a number",
    file: `${store}/subscriptions/internal/Leases.ts`,
    from: "row.sequence ?? ++last",
    to: "++last"
  },
  {
    name: "Of what waits, the newest is sent first",
    file: `${store}/subscriptions/internal/Leases.ts`,
    from: "     order by id limit :batchSize`",
    to: "     order by id desc limit :batchSize`"
  },
  {
    name: "A lease dies where it is worked off",
    file: `${delivery}/internal/DeliveryStreams.ts`,
    from: "Effect.catchCause(workOff(stream), ",
    to: 'Effect.catchCause(Effect.andThen(workOff(stream), Effect.die("a lease died")), '
  },
  {
    name: "A lease does not remember the last number",
    file: `${store}/subscriptions/internal/Leases.ts`,
    from: '  yield* updateEach("subscription", numbered)\n',
    to: ""
  },
  {
    name: "An activation leaves what is parked",
    file: `${store}/subscriptions/CallbackState.ts`,
    from: "order by id`, most, { due: now })",
    to: "and attempts = 0 order by id`, most, { due: now })"
  },
  {
    name: "What a node could not trace is never asked for again",
    file: `${sync}/SideTasks.ts`,
    from: "yield* Effect.forkScoped(parts.run)",
    to: ""
  },
  {
    name: "Token transfers of undone blocks take others with them",
    file: `${store}/chain/transfers/TransferLog.ts`,
    from: "Posting.positionOf(fork + 1, 0)",
    to: "Posting.positionOf(fork, 0)"
  },
  {
    name: "A reader is charged twice",
    file: "packages/http/src/server/internal/RequestPayment.ts",
    from: "if (isPaid || response.status >= 400) return",
    to: "if (response.status >= 400) return"
  },
  {
    name: "A balance goes below zero",
    file: `${store}/accounts/internal/CreditLedger.ts`,
    from: '.where("balance", ">=", atLeast)',
    to: '.where("balance", "<>", atLeast)'
  },
  {
    name: "Callbacks are paid for by each attempt",
    file: `${store}/subscriptions/internal/Acknowledgement.ts`,
    from: "if (charge !== undefined && accepted.length > 0) yield* chargeFor(charge, accepted)",
    to: "if (charge !== undefined) yield* chargeFor(charge, [...accepted, ...failed])"
  },
  {
    name: "Steps tell only the first account",
    file: `${store}/subscriptions/internal/AccountTurns.ts`,
    from: "as account from fan_out where ",
    to: "as account from fan_out where account < 0 and "
  },
  {
    name: "A silent node is waited for without end",
    file: "packages/indexer/src/families/node/NodeHttp.ts",
    from: "      }, timeoutMillis)",
    to: "      }, 1e9)"
  },
  {
    name: "A silent receiver is waited for without end",
    file: `${delivery}/ReceiverClient.ts`,
    from: "let timer = after(timeoutMillis, expire)",
    to: "let timer = after(1e9, expire)"
  },
  {
    name: "What is left of a lease is sent although its block was undone",
    file: `${delivery}/internal/DeliveryStreams.ts`,
    from: "!isCurrent() || ",
    to: ""
  },
  {
    name: "What has failed is sent again although its block was undone",
    file: `${store}/subscriptions/internal/Leases.ts`,
    from: "sql.raw(UndoneBlocks.hasLeft)",
    to: 'sql.raw("1 = 0")'
  },
  {
    name: "A partial payment counts with all of its amount",
    file: "packages/core/src/xrp/XrpTransaction.ts",
    from: 'if (!isPayment || said?.kind === "xrp" || said?.kind === "token") return said',
    to: "if (isPayment) return amount"
  },
  {
    name: "A payment is told under the tag of its sender",
    file: "packages/core/src/xrp/XrpTransfers.ts",
    from: "own?.sourceTag : paid.destinationTag",
    to: "own?.sourceTag : paid.sourceTag"
  },
  {
    name: "A solid block of another branch makes final",
    file: `${sync}/internal/Finality.ts`,
    from: "if (ours === undefined || Bytes.equal(ours, finalHash)) return settled",
    to: "return settled"
  },
  {
    name: "What waited before the first look at a mempool is told",
    file: `${sync}/MempoolWatch.ts`,
    from: "first ? skewMillis : Number.POSITIVE_INFINITY",
    to: "first ? -skewMillis : Number.POSITIVE_INFINITY"
  },
  {
    name: "A key's windows are not looked back for",
    file: `${store}/subscriptions/internal/KeyWindows.ts`,
    from: "past_from: recorded,",
    to: "past_from: null,"
  },
  {
    name: "A rotated secret ends at once",
    file: `${store}/subscriptions/SecretRotation.ts`,
    from: "previous_secret_until: until, secret: yield",
    to: "previous_secret_until: 0, secret: yield"
  },
  {
    name: "An address that has left a list is watched",
    file: `${store}/subscriptions/AddressLists.ts`,
    from: ".set({ left_revision: chain.revision })",
    to: ".set({ left_revision: chain.id < 0 ? chain.revision : null })"
  },
  {
    name: "A deleted subscription keeps its callbacks",
    file: `${store}/subscriptions/Subscriptions.ts`,
    from: '  yield* query((db) => db.deleteFrom("subscription").where("id", "=", row.id))\n  yield* Removal.begin([row])',
    to: ""
  },
  {
    name: "A full disk is passed over in a transaction",
    file: `${store}/database/internal/Connection.ts`,
    from: "(Exit.isSuccess(exit) ? commit",
    to: "(exit !== undefined ? commit"
  },
  {
    name: "What a killed process had leased is never sent",
    file: `${store}/subscriptions/internal/Leases.ts`,
    from: "(row) => row.has_left === 1 || Math.max(row.leased_until, row.original_leased_until ?? 0) > now",
    to: "(row) => row.has_left === 1 || row.leased_until > 0"
  },
  {
    name: "What a removed subscription was told in part is taken from the next one",
    file: `${store}/subscriptions/internal/MatchCallbacks.ts`,
    from: "if (subscribers[0]?.id !== subscription) occurrence = 0",
    to: ""
  },
  {
    name: "A replay tells what steps are still to tell",
    file: `${store}/subscriptions/internal/MissedCallbacks.ts`,
    from: "!isLeft(subscription.id, occurrence)",
    to: "true"
  },
  {
    name: "What waits is listed for the subscriptions from before the list was asked for",
    file: `${sync}/MempoolWatch.ts`,
    from: "    yield* coins.refresh\n",
    to: ""
  },
  {
    name: "A migration is no transaction",
    file: `${store}/database/internal/SqliteThread.ts`,
    from: "    return true\n",
    to: "    return false\n"
  },
  {
    name: "A transaction from before its subscription is not looked for",
    file: `${store}/subscriptions/PastTransactions.ts`,
    from: "if (references.length === 0) return",
    to: "if (references.length >= 0) return"
  },
  {
    name: "A transaction from before its subscription is told under another key than by a commit",
    file: `${store}/subscriptions/PastTransactions.ts`,
    from: "occurrence: MinedTransactions.occurrenceOf(",
    to: 'occurrence: "past " + MinedTransactions.occurrenceOf('
  },
  {
    name: "A block's transactions are not looked through",
    file: `${store}/subscriptions/CallbackProjection.ts`,
    from: "const transactions = watched.hasTransactions()",
    to: "const transactions = block.height < 0"
  },
  {
    name: "Transactions that are subscribed to do not come to the set of an open chain",
    file: `${store}/chain/WatchedAddresses.ts`,
    from: "reasons.add(reason)",
    to: 'if (reason !== "transaction") reasons.add(reason)'
  }
]
