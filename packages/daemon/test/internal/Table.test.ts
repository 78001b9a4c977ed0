import { assert, describe, it } from "@effect/vitest"
import type { Screen } from "../../src/internal/Screen.ts"
import * as Size from "../../src/internal/Size.ts"
import * as Table from "../../src/internal/Table.ts"

const style = (name: string) => (text: string) => (text === "" ? "" : `<${name}>${text}</${name}>`)
const plain = (text: string) => text

const screen = (width: number | undefined, coloured: boolean): Screen => {
  const as = coloured ? style : () => plain
  return { width, bold: as("b"), dim: as("d"), red: as("r"), yellow: as("y"), green: as("g") }
}

const headings = ["CHAIN", "STATE", "HEIGHT"]
const rows = [
  ["bitcoin/mainnet", { text: "following", colour: "green" }, "9"],
  ["tron/nile", { text: "failing", colour: "red" }, "-"]
] as const

describe("Table", () => {
  it("aligns columns, whatever colours take", () => {
    assert.strictEqual(
      Table.render(headings, rows, screen(undefined, false)),
      "CHAIN            STATE      HEIGHT\nbitcoin/mainnet  following  9\ntron/nile        failing    -"
    )
    assert.strictEqual(
      Table.render(headings, rows, screen(80, true)),
      "<b>CHAIN            STATE      HEIGHT</b>\nbitcoin/mainnet  <g>following</g>  9\n" +
        "tron/nile        <r>failing</r>    -"
    )
  })

  it("shows a row as a record where a terminal is too narrow, and cuts nothing", () => {
    assert.strictEqual(
      Table.render(headings, rows, screen(30, false)),
      "CHAIN   bitcoin/mainnet\nSTATE   following\nHEIGHT  9\n\nCHAIN   tron/nile\nSTATE   failing\nHEIGHT  -"
    )
    assert.strictEqual(Table.render(headings, [], screen(30, false)), "(none)")
  })

  it("writes bytes as people read them", () => {
    assert.deepStrictEqual([0, 1, 1023, 1024, 1_589_248, 120 * 2 ** 30, 5_000 * 2 ** 40].map(Size.describe), [
      "0 bytes",
      "1 bytes",
      "1023 bytes",
      "1.0 KiB",
      "1.5 MiB",
      "120 GiB",
      "5000 TiB"
    ])
  })
})
