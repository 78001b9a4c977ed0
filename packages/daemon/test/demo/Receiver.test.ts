import { assert, describe, it } from "@effect/vitest"
import * as Signature from "@headwater/core/events/Signature"
import { Webhook } from "standardwebhooks"
import { verify } from "../../src/demo/Receiver.ts"

const now = 1_800_000_000
const body = '{"referenceId":"r","amount":"1.5"}'
const headersFor = (secret: string, timestamp = now) =>
  Signature.headers({ secrets: [secret], id: "key", timestamp, body })

describe("the demo's receiver", () => {
  it("accepts what Headwater signs, with any kind of secret", () => {
    for (const secret of ["a secret", `whsec_${Buffer.from("thirty-two bytes of secret bytes").toString("base64")}`]) {
      assert.deepStrictEqual(verify(secret, headersFor(secret), body, now), {
        xSignature: true,
        standardWebhooks: true
      })
    }
  })

  it("accepts what the reference library signs", () => {
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    const signature = new Webhook(secret).sign("key", new Date(now * 1000), body)
    const headers = { "webhook-id": "key", "webhook-timestamp": String(now), "webhook-signature": signature }
    assert.strictEqual(verify(secret, headers, body, now).standardWebhooks, true)
  })

  it("refuses another body, another secret, an old time, and no signature at all", () => {
    const wrong = { xSignature: false, standardWebhooks: false }
    assert.deepStrictEqual(verify("s", headersFor("s"), body.replace("1.5", "9.5"), now), wrong)
    assert.deepStrictEqual(verify("t", headersFor("s"), body, now), wrong)
    assert.deepStrictEqual(verify("s", {}, body, now), wrong)
    assert.deepStrictEqual(verify("s", headersFor("s", now - 301), body, now), {
      xSignature: true,
      standardWebhooks: false
    })
  })
})
