/** The files of the console's page, and the headers that let a browser load nothing else. */
import { readdirSync, readFileSync } from "node:fs"
import { extname } from "node:path"
import * as Packed from "@headwater/http/server/Packed"
import { packageFile } from "../PackageFile.ts"

/** The page is served as it was written. */
const folder = packageFile("src/console/page/")

const types = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml"
} as const

const own = readdirSync(folder)
  .filter((file) => Object.hasOwn(types, extname(file).slice(1)))
  .map((file) => [file === "index.html" ? "/" : `/${file}`, readFileSync(new URL(file, folder), "utf8")] as const)

const library = (specifier: string) => readFileSync(new URL(import.meta.resolve(specifier)), "utf8")

/** A browser finds modules by path alone, and only a map within the page, which the policy forbids, would name them otherwise. */
const byPath = (script: string) => script.replaceAll('from"preact"', 'from"/preact.js"')

/** The libraries of the page, as they were installed. uPlot's smallest form is a script for any page: made a module. */
const libraries = [
  ["/preact.js", library("preact")],
  ["/hooks.js", byPath(library("preact/hooks"))],
  ["/htm.js", library("htm")],
  ["/uplot.js", `${library("uplot/dist/uPlot.iife.min.js")}\nexport default uPlot\n`],
  ["/uplot.css", library("uplot/dist/uPlot.min.css")]
] as const

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
export const answers = [...own, ...libraries].map(([path, text]) => {
  const contentType = types[(path === "/" ? "html" : extname(path).slice(1)) as keyof typeof types]
  return [path as `/${string}`, Packed.answer(text, { contentType, headers })] as const
})
