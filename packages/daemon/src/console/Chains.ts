/** The configured chains: how each stands, what its record lacks, and what is under way on it. */
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as Hash from "@headwater/core/Hash"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import { Database } from "@headwater/indexer/store/database/Database"
import type { OperatorView } from "@headwater/indexer/store/operator/OperatorView"
import type * as GapReport from "@headwater/indexer/sync/GapReport"
import * as Placements from "@headwater/indexer/store/placement/Placements"
import * as UnresolvedEvents from "@headwater/indexer/store/subscriptions/UnresolvedEvents"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { catchingUpOf, notReady } from "../Health.ts"
import { asTyped } from "../CommandName.ts"
import * as Settings from "../settings/Settings.ts"
import { OwnOutages } from "../supervision/OwnOutages.ts"
import * as Access from "./Access.ts"
import type * as Audited from "./Audited.ts"
import * as ChainGaps from "./ChainGaps.ts"
import * as ChainHistory from "./ChainHistory.ts"
import { bodyOf, json, queryOf, refused, unreadable, wholeNumber } from "./ConsoleReply.ts"

const typed = (text: string | undefined) => (text === undefined ? null : asTyped(text))
const typedGap = (gap: GapReport.Gap) => ({ ...gap, message: asTyped(gap.message) })

/** Tells how every configured chain stands at a time, in milliseconds since the Unix epoch. */
export const makeStandings = Effect.gen(function* () {
  const chains = Settings.chains(yield* Settings.Settings)
  const statuses = yield* ChainStatus
  const gapsOf = yield* ChainGaps.make
  return (now: number) =>
    Effect.forEach(chains, ({ chain, settings }) => {
      const status = statuses.get(chain)
      return Effect.map(gapsOf(chain, status), (gaps) => ({
        ...{ name: Chain.nameOf(chain), status, state: status?.state ?? "starting" },
        problem: typed(status === undefined ? undefined : notReady(status, settings.silentSeconds, now)),
        ...{ height: status?.height ?? null, head: status?.head ?? null, catchingUp: catchingUpOf(status) },
        ...{ committedAt: status?.committedAt ?? null, gaps: gaps.map(typedGap) }
      }))
    })
})

export type Standings = Effect.Success<typeof makeStandings>
export type Standing = Effect.Success<ReturnType<Standings>>[number]

/** The status of every configured chain, with the samples that the page does not have yet. */
const makeChains = Effect.fnUntraced(function* (standings: Standings) {
  const outages = yield* OwnOutages
  const history = yield* ChainHistory.make
  return Effect.fnUntraced(function* (request: Access.Request) {
    const now = yield* Clock.currentTimeMillis
    const after = wholeNumber(queryOf(request).get("after")) ?? 0
    const chains = (yield* standings(now)).map(({ gaps, status, ...standing }) => ({
      ...standing,
      ...{ networkDoubt: status?.networkDoubt ?? null, blockTime: status?.blockTime ?? null },
      gaps: gaps.map(({ kind, message }) => ({ kind, message })),
      samples: history(standing.name, after)
    }))
    return json({ now, chains, outages: yield* outages.lasting })
  })
})

/** Movements in doubt that are shown of a chain. */
const unresolvedLimit = 50

/** Syncs under way, and movements in doubt of each configured chain. */
const makeProgress = Effect.fnUntraced(function* (view: OperatorView) {
  const chains = Settings.chains(yield* Settings.Settings)
  const stored = Effect.provideService(Database, yield* Database)
  const inDoubt = Effect.forEach(chains, ({ chain }) =>
    Effect.map(UnresolvedEvents.list(chain, unresolvedLimit), (events) =>
      events.map(({ address, height, reason, transactionId }) => ({
        ...{ chain: Chain.nameOf(chain), height, reason, transactionId: Hash.encode(chain, transactionId) },
        address: Address.encode(chain, address) ?? ""
      }))
    )
  )
  return Effect.fnUntraced(function* () {
    const unresolved = (yield* inDoubt).flat()
    return json({ syncs: yield* view.syncs, unresolved, remedy: UnresolvedEvents.remedy })
  }, stored)
})

const moveOf = bodyOf(
  Schema.Struct({ chain: Schema.String, daemon: Schema.optionalKey(Schema.String) }),
  "{chain, daemon?}: names of a chain and of the daemon that is to follow the chain; without the latter the daemons decide"
)

/** Lets a daemon follow a chain, of several on one PostgreSQL. */
const makeMove = Effect.fnUntraced(function* (audited: Audited.Audited) {
  const stored = Effect.provideService(Database, yield* Database)
  return Effect.fnUntraced(
    function* (request: Access.Request, visitor: Access.Visitor) {
      const { chain, daemon } = yield* moveOf(request)
      const deed = { action: daemon === undefined ? "chain.free" : "chain.move", subject: chain, detail: daemon }
      yield* audited.change(visitor, deed, stored(Placements.pin(chain, daemon)))
      return json({})
    },
    Effect.catchTags({ ...unreadable, CannotMove: ({ message }) => Effect.succeed(refused(409, message)) })
  )
})

export const routes = Effect.fnUntraced(function* (view: OperatorView, standings: Standings, audited: Audited.Audited) {
  return [
    Access.get("/api/chains", Access.readers, yield* makeChains(standings)),
    Access.post("/api/chains/move", Access.operators, yield* makeMove(audited)),
    Access.get("/api/progress", Access.readers, yield* makeProgress(view)),
    Access.get("/api/reorganisations", Access.readers, () =>
      Effect.map(view.reorganisations, (items) => json({ items }))
    )
  ]
})
