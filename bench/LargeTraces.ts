/**
 * A node with one recorded block of Ethereum, whose traces are as large as wanted: the calls of each transaction are
 * repeated. As a program it prints its URL.
 */
import { readFileSync } from "node:fs"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { gunzipSync } from "node:zlib"

const megabytes = Number(process.argv[2] ?? 300)

interface Recorded {
  readonly eth_getBlockByNumber: {
    readonly hash: string
    readonly number: string
    readonly transactions: ReadonlyArray<{ readonly hash: string }>
  }
  readonly eth_getBlockReceipts: ReadonlyArray<{ readonly transactionHash: string }>
  readonly debug_traceBlock_callTracer: ReadonlyArray<{ readonly calls?: ReadonlyArray<unknown> }>
}

const recorded: Recorded = JSON.parse(
  gunzipSync(
    readFileSync(new URL("../../shared/fixtures/evm-rpc/bundles/ethereum-16899757.json.gz", import.meta.url))
  ).toString()
)
const { eth_getBlockByNumber: block, eth_getBlockReceipts: receipts, debug_traceBlock_callTracer: traces } = recorded
const newest = { ...block, transactions: block.transactions.map(({ hash }) => hash) }

/** Texts that follow one another: one frame whose calls are those recorded, again and again, up to a size. */
const frame = (index: number, bytes: number): ReadonlyArray<string> => {
  const { calls = [], ...top } = traces[index]!
  const inner = calls.length === 0 ? [{ ...top, calls: [] }] : calls
  const text = inner.map((call) => JSON.stringify(call)).join()
  const again = Math.max(1, Math.ceil(bytes / text.length))
  return [
    `${JSON.stringify(top).slice(0, -1)},"calls":[`,
    ...Array.from({ length: again }, (_, i) => (i === 0 ? text : `,${text}`)),
    "]}"
  ]
}

const bytesEach = (megabytes * 1e6) / traces.length

const send = (response: ServerResponse, texts: Iterable<string>) => {
  const iterator = texts[Symbol.iterator]()
  const more = () => {
    for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
      if (response.destroyed) return
      if (!response.write(next.value)) return void response.once("drain", more)
    }
    response.end()
  }
  more()
}

interface Call {
  readonly id: number
  readonly method: string
  readonly params: ReadonlyArray<unknown>
}

const textsOf = function* ({ id, method, params }: Call): Generator<string> {
  const plain = (result: unknown) => JSON.stringify({ jsonrpc: "2.0", id, result })
  switch (method) {
    case "eth_chainId":
      return yield plain("0x1")
    case "eth_getBlockByNumber":
      return yield plain(params[1] === true ? block : newest)
    case "eth_getBlockReceipts":
      return yield plain(receipts)
    case "debug_traceBlockByHash": {
      yield `{"jsonrpc":"2.0","id":${id},"result":[`
      for (const [index, { hash }] of block.transactions.entries()) {
        yield `${index === 0 ? "" : ","}{"txHash":"${hash}","result":`
        yield* frame(index, bytesEach)
        yield "}"
      }
      return yield "]}"
    }
    case "debug_traceTransaction": {
      yield `{"jsonrpc":"2.0","id":${id},"result":`
      yield* frame(
        block.transactions.findIndex(({ hash }) => hash === params[0]),
        bytesEach
      )
      return yield "}"
    }
    default:
      yield JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "the method does not exist" } })
  }
}

const node = createServer(async (request, response) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const asked: Call | ReadonlyArray<Call> = JSON.parse(Buffer.concat(chunks).toString())
  const calls = [asked].flat() as ReadonlyArray<Call>
  send(
    response,
    (function* () {
      if (!Array.isArray(asked)) return yield* textsOf(calls[0]!)
      yield "["
      for (const [index, call] of calls.entries()) {
        if (index > 0) yield ","
        yield* textsOf(call)
      }
      yield "]"
    })()
  )
})

node.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(node.address() as AddressInfo).port} ${Number(block.number)}`)
})
