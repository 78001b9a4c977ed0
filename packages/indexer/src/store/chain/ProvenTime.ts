/**
 * The time as blocks show it. A clock that is ahead, as after a false answer of a time server, passes a year in a moment: days would be
 * charged that have not been, and what is a day old would be given up and forgotten, for good. Blocks come by the clocks of
 * others: who takes back nothing asks for the time here.
 */
import * as Chain from "@headwater/core/chains/Chain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"
import { rows } from "../database/Statements.ts"

/** How old the newest block may be, in milliseconds: chains stand still for hours, and nodes are away for longer. */
export const longestSilence = 86_400_000

/** A development node makes blocks of any time that it is told. */
const ofAnyTime = Chain.all.filter(({ networkKind }) => networkKind === "development").map(Chain.nameOf)

/** Time of the newest block of all public networks, in milliseconds since the Unix epoch; undefined where there is none. */
export const newestBlock = Effect.gen(function* () {
  const { read } = yield* Database
  // A join may begin at the blocks, and read all of them.
  const [row] = yield* read(
    rows(sql<{ readonly time: number | null }>`
      select max((select block.time from block where block.chain = chain.id and block.height = chain.height)) as time
      from chain where chain.name not in (${sql.join(ofAnyTime)})`)
  )
  return row?.time == null ? undefined : row.time * 1000
})

/**
 * The present in milliseconds since the Unix epoch: the clock's, at most a day later than the newest block. Where all public networks
 * stand still for longer, so does this time.
 */
export const now = Effect.gen(function* () {
  const clock = yield* Clock.currentTimeMillis
  const newest = yield* newestBlock
  return newest === undefined ? clock : Math.min(clock, newest + longestSilence)
})
