import { assert, describe, it } from "@effect/vitest"
import * as Asset from "@headwater/core/market/Asset"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

const format = SchemaIssue.makeFormatterStandardSchemaV1()
const decode = Schema.decodeUnknownResult(Asset.Entry, { errors: "all" })

const minimal = { slug: "tether", name: "Tether", originalSymbol: "USDT" }
const contract = (blockchain: string, identifier: string, standard: string, network = "mainnet") => ({
  ...{ blockchain, network, identifier, standard }
})

/** Which fields of an entry are wrong. */
const problems = (entry: unknown) =>
  Result.match(decode(entry), {
    onSuccess: () => [],
    onFailure: ({ issue }) => format(issue).issues.map(({ path }) => (path ?? []).join("."))
  })

describe("Asset", () => {
  it("takes an entry with no more than names", () => {
    assert.deepStrictEqual(Result.getOrThrow(decode(minimal)), { ...minimal, assetType: "crypto", contracts: [] })
  })

  it("writes the identifiers of contracts in their one form", () => {
    const entry = {
      ...minimal,
      contracts: [
        contract("ethereum", "0xdac17f958d2ee523a2206206994597c13d831ec7", "ERC-20"),
        contract("tron", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "TRC-20"),
        contract("ethereum", "ETH", Asset.native),
        contract("xrp", "USD.rhub8VRN55s94qWKDv6jmDy1pUykJzF3wq", "IOU")
      ]
    }
    assert.deepStrictEqual(
      Result.getOrThrow(decode(entry)).contracts.map(({ identifier }) => identifier),
      [
        "0xdAC17F958D2ee523a2206206994597C13D831ec7",
        "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
        "ETH",
        "USD.rhub8VRN55s94qWKDv6jmDy1pUykJzF3wq"
      ]
    )
  })

  it("names every field that is wrong", () => {
    const image = (bytes: number) => Buffer.alloc(bytes).toString("base64")
    const logo = { encoding: "base64", imageData: image(10), mimeType: "image/png" }
    for (const [change, paths] of [
      [{ slug: "Te ther" }, ["slug"]],
      [{ slug: ".." }, ["slug"]],
      [{ name: "a\u0007b" }, ["name"]],
      [{ name: " Tether" }, ["name"]],
      [{ name: "half of \ud83d" }, ["name"]],
      [{ originalSymbol: "" }, ["originalSymbol"]],
      [{ referenceId: "a/b" }, ["referenceId"]],
      [{ assetType: "stock" }, ["assetType"]],
      [{ contracts: [contract("solana", "x", "SPL")] }, ["contracts.0.blockchain"]],
      [{ contracts: [contract("ethereum", "x", "ERC-20", "nowhere")] }, ["contracts.0.network"]],
      [{ contracts: [contract("ethereum", "0x12", "ERC-20")] }, ["contracts.0.identifier"]],
      [
        { contracts: [{ ...contract("xrp", "XRP", Asset.native), fungibleValues: { decimals: -1 } }] },
        ["contracts.0.fungibleValues.decimals"]
      ],
      [{ logo: { ...logo, imageData: "???=" } }, ["logo.imageData"]],
      [{ logo: { ...logo, imageData: image(262_145) } }, ["logo.imageData"]],
      [{ logo: { ...logo, mimeType: "text/html" } }, ["logo.mimeType"]],
      [{ latestRate: { amount: "1", unit: "EUR" } }, ["latestRate.unit"]],
      [{ latestRate: { amount: "one" } }, ["latestRate.amount"]],
      [{ specificData: { maxSupply: "many" } }, ["specificData.maxSupply"]],
      [
        { slug: "", latestRate: { amount: "1", calculationTimestamp: "now" } },
        ["latestRate.calculationTimestamp", "slug"]
      ]
    ] as const) {
      assert.deepStrictEqual(
        [...problems({ ...minimal, ...change })].sort(),
        [...paths],
        JSON.stringify(change).slice(0, 80)
      )
    }
    assert.deepStrictEqual(problems({ ...minimal, logo: { ...logo, imageData: image(262_144) } }), [])
  })

  it("takes an answer of the service as an entry", () => {
    const answer: Asset.Asset = {
      contracts: [
        {
          ...contract("ethereum", "0xdAC17F958D2ee523a2206206994597C13D831ec7", "ERC-20"),
          fungibleValues: { decimals: 6 }
        }
      ],
      latestRate: { amount: "1.0003", unit: "USD", calculationTimestamp: 1_800_000_000 },
      logo: { encoding: "base64", imageData: "PHN2Zy8+", mimeType: "image/svg+xml" },
      ...{ name: "Tether", originalSymbol: "USDT", referenceId: "a1", slug: "tether", symbol: "USDT" },
      type: "crypto",
      specificData: {
        "1HourPriceChangeInPercentage": "0.01",
        "1WeekPriceChangeInPercentage": "-0.02",
        "24HoursPriceChangeInPercentage": "",
        "24HoursTradingVolume": "1",
        circulatingSupply: "2",
        marketCapInUSD: "3",
        maxSupply: "",
        type: "TOKEN"
      }
    }
    const { type: _, ...entry } = answer
    assert.deepStrictEqual(Result.getOrThrow(decode(answer)), { ...entry, assetType: "crypto" } as never)
  })
})
