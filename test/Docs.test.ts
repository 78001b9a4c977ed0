/** What the documentation says, as far as a program can check it. */
import { execFileSync } from "node:child_process"
import { createHmac } from "node:crypto"
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, posix } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, it } from "@effect/vitest"
import { assert } from "vitest"
import { anchorOf } from "../docs/Anchor.ts"
import * as ErrorPages from "../docs/ErrorPages.ts"
import * as Generated from "../docs/generate.ts"
import * as MetricPages from "../docs/MetricPages.ts"
import * as Pages from "./Pages.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const pages = Pages.all

/** A language that is not installed checks nothing, and its test says that it was skipped. */
const has = (command: string) => existsSync(`/usr/bin/${command}`)

/**
 * The samples of the guide with a program around: arguments are the body, and of each request secret, time and signature.
 * One without a time has no header at all.
 */
const samples = [
  {
    language: "Java",
    extension: "java",
    run: ["java"],
    program: (code: string) => `
      import static java.nio.charset.StandardCharsets.UTF_8;
      import java.security.*; import java.util.*; import javax.crypto.Mac; import javax.crypto.spec.SecretKeySpec;
      class Sample {
        ${code}
        public static void main(String[] args) throws Exception {
          for (int i = 1; i < args.length; i += 3)
            System.out.println(isGenuine(args[i + 1].isEmpty() ? Map.of() : Map.of("webhook-id", "id",
              "webhook-timestamp", args[i + 1], "webhook-signature", args[i + 2]), args[0].getBytes(UTF_8), args[i]));
        }
      }`
  },
  {
    language: "Ruby",
    extension: "ruby",
    run: ["ruby"],
    program: (code: string) => `${code}
      body, *requests = ARGV
      requests.each_slice(3) do |secret, timestamp, signature|
        # A header may hold bytes that are no text.
        id = signature.b.end_with?("ü".b) ? (signature = "v1,# \\xff") : "id"
        headers = { "webhook-id" => id, "webhook-timestamp" => timestamp, "webhook-signature" => signature }
        puts genuine?(timestamp.empty? ? {} : headers, body.b, secret)
      end`
  },
  {
    language: "PHP",
    extension: "php",
    run: ["php"],
    program: (code: string) => `<?php
      ${code}
      for ($i = 2; $i < $argc; $i += 3)
        echo json_encode(is_genuine($argv[$i + 1] === '' ? [] : ['webhook-id' => 'id', 'webhook-timestamp' => $argv[$i + 1],
          'webhook-signature' => $argv[$i + 2]], $argv[1], $argv[$i])), "\n";`
  },
  {
    language: "Go",
    extension: "go",
    run: ["go", "run"],
    program: (code: string) => `package main
      import ("crypto/hmac"; "crypto/sha256"; "encoding/base64"; "fmt"; "math"; "net/http"; "os"; "strconv"; "strings"; "time")
      ${code}
      func main() {
        for i := 2; i < len(os.Args); i += 3 {
          h := http.Header{}
          if os.Args[i+1] != "" {
            h.Set("webhook-id", "id"); h.Set("webhook-timestamp", os.Args[i+1]); h.Set("webhook-signature", os.Args[i+2])
          }
          fmt.Println(isGenuine(h, []byte(os.Args[1]), os.Args[i]))
        }
      }`
  }
]

/** The lines of a text, whatever their indentation, with nothing else between them. */
const linesOf = (text: string) =>
  `\n${text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join("\n")}\n`

describe("documentation", () => {
  it("has code of the library that stands in test/library, where it is compiled", () => {
    const programs = globSync("test/library/*.ts", { cwd: root }).map((file) =>
      linesOf(readFileSync(join(root, file), "utf8"))
    )
    const snippets = Pages.blocks.filter(({ language }) => language === "ts").map(({ code }) => code)
    assert.isAbove(snippets.length, 10)
    for (const code of snippets) {
      const imports = code.split("\n").filter((line) => line.startsWith("import "))
      const rest = code.replaceAll(/^import .*$/gm, "")
      const parts = [...imports, ...(rest.trim() === "" ? [] : [rest])].map(linesOf)
      assert.isTrue(
        programs.some((program) => parts.every((part) => program.includes(part))),
        `not in test/library as it stands:\n${code}`
      )
    }
  })

  it("has what the code says of itself: run `node docs/generate.ts`", () => {
    assert.deepStrictEqual(Generated.stale(), [])
    // What the code does not say of a parameter, an error or a metric is a hole in the page.
    const written = [...Generated.generated(), ...ErrorPages.each(), ...MetricPages.each()]
    assert.deepStrictEqual(
      written.filter(([, text]) => /undefined|NaN|\[object /.test(text)).map(([page]) => page),
      []
    )
  })

  it("links to files that exist, and to parts that they have", () => {
    const anchors = new Map(pages.map((page) => [page, Pages.anchorsOf(page)] as const))
    const links = pages.flatMap((page) => Pages.linksOf(page).map((link) => ({ page, link })))
    const broken = links.flatMap(({ link, page }) => {
      const [path = "", part] = link.split("#")
      const target = path === "" ? page : posix.join(dirname(page), path)
      const says = `${page}: ${link}`
      if (!existsSync(join(root, target))) return [says]
      return part === undefined || anchors.get(target)?.has(part) === true ? [] : [says]
    })
    assert.isAbove(pages.length, 40)
    assert.isAbove(links.filter(({ link }) => link.includes("#")).length, 1_000)
    assert.deepStrictEqual(broken, [])
    assert.strictEqual(anchorOf("How `x_y`, and C++ (too), are"), "how-x_y-and-c-too-are")
  })

  it("names no package to run that is not Headwater's, nor one to install that Headwater does not need", () => {
    const ours = ["core", "indexer", "http", "daemon"].map((name) => `@headwater/${name}`)
    const {
      dependencies = {},
      optionalDependencies = {},
      peerDependencies = {}
    } = JSON.parse(readFileSync(join(root, "packages/indexer/package.json"), "utf8"))
    const needed = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
    for (const page of pages) {
      const text = Pages.textOf(page)
      const named = Array.from(text.matchAll(/\bnpx (?:-\S+ )*([\w@/.-]+)/g), ([, name]) => name!)
      const installed = Array.from(text.matchAll(/\bnpm (?:install|i|add) ((?:[\w@/.-]+ ?)+)/g), ([, names]) => names!)
      for (const name of named) {
        // Inside a project the package's command is its program: the page has to say that the package comes first.
        if (name === "headwater") assert.include(text, "@headwater/daemon", page)
        else assert.include(ours, name, page)
      }
      for (const name of installed.flatMap((names) => names.trim().split(" ")).filter((name) => /^[@\w]/.test(name)))
        assert.include([...ours, ...needed], name, page)
    }
  })

  describe("verifies signatures as it says", () => {
    const guide = readFileSync(join(root, "docs/callbacks.md"), "utf8")
    const body = '{"a":"ü"}'
    const sign = (key: string, secret: string, timestamp: number) => {
      const mac = createHmac("sha256", key).update(`id.${timestamp}.${body}`).digest("base64")
      return [secret, String(timestamp), `v1,AAAA v1,${mac}`]
    }
    const now = Math.floor(Date.now() / 1000)
    /** Secret, time and signature of requests of which the first two are genuine. */
    const requests = [
      sign("plain", "plain", now),
      sign("secret", "whsec_c2VjcmV0", now),
      sign("another", "plain", now),
      sign("plain", "plain", now - 400),
      // What strangers send is refused, and raises nothing.
      ["plain", "", ""],
      ["plain", "soon", "v1,AAAA"],
      ["plain", "9".repeat(400), "v1,AAAA"],
      ["plain", String(now), "v1,A v1,# ü"]
    ].flat()

    for (const { extension, language, program, run } of samples) {
      const [command, ...args] = run
      it.skipIf(!has(command!))(`in ${language}`, () => {
        const code = new RegExp(`\`\`\`${extension}\\n([\\s\\S]*?)\`\`\``).exec(guide)![1]!
        const folder = mkdtempSync(join(tmpdir(), "headwater-sample-"))
        try {
          const file = join(folder, `Sample.${extension}`)
          writeFileSync(file, program(code))
          const told = execFileSync(command!, [...args, file, body, ...requests], { encoding: "utf8" })
          assert.strictEqual(
            told.trim().toLowerCase().split(/\s+/).join(" "),
            "true true false false false false false false"
          )
        } finally {
          rmSync(folder, { recursive: true })
        }
      })
    }
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
soon = {**late, "webhook-timestamp": "soon"}
long = {**late, "webhook-timestamp": "9" * 400}
odd = {**sign(${secret}), "webhook-signature": "v1,A v1,# ü"}
undecoded = {**sign(${secret}), "webhook-id": "\\udcff", "webhook-signature": "v1,\\udcff"}
print(*(is_genuine(headers, body, SECRET) for headers in [late, {}, soon, long, odd, undecoded]))`
    for (const [secret, key] of [
      ['"plain"', 'b"plain"'],
      ['"whsec_c2VjcmV0"', 'b"secret"']
    ] as const) {
      const program = `${code}\nSECRET = ${secret}\n${check(key)}`
      assert.strictEqual(
        execFileSync("python3", ["-c", program], { encoding: "utf8" }),
        "True False\nFalse False False False False False\n"
      )
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
