/** What is promised of subscriptions themselves. */
import { wrongIn } from "../Watched.ts"
import type { Judge } from "./Judge.ts"
import { name } from "./Told.ts"

/** What was added is there, and what was taken out is not. */
export const listsAsEdited: Judge = (record) =>
  record.subscribed.flatMap((subscribed) => {
    const { watched } = subscribed
    if (watched.kind !== "list" || watched.atEnd === undefined) return []
    return wrongIn(watched.edits, watched.atEnd).map((words) => `${name(subscribed)}: ${words}`)
  })

/** What is asked for once is made once. */
export const madeOnce: Judge = ({ twice }) => twice.map((url) => `${url} is of several subscriptions`)

/** "Whether what a UTXO chain's subscriptions were told is true." */
export const audited: Judge = (record) => record.audited
