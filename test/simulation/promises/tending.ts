/** What is promised of what tenants ask for of subscriptions that they have: signatures, tests, callbacks once more, copies. */
import { createHmac } from "node:crypto"
import type { Secret } from "../Record.ts"
import type { Arrival } from "../Receivers.ts"
import type { Judge } from "./Judge.ts"
import { accepted, keyOf, lasting, mayBeSentTo, name, of, ownerOf, posted, sequenceOf } from "./Told.ts"

/** How long a lease may last, whose callbacks are signed with the secrets that it was taken with. */
const leaseMillis = 15_000

/** Secrets of which one has signed what was sent at a time; the first of them surely while no other was asked for twice. */
const secretsAt = (secrets: ReadonlyArray<Secret>, at: number): ReadonlyArray<Secret> => {
  const asked = secrets.filter(({ askedAt }) => askedAt <= at)
  const sure = asked.findLastIndex(({ answeredAt = Infinity }) => answeredAt <= at - leaseMillis)
  return asked.slice(Math.max(sure, 0))
}

const hmac = (secret: string, text: string, encoding: "base64" | "hex") =>
  createHmac("sha256", secret).update(text).digest(encoding)

/** "`webhook-signature` may hold several signatures separated by spaces: one that fits is enough." */
const isSignedWith = ({ headers, text }: Arrival, secret: string) => {
  const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${text}`
  return headers["webhook-signature"]?.split(" ").includes(`v1,${hmac(secret, signed, "base64")}`) === true
}

/** "A subscription with a `callbackSecretKey` signs two ways", and a rotated secret leaves no moment without its signature. */
export const signed: Judge = (record) =>
  posted(record).flatMap((arrival) => {
    const subscribed = ownerOf(record, arrival.path)
    if (subscribed === undefined) return []
    const { at, headers, text } = arrival
    const [sure, ...others] = secretsAt(subscribed.secrets, at)
    const either = [sure!, ...others]
    const what = `${name(subscribed)}: callback ${sequenceOf(arrival)}`
    return [
      ...(headers["webhook-id"] === keyOf(arrival) ? [] : [`${what} has the id ${headers["webhook-id"]}`]),
      ...(Math.abs(at / 1000 - Number(headers["webhook-timestamp"])) < 300
        ? []
        : [`${what} was sent at ${at / 1000}, and is signed for ${headers["webhook-timestamp"]}`]),
      // Of two that came after it the second has taken its place.
      ...((others.length > 1 ? either : [sure!]).some((secret) => isSignedWith(arrival, secret.text))
        ? []
        : [`${what} is not signed with the secret that its receiver has`]),
      ...(either.some((secret) => headers["x-signature"] === hmac(secret.text, text, "hex"))
        ? []
        : [`${what} has an x-signature of no secret`])
    ]
  })

/** A test that was asked for is sent. */
export const testsSent: Judge = (record) =>
  lasting(record)
    .filter(mayBeSentTo)
    .flatMap((subscribed) => {
      const told = new Set(of(record, subscribed).filter(accepted).map(keyOf))
      return subscribed.tests
        .filter((key) => !told.has(key))
        .map((key) => `${name(subscribed)} was never sent the test ${key}`)
    })

/** "Sends every callback of the subscription again that is kept and was not retracted." */
export const sentAgain: Judge = (record) =>
  lasting(record)
    .filter(mayBeSentTo)
    .flatMap((subscribed) =>
      subscribed.recoveries
        .filter(({ copies }) => copies === undefined)
        .flatMap(({ after, askedAt, last }) => {
          const own = of(record, subscribed).filter(({ at }) => at > askedAt)
          const told = new Set(own.filter(accepted).map(keyOf))
          return (record.feeds.get(subscribed.referenceId!) ?? [])
            .filter(({ sequence, state }) => sequence > after && sequence <= last && state === "delivered")
            .filter(({ idempotencyKey }) => !told.has(idempotencyKey))
            .map(
              ({ sequence }) => `${name(subscribed)} was not sent ${sequence} again, which was asked for after ${after}`
            )
        })
    )

/** "Bodies, keys, numbers and the secrets of the signatures are the same", "copies go one after another", and none is lost. */
export const copied: Judge = (record) =>
  lasting(record).flatMap((subscribed) => {
    const bodies = new Map(
      record.attempts
        .filter(({ path }) => path === subscribed.path)
        .map(({ key, sequence, text }) => [key, { sequence, text }])
    )
    return subscribed.recoveries.flatMap(({ after, askedAt, copies, isReplaced, last }, i) => {
      if (copies === undefined) return []
      const sent = posted(record).filter(({ path }) => path === copies.path)
      const numbers = sent.filter(accepted).map(sequenceOf)
      const isWhole =
        !isReplaced &&
        !subscribed.recoveries.slice(i + 1).some((other) => other.copies !== undefined) &&
        (subscribed.tenant.verifiedAt.get(copies.host) ?? Infinity) < askedAt &&
        !record.stoppedCopies.has(subscribed.referenceId!)
      const wanted = (record.feeds.get(subscribed.referenceId!) ?? []).filter(
        ({ event, sequence, state }) =>
          sequence > after && sequence <= last && (state === "delivered" || state === "retracted") && !isOfFeed(event)
      )
      return [
        ...sent
          .filter((arrival) => {
            const own = bodies.get(keyOf(arrival))
            return own !== undefined && (own.text !== arrival.text || own.sequence !== sequenceOf(arrival))
          })
          .map((arrival) => `${name(subscribed)}: a copy of ${sequenceOf(arrival)} is another one`),
        ...sent
          .filter((arrival) => sequenceOf(arrival) <= after || sequenceOf(arrival) > last)
          .map((arrival) => `${name(subscribed)}: ${sequenceOf(arrival)} was copied, beside ${after} to ${last}`),
        ...(isWhole ? wanted : [])
          .filter(({ sequence }) => !numbers.includes(sequence))
          .map(({ sequence }) => `${name(subscribed)}: no copy of ${sequence} came, of those after ${after}`)
      ]
    })
  })

const isOfFeed = (event: string) => event === "BLOCKS_MISSED" || event === "SUBSCRIPTION_FAILING"
