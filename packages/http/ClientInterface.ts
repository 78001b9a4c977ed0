/**
 * Writes `src/client/Interface.ts` and `src/client/Calls.ts`, the types and places of the operations that the client of one
 * `fetch` has, from the OpenAPI document: `node_modules/.bin/node packages/http/ClientInterface.ts`.
 *
 * With `--check` nothing is written: the program fails where a file is not what the document says.
 */
import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { openApiDocument } from "@headwater/http/contract/OpenApiDocument"
import openapiTS, { astToString } from "openapi-typescript"

interface Schema {
  readonly $ref?: string
  readonly anyOf?: ReadonlyArray<Schema>
  readonly properties?: Readonly<Record<string, Schema>>
}
interface Body {
  readonly required?: boolean
  readonly content: { readonly "application/json": { readonly schema: Schema } }
}
interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly parameters: ReadonlyArray<{ readonly in: string; readonly example?: unknown }>
  readonly requestBody?: Body
  readonly responses: Readonly<Record<string, Body>>
}
interface Place {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

const { components, paths } = openApiDocument as unknown as {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

const places = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]): Place => ({ method, path, operation }))
)

const resolved = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : components.schemas[schema.$ref.split("/").at(-1)!]!

/** What a caller sees of an operation: no headers, and of the answer what its envelope holds. */
const reduced = ({ operationId, parameters, requestBody, responses }: Operation) => {
  const [, success] = Object.entries(responses).find(([status]) => status.startsWith("2"))!
  const schema = resolved(success.content["application/json"].schema).properties!.data
  return {
    operationId,
    parameters: parameters.filter((one) => one.in !== "header").map(({ example, ...rest }) => rest),
    ...(requestBody && {
      requestBody: {
        required: requestBody.required,
        content: { "application/json": { schema: requestBody.content["application/json"].schema } }
      }
    }),
    responses: { 200: { description: "", content: { "application/json": { schema } } } }
  }
}

/** Codes of the errors that any operation may answer. */
const codes = new Set(
  places.flatMap(({ operation: { responses } }) =>
    Object.entries(responses)
      .filter(([status]) => !status.startsWith("2"))
      .flatMap(([, { content }]) => {
        const { anyOf, ...one } = content["application/json"].schema
        return (anyOf ?? [one]).map(({ $ref }) => $ref!.split("/").at(-1)!.split(".")[1]!)
      })
  )
)

/** Names of the schemas that a text of types mentions, also through each other. */
const mentioned = (schemas: Readonly<Record<string, Schema>>, from: unknown): ReadonlySet<string> => {
  const names = new Set<string>()
  const visit = (value: unknown) => {
    for (const [, name] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (names.has(name!)) continue
      names.add(name!)
      visit(schemas[name!])
    }
  }
  visit(from)
  return names
}

const reducedPaths = Object.fromEntries(
  Object.entries(paths).map(([path, methods]) => [
    path,
    Object.fromEntries(Object.entries(methods).map(([method, operation]) => [method, reduced(operation)]))
  ])
)
const used = mentioned(components.schemas, reducedPaths)
const types = astToString(
  await openapiTS(
    {
      openapi: "3.1.0",
      info: { title: "", version: "" },
      paths: reducedPaths,
      components: { schemas: Object.fromEntries(Object.entries(components.schemas).filter(([name]) => used.has(name))) }
    } as never,
    { immutable: true }
  )
)
/** From one declaration of the generated text to the next. */
const declaration = (name: string) => {
  const from = types.indexOf(`export interface ${name} {`)
  return types.slice(from, types.indexOf("\n}\n", from) + 3)
}

const call = ({ operation: { description = "", operationId, summary = "" } }: Place) => {
  const text = [summary, description].filter((one) => one !== "").join(". ")
  return (
    `    /** ${text.replaceAll("*/", "*\\/").replace(/\s*\n\s*/g, " ")} */\n` +
    `    readonly "${operationId.slice(operationId.indexOf(".") + 1)}": Call<"${operationId}">`
  )
}

const groups = Map.groupBy(places, ({ operation }) => operation.operationId.split(".")[0]!)
const calls = [...groups].map(([group, places]) => `  readonly ${group}: {\n${places.map(call).join("\n")}\n  }`)
const endpoints = places.map(
  ({ method, operation, path }) => `  "${operation.operationId}": "${method.toUpperCase()} ${path}"`
)
const biome = fileURLToPath(new URL("../../node_modules/.bin/biome", import.meta.url))
const written = "/** Written by `ClientInterface.ts` from the OpenAPI document. */"
const write = (name: string, ...parts: ReadonlyArray<string>) => {
  const file = fileURLToPath(new URL(`src/client/${name}.ts`, import.meta.url))
  const input = [written, ...parts].join("\n")
  const text = execFileSync(biome, ["format", `--stdin-file-path=${file}`], { input, maxBuffer: 2 ** 24 })
  if (!process.argv.includes("--check")) writeFileSync(file, text)
  else if (!text.equals(readFileSync(file))) throw new Error(`${file} is not what the document says`)
}
write("Interface", declaration("components"), declaration("operations"))
write(
  "Calls",
  'import type { Call } from "./Call.ts"\n',
  "/** Methods and paths of the operations. */",
  `export const endpoints = {\n${endpoints.join(",\n")}\n} as const\n`,
  "/** Codes of the errors that any operation may answer. */",
  `export type ErrorCode =\n${[...codes]
    .sort()
    .map((code) => `  | "${code}"`)
    .join("\n")}\n`,
  "/** The operations by their groups, as methods. */",
  `export interface Calls {\n${calls.join("\n")}\n}\n`
)
