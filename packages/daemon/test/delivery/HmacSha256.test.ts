import { createHmac, randomBytes } from "node:crypto"
import { expect, it } from "vitest"
import * as HmacSha256 from "../../src/delivery/internal/HmacSha256.ts"

const texts = ["", "{}", "é€😀", "x".repeat(5000)]

it("is Node's HMAC, whatever the length of the key, text after text", () => {
  for (const length of [0, 1, 31, 32, 63, 64, 65, 200]) {
    const key = randomBytes(length)
    const sign = HmacSha256.ofKey(key)
    for (const text of texts)
      for (const encoding of ["hex", "base64"] as const)
        expect(sign(text, encoding)).toBe(createHmac("sha256", key).update(text).digest(encoding))
  }
})
