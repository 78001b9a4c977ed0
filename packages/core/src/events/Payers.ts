/**
 * Addresses that a transaction of a UTXO chain may take coins from, though nobody has shown the coins: by the keys and scripts
 * that the inputs show.
 */
import * as Bytes from "../Bytes.ts"
import type { AddressBytes } from "../address/Address.ts"
import type { Block } from "../Block.ts"
import * as Steps from "../Steps.ts"
import * as Inputs from "../utxo/Inputs.ts"
import { type HashesOf, hashesOf, shownScriptsOfEach, type Unlocking } from "../utxo/Unlocking.ts"
import type { WatchedAddresses } from "./Watched.ts"

/** An address that a transaction of a block may take coins from. */
export interface Payer {
  readonly transaction: number
  readonly address: AddressBytes
}

/** Inputs whose keys and scripts are hashed at once. */
const inputsHashedAtOnce = 64
/** Inputs whose scripts are made between two steps: a taproot key takes long. */
const inputsOfStep = 8

/**
 * The addresses that may be watched and whose key or script an input shows that has no transfer: each once a transaction.
 * Without them a payment of unknown coins that brings nothing back would not be seen. Hashes what every such input shows.
 */
export const shown = (block: Block, watched: WatchedAddresses): ReadonlyArray<Payer> =>
  Steps.atOnce(shownInSteps(block, watched))

/** As {@link shown}; `hashes` may be faster than those that every engine computes. */
export function* shownInSteps(
  block: Block,
  watched: WatchedAddresses,
  hashes: HashesOf = hashesOf
): Generator<void, ReadonlyArray<Payer>> {
  const payers = new Map<string, Payer>()
  const unshown = yield* Inputs.unshownInSteps(block)
  for (let first = 0; first < unshown.length; first += inputsHashedAtOnce) {
    yield
    const end = Math.min(first + inputsHashedAtOnce, unshown.length)
    const transactions: Array<number> = []
    const inputs: Array<Unlocking> = []
    for (let index = first; index < end; index++) {
      const { transaction, unlocking } = unshown[index]!
      const input = unlocking?.()
      if (input === undefined) continue
      transactions.push(transaction)
      inputs.push(input)
    }
    const scriptsOf = shownScriptsOfEach(inputs, hashes, watched.hasLike)
    for (const [index, transaction] of transactions.entries()) {
      if ((index + 1) % inputsOfStep === 0) yield
      for (const address of scriptsOf(index)) {
        if (watched.has(address)) payers.set(`${transaction}:${Bytes.hex(address)}`, { transaction, address })
      }
    }
  }
  return [...payers.values()]
}
