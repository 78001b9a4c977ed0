import { describe, it } from "@effect/vitest"
import * as Stories from "./Stories.ts"
import * as StoreTemplate from "./StoreTemplate.ts"

/** Where the seeds begin: at another place each day, or at `SEED`. */
const today = Number(process.env.SEED ?? Math.floor(Date.now() / 86_400_000) * 100_000)

describe("simulation of the day", () => {
  it("keeps every promise in each story", { timeout: Stories.timeout }, async () => {
    console.log(`Again: SEED=${today}`)
    await Stories.play(await StoreTemplate.sqlite(), today, Math.floor(Stories.count / 2))
  })
})
