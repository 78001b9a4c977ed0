/** What is promised of answers, and of what they cost. */
import type { Judge } from "./Judge.ts"
import type { Arrival } from "../Receivers.ts"
import { accepted, movementsOf, ownerOf, posted } from "./Told.ts"

/**
 * "No answer with status 200 holds less than the chain", from the block on from which it says to be whole: where it says
 * nothing, from the beginning.
 */
export const nothingBelowTheTruth: Judge = (record) =>
  record.listed.flatMap(({ address, chain, completeFrom = 0, kind, recorded, transactions }) =>
    [...recorded]
      .flatMap((hash) => chain.blocks.get(hash) ?? [])
      .filter(({ height }) => height >= completeFrom)
      .flatMap((block) =>
        block.transactions
          .filter((one) => movementsOf(one, kind).some(({ from, to }) => from === address || to === address))
          .filter(({ id }) => !transactions.has(id))
          .map(
            ({ id }) => `A list of ${kind} movements, whole from ${completeFrom}, lacks ${id} of block ${block.height}`
          )
      )
  )

/** "A balance never goes below zero", and nothing is charged twice. */
export const credits: Judge = (record) =>
  record.tenants.flatMap((tenant) => {
    const balance = record.balances.get(tenant.name)
    const ledger = record.ledgers.get(tenant.name)
    if (balance === undefined || ledger === undefined) return []
    const sum = ledger.reduce((sum, { amount }) => sum + amount, 0)
    const calls = record.calls.filter((call) => call.tenant === tenant)
    const consumed = calls.reduce((sum, { answer }) => sum + Number(answer?.headers["x-credits-consumed"] ?? 0), 0)
    const requests = -ledger.filter(({ kind }) => kind === "request").reduce((sum, { amount }) => sum + amount, 0)
    const isOwn = (arrival: Arrival) => ownerOf(record, arrival.path)?.tenant === tenant
    const sent = posted(record).filter((arrival) => accepted(arrival) && isOwn(arrival)).length
    const paidFor = ledger.filter(({ kind }) => kind === "callback").reduce((sum, { results }) => sum + results, 0)
    const lost = calls.filter(({ answer }) => answer === undefined || answer.status >= 500)
    // What a list costs is known by its answer alone; other requests are for three subscriptions or addresses at most.
    const atMost = lost.reduce((sum, { what }) => sum + (what.startsWith("reads ") ? 50 * 320 : 3 * 30), 0)
    return [
      ...(paidFor > sent ? [`${tenant.name} paid for ${paidFor} callbacks, and ${sent} were accepted`] : []),
      ...(balance < 0 ? [`${tenant.name} has ${balance} credits`] : []),
      ...(sum === balance ? [] : [`${tenant.name} has ${balance} credits, and entries that make ${sum}`]),
      ...(new Set(ledger.map(({ key }) => key)).size === ledger.length
        ? []
        : [`${tenant.name} has two entries of one key`]),
      // What a reader was charged last may be lost with the power: no answer waits for the disk that changes nothing.
      ...((requests < consumed && !record.hasLostPower) || requests > consumed + atMost
        ? [
            `${tenant.name} was told of ${consumed} credits for requests, and charged ${requests} (${lost.length} answers lost)`
          ]
        : [])
    ]
  })

/** No answer fails for a reason of the program's own while its store can be written, and nothing dies in its background. */
export const noDefects: Judge = (record) => [
  ...record.calls.flatMap(({ answer, isExcused, what }) =>
    answer?.status === 500 && !isExcused ? [`${what} was answered 500: ${JSON.stringify(answer.body)}`] : []
  ),
  ...record.defects
]
