/**
 * The OpenAPI document as programs read it: errors and headers, which the operations have in common, stand once. In their
 * places they made the document three and a half times as large, which generators of clients then read for seconds.
 */
import { type Document, openApiDocument } from "./OpenApiDocument.ts"

interface Answer {
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content?: { readonly "application/json"?: { readonly examples?: Readonly<Record<string, unknown>> } }
}

type Operations = Readonly<Record<string, { readonly responses: Readonly<Record<string, Answer>> }>>

const publish = () => {
  const headers: Record<string, unknown> = {}
  const responses: Record<string, Answer> = {}
  const withHeaders = (answer: Answer): Answer => {
    const references = Object.keys(answer.headers ?? {}).map((name) => {
      headers[name] = answer.headers![name]
      return [name, { $ref: `#/components/headers/${name}` }] as const
    })
    return { ...answer, headers: Object.fromEntries(references) }
  }
  /** By its status and codes, which say all of it; generators make names of types of the name. */
  const shared = (status: string, answer: Answer) => {
    const name = ["error", status, ...Object.keys(answer.content!["application/json"]!.examples!)].join(".")
    responses[name] ??= withHeaders(answer)
    return { $ref: `#/components/responses/${name}` }
  }
  const paths = Object.entries(openApiDocument.paths as unknown as Readonly<Record<string, Operations>>).map(
    ([path, methods]) => {
      const operations = Object.entries(methods).map(([method, operation]) => {
        const answers = Object.entries(operation.responses).map(([status, answer]) => [
          status,
          Number(status) < 400 ? withHeaders(answer) : shared(status, answer)
        ])
        return [method, { ...operation, responses: Object.fromEntries(answers) }]
      })
      return [path, Object.fromEntries(operations)]
    }
  )
  const components = { ...openApiDocument.components, responses, headers }
  return { ...openApiDocument, paths: Object.fromEntries(paths), components } as Document
}

/**
 * The document, which the daemon answers at `/openapi.json` and `headwater openapi` prints.
 *
 * @example
 * ```ts
 * import { publishedDocument } from "@headwater/http/contract/PublishedDocument"
 *
 * publishedDocument.openapi // => "3.1.0"
 * ```
 */
export const publishedDocument: Document = publish()
