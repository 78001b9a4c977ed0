/** bcoin as a peer: a chain of its own that pays the addresses of one key, and how fast it indexes that chain itself. */
import * as Effect from "effect/Effect"
import * as Bcoin from "../test/Bcoin.ts"
import { freePort } from "../test/FreePort.ts"

export interface Indexed {
  readonly seconds: number
  /** CPU seconds of its process. */
  readonly cpu: number
  /** Unspent outputs that its index then knows of the first addresses: it takes long to list those of all. */
  readonly coins: number
}

const asked = 20
/** What the outputs hold, in coins. */
const amount = 0.0001

/** Starts a bcoin and mines blocks with as many outputs each, to as many addresses on each branch of one key. */
export const start = Effect.fn("BcoinPeer.start")(function* (blocks: number, perBlock: number, addresses: number) {
  const port = yield* freePort
  const node = yield* Bcoin.start(addresses, String(port))
  const wallet = yield* node.wallet("bench", 1)
  const payer = yield* node.wallet("payer", 2)
  const paid = wallet.addresses.flat()
  const [own] = payer.addresses[0]
  let rest = blocks * (perBlock * amount + 0.001) + 1
  yield* node.fund(own!, rest)
  yield* node.mine(1)
  const [coin] = yield* node.rpc<ReadonlyArray<{ readonly hash: string; readonly index: number }>>(
    "headwaterspendable",
    [own]
  )
  let input = { txid: coin!.hash, vout: coin!.index }
  let next = 0
  for (let block = 0; block < blocks; block++) {
    rest -= perBlock * amount + 0.0002
    const outputs = Object.fromEntries([
      ...Array.from({ length: perBlock }, () => [paid[next++ % paid.length]!, amount]),
      [own, Number(rest.toFixed(8))]
    ])
    const raw = yield* node.rpc<string>("createrawtransaction", [input], outputs)
    input = { txid: yield* node.rpc<string>("headwatersend", yield* payer.sign(raw)), vout: perBlock }
    yield* node.mine(1)
  }
  const height = yield* node.rpc<number>("getblockcount")
  const sample = paid.slice(0, asked)
  return {
    node,
    /** The unspent outputs of the first addresses. */
    coins: Array.from({ length: blocks * perBlock }, (_, i) => i % paid.length).filter((i) => i < asked).length,
    extendedPublicKey: wallet.extendedPublicKey,
    height,
    /** Another bcoin, in memory as well, takes the chain over the network of nodes, as bcoin does it. */
    sync: Effect.scoped(
      Effect.flatMap(Bcoin.launch("", `127.0.0.1:${port}`), ({ rpc }) => rpc<Indexed>("headwatersync", height, sample))
    ),
    /** A second chain in the first bcoin's process takes the blocks at hand, without checking their scripts. */
    reindex: node.rpc<Indexed>("headwaterreindex", sample)
  }
})
