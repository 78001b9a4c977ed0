import { assert, describe, it } from "@effect/vitest"
import * as FailureText from "@headwater/daemon/delivery/internal/FailureText"

describe("FailureText", () => {
  it("leaves out what Node advises who starts the process", () => {
    // As Node 24 says it of a receiver with a certificate of its own.
    const error = Object.assign(
      new Error(
        "self-signed certificate; if the root CA is installed locally, try running Node.js with --use-system-ca"
      ),
      { code: "DEPTH_ZERO_SELF_SIGNED_CERT" }
    )
    assert.strictEqual(FailureText.reasonOf(error), "DEPTH_ZERO_SELF_SIGNED_CERT: self-signed certificate")
  })

  it("repeats no line of the client's source", () => {
    // As undici 7 says it of an answer with the status 000.
    const message = "The expression evaluated to a falsy value:\n\n  assert(statusCode >= 100)\n"
    const error = Object.assign(new Error(message), { code: "ERR_ASSERTION" })
    assert.strictEqual(FailureText.reasonOf(error), "ERR_ASSERTION: the answer is not HTTP")
  })
})
