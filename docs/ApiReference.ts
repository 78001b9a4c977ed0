/**
 * Writes `docs/api.md` from the OpenAPI document, and in `docs/callbacks.md` a callback from it and the table of events from
 * the event kinds:
 * `node_modules/.bin/node docs/ApiReference.ts`.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { type EventKind, eventKinds } from "@headwater/core/events/EventKinds"
import { families, familyNames } from "@headwater/core/families/families"
import { openApiDocument } from "@headwater/http/contract/OpenApiDocument"

const referenceFile = new URL("api.md", import.meta.url)
const guideFile = new URL("callbacks.md", import.meta.url)

interface Content {
  readonly "application/json"?: { readonly example?: unknown; readonly examples?: Readonly<Record<string, unknown>> }
}
interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly description?: string
  readonly schema: { readonly description?: string; readonly type?: string }
}
interface Operation {
  readonly tags: ReadonlyArray<string>
  readonly summary?: string
  readonly description?: string
  readonly parameters: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>
}

interface Webhook {
  readonly summary: string
  readonly requestBody: {
    readonly content: {
      readonly "application/json": { readonly examples: Readonly<Record<string, { value: unknown }>> }
    }
  }
}

/** JSON in the formatter's style: short lists of plain values on one line. */
const json = (value: unknown) =>
  `\`\`\`json\n${JSON.stringify(value, null, 2).replaceAll(/\[\s+([^[\]{}]{1,80}?)\s+\]/g, (_, items: string) => `[${items.replaceAll(/,\s+/g, ", ")}]`)}\n\`\`\`\n`

const exampleOf = (content: Content | undefined) => content?.["application/json"]?.example

/** Parameters of most operations, explained once at the top. */
const shared: ReadonlySet<string> = new Set(["context", "x-api-version", "blockchain", "network"])

/** A table as the formatter writes it: each column as wide as its widest cell. */
export const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = rows[0]!.map((_, i) => Math.max(3, ...rows.map((row) => row[i]!.length)))
  const lines = rows.map((row) => `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(" | ")} |`)
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`
  return [lines[0]!, rule, ...lines.slice(1)].join("\n")
}

/** The first description in a schema, which may stand below the top. */
const described = (schema: unknown): string => {
  if (typeof schema !== "object" || schema === null) return ""
  if ("description" in schema && typeof schema.description === "string") return schema.description
  return (
    Object.values(schema)
      .map(described)
      .find((text) => text !== "") ?? ""
  )
}

const parametersOf = ({ parameters }: Operation): string => {
  const own = parameters.filter(({ name }) => !shared.has(name))
  if (own.length === 0) return ""
  const rows = own.map(({ description, in: place, name, required, schema }) => {
    const text = (description ?? described(schema)).replaceAll("|", "\\|").replaceAll("\n", " ")
    return [`\`${name}\``, place, required ? "yes" : "no", text]
  })
  return `\n${table([["Parameter", "in", "required", ""], ...rows])}\n`
}

const errorsOf = ({ responses }: Operation): string =>
  Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .map(([status, { content, description }]) => {
      const codes = Object.keys(content?.["application/json"]?.examples ?? {})
      return `${status} ${codes.length === 0 ? description : codes.map((code) => `\`${code}\``).join(", ")}`
    })
    .join(" · ")

const operationOf = (method: string, path: string, operation: Operation): string => {
  const success = Object.entries(operation.responses).find(([status]) => Number(status) < 400)
  const request = exampleOf(operation.requestBody?.content)
  const answer = exampleOf(success?.[1].content)
  return [
    `### ${operation.summary ?? path}\n`,
    `\`${method.toUpperCase()} ${path}\`\n`,
    operation.description ?? "",
    parametersOf(operation),
    request === undefined ? "" : `\nRequest:\n\n${json(request)}`,
    answer === undefined ? "" : `\nAnswer, ${success![0]}:\n\n${json(answer)}`,
    `\nErrors: ${errorsOf(operation)}\n`
  ]
    .filter((part) => part !== "")
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
}

const webhooks = Object.entries(openApiDocument.webhooks as unknown as Record<string, { readonly post: Webhook }>)

const bodiesOf = ({ requestBody }: Webhook) => Object.entries(requestBody.content["application/json"].examples)

const webhookOf = (event: string, webhook: Webhook): string => {
  const bodies = bodiesOf(webhook).map(([blockchain, { value }]) => `On ${blockchain}:\n\n${json(value)}`)
  return [`### ${event}\n`, `${webhook.summary}.\n`, ...bodies].join("\n")
}

/** The reference as text. */
export const reference = (): string => {
  const paths = Object.entries(openApiDocument.paths) as unknown as ReadonlyArray<[string, Record<string, Operation>]>
  const operations = paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation }))
  )
  const groups = Map.groupBy(operations, ({ operation }) => operation.tags[0] ?? "")
  const about = new Map(openApiDocument.tags.map(({ description, name }) => [name, description ?? ""]))
  return [
    "# API reference\n",
    "Written by `docs/ApiReference.ts` from the OpenAPI document, which the daemon answers at `/openapi.json` and",
    "`headwater openapi` prints. Do not edit.\n",
    "Every request carries the account's key in `x-api-key`, and may carry the version that it wants in `x-api-version`.",
    "`blockchain` and `network` in a path are names such as `ethereum` and `mainnet`. `context`, in the query or the body,",
    "comes back in the answer. An error is `{apiVersion, requestId, context?, error: {code, message, details?}}`.\n",
    ...[...groups].flatMap(([tag, members]) => [
      `## ${tag}\n`,
      `${about.get(tag) ?? ""}\n`,
      ...members.map(({ method, operation, path }) => operationOf(method, path, operation))
    ]),
    "## Callbacks that are sent\n",
    "Bodies of callbacks, by their events. [The guide](callbacks.md) says how they are signed, sent and answered. A test's",
    "event ends in `_TEST`, a retraction's in `_REVERTED`, a correction's in `_CORRECTED`.\n",
    ...webhooks.map(([event, { post }]) => webhookOf(event, post))
  ]
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
}

const fieldsOf = ({ item: { fields } }: EventKind): string => {
  const { blockchain, network, ...own } = fields
  return Object.keys(own)
    .map((name) => `\`${name}\``)
    .join(", ")
}

/** The events in a table. */
const events = (): string =>
  table([
    ["Event", "`POST …/`", "sent for", "families", "confirmations", "`data.item`"],
    ...Object.entries<EventKind>(eventKinds).map(([event, kind]) => [
      `\`${event}\``,
      `\`${kind.path}\``,
      kind.words,
      kind.families.length === familyNames.length
        ? "all"
        : kind.families.map((family) => families[family].title).join(", "),
      kind.confirmations === "none" ? "" : `\`${kind.confirmations}\``,
      fieldsOf(kind)
    ])
  ])

/** A callback as the guide shows one. */
const callback = (): string => {
  const [, { post }] = webhooks.find(([event]) => event === "ADDRESS_COINS_TRANSACTION_CONFIRMED")!
  return json(bodiesOf(post).find(([blockchain]) => blockchain === "ethereum")![1].value)
}

const between = (text: string, mark: string, content: string) =>
  text.replace(
    new RegExp(`(<!-- ${mark} -->\n)[\\s\\S]*?(\n<!-- /${mark} -->)`),
    (_, start: string, end: string) => `${start}\n${content}\n${end}`
  )

/** The guide with a callback and the table of events between their marks. */
const guide = (): string =>
  between(between(readFileSync(guideFile, "utf8"), "callback", callback().trimEnd()), "events", events())

/** Whether the files in the repository are up to date. */
export const isCurrent = (): boolean =>
  readFileSync(referenceFile, "utf8") === reference() && readFileSync(guideFile, "utf8") === guide()

if (import.meta.main) {
  writeFileSync(referenceFile, reference())
  writeFileSync(guideFile, guide())
}
