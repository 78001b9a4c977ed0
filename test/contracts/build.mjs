/**
 * Compiles Contracts.sol into Contracts.json, and the contracts of the demo into a module beside them. Run by hand, in a
 * folder where the compiler is installed:
 *   npm install solc@0.8.37 @openzeppelin/contracts@5.7.0 && node <here>/build.mjs
 */
import { readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"

const solc = createRequire(join(process.cwd(), "index.js"))("solc")
const file = (name) => new URL(name, import.meta.url)
const demo = "../../packages/daemon/src/demo/"

/** The contracts of a source, by name. */
const compile = (source) => {
  const input = {
    language: "Solidity",
    sources: { "Contracts.sol": { content: readFileSync(file(source), "utf8") } },
    settings: {
      evmVersion: "cancun",
      optimizer: { enabled: true, runs: 200 },
      metadata: { bytecodeHash: "none" },
      outputSelection: { "*": { "*": ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"] } }
    }
  }
  const { contracts, errors = [] } = JSON.parse(
    solc.compile(JSON.stringify(input), {
      import: (path) => ({ contents: readFileSync(join("node_modules", path), "utf8") })
    })
  )
  for (const { formattedMessage, severity } of errors) if (severity === "error") throw new Error(formattedMessage)
  return contracts["Contracts.sol"]
}

const compiled = Object.fromEntries(
  Object.entries(compile("Contracts.sol")).map(([name, { abi, evm }]) => [
    name,
    {
      abi: abi.filter(({ type }) => type !== "error"),
      bytecode: `0x${evm.bytecode.object}`,
      ...(name === "GasPriceOracle" ? { deployed: `0x${evm.deployedBytecode.object}` } : {})
    }
  ])
)
writeFileSync(file("Contracts.json"), `${JSON.stringify(compiled)}\n`)

const constants = Object.entries(compile(`${demo}Contracts.sol`)).map(
  ([name, { evm }]) => `export const ${name[0].toLowerCase()}${name.slice(1)} =\n  "0x${evm.bytecode.object}"\n`
)
const head = "/** Contracts.sol, compiled by test/contracts/build.mjs: the code that deploys each contract. */\n"
writeFileSync(file(`${demo}Contracts.ts`), [head, ...constants].join("\n"))
