/** Puts entries into the catalogue: finds the asset of each entry, gives it a symbol, and refuses duplicates. */
import { createHash } from "node:crypto"
import { type Contract, type Entry, native } from "@headwater/core/market/Asset"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database, type DatabaseError } from "../../database/Database.ts"
import type { Row } from "../../database/Tables.ts"
import type { AssetOrigin } from "../../database/tables/MarketTables.ts"

/** What listing an entry did: `kept` where an origin with precedence has described the asset already. */
export type ListingResult =
  | { readonly kind: "added" | "updated" | "unchanged" | "kept"; readonly asset: number }
  | { readonly kind: "refused"; readonly field: string; readonly message: string }

type Refused = Extract<ListingResult, { kind: "refused" }>

/** An origin may change what an origin of the same or a lower rank has described. */
const precedence: Record<AssetOrigin, number> = { coingecko: 0, bundled: 1, file: 2 }

/** The same on every server: 24 hexadecimal characters made of the slug. */
const referenceIdOf = (slug: string): string =>
  createHash("sha256").update(`headwater asset ${slug}`).digest("hex").slice(0, 24)

type AssetRow = Omit<Row<"asset">, "id"> & { readonly id: number | undefined }

const provider = "coingecko"

const isToken = ({ standard }: Contract) => standard !== native

const longSymbol = ({ originalSymbol, slug }: Entry) => `${originalSymbol}-${slug}`.toUpperCase()

/** The part of the catalogue that a batch of entries may touch. */
class Affected {
  readonly #byReference = new Map<string, AssetRow>()
  readonly #bySlug = new Map<string, AssetRow>()
  readonly #bySymbol = new Map<string, AssetRow>()
  readonly #links: Map<string, { readonly row: AssetRow; readonly described: number }>

  constructor(rows: ReadonlyArray<Row<"asset">>, links: ReadonlyArray<Row<"asset_provider">>) {
    const byId = new Map(rows.map((row) => [row.id, row]))
    for (const row of rows) this.#index(row)
    this.#links = new Map(
      links.map(({ asset, described, provider_id }) => [provider_id, { row: byId.get(asset)!, described }])
    )
  }

  #index(row: AssetRow) {
    this.#byReference.set(row.reference_id, row)
    this.#bySlug.set(row.slug, row)
    this.#bySymbol.set(row.symbol, row)
  }

  /** When the provider last described the asset of this id. */
  described(providerId: string): number {
    return this.#links.get(providerId)?.described ?? 0
  }

  /** The asset that an entry is about. A provider's entries are matched by its own ids only: equal slugs may be chance. */
  #existing(entry: Entry, origin: AssetOrigin): AssetRow | undefined {
    const link = entry.providers?.coingecko
    const linked = link === undefined ? undefined : this.#links.get(link)?.row
    if (origin === provider) return linked
    const byReference = entry.referenceId === undefined ? undefined : this.#byReference.get(entry.referenceId)
    const lesser = linked !== undefined && precedence[linked.origin] < precedence[origin] ? linked : undefined
    return byReference ?? this.#bySlug.get(entry.slug) ?? lesser
  }

  #symbol(entry: Entry, existing: AssetRow | undefined): string | Refused {
    const free = (symbol: string) => {
      const owner = this.#bySymbol.get(symbol)
      return owner === undefined || owner === existing
    }
    if (entry.symbol !== undefined) {
      const symbol = entry.symbol.toUpperCase()
      return free(symbol) ? symbol : refused("symbol", `is already that of "${this.#bySymbol.get(symbol)!.slug}"`)
    }
    if (existing !== undefined && existing.original_symbol === entry.originalSymbol) return existing.symbol
    const symbol = [entry.originalSymbol.toUpperCase(), longSymbol(entry)].find(free)
    return symbol ?? refused("symbol", "is to be given: the original symbol is already taken")
  }

  /** The row that an entry makes, and the row that it replaces. */
  place(
    entry: Entry,
    origin: AssetOrigin
  ): Refused | { readonly row: AssetRow; readonly before: AssetRow | undefined } {
    const existing = this.#existing(entry, origin)
    if (existing !== undefined && precedence[existing.origin] > precedence[origin]) {
      return { row: existing, before: existing }
    }
    const { providers, referenceId, slug } = entry
    if (existing !== undefined && referenceId !== undefined && referenceId !== existing.reference_id) {
      return refused("referenceId", `is "${existing.reference_id}" already, and ids do not change`)
    }
    const slugOwner = this.#bySlug.get(slug)
    if (slugOwner !== undefined && slugOwner !== existing) return refused("slug", "is already that of another asset")
    const reference = existing?.reference_id ?? referenceId ?? referenceIdOf(slug)
    if (existing === undefined && this.#byReference.has(reference)) {
      return refused("referenceId", "is to be given: an asset that once had this slug has the usual one")
    }
    const linked = providers?.coingecko === undefined ? undefined : this.#links.get(providers.coingecko)?.row
    if (linked !== undefined && linked !== existing) {
      return refused(`providers.${provider}`, `is already "${linked.slug}"`)
    }
    const symbol = this.#symbol(entry, existing)
    if (typeof symbol !== "string") return symbol
    // An entry that names no contracts takes none away.
    const hasContracts = entry.contracts.length > 0
    const row: AssetRow = {
      id: existing?.id,
      reference_id: reference,
      slug,
      symbol,
      original_symbol: entry.originalSymbol,
      name: entry.name,
      asset_type: entry.assetType,
      ...(hasContracts || existing === undefined
        ? { subtype: entry.contracts.some(isToken) ? "TOKEN" : "COIN", contracts: JSON.stringify(entry.contracts) }
        : { subtype: existing.subtype, contracts: existing.contracts }),
      ...(entry.specificData?.type === undefined ? {} : { subtype: entry.specificData.type }),
      origin
    }
    if (existing !== undefined) {
      this.#bySlug.delete(existing.slug)
      this.#bySymbol.delete(existing.symbol)
    }
    this.#index(row)
    if (providers?.coingecko !== undefined) {
      this.#links.set(providers.coingecko, { row, described: this.described(providers.coingecko) })
    }
    return { row, before: existing }
  }
}

export const refused = (field: string, message: string): Refused => ({ kind: "refused", field, message })

const columns = ["slug", "symbol", "original_symbol", "name", "asset_type", "subtype", "contracts", "origin"] as const
const replace = `on conflict (reference_id) do update set ${columns.map((name) => `${name} = excluded.${name}`).join(", ")}`

const load = Effect.fnUntraced(function* (entries: ReadonlyArray<Entry>) {
  const { numbers, query, texts } = yield* Database
  const providerIds = entries.flatMap(({ providers }) => providers?.coingecko ?? [])
  const links = yield* query((db) =>
    db
      .selectFrom("asset_provider")
      .selectAll()
      .where("provider", "=", provider)
      .where(sql<boolean>`provider_id in ${texts(providerIds)}`)
  )
  const wanted = {
    reference_id: entries.map(({ referenceId, slug }) => referenceId ?? referenceIdOf(slug)),
    slug: entries.map(({ slug }) => slug),
    symbol: entries.flatMap((entry) => [(entry.symbol ?? entry.originalSymbol).toUpperCase(), longSymbol(entry)])
  }
  const byText = yield* Effect.forEach(["reference_id", "slug", "symbol"] as const, (column) =>
    query((db) =>
      db
        .selectFrom("asset")
        .selectAll()
        .where(sql<boolean>`${sql.ref(column)} in ${texts(wanted[column])}`)
    )
  )
  const assets = links.map(({ asset }) => asset)
  const linked = yield* query((db) =>
    db
      .selectFrom("asset")
      .selectAll()
      .where(sql<boolean>`id in ${numbers(assets)}`)
  )
  const rows = new Map([...byText.flat(), ...linked].map((row) => [row.id, row]))
  return new Affected([...rows.values()], links)
})

/**
 * Lists entries in one transaction; what became of each, in their order. `described` is the time of the provider's
 * description, in milliseconds since the Unix epoch. Fails with a duplicate only where entries exchange slugs or symbols
 * with each other, or another process lists the same asset.
 */
export const put = Effect.fnUntraced(function* (
  entries: ReadonlyArray<Entry>,
  origin: AssetOrigin,
  described: number
): Effect.fn.Return<ReadonlyArray<ListingResult>, DatabaseError, Database> {
  const { insertMany, numbers, query, texts } = yield* Database
  const affected = yield* load(entries)
  const placed = entries.map((entry) => ({ entry, place: affected.place(entry, origin) }))

  const changed = new Map<string, AssetRow>()
  for (const { place } of placed) {
    if ("row" in place && !sameRow(place.row, place.before)) changed.set(place.row.reference_id, place.row)
  }
  yield* insertMany(
    "asset",
    [...changed.values()].map(({ id: _, ...row }) => row),
    replace
  )
  const references = placed.flatMap(({ place }) => ("row" in place ? place.row.reference_id : []))
  const ids = new Map(
    (yield* query((db) =>
      db
        .selectFrom("asset")
        .select(["id", "reference_id"])
        .where(sql<boolean>`reference_id in ${texts(references)}`)
    )).map(({ id, reference_id }) => [reference_id, id])
  )

  const logos = new Map<number, Row<"asset_logo">>()
  const links = new Map<number, Row<"asset_provider">>()
  const listed = placed.map(({ entry, place }): ListingResult => {
    if (!("row" in place)) return place
    const asset = ids.get(place.row.reference_id)!
    const mine = place.row.origin === origin
    const { logo, providers } = entry
    if (mine && logo !== undefined) {
      logos.set(asset, { asset, mime_type: logo.mimeType, data: Buffer.from(logo.imageData, "base64") })
    }
    if (providers?.coingecko !== undefined && (mine || origin === provider)) {
      const at = origin === provider ? described : affected.described(providers.coingecko)
      links.set(asset, { provider, provider_id: providers.coingecko, asset, described: at })
    }
    if (!mine) return { kind: "kept", asset }
    if (place.before === undefined) return { kind: "added", asset }
    return { kind: changed.has(place.row.reference_id) ? "updated" : "unchanged", asset }
  })
  yield* insertMany(
    "asset_logo",
    [...logos.values()],
    "on conflict (asset) do update set mime_type = excluded.mime_type, data = excluded.data"
  )
  yield* query((db) =>
    db
      .deleteFrom("asset_provider")
      .where("provider", "=", provider)
      .where(sql<boolean>`asset in ${numbers([...links.keys()])}`)
  )
  yield* insertMany("asset_provider", [...links.values()])
  return listed
})

const sameRow = (row: AssetRow, before: AssetRow | undefined): boolean =>
  before !== undefined && columns.every((column) => row[column] === before[column])
