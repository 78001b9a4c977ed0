/** The network of an XRP server, by the list of old ledgers in the state of a real ledger of mainnet. */
import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as Network from "@headwater/indexer/families/xrp/internal/Network"
import * as XrpNode from "@headwater/indexer/families/xrp/XrpNode"
import * as Effect from "effect/Effect"
import * as Fixtures from "../../../Fixtures.ts"
import { chainOf } from "../XrpLedgers.ts"
import * as XrpServer from "../XrpServer.ts"

type Json = XrpServer.Json

const found = (name: string, networkId: number | undefined, entry: Json | undefined) =>
  Effect.gen(function* () {
    const server = yield* XrpServer.make({ ledgers: chainOf(1_000, 1, () => []) })
    server.override = (command, { index, ledger_index }) =>
      command === "ledger_entry" && index === Network.earlyLedgers && ledger_index === "validated" ? entry : undefined
    const node = yield* XrpNode.make({ urls: [server.wsUrl], attempts: 1 })
    const { available, detail, unsure } = yield* Network.capability(Chain.ofName(name)!, node, networkId)
    return `${available ? (unsure === true ? "unproven" : "proven") : "wrong"}: ${detail}`
  }).pipe(Effect.scoped, Effect.orDie)

const fixtures = "xrp/xrpl.js/packages/xrpl/test/fixtures/rippled/"
const recorded = (ledger: string): Json => {
  const { accountState } = Fixtures.json(`${fixtures}${ledger}.json`) as Json
  return accountState.find(({ index }: Json) => index === Network.earlyLedgers)
}

it("the entry's index is that of the ledgers from 0 on", () => {
  const space = Buffer.from([0, "s".charCodeAt(0), 0, 0, 0, 0])
  const half = createHash("sha512").update(space).digest().subarray(0, 32)
  assert.strictEqual(half.toString("hex").toUpperCase(), Network.earlyLedgers)
})

describe.skipIf(!Fixtures.exist)("the network of an XRP server", () => {
  it.live("is proved by ledger 256, which later ledgers list, whatever network_id says", () =>
    Effect.gen(function* () {
      for (const ledger of ["ledgerFull38129", "ledgerFull40000"]) {
        const entry = { node: recorded(ledger), validated: true, status: "success" }
        assert.strictEqual(yield* found("xrp/mainnet", undefined, entry), "proven: xrp/mainnet, by ledger 256")
        assert.match(
          yield* found("xrp/testnet", 1, entry),
          /^wrong: the server is on xrp\/mainnet, not on xrp\/testnet: .*correct the node's URL$/
        )
        const [, ...hashes] = entry.node.Hashes
        const changed = { ...entry, node: { ...entry.node, Hashes: hashes } }
        assert.match(
          yield* found("xrp/mainnet", 0, changed),
          /^wrong: the server's ledger 256 is [0-9A-F]{64}, not that of xrp\/mainnet/
        )
        assert.match(
          yield* found("xrp/testnet", undefined, changed),
          /^unproven: not proved: no ledger of xrp\/testnet is known, which is reset now and then; the server does not say/
        )
      }
    })
  )

  it.live("is another one where no such ledger is listed, and not proved where the server does not show the list", () =>
    Effect.gen(function* () {
      const none = { error: "entryNotFound", error_code: 21, error_message: "Requested ledger entry not found." }
      assert.match(
        yield* found("xrp/mainnet", undefined, { ...none, status: "error" }),
        /^wrong: the server's ledgers list no hash of ledger 256, as those of xrp\/mainnet do/
      )
      assert.strictEqual(
        yield* found("xrp/mainnet", 0, undefined),
        "unproven: not proved: the server does not show the hash of ledger 256; network_id 0 is the server's word alone"
      )
      assert.match(yield* found("xrp/mainnet", 1, undefined), /^wrong: the server is on network 1, not 0/)
    })
  )
})
