import { assert, describe, it } from "@effect/vitest"
import { brokenRule } from "@headwater/http/server/CallbackUrlPolicy"

const none = new Set<string>()

describe("CallbackUrlPolicy", () => {
  it("takes https URLs with a DNS name", () => {
    for (const url of [
      "https://example.com",
      "https://example.com/a?b=c&d=%20",
      "HTTPS://Example.COM/",
      "https://a-b.example.co.uk:8443/x",
      "https://example.com./",
      "https://xn--bcher-kva.example/",
      "https://bücher.example/",
      "https://_dmarc.example.com/",
      `https://example.com/${"x".repeat(2048 - "https://example.com/".length)}`
    ]) {
      assert.isUndefined(brokenRule(url, none), url)
    }
  })

  it("refuses everything else, with the rule", () => {
    const cases: ReadonlyArray<readonly [url: string, rule: RegExp]> = [
      ["http://example.com/", /https/],
      ["ftp://example.com/", /https/],
      ["https:example.com", /https/],
      ["//example.com", /https/],
      ["https:///", /https/],
      ["javascript:alert(1)", /https/],
      ["https://user@example.com/", /user name/],
      ["https://user:pass@example.com/", /user name/],
      ["https://:pass@example.com/", /user name/],
      ["https://example.com/#a", /fragment/],
      ["https://example.com/#", /fragment/],
      ["https://example.com/a b", /spaces/],
      [" https://example.com/", /spaces/],
      ["https://example.com\\@evil.com/", /backslashes/],
      ["https://exa\tmple.com/", /control/],
      ["https://example.com/\u0000", /control/],
      [`https://example.com/${"x".repeat(2048)}`, /2048/],
      ["https://127.0.0.1/", /IP address/],
      ["https://2130706433/", /IP address/],
      ["https://0x7f.1/", /IP address/],
      ["https://0177.0.0.1/", /IP address/],
      ["https://127.1/", /IP address/],
      ["https://1.1.1.1./", /IP address/],
      ["https://[::1]/", /IP address/],
      ["https://[::ffff:127.0.0.1]/", /IP address/],
      ["https://１２７.0.0.1/", /IP address/],
      ["https://localhost/", /public host/],
      ["https://LOCALHOST./", /public host/],
      ["https://a.localhost/", /public host/],
      ["https://printer.local/", /public host/],
      ["https://metadata.google.internal/", /public host/],
      ["https://router.home.arpa/", /public host/],
      ["https://intranet/", /public host/],
      ["https://single/", /DNS name/],
      ["https://-a.example.com/", /DNS name/],
      ["https://a..example.com/", /DNS name|valid URL/],
      [`https://${"a".repeat(64)}.example.com/`, /DNS name|valid URL/],
      ["https://exa%00mple.com/", /valid URL/],
      ["https://example.com:99999/", /valid URL/]
    ]
    for (const [url, rule] of cases) assert.match(brokenRule(url, none) ?? "taken", rule, url)
  })

  it("takes the hosts that the operator allows, by name, and still only https", () => {
    const allowed = new Set(["localhost", "127.0.0.1", "receiver.internal"])
    assert.isUndefined(brokenRule("https://localhost:8443/a", allowed))
    assert.isUndefined(brokenRule("https://127.0.0.1:8443/a", allowed))
    assert.isUndefined(brokenRule("https://receiver.internal/", allowed))
    assert.isDefined(brokenRule("https://a.localhost/", allowed))
    assert.isDefined(brokenRule("http://localhost/", allowed))
    assert.isDefined(brokenRule("https://user@localhost/", allowed))
  })
})
