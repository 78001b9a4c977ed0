import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { parser } from "@prometheus-io/lezer-promql"
import * as Effect from "effect/Effect"
import * as Yaml from "effect/encoding/Yaml"
import * as Anvil from "../../../test/Anvil.ts"
import * as Collector from "../../../test/Collector.ts"
import * as FullAccount from "../../../test/FullAccount.ts"
import { freePort } from "../../../test/FreePort.ts"
import * as Headwater from "../../../test/Headwater.ts"
import * as Receiver from "../../../test/Receiver.ts"
import { locations } from "../../../test/Stores.ts"
import { explanations } from "../src/MetricExplanations.ts"
import { run } from "./Program.ts"

const isInstalled = spawnSync("promtool", ["--version"]).status === 0

const watched = "0x90F79bf6EB2c4f870365E785982E1f101E93b906"
const chain = "ethereum/devnet"
const fileOf = (name: string) => readFileSync(new URL(`../observability/${name}`, import.meta.url), "utf8")

interface Selector {
  readonly name: string
  readonly labels: ReadonlyArray<string>
}

/** What a query reads, and by which labels; dies where it is none. */
const selectorsOf = (query: string): ReadonlyArray<Selector> => {
  // As Grafana puts values in place of its variables.
  const text = query.replaceAll("$__rate_interval", "5m").replaceAll("$chain", ".*")
  const selectors: Array<{ name: string; labels: Array<string> }> = []
  const grouped: Array<string> = []
  parser.parse(text).iterate({
    enter: (node) => {
      const here = text.slice(node.from, node.to)
      if (node.type.isError) assert.fail(`not PromQL at ${node.from}: ${text}`)
      if (node.name === "VectorSelector") selectors.push({ name: "", labels: [] })
      if (node.name === "Identifier") selectors.at(-1)!.name = here
      if (node.name !== "LabelName") return
      if (node.node.parent?.name === "GroupingLabels") grouped.push(here)
      else selectors.at(-1)!.labels.push(here)
    }
  })
  return selectors.map(({ labels, name }) => ({ name, labels: [...labels, ...grouped] }))
}

interface Dashboard {
  readonly templating: { readonly list: ReadonlyArray<{ readonly query: string }> }
  readonly panels: ReadonlyArray<{ readonly targets: ReadonlyArray<{ readonly expr: string }> }>
}
interface Alerts {
  readonly groups: ReadonlyArray<{
    readonly rules: ReadonlyArray<{ readonly alert: string; readonly expr: string; readonly annotations: object }>
  }>
}

const dashboard = JSON.parse(fileOf("grafana-dashboard.json")) as Dashboard
const alerts = Yaml.parse(fileOf("alerts.yaml")) as unknown as Alerts
const queries = [
  ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ...dashboard.templating.list.flatMap(({ query }) => {
    const [, of, label] = /^label_values\((\w+), (\w+)\)$/.exec(query) ?? []
    return of === undefined ? [] : [`sum by (${label}) (${of})`]
  }),
  ...alerts.groups.flatMap(({ rules }) => rules.map(({ expr }) => expr))
]

/** The samples of the text format: the labels that each name comes with, and values. */
const samplesOf = (text: string) => {
  const samples = new Map<string, Array<{ readonly labels: Record<string, string>; readonly value: number }>>()
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue
    const [, name, inner = "", value] = /^([a-z0-9_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    assert.isDefined(name, line)
    const labels = Object.fromEntries([...inner.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, is]) => [key, is]))
    samples.set(name!, [...(samples.get(name!) ?? []), { labels, value: Number(value) }])
  }
  return samples
}

const metricsOf = (headwater: Headwater.Headwater, headers: Record<string, string> = {}) =>
  Effect.promise(async () => {
    const response = await fetch(`${headwater.url}/metrics`, { headers })
    return { status: response.status, type: response.headers.get("content-type"), text: await response.text() }
  })

describe("metrics of a running daemon", () => {
  it.live(
    "have every name and label that the dashboard and the alerts use, and say what has happened",
    () =>
      Effect.gen(function* () {
        const anvil = yield* Anvil.start()
        const receiver = yield* Receiver.start()
        const { paths, spans, url } = yield* Collector.start
        const [{ location }] = locations as [(typeof locations)[number]]
        const store = (yield* location) as { readonly kind: "sqlite"; readonly file: string }
        const headwater = yield* Headwater.start(store, {
          credits: { enabled: true },
          chains: {
            [chain]: { nodes: [anvil.url], start: 0, pollMillis: 200 },
            "litecoin/regtest": { nodes: ["http://127.0.0.1:1"] }
          },
          callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca },
          traces: { otlp: url }
        })
        const cli = (...args: ReadonlyArray<string>) =>
          run(args, {
            cwd: "/tmp",
            environment: {
              HEADWATER_STORE_SQLITE: store.file,
              HEADWATER_CHAINS_ETHEREUM_DEVNET_NODES: anvil.url
            }
          })
        assert.strictEqual((yield* cli("credits", "grant", "test", "10000")).code, 0)
        const [from] = yield* anvil.rpc<ReadonlyArray<string>>("eth_accounts", [])
        const subscription = yield* headwater.post(`/blockchain-events/${chain}/address-coins-transactions-confirmed`, {
          address: watched,
          callbackUrl: `${receiver.url}/`,
          callbackSecretKey: "s"
        })
        assert.strictEqual(subscription.status, 201)
        const pay = anvil.rpc("eth_sendTransaction", [{ from, to: watched, value: "0x1" }])
        yield* pay
        yield* receiver.until((accepted) => accepted.length === 1)
        // A chain that has left blocks follows again with its next look at the node.
        const height = (wanted: number) =>
          Headwater.until(headwater.get("/ready"), ({ body }) => {
            const { height, state } = body.chains[chain]
            return height === wanted && state === "following"
          })
        // Two blocks leave the chain, three take their place.
        const snapshot = yield* anvil.rpc("evm_snapshot", [])
        yield* anvil.rpc("anvil_mine", ["0x2"])
        yield* height(3)
        yield* anvil.rpc("evm_revert", [snapshot])
        yield* anvil.rpc("evm_increaseTime", [77])
        yield* anvil.rpc("anvil_mine", ["0x3"])
        yield* height(4)

        const { status, text, type } = yield* metricsOf(headwater, headwater.operator)
        assert.strictEqual(status, 200)
        assert.match(type ?? "", /^text\/plain; version=0\.0\.4/)
        const samples = samplesOf(text)
        for (const query of queries) {
          for (const { labels, name } of selectorsOf(query)) {
            if (name === "up") continue
            const found = samples.get(name)
            assert.isDefined(found, `${name} of ${query}`)
            const known = new Set(found!.flatMap((sample) => Object.keys(sample.labels)))
            for (const label of labels) assert.isTrue(known.has(label), `${label} of ${name} in ${query}`)
          }
        }
        for (const [, name, type] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
          const explained = explanations[name!]
          assert.strictEqual(explained?.type, type, name)
          const parts = type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name!]
          const labels = parts.flatMap((part) => (samples.get(part) ?? []).flatMap((one) => Object.keys(one.labels)))
          for (const label of new Set(labels)) if (label !== "le") assert.property(explained!.labels, label, name)
        }
        const one = (name: string, labels: Record<string, string>) => {
          const found = samples
            .get(name)
            ?.filter((sample) => Object.entries(labels).every(([key, is]) => sample.labels[key] === is))
          assert.lengthOf(found ?? [], 1, `${name} ${JSON.stringify(labels)}`)
          return found![0]!.value
        }
        assert.strictEqual(one("headwater_chain_height_blocks", { chain }), 4)
        assert.strictEqual(one("headwater_chain_state", { chain, state: "following" }), 1)
        assert.strictEqual(one("headwater_chain_state", { chain: "litecoin/regtest", state: "following" }), 0)
        // Also of a chain that has brought no block yet, for which the alert of silent chains waits as well.
        for (const of of [chain, "litecoin/regtest"])
          assert.isAtLeast(one("headwater_chain_silence_seconds", { chain: of }), 0)
        assert.strictEqual(one("headwater_blocks_total", { chain }), 7)
        assert.strictEqual(one("headwater_chain_unproven_blocks", { chain, part: "internal transactions" }), 1)
        assert.strictEqual(one("headwater_chain_unproven_blocks", { chain: "litecoin/regtest", part: "prevouts" }), 0)
        const ofGaps = ["missing_internal_blocks", "skipped_blocks", "not_understood_transactions", "unresolved_events"]
        for (const name of ofGaps) {
          for (const of of [chain, "litecoin/regtest"]) {
            assert.strictEqual(one(`headwater_chain_${name}`, { chain: of }), 0, name)
          }
        }
        const { unproven, verify } = (yield* headwater.get("/ready")).body.chains[chain]
        assert.strictEqual(verify, "roots")
        assert.deepInclude(unproven[0], { part: "internal transactions", cause: "uncommitted", height: 1, blocks: 1 })
        assert.strictEqual(one("headwater_reorganisation_depth_blocks_count", { chain }), 1)
        assert.strictEqual(one("headwater_reorganisation_depth_blocks_sum", { chain }), 2)
        assert.strictEqual(one("headwater_callback_attempts_total", { outcome: "delivered" }), 1)
        assert.strictEqual(one("headwater_callback_latency_seconds_count", {}), 1)
        for (const outcome of ["retry", "refused", "not_counted"])
          assert.strictEqual(one("headwater_callback_attempts_total", { outcome }), 0)
        for (const state of ["healthy", "recovering", "failing", "paused", "unverified", "inactive"])
          assert.strictEqual(one("headwater_receivers", { state }), state === "healthy" ? 1 : 0, state)
        assert.strictEqual(one("headwater_subscriptions_failing", {}), 0)
        assert.strictEqual(one("headwater_subscriptions_failing_half", {}), 0)
        assert.strictEqual(one("headwater_subscriptions_failing_seconds", {}), 0)
        for (const state of ["waiting", "retrying", "parked", "unwritten"]) {
          assert.strictEqual(one("headwater_callbacks", { state }), 0)
          assert.strictEqual(one("headwater_callbacks_oldest_seconds", { state }), 0)
        }
        assert.isAbove(one("process_cpu_seconds_total", {}), 0)
        assert.isAbove(one("process_resident_memory_bytes", {}), 10_000_000)
        assert.isAbove(one("headwater_store_size_bytes", {}), 10_000)
        assert.isAbove(one("headwater_node_errors_total", { method: "getblockchaininfo", error: "NodeUnreachable" }), 0)
        const created = { operation: "address-coins-transactions-confirmed", method: "POST", status: "201" }
        assert.strictEqual(one("headwater_http_requests_total", created), 1)
        assert.strictEqual(one("headwater_credits_consumed_total", { operation: created.operation }), 30)
        assert.notInclude(text, watched)
        const statement = JSON.parse((yield* cli("credits", "statement", "test", "--json")).stdout)
        assert.deepInclude(
          statement.find(({ kind }: { readonly kind: string }) => kind === "request"),
          { amount: -30, detail: created.operation }
        )

        yield* headwater.terminate
        assert.deepStrictEqual([...paths], ["/v1/traces"])
        const names = new Set(spans.map(({ name }) => name))
        assert.isTrue(names.has("Block.fetch"), [...names].join())
        assert.isTrue(names.has("ChainStore.commit"), [...names].join())
      }).pipe(Effect.scoped),
    { timeout: 300_000 }
  )

  it.live(
    "and the detail of /ready, are for who has the token, wherever a request comes from",
    () =>
      Effect.gen(function* () {
        const anvil = yield* Anvil.start()
        const [{ location }] = locations as [(typeof locations)[number]]
        const settings = {
          chains: { [chain]: { nodes: [anvil.url], pollMillis: 200 } },
          limits: { waitingCallbacks: 1 },
          console: { password: "the password of the console", port: yield* freePort }
        }
        const store = yield* location as Effect.Effect<never>
        yield* FullAccount.make(store, "an account that is full")
        const open = yield* Headwater.start(store, settings)
        // A proxy on this machine need not say for whom it asks.
        const local = yield* metricsOf(open)
        assert.strictEqual(local.status, 403)
        assert.notInclude(local.text, "headwater_")
        const ready = yield* Effect.promise(async () => (await fetch(`${open.url}/ready`)).json())
        assert.hasAllKeys(ready, ["ready"])
        const { body } = yield* open.get("/ready")
        assert.hasAllKeys(body, ["ready", "reasons", "chains", "fullAccounts"])
        assert.deepStrictEqual(body.fullAccounts, ["an account that is full"])
        const { full } = yield* Effect.promise(async () => {
          const { password, port } = settings.console
          const entered = await fetch(`http://127.0.0.1:${port}/api/login`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ password })
          })
          const cookie = entered.headers.get("set-cookie")!.split(";")[0]!
          const answer = await fetch(`http://127.0.0.1:${port}/api/deliveries`, { headers: { cookie } })
          return (await answer.json()) as { readonly full: unknown }
        })
        assert.deepStrictEqual(full, { waitingCallbacks: 1, names: body.fullAccounts })
        // Without the setting the token follows from the key of callback secrets.
        assert.strictEqual((yield* metricsOf(open, open.operator)).status, 200)
        yield* open.kill

        const place = yield* location as Effect.Effect<never>
        const closed = yield* Headwater.start(place, { ...settings, metrics: { token: "very-secret" } })
        assert.strictEqual((yield* metricsOf(closed)).status, 403)
        assert.strictEqual((yield* metricsOf(closed, { authorization: "Bearer wrong" })).status, 403)
        assert.strictEqual((yield* metricsOf(closed, { authorization: "Bearer very-secret" })).status, 200)
      }).pipe(Effect.scoped),
    { timeout: 300_000 }
  )

  it.live.skipIf(!isInstalled)("are as Prometheus' own tool wants them", () =>
    Effect.gen(function* () {
      const [{ location }] = locations as [(typeof locations)[number]]
      const chains = { [chain]: { nodes: ["http://127.0.0.1:1"] } }
      const headwater = yield* Headwater.start((yield* location) as never, { chains })
      assert.strictEqual((yield* headwater.get("/domains")).status, 200)
      const { text } = yield* metricsOf(headwater, headwater.operator)
      assert.include(text, "headwater_http_request_seconds_bucket")
      const { status, stderr, stdout } = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" })
      assert.deepStrictEqual({ status, said: stderr + stdout }, { status: 0, said: "" })
    }).pipe(Effect.scoped)
  )

  it("each alert says what it is about and what to do", () => {
    for (const { alert, annotations } of alerts.groups.flatMap(({ rules }) => rules)) {
      assert.containsAllKeys(annotations, ["summary", "description"], alert)
    }
    assert.isAbove(queries.length, 25)
    assert.throws(() => selectorsOf("sum by (chain (headwater_blocks_total)"))
  })
})
