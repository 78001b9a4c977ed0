/**
 * Headers that every answer has, unless an answer says otherwise: no type is guessed, nothing is kept, nothing is loaded
 * or framed, and no other site is told where a reader comes from.
 */
import { createHash } from "node:crypto"

const nothing = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export const securityHeaders = {
  "cache-control": "no-store",
  "content-security-policy": `default-src 'none'; ${nothing}`,
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff"
} as const

/** The policy of a page that has its scripts and styles in itself: these very scripts, and requests to this server. */
export const policyOf = (page: string): string => {
  const hashes = Array.from(
    page.matchAll(/<script>([\s\S]*?)<\/script>/g),
    ([, script]) => `'sha256-${createHash("sha256").update(script!).digest("base64")}'`
  )
  const sources = `script-src ${hashes.join(" ")}; style-src 'unsafe-inline'; img-src data:; connect-src 'self'`
  return `default-src 'none'; ${sources}; ${nothing}`
}
