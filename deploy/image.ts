/**
 * Lays out the file system of the image, of equal bytes and times wherever the build runs:
 *
 *     TARGETARCH=arm64 node deploy/image.ts FOLDER_OF_BASE TARGET
 *
 * The base gives Node and its libraries; the workspace, installed, gives everything else. Nothing of the image's architecture
 * is run, so that any machine builds for both.
 */
import { execFileSync } from "node:child_process"
import { chmodSync, cpSync, globSync, lutimesSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const architectures = {
  amd64: { libraries: "x86_64-linux-gnu", loader: "/lib64/ld-linux-x86-64.so.2", prebuilt: "linux-x64" },
  arm64: { libraries: "aarch64-linux-gnu", loader: "/lib/ld-linux-aarch64.so.1", prebuilt: "linux-arm64" }
}

const [base, target] = process.argv.slice(2)
const architecture = process.env.TARGETARCH || process.arch.replace("x64", "amd64")
if (base === undefined || target === undefined || !Object.hasOwn(architectures, architecture)) {
  console.error(`${architecture}: usage: TARGETARCH=amd64|arm64 node deploy/image.ts FOLDER_OF_BASE TARGET`)
  process.exit(1)
}
const { libraries, loader, prebuilt } = architectures[architecture as keyof typeof architectures]

const workspace = fileURLToPath(new URL("..", import.meta.url))
const daemon = join(workspace, "packages/daemon")

/** Root's, and the store's folder, which is the user's. */
const [image, owned] = [join(target, "files"), join(target, "owned")]

/** A file or folder, by what a link names. */
const copy = (from: string, to: string) => cpSync(realpathSync(from), join(image, to), { recursive: true })

// Node, and what it is linked to.
copy(join(base, "usr/local/bin/node"), "usr/local/bin/node")
copy(join(base, "usr/lib", libraries, basename(loader)), loader)
for (const name of ["libc.so.6", "libdl.so.2", "libgcc_s.so.1", "libm.so.6", "libpthread.so.0", "libstdc++.so.6"])
  copy(join(base, "usr/lib", libraries, name), `lib/${name}`)

// The program, as its package holds it, but for the modules that others import.
execFileSync(process.execPath, [join(daemon, "bundle.ts"), join(image, "app/program")], { stdio: "inherit" })
const { files } = JSON.parse(readFileSync(join(daemon, "package.json"), "utf8")) as { files: ReadonlyArray<string> }
for (const file of [...files, "package.json", "LICENSE"].filter(
  (file) => file !== "program" && !file.startsWith("dist/")
))
  copy(join(daemon, file), `app/${file}`)
copy(join(workspace, "deploy/health.mjs"), "app/health.mjs")

// What the bundle leaves outside: native code, a package that reads a file of its own, and what the console's page loads.
const outside = (name: string, from: string, parts: ReadonlyArray<string>) => {
  const folder = realpathSync(join(from, "node_modules", name))
  for (const part of ["package.json", "LICENSE", ...parts]) copy(join(folder, part), `app/node_modules/${name}/${part}`)
  return folder
}
outside("better-sqlite3", daemon, ["lib", `prebuilds/${prebuilt}.node`])
const secp256k1 = outside("tiny-secp256k1", daemon, ["lib"])
outside("uint8array-tools", dirname(dirname(secp256k1)), ["src"])
outside("preact", daemon, ["dist", "hooks/dist", "hooks/package.json"])
outside("htm", daemon, ["dist"])
outside("uplot", daemon, ["dist"])

// Whoever runs the program; where settings, the store and the files of a moment lie.
for (const folder of [join(owned, "data"), join(image, "etc/headwater"), join(image, "tmp")])
  mkdirSync(folder, { recursive: true })
writeFileSync(join(image, "etc/passwd"), "root:x:0:0::/:\nheadwater:x:1000:1000::/data:\n")
writeFileSync(join(image, "etc/group"), "root:x:0:\nheadwater:x:1000:\n")
writeFileSync(join(image, "etc/nsswitch.conf"), "hosts: files dns\n")

for (const entry of globSync("**", { cwd: target, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name)
  chmodSync(path, entry.isDirectory() ? 0o755 : 0o644)
  lutimesSync(path, 0, 0)
}
for (const program of ["usr/local/bin/node", loader]) chmodSync(join(image, program), 0o755)
chmodSync(join(image, "tmp"), 0o1777)
