/**
 * What the documentation promises, as assertions over the record of a story. Each says in words which promise was
 * broken, and by what. The model behind them is plain: the final chains, and what tenants have asked for.
 */
import * as answers from "./promises/answers.ts"
import * as callbacks from "./promises/callbacks.ts"
import * as items from "./promises/items.ts"
import * as subscriptions from "./promises/subscriptions.ts"
import * as tending from "./promises/tending.ts"
import type { Judge } from "./promises/Judge.ts"
import type { Record } from "./Record.ts"

export interface Broken {
  /** In the words of the documentation. */
  readonly promise: string
  readonly detail: string
}

/** Once everything is well again, all that is to be done is done in bounded time. */
const ends: Judge = ({ unfinished }) => unfinished

const promises: ReadonlyArray<readonly [promise: string, judge: Judge]> = [
  ["Never lost: a callback is delivered at least once", callbacks.neverLost],
  ["Nothing is told that did not happen", callbacks.nothingInvented],
  ["An item is of its subscription and of its block, and a retraction has that of its original", items.asTheyAre],
  ["A confirmation is not told before the chain has it", callbacks.notTooEarly],
  ["One key for one event: the same over retries, restarts and replays", callbacks.oneKeyForOneEvent],
  ["Numbered: 1, 2, 3 … without a gap, and the number belongs to the callback", callbacks.numbered],
  ["In order: first attempts of one subscription leave in the order of the chain", callbacks.inOrder],
  ["A callback is not sent any more whose block has left the chain", callbacks.notSentAfterwards],
  ["A retraction comes after what it retracts, and ends that key for good", callbacks.retractedAfterwards],
  ["What leaves the chain is taken back from accounts that want retractions", callbacks.takenBack],
  [
    "Nothing is sent to a host that is not verified, or to an address that is not public",
    callbacks.onlyToVerifiedHosts
  ],
  ["What is deleted is sent no more", callbacks.nothingAfterDeletion],
  ["An edit of a list counts from the next block on", callbacks.nothingOfWhatLeft],
  ["A list has what was added, and nothing that was taken out", subscriptions.listsAsEdited],
  ["What is asked for once is made once", subscriptions.madeOnce],
  ["An audit finds nothing that was told wrong, or not at all", subscriptions.audited],
  ["A callback is signed, and a rotated secret leaves no moment without a signature", tending.signed],
  ["A test that was asked for is sent", tending.testsSent],
  ["What is asked for again is sent again", tending.sentAgain],
  ["Copies are what the subscription was told, and none is lost", tending.copied],
  ["No answer with status 200 holds less than the chain", answers.nothingBelowTheTruth],
  ["Credits are never negative, and nothing is charged twice", answers.credits],
  ["Bounded wait: once all is well, what is to be done is done", ends],
  ["No defect: no answer is 500, and nothing dies in the background", answers.noDefects]
]

/** What a story breaks at once whose program does not start, although nothing is in the way. */
export const notStarted: Broken = {
  promise: "Killed at any moment, also in an upgrade, the program goes on with what it has left",
  detail: "the program did not start"
}

/** The promises that were broken in a story. */
export const judge = (record: Record): ReadonlyArray<Broken> =>
  promises.flatMap(([promise, judge]) => judge(record).map((detail) => ({ promise, detail })))
