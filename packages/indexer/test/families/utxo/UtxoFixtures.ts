/** Recorded blocks of UTXO chains beside the checkout, and sources of nodes that have them. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Block, CoinTransfer } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import type * as UtxoSource from "@headwater/indexer/families/utxo/UtxoSource"
import * as Result from "effect/Result"
import * as UtxoNode from "./UtxoNode.ts"

export const fixtures = join(import.meta.dirname, "../../../../../../shared/fixtures/utxo-blocks")
export const present = existsSync(fixtures)

export const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")
export const chainOf = (blockchain: string, network = "mainnet") => Result.getOrThrow(Chain.find(blockchain, network))
export const textOf = (...path: ReadonlyArray<string>) => readFileSync(join(fixtures, ...path), "utf8")
export const foldersIn = (...path: ReadonlyArray<string>) =>
  present && existsSync(join(fixtures, ...path)) ? readdirSync(join(fixtures, ...path)) : []

export const open = (
  chain: Chain.Chain,
  kind: UtxoNode.Kind,
  part: UtxoNode.ChainPart,
  options: UtxoSource.UtxoSourceOptions = {}
) => UtxoNode.source(chain, UtxoNode.answers(kind, part), options)

export const coinsOf = (block: Pick<Block, "transfers">) => block.transfers as ReadonlyArray<CoinTransfer>
