/** A raw block of Bitcoin as the JSON that a node makes of it. */
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"
import * as Result from "effect/Result"

/** A raw block in the shape of `getblock` 2, as wide as a node makes it. */
export const ofBlock = async (raw: Buffer) => {
  const { resolve } = createRequire(new URL("../packages/core/package.json", import.meta.url))
  const { Block, script } = await import(pathToFileURL(resolve("bitcoinjs-lib")).href)
  const block = Block.fromBuffer(raw)
  const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")
  const idOf = (bytes: Uint8Array) => hexOf(Uint8Array.from(bytes).reverse())
  const asm = (bytes: Uint8Array) =>
    Result.getOrElse(
      Result.try(() => script.toASM(bytes)),
      () => ""
    )
  const hash = block.getId()
  return {
    hash,
    text: JSON.stringify({
      ...{ hash, confirmations: 1, height: 1, version: block.version, versionHex: "20000000" },
      ...{ merkleroot: idOf(block.merkleRoot), time: block.timestamp, mediantime: block.timestamp, nonce: block.nonce },
      ...{
        bits: block.bits.toString(16).padStart(8, "0"),
        difficulty: 1,
        chainwork: "00",
        nTx: block.transactions.length
      },
      ...{
        previousblockhash: idOf(block.prevHash),
        strippedsize: raw.length,
        size: raw.length,
        weight: 4 * raw.length
      },
      // biome-ignore lint/suspicious/noExplicitAny: bitcoinjs-lib is loaded at run time
      tx: block.transactions.map((transaction: any) => ({
        ...{ txid: transaction.getId(), hash: transaction.getId(), version: transaction.version },
        ...{ size: transaction.byteLength(), vsize: transaction.virtualSize(), weight: transaction.weight() },
        locktime: transaction.locktime,
        // biome-ignore lint/suspicious/noExplicitAny: as above
        vin: transaction.ins.map((input: any) =>
          transaction.isCoinbase()
            ? { coinbase: hexOf(input.script), sequence: input.sequence }
            : {
                ...{ txid: idOf(input.hash), vout: input.index },
                scriptSig: { asm: asm(input.script), hex: hexOf(input.script) },
                txinwitness: input.witness.map(hexOf),
                sequence: input.sequence
              }
        ),
        // biome-ignore lint/suspicious/noExplicitAny: as above
        vout: transaction.outs.map((output: any, n: number) => ({
          ...{ value: Number(output.value) / 1e8, n },
          scriptPubKey: { asm: asm(output.script), hex: hexOf(output.script), type: "unknown" }
        })),
        hex: transaction.toHex()
      }))
    })
  }
}
