/**
 * The reference of the interface from the OpenAPI document: an overview and a page for each group of operations; and in
 * `docs/callbacks.md` a callback from it and the table of events from the event kinds.
 */
import { type EventKind, eventKinds } from "@headwater/core/events/EventKinds"
import { families, familyNames } from "@headwater/core/families/families"
import { openApiDocument } from "@headwater/http/contract/OpenApiDocument"
import { type Field, fieldsOf } from "@headwater/http/contract/SchemaFields"
import { anchorOf } from "./Anchor.ts"
import { between, json, table } from "./Page.ts"

interface Content {
  readonly "application/json"?: {
    readonly schema?: unknown
    readonly example?: unknown
    readonly examples?: Readonly<Record<string, unknown>>
  }
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

const exampleOf = (content: Content | undefined) => content?.["application/json"]?.example

/** Parameters of most operations, explained once at the top. */
const shared: ReadonlySet<string> = new Set(["context", "x-api-version", "blockchain", "network"])

const paths = Object.entries(openApiDocument.paths) as unknown as ReadonlyArray<[string, Record<string, Operation>]>
const operations = paths.flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation }))
)
const groups = Map.groupBy(operations, ({ operation }) => operation.tags[0] ?? "")

/** The file of a group of operations below `docs`. */
const pageOf = (tag: string) => `api/${anchorOf(tag)}.md`

const titleOf = ({ operation, path }: (typeof operations)[number]) => operation.summary ?? path

const codesOf = ({ responses }: Operation): ReadonlyArray<readonly [status: string, codes: ReadonlyArray<string>]> =>
  Object.entries(responses).flatMap(([status, { content }]) =>
    Number(status) < 400 ? [] : [[status, Object.keys(content?.["application/json"]?.examples ?? {})] as const]
  )

/** Each operation that answers an error, with where it is described, and the error as it answers it. */
export const answering = (
  code: string
): ReadonlyArray<{ readonly title: string; readonly link: string; readonly example: unknown }> =>
  operations.flatMap((operation) => {
    const found = Object.values(operation.operation.responses).flatMap(({ content }) => {
      const { [code]: example } = (content?.["application/json"]?.examples ?? {}) as Record<string, { value: unknown }>
      return example === undefined ? [] : [example.value]
    })
    if (found.length === 0) return []
    const title = titleOf(operation)
    return [{ title, link: `${pageOf(operation.operation.tags[0] ?? "")}#${anchorOf(title)}`, example: found[0] }]
  })

/** How many operations there are. */
export const count = operations.length

/** Errors of every operation, which are said once. */
const everywhere: ReadonlySet<string> = new Set(
  operations
    .flatMap(({ operation }) => codesOf(operation).flatMap(([, codes]) => codes))
    .filter((code, index, all) => all.indexOf(code) === index && answering(code).length === count)
)

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
    const text = (description ?? described(schema)).replaceAll("\n", " ")
    return `- \`${name}\` (${place}${required && place !== "path" ? ", required" : ""}): ${text}`
  })
  return `\nParameters:\n\n${rows.join("\n")}\n`
}

const fieldLine = (note: string, { description, path, type }: Field) => {
  const text = description === "" ? "" : `: ${description.replaceAll("\n", " ")}`
  return `- \`${path}\` (${type}${note})${text}`
}

const bodyFields = (content: Content | undefined) =>
  fieldsOf(openApiDocument.components.schemas, content?.["application/json"]?.schema ?? {})

const requestFields = ({ requestBody }: Operation): string => {
  const fields = bodyFields(requestBody?.content)
  if (fields.length === 0) return ""
  const lines = fields.map((field) => fieldLine(field.required ? "; required" : "", field))
  return `\nFields of \`data.item\`:\n\n${lines.join("\n")}\n`
}

/** Those of which the example does not say all: what they are, and whether they are always there. */
const answerFields = (content: Content | undefined): string => {
  const told = bodyFields(content).filter(({ description, required }) => description !== "" || !required)
  if (told.length === 0) return ""
  const lines = told.map((field) => fieldLine(field.required ? "" : "; may be absent", field))
  return `\nFields of the answer, where the example does not say all of them:\n\n${lines.join("\n")}\n`
}

const errorLink = (code: string, from: string) => `[\`${code}\`](${from}errors.md#${code})`

const errorsOf = (operation: Operation): string => {
  const own = codesOf(operation).flatMap(([status, codes]) => {
    const rest = codes.filter((code) => !everywhere.has(code))
    return rest.length === 0 ? [] : [`${status} ${rest.map((code) => errorLink(code, "../")).join(", ")}`]
  })
  return own.length === 0 ? "" : `\nErrors of its own: ${own.join(" · ")}\n`
}

const operationOf = (one: (typeof operations)[number]): string => {
  const { method, operation, path } = one
  const success = Object.entries(operation.responses).find(([status]) => Number(status) < 400)
  const request = exampleOf(operation.requestBody?.content)
  const answer = exampleOf(success?.[1].content)
  return [
    `## ${titleOf(one)}\n`,
    `\`${method} ${path}\`\n`,
    operation.description ?? "",
    parametersOf(operation),
    request === undefined ? "" : `\nRequest:\n\n${json(request)}`,
    requestFields(operation),
    answer === undefined ? "" : `\nAnswer, ${success![0]}:\n\n${json(answer)}`,
    answerFields(success?.[1].content),
    errorsOf(operation)
  ]
    .filter((part) => part !== "")
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
}

const webhooks = Object.entries(openApiDocument.webhooks as unknown as Record<string, { readonly post: Webhook }>)

const bodiesOf = ({ requestBody }: Webhook) => Object.entries(requestBody.content["application/json"].examples)

const webhookOf = (event: string, webhook: Webhook): string => {
  const bodies = bodiesOf(webhook).map(([blockchain, { value }]) => `On ${blockchain}:\n\n${json(value)}`)
  return [`## ${event}\n`, `${webhook.summary}.\n`, ...bodies].join("\n")
}

const written =
  "Written by `docs/generate.ts` from the OpenAPI document, which the daemon answers at `/openapi.json` and\n`headwater openapi` prints. Do not edit.\n"

const about = new Map(openApiDocument.tags.map(({ description, name }) => [name, description ?? ""]))

const groupOf = (tag: string, members: typeof operations) => [
  `# ${tag}\n`,
  `${about.get(tag) ?? ""}. [What all operations have in common](../api.md)\n`,
  ...members.map(operationOf)
]

const callbackPage = "api/callbacks-that-are-sent.md"

const bodies = () => [
  "# Callbacks that are sent\n",
  "Bodies of callbacks, by their events. [The guide](../callbacks.md) says how they are signed, sent and answered. A test's",
  "event ends in `_TEST`, a retraction's in `_REVERTED`, a correction's in `_CORRECTED`.\n",
  ...webhooks.map(([event, { post }]) => webhookOf(event, post))
]

const overview = () => [
  "# API reference\n",
  written,
  "Every request carries the account's key in `x-api-key`, and may carry the version that it wants in `x-api-version`.",
  "`blockchain` and `network` in a path are names such as `ethereum` and `mainnet`. `context`, in the query or the body,",
  "comes back in the answer. An error is `{apiVersion, requestId, context?, error: {code, message, details?}}`.",
  "A body is JSON (`content-type: application/json`), not compressed; fields that are unknown are ignored, and `null` is the",
  "absence of an optional field. Times are in seconds since the Unix epoch unless the field says otherwise.\n",
  `Every operation may answer ${[...everywhere].map((code) => errorLink(code, "")).join(", ")}; those that an operation`,
  "may answer besides stand with it. [What each error means](errors.md)\n",
  `The bodies of callbacks have [a page of their own](${callbackPage}).\n`,
  ...[...groups].flatMap(([tag, members]) => [
    `## ${tag}\n`,
    `${about.get(tag) ?? ""}.\n`,
    `${members
      .map((one) => {
        const title = titleOf(one)
        return `- [${title}](${pageOf(tag)}#${anchorOf(title)})  \n  \`${one.method} ${one.path}\``
      })
      .join("\n")}\n`
  ])
]

const text = (parts: ReadonlyArray<string>) => parts.join("\n").replaceAll(/\n{3,}/g, "\n\n")

const itemOf = ({ item: { fields } }: EventKind): string => {
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
      itemOf(kind)
    ])
  ])

/** A callback as the guide shows one. */
const callback = (): string => {
  const [, { post }] = webhooks.find(([event]) => event === "ADDRESS_COINS_TRANSACTION_CONFIRMED")!
  return json(bodiesOf(post).find(([blockchain]) => blockchain === "ethereum")![1].value)
}

/** The reference by its files below `docs`. */
export const files = (): ReadonlyArray<readonly [file: string, text: string]> => [
  ["api.md", text(overview())],
  ...[...groups].map(([tag, members]) => [pageOf(tag), text(groupOf(tag, members))] as const),
  [callbackPage, text(bodies())]
]

/** The guide to callbacks with a callback and the table of events between their marks. */
export const guide = (guide: string): string =>
  between(between(guide, "callback", callback().trimEnd()), "events", events())
