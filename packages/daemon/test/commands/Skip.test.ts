import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Folder from "../../../../test/Folder.ts"
import * as Headwater from "../../../../test/Headwater.ts"
import { account, chainOf } from "../../../indexer/test/families/xrp/XrpLedgers.ts"
import * as XrpServer from "../../../indexer/test/families/xrp/XrpServer.ts"
import { runCommand } from "../RunCommand.ts"

const name = "xrp/mainnet"

describe("headwater skip", () => {
  it.live(
    "is the way out of a gap that no server fills, says so everywhere, and a rewind takes the gap back",
    () =>
      Effect.gen(function* () {
        const cwd = yield* Folder.scoped
        const server = yield* XrpServer.make({
          ledgers: chainOf(1_000, 41, () => [{ from: 1, to: 2, drops: 1n }]),
          networkId: 0
        })
        server.validated = 1_003
        const settings = {
          store: { sqlite: join(cwd, "store.db") },
          chains: { [name]: { nodes: [server.wsUrl], start: 1_000, pollMillis: 200, timeoutMillis: 2_000 } },
          callbacks: { allowHosts: ["localhost"] }
        }
        writeFileSync(join(cwd, "headwater.json"), JSON.stringify({ ...settings, http: { port: 0 } }))
        const headwater = yield* Headwater.start({ kind: "sqlite", file: settings.store.sqlite }, settings)
        const until = (enough: (chain: Record<string, never>) => boolean) =>
          Effect.map(
            Headwater.until(headwater.get("/ready"), ({ body }) => enough(body.chains[name])),
            ({ body }) => body.chains[name]
          )
        const reached = (height: number) => until((chain) => chain.height === height)
        const command = (...args: ReadonlyArray<string>) =>
          runCommand([...args, "--config", join(cwd, "headwater.json")])
        yield* reached(1_003)
        assert.match((yield* until((chain) => chain.networkDoubt !== null)).networkDoubt, /^not proved: /)
        const coins = "address-coins-transactions-confirmed"
        const created = yield* headwater.post(`/blockchain-events/${name}/${coins}`, {
          ...{ address: account(2), callbackUrl: "https://localhost:1/" }
        })
        assert.strictEqual(created.status, 201)
        const nothing = yield* command("skip", name)
        assert.strictEqual(nothing.code, 1)
        assert.match(nothing.stderr, /is in use by another headwater/)

        // A server that keeps few ledgers, after a long downtime.
        server.validated = 1_040
        server.override = (asked, { ledger_index }) =>
          asked === "server_info"
            ? { info: { complete_ledgers: "1031-1040", server_state: "full", network_id: 0 }, status: "success" }
            : asked === "ledger" && typeof ledger_index === "number" && ledger_index < 1_031
              ? { error: "lgrNotFound", error_code: 21, error_message: "ledgerNotFound", status: "error" }
              : undefined
        const { message } = yield* until((chain) => chain.state === "failing" && /skip/.test(String(chain.message)))
        assert.match(
          message,
          /does not have block 100[34] \(it has 1031-1040\).*headwater skip xrp\/mainnet is the way out/
        )
        yield* headwater.terminate

        const doctor = yield* command("doctor", "--json")
        const found: ReadonlyArray<{ subject: string; level: string; message: string; advice?: string }> = JSON.parse(
          doctor.stdout
        )
        const problem = found.find(({ level, subject }) => level === "problem" && subject === name)!
        assert.match(problem.message, /next block to be read cannot be had: .*; the nodes have blocks from 1031 on/)
        assert.match(problem.advice!, /blocks 1004 to 1030 any more: npm start -- skip xrp\/mainnet --to 1030/)
        const ofNode = found.find(({ message }) => message.startsWith("the node lacks block 1004"))!
        assert.match(ofNode.message, /which is read next \(.*\); it has blocks from 1031 on$/)

        const looked = yield* command("skip", name)
        assert.strictEqual(looked.code, 0, looked.stderr)
        assert.match(
          looked.stdout,
          /^No node of xrp\/mainnet has blocks 1004 to 1030; block 1003 is the last recorded one:/
        )
        assert.match(
          looked.stdout,
          /has blocks from 1031 on\nNothing is changed. To give up 27 blocks: npm start -- skip/
        )
        const short = yield* command("skip", name, "--to", "1029")
        assert.match(short.stderr, /No node has block 1030 either: npm start -- skip xrp\/mainnet --to 1030/)
        const long = yield* command("skip", name, "--to", "1035")
        assert.match(
          long.stderr,
          /A node has blocks 1031 to 1035: npm start -- skip xrp\/mainnet --to 1030; --force gives/
        )
        assert.strictEqual(JSON.parse((yield* command("status", "--json")).stdout).chains[0].height, 1_003)
        const done = yield* command("skip", name, "--to", "1030")
        assert.strictEqual(done.code, 0, done.stderr)
        assert.match(
          done.stdout,
          /^blocks 1004 to 1030 of xrp\/mainnet given up: .* The chain goes on with block 1031\./
        )

        yield* headwater.launch
        yield* reached(1_040)
        const metrics = yield* Effect.promise(async () =>
          (await fetch(`${headwater.url}/metrics`, { headers: headwater.operator })).text()
        )
        assert.match(metrics, /^headwater_chain_skipped_blocks\{[^}]*"xrp\/mainnet"[^}]*\} 27$/m)
        yield* headwater.terminate
        const status = yield* command("status")
        const told = "blocks 1004 to 1030 were skipped: nothing of them is recorded"
        assert.include(status.stderr, `${name}: ${told}`)
        assert.include((yield* command("doctor")).stdout, told)
        const [chain] = JSON.parse((yield* command("status", "--json")).stdout).chains
        assert.deepInclude(chain.skipped[0], { from: 1_004, to: 1_030 })
        const again = yield* command("skip", name)
        assert.match(again.stderr, /No node has any block of xrp\/mainnet above 1040: wait until one has synchronised/)

        server.override = undefined
        const having = yield* command("rewind", name, "1003")
        assert.strictEqual(having.code, 0, having.stderr)
        const needless = yield* command("skip", name)
        assert.match(needless.stderr, /has block 1004: there is nothing to skip/)
        yield* headwater.launch
        yield* reached(1_040)
        yield* headwater.terminate
        assert.notInclude((yield* command("status")).stderr, "skipped")
        assert.strictEqual(JSON.parse((yield* command("status", "--json")).stdout).chains[0].firstHeight, 1_000)
      }).pipe(Effect.scoped),
    { timeout: 300_000 }
  )
})
