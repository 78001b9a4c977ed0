/**
 * What happened on an anvil chain, told a second time without any of Headwater's code: logs decoded by ethers, traces
 * walked here. Endpoints and callbacks have to agree with it.
 */
import * as Effect from "effect/Effect"
import { formatUnits, getAddress, Interface, type Log } from "ethers"
import type { Anvil } from "./Anvil.ts"

interface Place {
  readonly height: number
  readonly hash: string
  readonly time: number
  readonly transaction: string
}

export interface Moved extends Place {
  readonly from: string
  readonly to: string
  readonly amount: bigint
}

export interface TokenMoved extends Moved {
  readonly contract: string
  readonly standard: string
  readonly tokenId: string | undefined
}

export interface InternalMoved extends Moved {
  readonly operation: string
  readonly type: string
}

export interface History {
  readonly tip: number
  readonly coins: ReadonlyArray<Moved>
  readonly tokens: ReadonlyArray<TokenMoved>
  readonly internals: ReadonlyArray<InternalMoved>
}

const erc20 = new Interface(["event Transfer(address indexed from, address indexed to, uint256 amount)"])
const erc721 = new Interface(["event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)"])
const erc1155 = new Interface([
  "event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)",
  "event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)"
])

const tokensOf = (log: Log, place: Place): ReadonlyArray<TokenMoved> => {
  const contract = getAddress(log.address)
  const transfer = (log.topics.length === 4 ? erc721 : erc20).parseLog(log)
  if (transfer !== null) {
    const { amount = 1n, from, to, tokenId } = transfer.args.toObject()
    return [
      {
        ...{ ...place, contract, from, to, amount },
        standard: tokenId === undefined ? "ERC-20" : "ERC-721",
        tokenId: tokenId?.toString()
      }
    ]
  }
  const multi = erc1155.parseLog(log)
  if (multi === null) return []
  const [, from, to, ids, values] = multi.args
  const single = multi.name === "TransferSingle"
  return (single ? [ids] : [...ids]).map((id: bigint, i: number) => ({
    ...{ ...place, contract, from, to },
    amount: single ? values : values[i],
    standard: "ERC-1155",
    tokenId: id.toString()
  }))
}

interface Frame {
  readonly type: string
  readonly from: string
  readonly to?: string
  readonly value?: string
  readonly error?: string
  readonly calls?: ReadonlyArray<Frame>
}

const framesOf = (frame: Frame, place: Place, path: ReadonlyArray<number> = []): ReadonlyArray<InternalMoved> => {
  if (frame.error !== undefined) return []
  const value = BigInt(frame.value ?? "0x0")
  const moves = path.length > 0 && value > 0n && ["CALL", "CREATE", "CREATE2", "SELFDESTRUCT"].includes(frame.type)
  const own = moves
    ? [
        {
          ...place,
          from: getAddress(frame.from),
          to: getAddress(frame.to!),
          amount: value,
          operation: `call_${path.join("_")}`,
          type: frame.type.toLowerCase()
        }
      ]
    : []
  return [...own, ...(frame.calls ?? []).flatMap((call, i) => framesOf(call, place, [...path, i]))]
}

/** Reads the whole chain as the node has it now. */
export const history = (anvil: Anvil): Effect.Effect<History> =>
  Effect.gen(function* () {
    const tip = Number(yield* anvil.rpc("eth_blockNumber", []))
    const coins: Array<Moved> = []
    const tokens: Array<TokenMoved> = []
    const internals: Array<InternalMoved> = []
    for (let height = 0; height <= tip; height++) {
      const number = `0x${height.toString(16)}`
      // biome-ignore lint/suspicious/noExplicitAny: answers of a node that the test trusts
      const block = yield* anvil.rpc<any>("eth_getBlockByNumber", [number, true])
      if (block.transactions.length === 0) continue
      for (const tx of block.transactions) {
        // biome-ignore lint/suspicious/noExplicitAny: as above
        const receipt = yield* anvil.rpc<any>("eth_getTransactionReceipt", [tx.hash])
        if (receipt.status !== "0x1") continue
        const place = { height, hash: block.hash, time: Number(block.timestamp), transaction: tx.hash }
        const to = getAddress(tx.to ?? receipt.contractAddress)
        if (BigInt(tx.value) > 0n) coins.push({ ...place, from: getAddress(tx.from), to, amount: BigInt(tx.value) })
        for (const log of receipt.logs) tokens.push(...tokensOf(log, place))
        const trace = yield* anvil.rpc<Frame>("debug_traceTransaction", [tx.hash, { tracer: "callTracer" }])
        internals.push(...framesOf(trace, place))
      }
    }
    return { tip, coins, tokens, internals }
  })

export interface Described {
  readonly name: string
  readonly symbol: string
  readonly decimals: number | undefined
}

/** An amount of a token as the interface writes it. */
export const amountOf = ({ amount, tokenId }: TokenMoved, { decimals = 0 }: Described): string =>
  formatUnits(amount, tokenId === undefined ? decimals : 0).replace(/\.0$/, "")
