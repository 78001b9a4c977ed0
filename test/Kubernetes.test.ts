/** The manifests of deploy/kubernetes: what Kubernetes takes, and what the program has. */
import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as SettingsFile from "@headwater/daemon/settings/SettingsFile"
import * as Effect from "effect/Effect"
import type { Deployment } from "kubernetes-types/apps/v1.js"
import type { HorizontalPodAutoscaler } from "kubernetes-types/autoscaling/v2.js"
import type { Probe, Service } from "kubernetes-types/core/v1.js"
import type { NetworkPolicy } from "kubernetes-types/networking/v1.js"
import type { PodDisruptionBudget } from "kubernetes-types/policy/v1.js"
import { parse, parseAllDocuments } from "yaml"

const root = fileURLToPath(new URL("..", import.meta.url))
const folder = join(root, "deploy/kubernetes")
const read = (file: string) => readFileSync(join(folder, file), "utf8")
const kustomization = parse(read("kustomization.yaml"))
const files: ReadonlyArray<string> = kustomization.resources

type Manifest = Deployment | HorizontalPodAutoscaler | NetworkPolicy | PodDisruptionBudget | Service
const manifests = files.flatMap((file) =>
  parseAllDocuments(read(file)).map((document) => {
    assert.deepStrictEqual(document.errors, [], file)
    return document.toJS() as Manifest
  })
)
const ofKind = <A extends Manifest>(kind: NonNullable<A["kind"]>) =>
  manifests.filter((manifest): manifest is A => manifest.kind === kind)

const deployments = ofKind<Deployment>("Deployment").map((deployment) => {
  const { selector, template } = deployment.spec!
  const { containers, ...pod } = template.spec!
  assert.strictEqual(containers.length, 1)
  const name = deployment.metadata!.name!
  return { name, container: containers[0]!, labels: template.metadata!.labels!, pod, selector: selector.matchLabels! }
})
const selectedBy = (labels: Readonly<Record<string, string>>) =>
  deployments
    .filter(({ labels: own }) => Object.entries(labels).every(([name, value]) => own[name] === value))
    .map(({ name }) => name)

describe("the manifests for Kubernetes", () => {
  it("have the fields of Kubernetes' types and no others", () => {
    const cache = join(root, "node_modules/.cache")
    mkdirSync(cache, { recursive: true })
    const project = mkdtempSync(join(cache, "kubernetes-"))
    try {
      const lines = manifests.map((manifest, i) => {
        const [, group = "core", version] = /^(?:([a-z]+)[^/]*\/)?(.+)$/.exec(manifest.apiVersion!)!
        const type = `import("kubernetes-types/${group}/${version}.js").${manifest.kind}`
        return `export const manifest${i}: ${type} = ${JSON.stringify(manifest, undefined, 1)}`
      })
      const check = (text: string) => {
        writeFileSync(join(project, "manifests.ts"), text)
        const options = ["--ignoreConfig", "--noEmit", "--strict", "--module", "nodenext", "--types", ""]
        const { status, stdout } = spawnSync("node_modules/.bin/tsc", [...options, join(project, "manifests.ts")], {
          cwd: root,
          encoding: "utf8"
        })
        return { status, stdout }
      }
      assert.deepStrictEqual(check(lines.join("\n")), { status: 0, stdout: "" })
      const misspelt = check(lines.join("\n").replaceAll("readOnlyRootFilesystem", "readOnlyRootFileSystem"))
      assert.include(misspelt.stdout, "readOnlyRootFileSystem")
    } finally {
      rmSync(project, { recursive: true })
    }
  })

  it("are all of the folder, and name one image and one place of settings", () => {
    assert.deepStrictEqual(
      readdirSync(folder).toSorted(),
      [...files, "headwater.toml", "kustomization.yaml"].toSorted()
    )
    assert.deepStrictEqual(
      [...new Set(deployments.map(({ container }) => container.image))],
      kustomization.images.map(({ name }: { readonly name: string }) => name)
    )
    const { version } = JSON.parse(readFileSync(join(root, "packages/daemon/package.json"), "utf8"))
    assert.strictEqual(kustomization.images[0].newTag, version)
    const [generated] = kustomization.configMapGenerator
    for (const { container, pod } of deployments) {
      const mounted = new Map(container.volumeMounts!.map(({ mountPath, name }) => [name, mountPath]))
      assert.sameMembers(
        [...mounted.keys()],
        pod.volumes!.map(({ name }) => name)
      )
      const settings = pod.volumes!.find(({ configMap }) => configMap !== undefined)!
      assert.strictEqual(settings.configMap!.name, generated.name)
      const containerfile = readFileSync(join(root, "deploy/Containerfile"), "utf8")
      assert.include(containerfile, `HEADWATER_CONFIG=${mounted.get(settings.name)}/${generated.files[0]}\n`)
    }
  })

  it("select what they mean", () => {
    for (const { labels, name, selector } of deployments) {
      assert.deepStrictEqual(selector, labels)
      assert.deepStrictEqual(selectedBy(selector), [name])
    }
    const names = deployments.map(({ name }) => name)
    const selected = (manifest: PodDisruptionBudget | Service | NetworkPolicy) =>
      manifest.kind === "Service"
        ? (manifest as Service).spec!.selector!
        : manifest.kind === "NetworkPolicy"
          ? (manifest as NetworkPolicy).spec!.podSelector.matchLabels!
          : (manifest as PodDisruptionBudget).spec!.selector!.matchLabels!
    const chosen = [
      ...ofKind<Service>("Service"),
      ...ofKind<PodDisruptionBudget>("PodDisruptionBudget"),
      ...ofKind<NetworkPolicy>("NetworkPolicy")
    ].map((manifest) => [`${manifest.kind} ${manifest.metadata!.name}`, selectedBy(selected(manifest))] as const)
    assert.deepStrictEqual(Object.fromEntries(chosen), {
      "Service headwater": ["headwater-api"],
      "PodDisruptionBudget headwater-api": ["headwater-api"],
      "PodDisruptionBudget headwater-deliver": ["headwater-deliver"],
      "NetworkPolicy headwater": names,
      "NetworkPolicy headwater-deliver": ["headwater-deliver"]
    })
    for (const { spec } of ofKind<HorizontalPodAutoscaler>("HorizontalPodAutoscaler"))
      assert.include(names, spec!.scaleTargetRef.name)
  })

  it.effect("have settings that the program reads, and each role once", () =>
    Effect.gen(function* () {
      const secrets = mkdtempSync(join(tmpdir(), "headwater-secrets-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(secrets, { recursive: true })))
      // The names are those that the documentation makes a Secret of.
      const page = readFileSync(join(root, "docs/operations.md"), "utf8")
      const named = Array.from(page.matchAll(/--from-file=([\w-]+)=/g), ([, name]) => name!)
      const values: Readonly<Record<string, string>> = {
        postgres: "postgres://headwater:password@db.internal/headwater",
        "secret-key": Buffer.alloc(32, 1).toString("base64"),
        "metrics-token": "token"
      }
      assert.sameMembers(named, Object.keys(values))
      for (const [name, value] of Object.entries(values)) writeFileSync(join(secrets, name), value)
      const file = join(secrets, "headwater.toml")
      writeFileSync(file, read("headwater.toml").replaceAll("/run/secrets/headwater", secrets))
      const roles = yield* Effect.forEach(deployments, ({ container }) =>
        Effect.gen(function* () {
          const environment = Object.fromEntries(container.env!.map(({ name, value }) => [name, value]))
          const settings = yield* SettingsFile.load(file, environment)
          assert.deepStrictEqual(
            container.ports!.map(({ containerPort }) => containerPort),
            [settings.http.port]
          )
          assert.isDefined(settings.store.postgres)
          assert.isDefined(settings.store.secretKey)
          assert.isDefined(settings.metrics.token)
          return environment.HEADWATER_ROLES!.split(",")
        })
      )
      assert.sameMembers(roles.flat(), ["follow", "deliver", "api", "market"])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it("ask for paths and ports that the program has", () => {
    const routes = readFileSync(join(root, "packages/daemon/src/Health.ts"), "utf8")
    const paths = deployments.flatMap(({ container }) => {
      const { livenessProbe, name, ports, readinessProbe, startupProbe } = container
      return [livenessProbe, readinessProbe, startupProbe].map((probe: Probe | undefined) => {
        const { path, port } = probe!.httpGet!
        assert.include(
          ports!.map(({ name }) => name),
          port,
          name
        )
        assert.include(routes, `HttpRouter.add("GET", "${path}"`)
        return path
      })
    })
    // The store behind its chains is a reason to ask another, and no reason to kill.
    assert.deepStrictEqual(
      deployments
        .filter(({ container }) => container.readinessProbe!.httpGet!.path === "/ready")
        .map(({ name }) => name),
      ["headwater-api"]
    )
    assert.strictEqual(paths.filter((path) => path === "/ready").length, 1)
    for (const { spec } of ofKind<Service>("Service"))
      for (const { targetPort } of spec!.ports!) assert.strictEqual(targetPort, "http")
  })

  it("give the pods no right that the program does not need", () => {
    for (const { container, name, pod } of deployments) {
      assert.deepStrictEqual(
        container.securityContext,
        { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
        name
      )
      const { runAsNonRoot, runAsUser, seccompProfile } = pod.securityContext!
      assert.deepStrictEqual([runAsNonRoot, runAsUser, seccompProfile!.type], [true, 1000, "RuntimeDefault"], name)
      assert.strictEqual(pod.automountServiceAccountToken, false, name)
      assert.isDefined(container.resources!.limits!.memory, name)
      // The program ends within 20 seconds.
      assert.isAtLeast(pod.terminationGracePeriodSeconds!, 20 + (container.lifecycle?.preStop?.sleep?.seconds ?? 0))
    }
  })

  const kubectl = spawnSync("kubectl", ["version", "--client"]).status === 0
  it.skipIf(!kubectl)("are put together by kubectl", () => {
    const text = execFileSync("kubectl", ["kustomize", folder], { encoding: "utf8" })
    const kinds = parseAllDocuments(text).map((document) => document.toJS() as Manifest)
    assert.sameMembers(
      kinds.map(({ kind }) => kind),
      [...manifests.map(({ kind }) => kind), "ConfigMap"]
    )
    assert.include(text, `image: ${kustomization.images[0].newName}:${kustomization.images[0].newTag}`)
  })
})
