/** What a node of a UTXO chain has answered about a block, put together and proved. */
import type { Block } from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Proof from "../../node/Proof.ts"
import * as BlockBody from "./BlockBody.ts"
import * as HeaderProof from "./HeaderProof.ts"
import { Mismatch, refuse } from "./Malformed.ts"
import * as NodeBlock from "./NodeBlock.ts"
import * as NodeTransaction from "./NodeTransaction.ts"
import * as RawBlock from "./RawBlock.ts"
import * as TransactionProof from "./TransactionProof.ts"

/** What was read of a block, and what its proof came to. */
export interface Proved {
  readonly block: Block
  readonly outcome: Proof.Outcome
}

const both = (first: Proof.Outcome, second: Proof.Outcome): Proof.Outcome => ({
  mismatch: first.mismatch ?? second.mismatch,
  unproven: [...first.unproven, ...second.unproven]
})

/** The blocks of a chain, by each form in which a node answers them. With `links` nothing is proved. */
export const make = (chain: Chain, verify: Proof.Level) => {
  function* bodyOf(transactions: ReadonlyArray<unknown>): Generator<void, BlockBody.BlockBody> {
    const body = BlockBody.empty()
    for (const [index, transaction] of transactions.entries()) {
      yield* NodeTransaction.read(chain, transaction, index, body)
      yield
    }
    return body
  }

  function* proved(
    block: NodeBlock.NodeBlock,
    body: BlockBody.BlockBody,
    ofBody: () => Generator<void, Proof.Outcome>
  ): Generator<void, Proved> {
    const whole = yield* NodeBlock.assemble(block, body)
    if (verify === "links") return { block: whole, outcome: Proof.nothing }
    const outcome = both(HeaderProof.of(chain, block.json, block.height), yield* ofBody())
    // The proof of a body may put what bytes say in place of what was decoded.
    return { block: { ...whole, ...body }, outcome }
  }

  /** A block by its bytes alone; undefined where these do not name all of its transactions. */
  function* ofBytesAlone(
    { hash: asked, height }: NodeBlock.Asked,
    bytes: Uint8Array
  ): Generator<void, Proved | undefined> {
    const { body, hash, isBroken, witnesses, ...header } = yield* RawBlock.read(chain, bytes, RawBlock.unlisted)
    if (hash === undefined || isBroken) return undefined
    if (Buffer.from(hash).toString("hex") !== asked) throw new Mismatch("hash is not that of the raw block")
    if (body.transactions.length === 0) refuse("tx", "must not be empty")
    const block = yield* NodeBlock.assemble({ ...header, ...{ hash, height, count: undefined, tx: [] } }, body)
    return { block, outcome: verify === "links" ? Proof.nothing : yield* witnesses() }
  }

  function* rawOf(
    block: NodeBlock.NodeBlock,
    listed: RawBlock.Listed,
    bytes: Uint8Array
  ): Generator<void, RawBlock.RawBlock> {
    const raw = yield* RawBlock.read(chain, bytes, listed)
    if (raw.hash !== undefined && Buffer.compare(raw.hash, block.hash) !== 0) {
      throw new Mismatch("hash is not that of the raw block")
    }
    if (Buffer.compare(raw.merkleRoot, block.merkleRoot) !== 0) {
      throw new Mismatch("merkleroot is not that of the raw block")
    }
    return raw
  }

  /** By decoded transactions, which their own bytes prove where the node shows them. */
  function* ofDecoded(block: NodeBlock.NodeBlock, transactions: ReadonlyArray<unknown>): Generator<void, Proved> {
    if (transactions.every((transaction) => typeof transaction === "string")) {
      refuse("tx", "must be decoded transactions")
    }
    const body = yield* bodyOf(transactions)
    return yield* proved(block, body, () => TransactionProof.of(chain, transactions, body))
  }

  function* rawProof(body: BlockBody.BlockBody, raw: RawBlock.RawBlock): Generator<void, Proof.Outcome> {
    return both(yield* TransactionProof.ofBody(body, raw.body), yield* raw.witnesses())
  }

  /** By decoded transactions, which the raw block proves. */
  function* ofDecodedAndBytes(
    block: NodeBlock.NodeBlock,
    transactions: ReadonlyArray<unknown>,
    bytes: Uint8Array
  ): Generator<void, Proved> {
    const body = yield* bodyOf(transactions)
    const raw = yield* rawOf(block, body.transactions, bytes)
    return yield* proved(block, body, () => rawProof(body, raw))
  }

  /** By bytes whose transactions the node lists. */
  function* ofListedBytes(block: NodeBlock.NodeBlock, bytes: Uint8Array): Generator<void, Proved> {
    const raw = yield* rawOf(block, NodeBlock.listed(block), bytes)
    return yield* proved(block, raw.body, raw.witnesses)
  }

  return { ofBytesAlone, ofDecoded, ofDecodedAndBytes, ofListedBytes }
}
