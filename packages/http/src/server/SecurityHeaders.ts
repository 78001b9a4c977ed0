/**
 * Headers that every answer has, unless an answer says otherwise: no type is guessed, nothing is kept, nothing is loaded
 * or framed, and no other site is told where a reader comes from.
 */
const nothing = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export const securityHeaders = {
  "cache-control": "no-store",
  "content-security-policy": `default-src 'none'; ${nothing}`,
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff"
} as const

/** The policy of a page that has its styles in itself, and no script. */
export const pagePolicy = `default-src 'none'; style-src 'unsafe-inline'; ${nothing}`
