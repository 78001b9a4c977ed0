/** One search over everything, and what became of a block, a callback, a transaction and an address. */
import type { OperatorView } from "@headwater/indexer/store/operator/OperatorView"
import * as Effect from "effect/Effect"
import * as Access from "./Access.ts"
import type * as AccountPace from "./AccountPace.ts"
import { json, refused, textOf } from "./ConsoleReply.ts"

const unknown = (what: string) => refused(404, `There is no such ${what}, or nothing is recorded of the chain`)

export const routes = (view: OperatorView, paced: AccountPace.Searches) => {
  const story = <A, E>(
    what: string,
    read: (request: Access.Request, scope: number | undefined) => Effect.Effect<A, E>
  ) =>
    Access.get(
      `/api/stories/${what}`,
      Access.readers,
      paced((request, { account }) =>
        Effect.map(read(request, account?.id), (found) => (found === undefined ? unknown(what) : json(found)))
      ),
      "callbacks.list"
    )
  return [
    Access.get(
      "/api/search",
      Access.readers,
      paced((request, { account }) =>
        Effect.map(view.search(textOf(request, "q"), account?.id), (found) => json(found))
      ),
      "subscriptions.list"
    ),
    story("block", (request, scope) => view.blockStory(textOf(request, "chain"), textOf(request, "block"), scope)),
    story("callback", (request, scope) => view.callbackStory(textOf(request, "key"), scope)),
    story("transaction", (request, scope) =>
      view.transactionStory(textOf(request, "chain"), textOf(request, "id"), scope)
    ),
    story("address", (request, scope) => view.addressStory(textOf(request, "chain"), textOf(request, "address"), scope))
  ]
}
