/**
 * The settings before they are checked: a tree of plain values, and the schema's tree beside it, which says which
 * environment variable names which leaf.
 */
import * as SchemaAST from "effect/SchemaAST"

export type Path = ReadonlyArray<string | number>

/** One setting: where it is, and what may stand there. */
export interface Leaf {
  readonly path: ReadonlyArray<string>
  readonly ast: SchemaAST.AST
}

/** Every setting below `ast`, which is the encoded side of a schema of nested structs; those of a record have no variable. */
export const leaves = (ast: SchemaAST.AST, path: ReadonlyArray<string> = []): ReadonlyArray<Leaf> =>
  SchemaAST.isObjects(ast)
    ? ast.propertySignatures.flatMap(({ name, type }) => leaves(type, [...path, String(name)]))
    : [{ path, ast }]

/** The names that may stand at `path`. */
export const namesAt = (ast: SchemaAST.AST, path: Path): ReadonlyArray<string> => {
  if (!SchemaAST.isObjects(ast)) return []
  const [name, ...rest] = path
  if (name === undefined) return ast.propertySignatures.map(({ name }) => String(name))
  const inner = typeAt(ast, String(name))
  return inner === undefined ? [] : namesAt(inner, rest)
}

/** What may stand under a name: that of the struct, or of any entry of a record. */
const typeAt = ({ indexSignatures, propertySignatures }: SchemaAST.Objects, name: string): SchemaAST.AST | undefined =>
  propertySignatures.find((property) => String(property.name) === name)?.type ?? indexSignatures[0]?.type

/** `["http", "maxBodyBytes"]` → `HEADWATER_HTTP_MAX_BODY_BYTES`. */
export const variableOf = (path: ReadonlyArray<string>): string =>
  ["headwater", ...path]
    .map((name) =>
      name
        .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
        .replace(/[^A-Za-z0-9]+/g, "_")
        .toUpperCase()
    )
    .join("_")

const isNumeric = (text: string) => /^-?\d+(\.\d+)?$/.test(text)

/** The value that text means at a leaf. What does not fit stays text, so that the schema says what is wrong with it. */
export const fromText = (ast: SchemaAST.AST, text: string): unknown => {
  if (SchemaAST.isArrays(ast)) {
    return text
      .split(/[,\n]/)
      .map((item) => item.trim())
      .filter((item) => item !== "")
  }
  if (SchemaAST.isUnion(ast)) return ast.types.some(SchemaAST.isNumber) && isNumeric(text) ? Number(text) : text
  if (SchemaAST.isNumber(ast)) return isNumeric(text) ? Number(text) : text
  if (SchemaAST.isBoolean(ast)) return text === "true" ? true : text === "false" ? false : text
  return text
}

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** `tree` with `value` at `path`; what stands in the way is replaced. */
export const set = (tree: unknown, [name, ...rest]: ReadonlyArray<string>, value: unknown): unknown =>
  name === undefined
    ? value
    : { ...(isTable(tree) ? tree : {}), [name]: set(isTable(tree) ? tree[name] : undefined, rest, value) }

/** A secret that stands in a file of its own: `{ file = "/run/secrets/x" }`. */
export interface FileReference {
  readonly path: Path
  readonly file: string
}

const asFile = (value: unknown): string | undefined =>
  isTable(value) && Object.keys(value).length === 1 && typeof value.file === "string" ? value.file : undefined

/** Every `{ file = … }` that stands where a value belongs. */
export const fileReferences = (ast: SchemaAST.AST, tree: unknown, path: Path = []): ReadonlyArray<FileReference> => {
  if (SchemaAST.isObjects(ast)) {
    return isTable(tree)
      ? Object.entries(tree).flatMap(([name, value]) => {
          const type = typeAt(ast, name)
          return type === undefined ? [] : fileReferences(type, value, [...path, name])
        })
      : []
  }
  if (Array.isArray(tree)) {
    return tree.flatMap((item, index) => {
      const file = asFile(item)
      return file === undefined ? [] : [{ path: [...path, index], file }]
    })
  }
  const file = asFile(tree)
  return file === undefined ? [] : [{ path, file }]
}

/** `tree` with what `read` gives in place of every file reference. */
export const withFiles = (tree: unknown, files: ReadonlyArray<FileReference & { readonly text: string }>): unknown => {
  const at = new Map(files.map(({ path, text }) => [path.join("\0"), text]))
  const walk = (value: unknown, path: Path): unknown => {
    const text = at.get(path.join("\0"))
    if (text !== undefined) return text
    if (Array.isArray(value)) return value.map((item, index) => walk(item, [...path, index]))
    if (!isTable(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, walk(item, [...path, name])]))
  }
  return walk(tree, [])
}

/** A path as one would write it in TOML: `chains."ethereum/devnet".nodes[0]`. */
export const format = (path: ReadonlyArray<PropertyKey>): string =>
  path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`
    const name = /^[A-Za-z0-9_-]+$/.test(String(part)) ? String(part) : JSON.stringify(part)
    return text === "" ? name : `${text}.${name}`
  }, "")
