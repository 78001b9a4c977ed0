/** One search over everything, and what became of a block, a callback, a transaction and an address. */
import type { OperatorView, Parts } from "@headwater/indexer/store/operator/OperatorView"
import * as Effect from "effect/Effect"
import * as Access from "./Access.ts"
import type * as AccountPace from "./AccountPace.ts"
import { json, noSuch, textOf } from "./ConsoleReply.ts"

export const routes = (view: OperatorView, paced: AccountPace.Searches) => {
  const story = <A, E>(
    what: string,
    read: (request: Access.Request, scope: number | undefined, parts: Parts) => Effect.Effect<A, E>
  ) =>
    Access.get(
      `/api/stories/${what}`,
      Access.readers,
      paced((request, visitor) =>
        Effect.map(read(request, visitor.account?.id, Access.partsOf(visitor)), (found) =>
          found === undefined ? noSuch(what) : json(found)
        )
      ),
      "callbacks.list"
    )
  return [
    Access.get(
      "/api/search",
      Access.readers,
      paced((request, visitor) =>
        Effect.map(view.search(textOf(request, "q"), visitor.account?.id, Access.partsOf(visitor)), (found) =>
          json(found)
        )
      ),
      "subscriptions.list"
    ),
    story("block", (request, scope) => view.blockStory(textOf(request, "chain"), textOf(request, "block"), scope)),
    story("callback", (request, scope, parts) => view.callbackStory(textOf(request, "key"), scope, parts)),
    story("transaction", (request, scope, parts) =>
      view.transactionStory(textOf(request, "chain"), textOf(request, "id"), scope, parts)
    ),
    story("address", (request, scope, parts) =>
      view.addressStory(textOf(request, "chain"), textOf(request, "address"), scope, parts)
    )
  ]
}
