/**
 * Fake nodes of all sixteen mainnets for `bench/mainnets.ts`, in one process of their own: chains of recorded transactions in
 * blocks as large as those of the network, each sealed anew behind the one before, so that hashes, links and roots hold.
 *
 * As a program, forked: it is told which chain has how many blocks more, and says the URLs. With the names of chains it has
 * these alone, and with a number of blocks keeps so many of each, and the answers about them as they were sent.
 *
 *     MainnetNodes.ts [blocks of XRP and Tron] [chains, as "ethereum,bitcoin"] [blocks kept] [raw: UTXO nodes show no prevouts]
 */
import { createServer, type Server } from "node:http"
import { createRequire } from "node:module"
import type { AddressInfo } from "node:net"
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as HeaderHash from "../packages/indexer/src/families/evm/internal/HeaderHash.ts"
import { hex } from "../packages/indexer/test/families/evm/EvmBlocks.ts"
import * as EvmNode from "../packages/indexer/test/families/evm/EvmNode.ts"
import * as SealedBlock from "../packages/indexer/test/families/evm/SealedBlock.ts"
import * as TronBlocks from "../packages/indexer/test/families/tron/TronBlocks.ts"
import * as TronNode from "../packages/indexer/test/families/tron/TronNode.ts"
import * as UtxoBlocks from "../packages/indexer/test/families/utxo/UtxoBlocks.ts"
import * as XrpLedgers from "../packages/indexer/test/families/xrp/XrpLedgers.ts"
import * as XrpServer from "../packages/indexer/test/families/xrp/XrpServer.ts"
import * as Fixtures from "../packages/indexer/test/Fixtures.ts"
import * as MachineTime from "./MachineTime.ts"
import * as NodeJson from "./NodeJson.ts"
import * as ZeroMq from "./ZeroMq.ts"

export interface Mainnet {
  readonly blockchain: string
  /** Seconds between two blocks, as `core/chains` has them. */
  readonly blockSeconds: number
  readonly transactions: number
  /** Where both can be looked up. */
  readonly source: string
}

/**
 * Transactions of a usual block: those of a day over its blocks, rounded up, by the networks' public charts in 2025. The
 * charts go up and down by half within months: `bench/mainnets.ts` prints what was assumed beside each figure.
 */
const usual: Readonly<Record<string, readonly [transactions: number, source: string]>> = {
  bitcoin: [2_500, "500,000 a day; the recorded block has 2,500: mempool.space/graphs"],
  "bitcoin-cash": [200, "30,000 a day: bitinfocharts.com"],
  litecoin: [400, "230,000 a day: bitinfocharts.com"],
  dogecoin: [50, "70,000 a day: bitinfocharts.com"],
  dash: [40, "20,000 a day: bitinfocharts.com"],
  zcash: [6, "20,000 a day: bitinfocharts.com"],
  ethereum: [220, "1.6 million a day: etherscan.io/chart/tx"],
  "ethereum-classic": [10, "60,000 a day: etc.blockscout.com/stats"],
  "binance-smart-chain": [80, "15 million a day: bscscan.com/chart/tx"],
  polygon: [70, "4 million a day: polygonscan.com/chart/tx"],
  arbitrum: [10, "3.5 million a day: arbiscan.io/chart/tx"],
  avalanche: [20, "1.5 million a day: subnets.avax.network/c-chain"],
  base: [28, "12 million a day: basescan.org/chart/tx"],
  optimism: [50, "2 million a day: optimistic.etherscan.io/chart/tx"],
  tron: [330, "9.5 million a day: tronscan.org/#/data/stats"],
  xrp: [100, "2 million a day: livenet.xrpl.org"]
}

export const all: ReadonlyArray<Mainnet> = Object.entries(usual).map(([blockchain, [transactions, source]]) => ({
  ...{ blockchain, transactions, source },
  blockSeconds: Result.getOrThrow(Chain.find(blockchain, "mainnet")).blockSeconds
}))

/** The blocks that a chain begins with: one. */
export const firstHeight = 30_000_000

/** What a node is set up with, and how its chain is told to grow. */
interface Node {
  readonly settings: object
  /** Addresses, as text, that each block touches. */
  readonly touched: ReadonlyArray<string>
  /** Shows one block more, and announces it where the family has a way. */
  readonly grow: () => void
}

export interface Ready {
  readonly nodes: Readonly<Record<string, Omit<Node, "grow">>>
}

/** As much of `ws`, which the indexer's tests have, as is used. */
interface Socket {
  readonly on: (event: "message" | "close", listener: () => void) => void
  readonly send: (text: string) => void
}
const { WebSocketServer } = createRequire(new URL("../packages/indexer/package.json", import.meta.url))("ws") as {
  readonly WebSocketServer: new (options: {
    readonly server: Server
  }) => {
    readonly on: (event: "connection", listener: (socket: Socket) => void) => void
  }
}

/** JSON text, in place of what would have to be written again for each request. */
type Text = string

interface Call {
  readonly id: number
  readonly method: string
  readonly params: ReadonlyArray<unknown>
}

const [premadeBlocks, chosenChains, keptBlocks, shown] = process.argv.slice(2)
const showsPrevouts = shown !== "raw"

/** A JSON-RPC node whose results are texts; undefined for a method that it does not have. */
const serve = (answer: (method: string, params: ReadonlyArray<unknown>) => Text | undefined) =>
  new Promise<{ readonly port: number; readonly announce: (text: string) => void }>((resolve) => {
    const sent = new Map<string, Buffer>()
    const resultOf = (method: string, params: ReadonlyArray<unknown>) => {
      if (keptBlocks === undefined || params[0] === "latest" || params.length === 0) return answer(method, params)
      const key = JSON.stringify([method, params])
      const before = sent.get(key)
      if (before !== undefined) return before
      const text = answer(method, params)
      const bytes = text === undefined ? undefined : Buffer.from(text)
      if (bytes !== undefined) sent.set(key, bytes)
      return bytes
    }
    const replyTo = ({ id, method, params }: Call): ReadonlyArray<string | Buffer> => {
      const result = resultOf(method, params)
      return result === undefined
        ? [`{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"the method ${method} does not exist"}}`]
        : [`{"jsonrpc":"2.0","id":${id},"result":`, result, "}"]
    }
    const server = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const asked = JSON.parse(Buffer.concat(chunks).toString()) as Call | ReadonlyArray<Call>
        const parts = Array.isArray(asked)
          ? ["[", ...asked.flatMap((call, at) => (at === 0 ? replyTo(call) : [",", ...replyTo(call)])), "]"]
          : replyTo(asked as Call)
        const length = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0)
        response.writeHead(200, { "content-type": "application/json", "content-length": length })
        for (const part of parts) response.write(part)
        response.end()
      })
    })
    const subscribed = new Set<Socket>()
    new WebSocketServer({ server }).on("connection", (socket) => {
      socket.on("message", () => {
        socket.send('{"jsonrpc":"2.0","id":1,"result":"0x1"}')
        subscribed.add(socket)
      })
      socket.on("close", () => subscribed.delete(socket))
    })
    server.listen(0, "127.0.0.1", () =>
      resolve({
        port: (server.address() as AddressInfo).port,
        announce: (text) => {
          for (const socket of subscribed) socket.send(text)
        }
      })
    )
  })

/** Blocks that are made before the chain begins; the chain goes through them again and again, in headers of their own. */
const templates = 6
/** Blocks that a node keeps. */
const kept = Number(keptBlocks ?? 10_000)
const keptUtxo = Number(keptBlocks ?? 50)

/** What each block of a chain has beside transactions of Ethereum's kinds. */
const ownOf: Readonly<Record<string, SealedBlock.Own>> = {
  arbitrum: SealedBlock.nitro,
  avalanche: SealedBlock.avalanche,
  base: SealedBlock.opStack,
  optimism: SealedBlock.opStack
}

const quantity = (number: number) => `0x${number.toString(16)}`
const bundle = "ethereum-17053184"

const evm = async (chain: Chain.Chain, transactions: number): Promise<Node> => {
  const { recorded } = EvmNode.bundle(bundle)
  const placeholder = 0xabcdef01
  const mark = { hash: `0x${"1f".repeat(31)}aa`, parent: `0x${"1f".repeat(31)}bb` }
  const made = Array.from({ length: templates }, (_, index) => {
    const place = { height: placeholder + index * 100_000, parent: mark.parent, time: 1 }
    const { block, callTracer, receipts } = SealedBlock.repeated(
      recorded,
      transactions,
      1,
      place,
      ownOf[chain.blockchain]
    )
    const [hash, number] = [block.hash as string, block.number as string]
    const text = (json: unknown) =>
      JSON.stringify(json).replaceAll(hash, mark.hash).replaceAll(`"${number}"`, '"NUMBER"')
    const { transactions: listed, ...header } = block
    const named = (name: string) => ({ ...header, transactions: name })
    return {
      header: block,
      block: text({ ...named("x"), transactions: listed }).replace('"timestamp":"0x1"', '"timestamp":"TIME"'),
      short: text({ ...named("x"), transactions: listed.map((one: EvmNode.Json) => one.hash) }).replace(
        '"timestamp":"0x1"',
        '"timestamp":"TIME"'
      ),
      receipts: text(receipts),
      traces: text(callTracer!.map((result, i) => ({ txHash: listed[i].hash, result }))),
      touched: listed.flatMap(({ to, value }: EvmNode.Json) => (to === null || value === "0x0" ? [] : [to as string]))
    }
  })
  const blocks = new Map<number, { hash: string; fill: (text: Text) => Text; of: (typeof made)[number] }>()
  const byHash = new Map<string, number>()
  let tip = firstHeight - 1
  const push = () => {
    const height = tip + 1
    const of = made[height % templates]!
    const parent = blocks.get(tip)?.hash ?? `0x${"00".repeat(32)}`
    const time = Math.floor(Date.now() / 1000)
    const place = { number: quantity(height), parentHash: parent, timestamp: quantity(time) }
    const hash = hex(HeaderHash.of({ ...of.header, ...place }, SealedBlock.keccak))!
    const fill = (text: Text) =>
      text
        .replaceAll(mark.hash, hash)
        .replaceAll(mark.parent, parent)
        .replaceAll('"NUMBER"', `"${place.number}"`)
        .replace('"timestamp":"TIME"', `"timestamp":"${place.timestamp}"`)
    blocks.set(height, { hash, fill, of })
    byHash.set(hash, height)
    const old = blocks.get(height - kept)
    if (old !== undefined) byHash.delete(old.hash)
    blocks.delete(height - kept)
    tip = height
    return { height, hash }
  }
  push()
  const at = (tag: unknown) => {
    const number = tag === "latest" ? tip : tag === "finalized" ? Math.max(firstHeight, tip - 64) : Number(tag)
    return blocks.get(number)
  }
  const plain: Readonly<Record<string, Text>> = {
    ...{ eth_chainId: `"${quantity(chain.evm!.chainId!)}"`, eth_call: '"0x"', eth_getCode: '"0x"' },
    ...{ eth_getBalance: '"0x1"', eth_getTransactionCount: '"0x1"', eth_syncing: "false" }
  }
  const { announce, port } = await serve((method, [key, full]) => {
    switch (method) {
      case "eth_getBlockByNumber": {
        const found = at(key)
        return found === undefined ? "null" : found.fill(full === true ? found.of.block : found.of.short)
      }
      case "eth_getBlockReceipts": {
        const found = String(key).length > 20 ? blocks.get(byHash.get(String(key)) ?? -1) : at(key)
        return found === undefined ? "null" : found.fill(found.of.receipts)
      }
      case "debug_traceBlockByHash": {
        const found = blocks.get(byHash.get(String(key)) ?? -1)
        return found === undefined ? "[]" : found.fill(found.of.traces)
      }
      default:
        return plain[method]
    }
  })
  return {
    settings: { nodes: [`http://127.0.0.1:${port}`], tracer: "callTracer" },
    touched: made.map(({ touched }) => touched[0]!),
    grow: () => {
      const { hash, height } = push()
      const result = { number: quantity(height), hash }
      announce(JSON.stringify({ jsonrpc: "2.0", method: "eth_subscription", params: { subscription: "0x1", result } }))
    }
  }
}

const rawBlock =
  "utxo-blocks/rust-bitcoin/bitcoin/tests/data/mainnet_block_000000000000000000000c835b2adcaedc20fdf6ee440009c249452c726dafae.raw"

/** What a header of Zcash has beside Bitcoin's. */
const zcash = { blockcommitments: "00".repeat(32), nonce: "00".repeat(32), solution: "00".repeat(1344) }

const reversed = (text: string) => Buffer.from(text, "hex").reverse()
const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value >>> 0)
  return bytes
}

const utxo = async (chain: Chain.Chain, count: number): Promise<Node> => {
  const { readFileSync } = await import("node:fs")
  const { createHash } = await import("node:crypto")
  const idOf = (bytes: Buffer) => {
    const once = createHash("sha256").update(bytes).digest()
    return createHash("sha256").update(once).digest().reverse().toString("hex")
  }
  const recorded = JSON.parse((await NodeJson.ofBlock(readFileSync(Fixtures.path(rawBlock)))).text) as {
    readonly tx: ReadonlyArray<EvmNode.Json>
  }
  const isBitcoin = chain.blockchain === "bitcoin"
  // Without witness a transaction of version 1 or 2 has the same form on all of these chains.
  const paying = recorded.tx
    .slice(1)
    .filter(
      ({ hex, version }) =>
        isBitcoin || (String(hex).slice(8, 12) !== "0001" && (chain.blockchain !== "zcash" || version === 1))
    )
  const shows = (transaction: EvmNode.Json) =>
    JSON.stringify({
      ...transaction,
      vin: transaction.vin.map((input: EvmNode.Json) =>
        input.coinbase === undefined && showsPrevouts
          ? { ...input, prevout: { value: 0.01, scriptPubKey: { hex: UtxoBlocks.p2pkh(7) } } }
          : input
      )
    })
  const texts = paying.map(shows)
  const ids = paying.map(({ txid }) => String(txid))
  const raws = paying.map(({ hex }) => String(hex))
  const headers = new Map<number, string>()
  const blocks = new Map<string, { text: Text; raw: Text; listed: Text }>()
  const watched = UtxoBlocks.p2pkh(9)
  const reward = UtxoBlocks.paid("6.25000000", watched)
  /** BIP-141: the coinbase commits to the witnesses of a block, its own being 32 bytes of zeros. */
  const reserved = "00".repeat(32)
  const commitment = () => {
    const root = UtxoBlocks.merkleRootOf([
      reserved,
      ...raws.slice(0, count - 1).map((raw) => idOf(Buffer.from(raw, "hex")))
    ])
    const hash = reversed(idOf(Buffer.concat([reversed(root), Buffer.from(reserved, "hex")])))
    return UtxoBlocks.paid("0.00000000", `6a24aa21a9ed${hash.toString("hex")}`)
  }
  const outputs = isBitcoin ? [reward, commitment()] : [reward]
  const coinbaseAt = (height: number): EvmNode.Json => {
    const made = UtxoBlocks.transaction([], outputs, height) as EvmNode.Json
    if (!isBitcoin) return made
    const hex = `${made.hex.slice(0, 8)}0001${made.hex.slice(8, -8)}0120${reserved}${made.hex.slice(-8)}`
    return { ...made, hex, vin: [{ ...made.vin[0], txinwitness: [reserved] }] }
  }
  let tip = firstHeight - 1
  const push = () => {
    const height = tip + 1
    const previous = headers.get(tip) ?? "00".repeat(32)
    const coinbase = coinbaseAt(height)
    const from = ((height * count) % Math.max(1, paying.length - count)) * (isBitcoin ? 0 : 1)
    const some = <A>(list: ReadonlyArray<A>) => list.slice(from, from + count - 1)
    const listed = [coinbase.txid, ...some(ids)]
    const merkleroot = UtxoBlocks.merkleRootOf(listed)
    const time = Math.floor(Date.now() / 1000)
    const [version, bits] = [0x20000000, "207fffff"]
    const head = [uint32(version), reversed(previous), reversed(merkleroot)]
    const isZcash = chain.blockchain === "zcash"
    const header = Buffer.concat(
      isZcash
        ? [
            ...head,
            reversed(zcash.blockcommitments),
            uint32(time),
            uint32(Number.parseInt(bits, 16)),
            reversed(zcash.nonce),
            Buffer.from([0xfd, 1344 & 0xff, 1344 >> 8]),
            Buffer.from(zcash.solution, "hex")
          ]
        : [...head, uint32(time), uint32(Number.parseInt(bits, 16)), uint32(0)]
    )
    const hash = idOf(header)
    const raw = `"${header.toString("hex")}${UtxoBlocks.compactSize(listed.length)}${[coinbase.hex, ...some(raws)].join("")}"`
    const { tx: _, ...outer } = {
      ...{ hash, confirmations: 1, height, version, versionHex: "20000000", merkleroot, tx: 0, time, mediantime: time },
      ...{ nonce: 0, bits, difficulty: 1, chainwork: "00", nTx: listed.length, previousblockhash: previous },
      ...{ size: raw.length / 2, strippedsize: raw.length / 2, weight: raw.length * 2 },
      ...(isZcash ? zcash : {})
    }
    const text = `${JSON.stringify(outer).slice(0, -1)},"tx":[${[shows(coinbase), ...some(texts)].join(",")}]}`
    blocks.set(hash, { text, raw, listed: JSON.stringify({ ...outer, tx: listed }) })
    headers.set(height, hash)
    blocks.delete(headers.get(height - keptUtxo) ?? "")
    tip = height
  }
  push()
  const { port } = await serve((method, [key, verbosity]) => {
    switch (method) {
      case "getblockchaininfo":
        return JSON.stringify({ chain: "main", blocks: tip, bestblockhash: headers.get(tip), pruned: false })
      case "getblockhash":
        return headers.has(Number(key)) ? JSON.stringify(headers.get(Number(key))) : undefined
      case "getblock":
        return verbosity === 0 || verbosity === false
          ? blocks.get(String(key))?.raw
          : showsPrevouts || verbosity === 2 || verbosity === 3
            ? blocks.get(String(key))?.text
            : blocks.get(String(key))?.listed
      case "getrawmempool":
        return "[]"
      case "getindexinfo":
        return '{"txindex":{"synced":true}}'
      default:
        return undefined
    }
  })
  const publisher = await ZeroMq.publisher()
  return {
    settings: { nodes: [`http://127.0.0.1:${port}`], zmq: [publisher.endpoint] },
    touched: [Address.encode(chain, Buffer.from(watched, "hex") as unknown as Address.AddressBytes)!],
    grow: () => {
      push()
      void publisher.announce(headers.get(tip)!)
    }
  }
}

/** Blocks of XRP and Tron, which are made before the first is asked for. */
const premade = Number(premadeBlocks ?? 200)

/** The servers of these families live as long as this process. */
const scope = Scope.makeUnsafe()

const xrp = async (count: number): Promise<Node> => {
  const recorded = Fixtures.json("xrp/rippled-historical-database/test/mock/ledgers/11119619.json") as XrpServer.Json
  const fields = { parent_close_time: recorded.close_time, close_flags: 0, ...recorded }
  const ledgers = XrpLedgers.sealed(
    Array.from({ length: premade }, (_, at) => ({
      ...fields,
      ledger_index: String(firstHeight + at),
      transactions: Array.from({ length: count }, (_, index) => {
        const entry = recorded.transactions[index % recorded.transactions.length]
        return {
          ...entry,
          Sequence: at * count + index + 1,
          metaData: { ...entry.metaData, TransactionIndex: index }
        }
      })
    }))
  )
  const server = await Effect.runPromise(Effect.provideService(XrpServer.make({ ledgers }), Scope.Scope, scope))
  server.validated = firstHeight
  const payment = recorded.transactions.find(({ TransactionType: type }: XrpServer.Json) => type === "Payment")
  return {
    settings: { nodes: [server.wsUrl] },
    touched: [payment.Destination],
    grow: () => {
      server.validated++
      server.announce(server.validated)
    }
  }
}

const tron = async (count: number): Promise<Node> => {
  const transactions = Array.from({ length: count }, (_, index) =>
    index % 3 === 0 ? TronBlocks.transfer(index, index + 1, 5 + index) : TronBlocks.call(index, 70 + index)
  )
  const blocks = TronBlocks.linked(
    Array.from({ length: premade }, (_, at) => {
      const height = firstHeight + at
      return TronBlocks.blockOf(
        height,
        transactions,
        transactions.map((transaction, index) =>
          TronBlocks.infoOf(
            transaction,
            height,
            index % 3 === 0
              ? {}
              : {
                  contract_address: TronBlocks.account(70 + index),
                  log: [TronBlocks.trc20(70, index, index + 1, 1_000n)],
                  internal_transactions: index % 9 === 1 ? [TronBlocks.internal(index, index + 1, 5)] : []
                }
          )
        )
      )
    })
  )
  const node = await Effect.runPromise(Effect.provideService(TronNode.make({ blocks }), Scope.Scope, scope))
  node.height = firstHeight
  return {
    settings: { nodes: [node.url] },
    touched: [TronBlocks.account(1)],
    grow: () => {
      node.height++
    }
  }
}

if (process.send !== undefined) {
  const nodes: Record<string, Node> = {}
  const wanted = chosenChains?.split(",")
  for (const { blockchain, transactions } of all) {
    if (wanted?.includes(blockchain) === false) continue
    const chain = Result.getOrThrow(Chain.find(blockchain, "mainnet"))
    nodes[blockchain] = await {
      evm: () => evm(chain, transactions),
      utxo: () => utxo(chain, transactions),
      tron: () => tron(transactions),
      xrp: () => xrp(transactions)
    }[chain.family]()
  }
  const heights = new Map<string, number>()
  process.on("message", (blockchain: string) => {
    const height = (heights.get(blockchain) ?? firstHeight) + 1
    heights.set(blockchain, height)
    // A block takes time to make, which is not the daemon's.
    nodes[blockchain]!.grow()
    process.send!({ blockchain, height, at: MachineTime.millis() })
  })
  process.once("disconnect", () => process.exit())
  process.send({
    nodes: Object.fromEntries(
      Object.entries(nodes).map(([name, { settings, touched }]) => [name, { settings, touched }])
    )
  } satisfies Ready)
}
