/**
 * The systemd unit: read by systemd's own checks where systemd is installed; started by a systemd where
 * HEADWATER_SYSTEMD is set, in a Debian of its own: as root on Linux, with debootstrap and systemd-nspawn (two minutes).
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process"
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Anvil from "./Anvil.ts"
import * as Folder from "./Folder.ts"
import { freePort } from "./FreePort.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const unit = join(root, "deploy/headwater.service")

const has = (...programs: ReadonlyArray<string>) =>
  programs.every((program) => ["/usr/bin", "/usr/sbin"].some((folder) => existsSync(join(folder, program))))
const run = (command: string, ...args: ReadonlyArray<string>) =>
  execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim()

describe.skipIf(!has("systemd-analyze"))("the systemd unit", () => {
  it("has nothing that systemd complains of, but for a program that is not installed here", () => {
    const folder = mkdtempSync(join(tmpdir(), "headwater-unit-"))
    try {
      const copy = join(folder, "headwater.service")
      // The check wants the program to be there.
      writeFileSync(copy, readFileSync(unit, "utf8").replace("=/usr/bin/node", `=${process.execPath}`))
      // An unknown key or value is a warning on standard error, and no failure.
      const said = spawnSync("systemd-analyze", ["verify", "--man=no", copy], { encoding: "utf8" })
      assert.deepStrictEqual([said.stdout, said.stderr, said.status], ["", "", 0])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it("exposes no more than a service that speaks to the Internet has to", () => {
    // Fails above the threshold, in tenths: 14 of 100, where an ordinary unit has 96.
    run("systemd-analyze", "security", "--offline=yes", "--threshold=14", unit)
  })
})

const impossible = (() => {
  if (process.env.HEADWATER_SYSTEMD === undefined) return "needs HEADWATER_SYSTEMD"
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "needs root on Linux"
  if (spawnSync("unshare", ["--mount", "true"]).status !== 0) return "needs mounts of its own"
  return has("debootstrap", "systemd-nspawn") ? undefined : "needs debootstrap and systemd-nspawn"
})()

/** The first process of the machine, as this one numbers it. */
const firstProcess = ({ pid }: ChildProcess) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0]!

/** A machine with the unit as its page says, and the settings; gone with the scope. */
const machine = Effect.fnUntraced(function* (settings: string) {
  const folder = yield* Folder.scoped
  return yield* Effect.acquireRelease(
    Effect.sync(() => {
      const target = join(folder, "machine")
      const packages = "--include=systemd,systemd-sysv,dbus"
      run("debootstrap", "--variant=minbase", packages, "bookworm", target, "http://deb.debian.org/debian")
      copyFileSync(process.execPath, join(target, "usr/bin/node"))
      // What the package holds, laid out as for the image.
      const image = join(folder, "image")
      const base = join(folder, "base")
      mkdirSync(join(base, "usr/local/bin"), { recursive: true })
      copyFileSync(process.execPath, join(base, "usr/local/bin/node"))
      symlinkSync(join(target, "usr/lib"), join(base, "usr/lib"))
      run(process.execPath, join(root, "deploy/image.ts"), base, image)
      cpSync(join(image, "files/app"), join(target, "opt/headwater/node_modules/@headwater/daemon"), {
        recursive: true
      })
      mkdirSync(join(target, "etc/headwater"))
      writeFileSync(join(target, "etc/headwater/headwater.toml"), settings)
      copyFileSync(unit, join(target, "etc/systemd/system/headwater.service"))
      const wanted = join(target, "etc/systemd/system/multi-user.target.wants/headwater.service")
      symlinkSync("/etc/systemd/system/headwater.service", wanted)
      // The network is this machine's, and there from the start.
      const options = ["--boot", "--quiet", "--register=no", "--keep-unit", "--resolv-conf=off", "-D", target]
      const container = spawn("systemd-nspawn", options, { stdio: ["ignore", "pipe", "pipe"] })
      let printed = ""
      for (const stream of [container.stdout, container.stderr]) stream.on("data", (part) => (printed += part))
      return { container, printed: () => printed }
    }),
    ({ container }) =>
      Effect.callback<void>((resume) => {
        const gone = () => resume(Effect.void)
        if (container.exitCode !== null || container.signalCode !== null) return gone()
        container.once("exit", gone)
        // With its first process the whole machine ends; the container's own process alone would leave it running.
        const first = firstProcess(container)
        if (first === "") container.kill("SIGKILL")
        else process.kill(Number(first), "SIGKILL")
      })
  )
})

describe.skipIf(impossible !== undefined)(`a started unit${impossible === undefined ? "" : ` (${impossible})`}`, () => {
  it.live(
    "follows a chain without rights, comes back after a kill, and stops cleanly",
    () =>
      Effect.gen(function* () {
        const anvil = yield* Anvil.start({ args: ["--block-time", "1"] })
        const port = yield* freePort
        const { container, printed } = yield* machine(
          `[http]\nport = ${port}\n[chains."ethereum/devnet"]\nnodes = ["${anvil.url}"]\n`
        )
        const ready = Effect.promise(() =>
          fetch(`http://127.0.0.1:${port}/ready`).then(
            ({ ok }) => ok,
            () => false
          )
        ).pipe(
          Effect.repeat({ until: (ok) => ok, schedule: Schedule.spaced("200 millis"), times: 600 }),
          Effect.flatMap((ok) => (ok ? Effect.void : Effect.die(new Error(`Not ready:\n${printed()}`))))
        )
        const inside = (...command: ReadonlyArray<string>) =>
          run("nsenter", "--target", firstProcess(container), "--mount", "--pid", "--ipc", "--uts", "--", ...command)
        const show = (...names: ReadonlyArray<string>) =>
          Object.fromEntries(
            inside("systemctl", "show", "headwater", `--property=${names.join(",")}`)
              .split("\n")
              .map((line) => line.split("=", 2))
          )

        yield* ready
        const { ActiveState, MainPID } = show("ActiveState", "MainPID")
        assert.strictEqual(ActiveState, "active")
        const status = inside("cat", `/proc/${MainPID}/status`)
        assert.notMatch(status, /^Uid:\t(0|.*\t0)/m)
        assert.match(status, /^CapBnd:\t0+$/m)
        assert.match(status, /^NoNewPrivs:\t1$/m)
        assert.match(status, /^Seccomp:\t2$/m)

        // As the documentation says how to run a command; the store is the service's.
        const page = readFileSync(join(root, "docs/operations.md"), "utf8")
        const [command] = /^systemd-run (?:.*\\\n)*.*/m.exec(page)!
        assert.match(inside("sh", "-c", command), /acme/)

        inside("systemctl", "kill", "--kill-whom=main", "--signal=SIGKILL", "headwater")
        yield* Effect.sync(() => show("NRestarts")).pipe(
          Effect.repeat({
            until: ({ NRestarts }) => NRestarts === "1",
            schedule: Schedule.spaced("200 millis"),
            times: 300
          })
        )
        yield* ready

        inside("systemctl", "stop", "headwater")
        assert.deepStrictEqual(show("ActiveState", "Result", "ExecMainStatus"), {
          ActiveState: "inactive",
          Result: "success",
          ExecMainStatus: "0"
        })
      }),
    900_000
  )
})
