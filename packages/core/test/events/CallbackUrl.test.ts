import * as CallbackUrl from "@headwater/core/events/CallbackUrl"
import * as Result from "effect/Result"
import { assert, describe, it } from "vitest"

const ruleOf = (text: string, allowed?: ReadonlySet<string>) =>
  Result.match(CallbackUrl.parse(text, allowed), { onSuccess: () => undefined, onFailure: ({ rule }) => rule })

describe("CallbackUrl", () => {
  for (const text of [
    "https://example.com",
    "https://example.com/hooks/1?a=b@c",
    "HTTPS://Example.COM:8443/x",
    "https://xn--bcher-kva.example/",
    "https://a_b.example.co.uk/%20",
    "https://_dmarc.example.com/",
    `https://example.com/${"x".repeat(2048 - 20)}`
  ]) {
    it(`takes ${text.slice(0, 60)}`, () => assert.isUndefined(ruleOf(text)))
  }

  const refused: ReadonlyArray<readonly [text: string, rule: RegExp]> = [
    ["http://example.com/", /https/],
    ["ftp://example.com/", /https/],
    ["https:example.com/", /https/],
    ["//example.com/", /URL/],
    ["javascript:alert(1)", /https/],
    ["", /URL/],
    ["https://", /URL/],
    [`https://example.com/${"x".repeat(2048 - 19)}`, /2048/],
    ["https://user@example.com/", /user name/],
    ["https://user:secret@example.com/", /user name/],
    ["https://@example.com/", /user name/],
    ["https://:@example.com/", /user name/],
    ["https://:secret@example.com/", /user name/],
    ["https://example.com@127.0.0.1/", /user name/],
    ["https://example.com/#x", /fragment/],
    ["https://example.com:0/", /port/],
    ["https://example.com/#", /fragment/],
    [" https://example.com/", /spaces/],
    ["https://exa\tmple.com/", /spaces/],
    ["https://example.com/a b", /spaces/],
    ["https://example.com/\u0000", /control/],
    ["https://example.com\\@127.0.0.1/", /backslashes/],
    ["https://bücher.example/", /ASCII/],
    ["https://１２７.0.0.1/", /ASCII/],
    ["https://127。0。0。1/", /ASCII/],
    ["https://127.0.0.1/", /DNS name/],
    ["https://127.1/", /DNS name/],
    ["https://2130706433/", /DNS name/],
    ["https://0x7f000001/", /DNS name/],
    ["https://0x7f.0.0.1/", /DNS name/],
    ["https://0177.0.0.1/", /DNS name/],
    ["https://017700000001/", /DNS name/],
    ["https://%31%32%37.0.0.1/", /DNS name/],
    ["https://8.8.8.8/", /DNS name/],
    ["https://[::1]/", /DNS name/],
    ["https://[::ffff:127.0.0.1]/", /DNS name/],
    ["https://[2606:4700::1111]/", /DNS name/],
    ["https://localhost/", /DNS name/],
    ["https://LOCALHOST/", /DNS name/],
    ["https://x.localhost/", /DNS name/],
    ["https://printer.local/", /DNS name/],
    ["https://localhost.localdomain/", /DNS name/],
    ["https://router.home.arpa/", /DNS name/],
    ["https://home.arpa/", /DNS name/],
    ["https://nas.lan/", /DNS name/],
    ["https://nas.home/", /DNS name/],
    ["https://wiki.corp/", /DNS name/],
    ["https://wiki.intranet/", /DNS name/],
    ["https://metadata.google.internal/", /DNS name/],
    ["https://metadata/", /DNS name/],
    ["https://example.com./", /DNS name/],
    ["https://localhost./", /DNS name/],
    ["https://-a.example/", /DNS name/],
    ["https://a..example/", /DNS name/],
    [`https://${"a".repeat(64)}.example/`, /DNS name/],
    ["https://1.1.1.1./", /DNS name/],
    ["https://exa%00mple.com/", /URL/],
    ["https://example.com:99999/", /URL/],
    ["https://1.2.3.4.5/", /URL|DNS name/],
    ["https://example.1/", /URL|DNS name/]
  ]
  for (const [text, rule] of refused) {
    it(`refuses ${text.slice(0, 60)}`, () => assert.match(ruleOf(text) ?? "taken", rule))
  }

  it("takes the operator's exceptions, and only their hosts", () => {
    const allowed = new Set(["localhost", "127.0.0.1", "receiver.internal"])
    assert.isUndefined(ruleOf("https://localhost:9443/", allowed))
    assert.isUndefined(ruleOf("https://127.0.0.1:9443/", allowed))
    assert.isUndefined(ruleOf("https://receiver.internal/", allowed))
    assert.isDefined(ruleOf("https://127.0.0.2/", allowed))
    assert.isDefined(ruleOf("https://a.localhost/", allowed))
    assert.isDefined(ruleOf("https://user@localhost/", allowed))
    assert.isDefined(ruleOf("http://localhost/", allowed))
  })
})
