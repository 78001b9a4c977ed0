/** The errors of the interface: one page of all for GitHub, and on the site a page for each. */
import * as ErrorExplanations from "@headwater/http/contract/ErrorExplanations"
import { outsideOperations } from "@headwater/http/contract/Errors"
import * as ApiReference from "./ApiReference.ts"
import { explained } from "./Explained.ts"
import { json } from "./Page.ts"

type Code = (typeof ErrorExplanations.codes)[number]

const statusesOf = (code: Code) => ErrorExplanations.statusesOf(code).join(" and ")

/** More than so many operations are counted where all errors stand on one page. */
const most = 8

const operationsOf = (code: Code, from: string, atMost: number): string => {
  const operations = ApiReference.answering(code)
  if (operations.length === 0)
    return outsideOperations.some((outside) => outside.code === code)
      ? "No operation answers this error: the server does, before it knows which operation is meant.\n"
      : ""
  if (operations.length === ApiReference.count) return "Every operation may answer this error.\n"
  if (operations.length > atMost)
    return `${operations.length} of the ${ApiReference.count} operations may answer this error: the [API reference](${from}api.md) says which.\n`
  return `Operations that may answer this error:\n\n${operations.map(({ link, title }) => `- [${title}](${from}${link})`).join("\n")}\n`
}

const exampleOf = (code: Code): string => {
  const [first] = ApiReference.answering(code)
  return first === undefined ? "" : `An answer:\n\n${json(first.example)}`
}

/** What belongs to one error, below its heading; links begin at the folder `from`. */
const bodyOf = (code: Code, from: string, atMost: number): string =>
  [
    `Status ${statusesOf(code)}.`,
    explained(ErrorExplanations.explanations[code]),
    operationsOf(code, from, atMost),
    exampleOf(code)
  ]
    .filter((part) => part !== "")
    .join("\n\n")
    .replaceAll(/\n{3,}/g, "\n\n")

/** The page of all errors. */
export const all = (): string =>
  [
    "# Errors\n",
    "Written by `docs/generate.ts` from the contract; `headwater explain CODE` prints the same. Do not edit.\n",
    "An answer that is no success has the form `{apiVersion, requestId, context?, error: {code, message, details?}}`. The code",
    "is for programs and stays the same; the message is for people.\n",
    `${ErrorExplanations.codes.map((code) => `- [\`${code}\`](errors.md#${code}): ${statusesOf(code)}`).join("\n")}\n`,
    ...ErrorExplanations.codes.map((code) => `## ${code}\n\n${bodyOf(code, "", most)}`)
  ].join("\n")

/** The page of each error on the site, by its code. */
export const each = (): ReadonlyArray<readonly [code: string, text: string]> =>
  ErrorExplanations.codes.map((code) => [
    code,
    `# ${code}\n\n${bodyOf(code, "../", Number.POSITIVE_INFINITY)}\n[All errors](../errors.md)\n`
  ])
