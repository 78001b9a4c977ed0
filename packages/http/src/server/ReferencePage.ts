/** The docs page: the OpenAPI document for readers, as one page without a script, which phones load and lay out quickly. */
import { apiVersion } from "../contract/Envelope.ts"
import { openApiDocument } from "../contract/OpenApiDocument.ts"
import { fieldsOf } from "../contract/SchemaFields.ts"

interface Content {
  readonly "application/json"?: {
    readonly schema?: unknown
    readonly example?: unknown
    readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
  }
}

interface Operation {
  readonly operationId: string
  readonly tags: ReadonlyArray<string>
  readonly summary?: string
  readonly description?: string
  readonly parameters: ReadonlyArray<{
    readonly name: string
    readonly in: string
    readonly required: boolean
    readonly description?: string
    readonly example?: unknown
  }>
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

const escaped = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

/** Text of the document, in which backquotes enclose code. */
const prose = (text: string) => escaped(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>")

const code = (text: string) => `<pre tabindex="0">${escaped(text)}</pre>`
const json = (value: unknown) => code(JSON.stringify(value, null, 1))
const exampleOf = (content: Content | undefined) => content?.["application/json"]?.example

/** Parameters of most operations, which the top of the page explains. */
const shared: ReadonlySet<string> = new Set(["context", "x-api-version"])

const curl = (method: string, path: string, { parameters, requestBody }: Operation): string => {
  /** The example of a parameter; its name where it has none. */
  const valueOf = (name: string) =>
    encodeURIComponent(String(parameters.find((one) => one.name === name)?.example ?? name))
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => valueOf(name))
  const needed = parameters.filter((one) => one.in === "query" && one.required)
  const query = needed.map(({ name }) => `${name}=${valueOf(name)}`).join("&")
  const body = requestBody === undefined ? "" : ` \\\n  -H 'content-type: application/json' -d @body.json`
  return `curl -X ${method} "$SERVER${filled}${query === "" ? "" : `?${query}`}" \\\n  -H "x-api-key: $KEY"${body}`
}

/** `note` follows the type of a field, by whether the field is required. */
const fieldsHtml = (content: Content | undefined, told: "all" | "described", note: (required: boolean) => string) => {
  const fields = fieldsOf(openApiDocument.components.schemas, content?.["application/json"]?.schema ?? {})
  const lines = fields
    .filter(({ description, required }) => told === "all" || description !== "" || !required)
    .map(({ description, path, required, type }) => {
      const text = description === "" ? "" : `: ${prose(description)}`
      return `<li><code>${path}</code> (${prose(type)}${note(required)})${text}`
    })
  return lines.length === 0 ? "" : `<ul>${lines.join("\n")}</ul>`
}

const errorsOf = ({ responses }: Operation): string =>
  Object.entries(responses)
    .flatMap(([status, { content }]) => {
      const codes = Number(status) < 400 ? [] : Object.keys(content?.["application/json"]?.examples ?? {})
      return codes.length === 0 ? [] : [`${status} ${codes.map((one) => `<code>${one}</code>`).join(" ")}`]
    })
    .join(" · ")

const operationHtml = (path: string, method: string, operation: Operation): string => {
  const own = operation.parameters.filter(({ name }) => !shared.has(name))
  const parameters = own.map(({ description = "", in: place, name, required }) => {
    const where = required && place !== "path" ? `${place}, required` : place
    return `<li><code>${name}</code> (${where}): ${prose(description)}</li>`
  })
  const success = Object.entries(operation.responses).find(([status]) => Number(status) < 400)
  const request = exampleOf(operation.requestBody?.content)
  const answer = exampleOf(success?.[1].content)
  return [
    `<details id="${operation.operationId}"><summary><b>${method}</b> ${escaped(operation.summary ?? path)}<code>${path}</code></summary>`,
    `<p>${prose(operation.description ?? "")}</p>`,
    parameters.length === 0 ? "" : `<ul>${parameters.join("\n")}</ul>`,
    code(curl(method, path, operation)),
    request === undefined ? "" : `<p>Body</p>${json(request)}`,
    fieldsHtml(operation.requestBody?.content, "all", (required) => (required ? "; required" : "")),
    answer === undefined ? "" : `<p>Answer, ${success![0]}</p>${json(answer)}`,
    fieldsHtml(success?.[1].content, "described", (required) => (required ? "" : "; may be absent")),
    `<p>Errors: ${errorsOf(operation)}</p></details>`
  ].join("\n")
}

const webhookHtml = (event: string, summary: string, content: Content): string => {
  const bodies = Object.entries(content["application/json"]?.examples ?? {})
  const shown = bodies.map(([blockchain, { value }]) => `<p>On ${blockchain}</p>${json(value)}`)
  return `<details id="${event}"><summary>${event}</summary><p>${prose(summary)}.</p>${shown.join("\n")}</details>`
}

const style = `:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:0 1rem 4rem;overflow-wrap:anywhere}
code,pre{font:.85em/1.45 ui-monospace,monospace}
pre{overflow-x:auto;padding:.75rem;background:#8882;border-radius:4px;overflow-wrap:normal}
details{border-bottom:1px solid #8884}
summary{padding:.6rem 0;cursor:pointer}
summary code{display:block;opacity:.75}
summary b{font-size:.75em;margin-right:.4em}
nav{columns:16rem;margin:1rem 0}
nav a{display:block;padding:.3rem 0}
ul{padding-left:1.2rem}`

/** The page as HTML. */
export const make = (): string => {
  const paths = Object.entries(openApiDocument.paths) as unknown as ReadonlyArray<[string, Record<string, Operation>]>
  const operations = paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation }))
  )
  const groups = [...Map.groupBy(operations, ({ operation }) => operation.tags[0] ?? "")]
  const about = new Map(openApiDocument.tags.map(({ description, name }) => [name, description ?? ""]))
  const anchorOf = (tag: string) => `group-${tag.toLowerCase().replaceAll(/\W+/g, "-")}`
  const webhooks = Object.entries(openApiDocument.webhooks) as unknown as ReadonlyArray<
    [string, { readonly post: { readonly summary: string; readonly requestBody: { readonly content: Content } } }]
  >
  return [
    `<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">`,
    `<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>Headwater: API</title>\n<style>${style}</style>\n</head>\n<body>`,
    "<main>\n<h1>Headwater: API</h1>",
    `<p>Every request carries the account's key in <code>x-api-key</code>, and may carry the version that it wants, <code>${apiVersion}</code>, in <code>x-api-version</code>. <code>context</code>, in the query or the body, comes back in the answer. The same for programs: <a href="openapi.json">openapi.json</a>.</p>`,
    `<nav aria-label="Groups">${groups.map(([tag]) => `<a href="#${anchorOf(tag)}">${escaped(tag)}</a>`).join("\n")}\n<a href="#callbacks">Callbacks that are sent</a></nav>`,
    ...groups.flatMap(([tag, members]) => [
      `<h2 id="${anchorOf(tag)}">${escaped(tag)}</h2>\n<p>${prose(about.get(tag) ?? "")}</p>`,
      ...members.map(({ method, operation, path }) => operationHtml(path, method, operation))
    ]),
    `<h2 id="callbacks">Callbacks that are sent</h2>`,
    ...webhooks.map(([event, { post }]) => webhookHtml(event, post.summary, post.requestBody.content)),
    "</main>\n</body>\n</html>\n"
  ].join("\n")
}
