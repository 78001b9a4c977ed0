/** What the documentation says, as far as a program can check it. */
import { execFileSync } from "node:child_process"
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, it } from "@effect/vitest"
import { assert } from "vitest"
import * as ApiReference from "../docs/ApiReference.ts"
import * as CallbackStates from "../docs/CallbackStates.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const pages = ["*.md", "docs/**/*.md", "examples/*.md", "packages/*/README.md"].flatMap((pattern) =>
  globSync(pattern, { cwd: root })
)

/** A shell that is not installed, or a systemd that is not, checks nothing. */
const has = (command: string) => existsSync(`/usr/bin/${command}`)

describe("documentation", () => {
  it("has the API reference that the contract gives: run `node docs/ApiReference.ts`", () => {
    assert.isTrue(ApiReference.isCurrent())
  })

  it("has the states of callbacks that the store has: run `node docs/CallbackStates.ts`", () => {
    assert.isTrue(CallbackStates.isCurrent())
  })

  it("links to files that exist", () => {
    const broken = pages.flatMap((page) =>
      [...readFileSync(join(root, page), "utf8").matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)]
        .map(([, target]) => target!)
        .filter((target) => !existsSync(join(root, dirname(page), target)))
        .map((target) => `${page}: ${target}`)
    )
    assert.isAbove(pages.length, 10)
    assert.deepStrictEqual(broken, [])
  })

  it.skipIf(!has("python3"))("verifies signatures in Python as it says", () => {
    const guide = readFileSync(join(root, "docs/callbacks.md"), "utf8")
    const code = /```python\n([\s\S]*?)```/.exec(guide)![1]!
    const body = '{"a":"ü"}'
    const check = (secret: string) => `
def sign(key):
    stamp = str(int(time.time()))
    mac = hmac.new(key, f"id.{stamp}.".encode() + body, hashlib.sha256).digest()
    return {"webhook-id": "id", "webhook-timestamp": stamp, "webhook-signature": "v1,AAAA v1," + base64.b64encode(mac).decode()}
body = ${JSON.stringify(body)}.encode()
print(is_genuine(sign(${secret}), body, SECRET), is_genuine(sign(b"wrong"), body, SECRET))
late = sign(${secret}); late["webhook-timestamp"] = "1"
print(is_genuine(late, body, SECRET))`
    for (const [secret, key] of [
      ['"plain"', 'b"plain"'],
      ['"whsec_c2VjcmV0"', 'b"secret"']
    ] as const) {
      const program = `${code}\nSECRET = ${secret}\n${check(key)}`
      assert.strictEqual(execFileSync("python3", ["-c", program], { encoding: "utf8" }), "True False\nFalse\n")
    }
  })

  it("verifies signatures in JavaScript as it says", async () => {
    const guide = readFileSync(join(root, "docs/callbacks.md"), "utf8")
    const code = /```js\n([\s\S]*?)```/.exec(guide)![1]!
    const module = `${code}\nexport { isGenuine }`
    const { isGenuine } = await import(`data:text/javascript,${encodeURIComponent(module)}`)
    const { Webhook } = await import("standardwebhooks")
    const now = new Date()
    const headers = (at: Date) => ({
      "webhook-id": "id",
      "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
      "webhook-signature": new Webhook("whsec_c2VjcmV0").sign("id", at, "body")
    })
    assert.isTrue(isGenuine(headers(now), "body", "whsec_c2VjcmV0"))
    assert.isTrue(isGenuine(headers(now), "body", "secret"))
    assert.isFalse(isGenuine(headers(now), "another body", "secret"))
    assert.isFalse(isGenuine(headers(new Date(now.getTime() - 400_000)), "body", "secret"))
  })
})
