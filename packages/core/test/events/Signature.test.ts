import { createHmac } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import * as Signature from "@headwater/core/events/Signature"
import { Webhook } from "standardwebhooks"

const body = JSON.stringify({ data: { event: "BLOCK_MINED", text: "é€𝄞" } })
const timestamp = Math.floor(Date.now() / 1000)
const sign = (...secrets: [string, ...Array<string>]) =>
  Signature.headers({ secrets, id: "0011223344556677", timestamp, body })

describe("Signature", () => {
  it("signs the raw body with the secret's own bytes, in lower-case hex", () => {
    for (const secret of ["plain secret ü", `whsec_${Buffer.from("0123456789abcdef01234567").toString("base64")}`]) {
      const expected = createHmac("sha256", secret).update(body).digest("hex")
      assert.strictEqual(sign(secret)["x-signature"], expected)
    }
  })

  it("verifies with the standardwebhooks library, for base64 and for plain secrets", () => {
    const base64 = Buffer.from("0123456789abcdef01234567").toString("base64")
    assert.doesNotThrow(() => new Webhook(base64).verify(body, sign(`whsec_${base64}`)))
    const plain = "a plain secret"
    assert.doesNotThrow(() => new Webhook(plain, { format: "raw" }).verify(body, sign(plain)))
    assert.throws(() => new Webhook("another", { format: "raw" }).verify(body, sign(plain)))
    assert.throws(() => new Webhook(plain, { format: "raw" }).verify(`${body} `, sign(plain)))
  })

  it("signs the same with a platform's own HMAC", () => {
    const signer = Signature.signer(
      ["one", "two"],
      (key) => (text, encoding) => createHmac("sha256", key).update(text).digest(encoding)
    )
    assert.deepStrictEqual(signer({ id: "0011223344556677", timestamp, body }), sign("one", "two"))
  })

  it("takes a secret that only looks like base64 as text", () => {
    assert.isTrue(sign("whsec_not base64!")["webhook-signature"].startsWith("v1,"))
  })

  it("carries two signatures while a secret is rotated, and either secret verifies", () => {
    const headers = sign("new secret", "old secret")
    for (const secret of ["new secret", "old secret"]) {
      assert.doesNotThrow(() => new Webhook(secret, { format: "raw" }).verify(body, headers))
    }
  })
})
