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
})
