/** The files of the console's page, and the headers that let a browser load nothing else. */
import { readFileSync } from "node:fs"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { packageFile } from "../PackageFile.ts"

/** The page is served as it was written. */
const folder = packageFile("src/console/page/")

/** Path → file and type. */
const files = {
  "/": ["index.html", "text/html; charset=utf-8"],
  "/console.css": ["console.css", "text/css; charset=utf-8"],
  "/icon.svg": ["icon.svg", "image/svg+xml"],
  ...Object.fromEntries(
    [
      ...["console.js", "elements.js", "again.js", "chart.js", "words.js"],
      ...[
        "chains.js",
        "deliveries.js",
        "subscriptions.js",
        "subscription.js",
        "progress.js",
        "credits.js",
        "domains.js"
      ]
    ].map((name) => [`/${name}`, [name, "text/javascript; charset=utf-8"]] as const)
  )
} satisfies Record<string, readonly [file: string, contentType: string]>

/** Scripts, styles, images and requests from here only, nothing inline; in no frame; no cache, no referrer. */
export const headers = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store"
} as const

/** The answers, by path. */
export const answers = Object.entries(files).map(
  ([path, [file, contentType]]) =>
    [
      path as `/${string}`,
      HttpServerResponse.uint8Array(readFileSync(new URL(file, folder)), { contentType, headers })
    ] as const
)
