/** What tenants do with subscriptions that they have: another secret, a test, callbacks once more, copies to another URL. */
import type { Recovery, Secret, Subscribed } from "./Record.ts"
import { oneOf, type Stage } from "./Stage.ts"
import type { Action } from "./Story.ts"
import * as Subscribing from "./Subscribing.ts"

type Tend = Extract<Action, { kind: "tend" }>

const post = (stage: Stage, one: Subscribed, what: string, path: string, item: object) =>
  stage.call(one.tenant, what, { method: "POST", path: `${Subscribing.pathTo(one)}/${path}`, item })

const rotate = async (stage: Stage, one: Subscribed) => {
  const text = `secret ${one.secrets.length}`
  const secret: Secret = { text, askedAt: stage.time.now(), answeredAt: undefined }
  one.secrets.push(secret)
  const answer = await post(stage, one, `rotates the secret of ${one.path}`, "secret", { callbackSecretKey: text })
  if (answer?.status === 201) secret.answeredAt = stage.time.now()
}

const test = async (stage: Stage, one: Subscribed) => {
  const answer = await post(stage, one, `tests ${one.path}`, "test", {})
  if (answer?.status === 201) one.tests.push(answer.body.data.item.idempotencyKey)
}

const recover = async (stage: Stage, one: Subscribed, after: number, copies: Recovery["copies"]) => {
  const askedAt = stage.time.now()
  if (copies === undefined) one.askedAgainAt.push(askedAt)
  const where = copies === undefined ? "" : ` at ${copies.host}${copies.path}`
  const answer = await post(stage, one, `asks for all after ${after} of ${one.path} again${where}`, "recover", {
    afterSequence: after,
    ...(copies === undefined ? {} : { callbackUrl: `https://${copies.host}${copies.path}` })
  })
  if (copies !== undefined && (answer === undefined || answer.status < 300 || answer.status >= 500))
    // Of an answer that is lost it is not known what was asked for.
    for (const former of one.recoveries) if (former.copies !== undefined) former.isReplaced = true
  if (answer?.status !== 201) return
  const last = answer.body.data.item.lastSequence
  one.recoveries.push({ askedAt, after, last, copies, isReplaced: false })
}

export const tend = (stage: Stage, one: Subscribed, { after, receiver, what }: Tend): Promise<void> => {
  switch (what) {
    case "rotate":
      return rotate(stage, one)
    case "test":
      return test(stage, one)
    case "recover":
      return recover(stage, one, after, undefined)
    case "copy": {
      const { host } = oneOf(stage.hosts.all, receiver)!
      // A URL of its own each time.
      return recover(stage, one, after, { host, path: `/copy${one.path}/${stage.time.now()}` })
    }
  }
}
