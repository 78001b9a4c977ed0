/**
 * The transactions that wait at a UTXO chain's node, by the addresses that they may name. Each is asked for once and
 * remembered while it waits: a read looks at those that are new, a bounded number of them. Hundreds of thousands may wait, so
 * that of each some numbers are kept: the marks of the scripts that it names.
 */
import { createHash, randomBytes } from "node:crypto"
import { type AddressBytes, fromBytes } from "@headwater/core/address/Address"
import * as Steps from "@headwater/core/Steps"
import * as LockingScript from "@headwater/core/utxo/LockingScript"
import { mayUnlock, shownScriptsOfEach } from "@headwater/core/utxo/Unlocking"
import * as UtxoKernel from "@headwater/core/utxo/UtxoKernel"
import * as Effect from "effect/Effect"
import type { NodeError } from "../node/NodeError.ts"
import type { Mempool, MempoolTransaction } from "../SideSources.ts"
import * as TimeSlice from "../../TimeSlice.ts"

export interface Candidates {
  /** As 64 hex digits, of the transactions that pay the address or may spend its coins. */
  readonly ids: ReadonlyArray<string>
  /** How many others were not looked at yet: the next look goes on with them. */
  readonly left: number
}

export interface WaitingTransactions {
  /** Looks at no more than so many transactions that are new. */
  readonly naming: (address: AddressBytes, mostCalls: number) => Effect.Effect<Candidates, NodeError>
}

const noHash = new Uint8Array(32)

/** A script of each form, which nobody has: an input that may unlock one may unlock all of the form. */
const forms: ReadonlyArray<AddressBytes> = [
  new Uint8Array(),
  LockingScript.pubKeyHash(noHash),
  LockingScript.scriptHash(noHash, 0, 20),
  LockingScript.scriptHash(noHash, 0, 32),
  LockingScript.witness(0, noHash, 0, 20),
  LockingScript.witness(0, noHash),
  LockingScript.witness(1, noHash),
  LockingScript.witness(2, noHash)
].map(fromBytes)

const otherForm = forms.length - 1

/** The number of a script's form; scripts of witness versions to come have one together. */
const formOf = (script: Uint8Array): number => {
  const template = LockingScript.parse(script)
  if (template === undefined) return 0
  if (template.kind === "pubKeyHash") return 1
  if (template.kind === "scriptHash") return template.hash.length === 20 ? 2 : 3
  const { program, version } = template
  if (version === 0 && program.length === 20) return 4
  if (version === 0 && program.length === 32) return 5
  return version === 1 && program.length === 32 ? 6 : otherForm
}

/** The forms of which a transaction may spend any script, as bits, and behind them the marks of the scripts that it names. */
type Named = ReadonlyArray<number>

/** Inputs whose scripts are made between two steps. */
const inputsOfStep = 8

/** An input tells what it may spend where its node does not say it. */
function* namedBy(
  { spends, transfers }: MempoolTransaction,
  markOf: (script: Uint8Array) => number
): Generator<void, Named> {
  const marks = new Set<number>()
  const shown = new Set<number>()
  yield* Steps.forEach(transfers, ({ from, position, to }) => {
    if (to !== undefined) marks.add(markOf(to))
    if (from === undefined) return
    marks.add(markOf(from))
    shown.add(position)
  })
  const unshown = spends.filter(({ position }) => !shown.has(position))
  let bits = 0
  for (let first = 0; first < unshown.length; first += inputsOfStep) {
    const inputs = unshown.slice(first, first + inputsOfStep).map(({ unlocking }) => unlocking?.())
    const known = inputs.filter((input) => input !== undefined)
    const scriptsOf = shownScriptsOfEach(known, UtxoKernel.hashesOf)
    for (const input of known.keys()) for (const script of scriptsOf(input)) marks.add(markOf(script))
    const mayBe = mayUnlock(inputs)
    for (const [number, form] of forms.entries()) if (mayBe(form)) bits |= 1 << number
    yield
  }
  return [bits, ...marks]
}

/** Transactions that are asked for at a time. */
const atOnce = 100

export const make = (mempool: Mempool): WaitingTransactions => {
  const known = new Map<string, Named>()
  /** Strangers choose scripts: without a secret they could give theirs the mark of somebody else's. */
  const secret = randomBytes(16)
  const markOf = (script: Uint8Array) =>
    createHash("sha256").update(secret).update(script).digest().readUInt32LE(0) >>> 1

  const look = Effect.fnUntraced(function* (most: number) {
    const ids = new Set(yield* mempool.ids)
    for (const id of known.keys()) if (!ids.has(id)) known.delete(id)
    const fresh = [...ids].filter((id) => !known.has(id))
    const looked = fresh.slice(0, most)
    for (let from = 0; from < looked.length; from += atOnce) {
      const found = yield* mempool.transactions(looked.slice(from, from + atOnce))
      yield* TimeSlice.run(function* () {
        for (const transaction of found) {
          known.set(Buffer.from(transaction.id).toString("hex"), yield* namedBy(transaction, markOf))
          yield
        }
      })
    }
    return fresh.length - looked.length
  })

  return {
    naming: Effect.fn("WaitingTransactions.naming")(function* (address, mostCalls) {
      const left = yield* look(mostCalls)
      const mark = markOf(address)
      const form = 1 << formOf(address)
      const isNamed = ([bits = 0, ...marks]: Named) => (bits & form) !== 0 || marks.includes(mark)
      return { left, ids: [...known].flatMap(([id, named]) => (isNamed(named) ? [id] : [])) }
    })
  }
}
