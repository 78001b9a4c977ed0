/**
 * The chain that indexers are measured on: ERC-20 transfers of nine senders in every block, with mints of the other
 * standards and nested payments now and then. The same arguments make the same blocks, hash by hash.
 */
import { existsSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import * as Effect from "effect/Effect"
import { HDNodeWallet, Mnemonic, Wallet } from "ethers"
import * as Anvil from "../../test/Anvil.ts"
import * as Contracts from "../../test/Contracts.ts"

const mnemonic = Mnemonic.fromPhrase("test test test test test test test test test test test junk")
const wallets = Array.from(
  { length: 10 },
  (_, i) => new Wallet(HDNodeWallet.fromMnemonic(mnemonic, `m/44'/60'/0'/0/${i}`).privateKey)
)
const start = 1_700_000_000

/** The first contract that the first account creates. */
export const coin = "0x5FbDB2315678afecb367f032d93F642f64180aa3"

const generate = Effect.fnUntraced(function* (anvil: Anvil.Anvil, blocks: number) {
  let state = 12_345
  const random = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return Math.floor(state / 8) % below
  }
  const user = () => `0x${(0xabc0000000n + BigInt(random(5_000))).toString(16).padStart(40, "0")}`
  yield* anvil.rpc("anvil_setBlockTimestampInterval", [12])
  const mine = anvil.rpc("evm_mine", [])
  const senders = yield* Effect.forEach(wallets, (wallet) => Contracts.sender(anvil, wallet))
  const [first, ...others] = senders as [Contracts.Sender, ...ReadonlyArray<Contracts.Sender>]
  const erc20 = yield* first.deploy("Coin")
  const collectible = yield* first.deploy("Collectible")
  const multi = yield* first.deploy("Multi")
  const mover = yield* first.deploy("Mover")
  yield* mine
  for (const { address } of others) yield* first.send(erc20.call("transfer", [address, 10n ** 28n]))
  yield* mine
  for (let block = 0; block < blocks; block++) {
    for (let i = 0; i < 8; i++) {
      const sender = others[random(others.length)]!
      yield* sender.send({ ...erc20.call("transfer", [user(), BigInt(1 + random(1_000_000))]), gasLimit: 100_000n })
    }
    yield* first.send(erc20.call("spray", [BigInt(user()), 4n, 3n]))
    if (block % 10 === 9) {
      yield* first.send(collectible.call("mint", [user(), BigInt(block)]))
      yield* first.send(multi.call("mint", [others[random(9)]!.address, BigInt(block % 7), 5n]))
      yield* first.send(mover.call("split", [[user(), user()]], 1_000n))
    }
    yield* mine
  }
})

/** An anvil with the chain: made once, then loaded from a file in the folder for temporary files. */
export const anvil = Effect.fnUntraced(function* (blocks: number) {
  const file = join(tmpdir(), `headwater-bench-chain-${blocks}.json`)
  const args = ["--timestamp", String(start), "--no-mining"]
  if (!existsSync(file)) {
    yield* Effect.scoped(
      Effect.gen(function* () {
        const making = yield* Anvil.start({ args })
        yield* generate(making, blocks)
        const state = yield* making.rpc<string>("anvil_dumpState", [])
        writeFileSync(file, gunzipSync(Buffer.from(state.slice(2), "hex")))
      })
    )
  }
  return yield* Anvil.start({ args: [...args, "--load-state", file] })
})
