import { createHmac } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import * as Signature from "@headwater/core/events/Signature"
import * as Result from "effect/Result"
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

const now = timestamp
const wrongHeader = (headers: Signature.ReceivedHeaders, text: string | Uint8Array, secrets: Array<string>, at = now) =>
  Result.match(Signature.verify(headers, text, secrets, at), {
    onSuccess: () => undefined,
    onFailure: ({ header }) => header
  })

describe("Signature.verify", () => {
  const headers = sign("new secret", "old secret")

  it("accepts what is signed with either secret of a rotation, by a receiver that has one or both", () => {
    const verified = Result.getOrThrow(Signature.verify(headers, body, ["old secret"], now + 10))
    assert.deepStrictEqual(verified, { id: "0011223344556677", timestamp })
    for (const secrets of [["new secret"], ["another", "new secret"], ["old secret", "another"]]) {
      assert.isUndefined(wrongHeader(headers, body, secrets))
    }
    const base64 = `whsec_${Buffer.from("0123456789abcdef01234567").toString("base64")}`
    assert.isUndefined(wrongHeader(sign(base64), body, [base64]))
  })

  it("accepts what the standardwebhooks library signs", () => {
    const signature = new Webhook("a plain secret", { format: "raw" }).sign("1", new Date(timestamp * 1000), body)
    const received = { "webhook-id": "1", "webhook-timestamp": String(timestamp), "webhook-signature": signature }
    assert.isUndefined(wrongHeader(received, body, ["a plain secret"]))
  })

  it("takes the headers of fetch and those of Node, and the body as text or bytes", () => {
    const bytes = new TextEncoder().encode(body)
    assert.isUndefined(wrongHeader(new Headers(headers), bytes, ["new secret"]))
    assert.isUndefined(wrongHeader({ ...headers, cookie: ["a", "b"] }, bytes, ["new secret"]))
  })

  it("refuses everything else, and names the header", () => {
    const secrets = ["new secret"]
    const { "webhook-signature": signature } = headers
    assert.strictEqual(wrongHeader(headers, body, ["another"]), "webhook-signature")
    assert.strictEqual(wrongHeader(headers, body, []), "webhook-signature")
    assert.strictEqual(wrongHeader(headers, `${body} `, secrets), "webhook-signature")
    const changes = [
      ...Object.keys(headers).flatMap((name) =>
        name === "x-signature" ? [] : [{ [name]: undefined }, { [name]: "" }, { [name]: [signature, signature] }]
      ),
      { "webhook-id": "another" },
      { "webhook-timestamp": String(timestamp + 1) },
      { "webhook-timestamp": `${timestamp}.0` },
      { "webhook-signature": signature.replaceAll("v1,", "v2,") },
      { "webhook-signature": signature.slice(0, 10) },
      { "webhook-signature": "v1,not base64!" }
    ]
    for (const change of changes) {
      assert.isDefined(wrongHeader({ ...headers, ...change }, body, secrets), JSON.stringify(change))
    }
  })

  it("refuses attempts of long ago, and of the future", () => {
    const { toleranceSeconds } = Signature
    for (const [away, wrong] of [
      [toleranceSeconds, undefined],
      [-toleranceSeconds, undefined],
      [toleranceSeconds + 1, "webhook-timestamp"],
      [-toleranceSeconds - 1, "webhook-timestamp"],
      [Number.NaN, "webhook-timestamp"]
    ] as const) {
      assert.strictEqual(wrongHeader(headers, body, ["new secret"], now + away), wrong, String(away))
    }
  })

  it("tells secrets in which every receiver reads the same key", () => {
    for (const secret of ["a", "whsec", "whsec_c2VjcmV0", "whsec_YQ=="])
      assert.isTrue(Signature.isSecret(secret), secret)
    for (const secret of ["", "whsec_", "whsec_YQ", "whsec_a-b_", "whsec_c2Vj cmV0", "whsec_YR=="]) {
      assert.isFalse(Signature.isSecret(secret), secret)
    }
  })

  it("never takes a secret without bytes, under which anybody can sign", () => {
    const signature = createHmac("sha256", "").update(`1.${timestamp}.{}`).digest("base64")
    const received = {
      ...{ "webhook-id": "1", "webhook-timestamp": String(timestamp), "webhook-signature": `v1,${signature}` },
      "x-signature": createHmac("sha256", "").update("{}").digest("hex")
    }
    for (const secret of ["", "whsec_"]) {
      assert.strictEqual(wrongHeader(received, "{}", [secret]), "webhook-signature")
      assert.isTrue(Result.isFailure(Signature.verifyBody(received, "{}", [secret])))
    }
  })

  it("does not fall back to the signature that covers no time, which has a function of its own", () => {
    const received = { "x-signature": headers["x-signature"] }
    assert.strictEqual(wrongHeader(received, body, ["new secret"]), "webhook-id")
    assert.isTrue(Result.isSuccess(Signature.verifyBody(received, body, ["old secret", "new secret"])))
    for (const [signature, text, secret] of [
      [headers["x-signature"], body, "another"],
      [headers["x-signature"], `${body} `, "new secret"],
      ["not hexadecimal", body, "new secret"],
      ["", body, "new secret"]
    ] as const) {
      assert.isTrue(Result.isFailure(Signature.verifyBody({ "x-signature": signature }, text, [secret])))
    }
  })
})
