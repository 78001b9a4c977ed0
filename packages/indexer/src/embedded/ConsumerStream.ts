/** The notifications of one consumer on one chain, from the store as they come. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as ConsumerChanges from "../store/consumers/ConsumerChanges.ts"
import * as Consumers from "../store/consumers/Consumers.ts"
import { Database } from "../store/database/Database.ts"
import type { Attached } from "./BackPressure.ts"
import type { FollowedChain } from "./FollowedChain.ts"
import * as Notification from "./Notification.ts"

/** The next notification for a consumer; waits until there is one. */
const waitForNext = Effect.fnUntraced(function* (
  { pollMillis, recorded, stopped }: FollowedChain,
  { acknowledged }: Attached,
  consumer: Consumers.Consumer,
  progress: Consumers.Progress
) {
  while (true) {
    const recordedNext = yield* recorded.next
    const change = yield* ConsumerChanges.next(consumer, progress)
    if (change !== undefined) {
      const [first] = change.blocks
      // A consumer that knows no block yet holds the blocks behind its first one, once that has come.
      if (progress.height === undefined && first !== undefined) yield* acknowledged(first.height - 1)
      return change
    }
    yield* recordedNext.pipe(Effect.timeoutOption(pollMillis), Effect.raceFirst(stopped))
  }
})

/** Notifications that the consumer acknowledges. Goes on behind what it has told, acknowledged or not. */
export const events = (followed: FollowedChain, name: string, from: Consumers.From) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const database = yield* Database
      const consumer = yield* Consumers.open(followed.chain, name, from)
      const attached = yield* followed.backPressure.attach(name, consumer.acknowledged.height)
      let progress = consumer.acknowledged
      let furthest = progress
      const next = Effect.gen(function* () {
        const change = yield* waitForNext(followed, attached, consumer, progress)
        const reached = change.progress
        yield* Consumers.tell(consumer, progress, reached)
        progress = reached
        const acknowledge = Consumers.acknowledge(consumer, reached).pipe(
          Effect.andThen(
            Effect.suspend(() => {
              if (!Consumers.isBeyond(reached, furthest)) return Effect.void
              furthest = reached
              return attached.acknowledged(reached.height)
            })
          ),
          Effect.provideService(Database, database)
        )
        return { ...Notification.make(followed.chain, change), acknowledge } as Notification.Acknowledgeable
      })
      return Stream.fromEffectRepeat(next)
    })
  )

/**
 * Has each notification handled in a transaction that also moves the consumer's position: both happen, or neither does.
 * Where another process has moved the position, what that one handled is passed over; fails where the consumer was forgotten.
 */
export const inCommit = Effect.fnUntraced(function* <E, R>(
  followed: FollowedChain,
  name: string,
  from: Consumers.From,
  handle: (notification: Notification.Notification) => Effect.Effect<unknown, E, R>
) {
  const { transaction } = yield* Database
  const opened = yield* Consumers.open(followed.chain, name, from)
  const attached = yield* followed.backPressure.attach(name, opened.acknowledged.height)
  let consumer = opened
  let progress = opened.acknowledged
  while (true) {
    const change = yield* waitForNext(followed, attached, consumer, progress)
    const isDone = yield* transaction(
      Effect.gen(function* () {
        if (!(yield* Consumers.isAt(consumer, progress))) return false
        yield* handle(Notification.make(followed.chain, change))
        yield* Consumers.acknowledge(consumer, change.progress)
        return true
      })
    )
    if (isDone) {
      progress = change.progress
    } else {
      consumer = yield* Consumers.present(consumer)
      progress = consumer.acknowledged
    }
    yield* attached.acknowledged(progress.height)
  }
})
