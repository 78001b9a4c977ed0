/** A small rippled on loopback: ledgers from memory over WebSocket and JSON-RPC, in either API version, or misbehaving. */
import type { IncomingMessage } from "node:http"
import { createServer } from "node:http"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type WebSocket, WebSocketServer } from "ws"
import * as LocalServer from "../../../../../test/LocalServer.ts"
import { bodyOf } from "../../FakeNode.ts"

/** Recorded JSON of any shape. */
// biome-ignore lint/suspicious/noExplicitAny: tests reach into recorded answers of every form
export type Json = Readonly<Record<string, any>>

export interface XrpServerOptions {
  /** Inner `ledger` objects as API version 1 has them, with expanded transactions; in rising order. */
  readonly ledgers: ReadonlyArray<Json>
  readonly version?: 1 | 2
  readonly completeLedgers?: string
  readonly networkId?: number
  /** Drops by account. */
  readonly balances?: Readonly<Record<string, string>>
  /** Accounts that transactions name, beside those with a balance. */
  readonly deleted?: ReadonlyArray<string>
  /** The first ledger whose transactions the server has; that of the main network if not given. */
  readonly firstLedger?: number
}

/** What a command is answered with instead: a `result`, an error by its name, or nothing at all. */
export type Override = (command: string, params: Json) => Json | "silence" | "drop" | undefined

export interface XrpServer {
  readonly wsUrl: string
  readonly httpUrl: string
  /** Commands received, in order. */
  readonly commands: ReadonlyArray<Json>
  readonly connections: () => number
  /** Validates ledgers up to this index; the newest at first. */
  validated: number
  override: Override | undefined
  /** What it answers where nothing overrides that. */
  readonly answer: (command: string, params: Json) => Json
  /** Sends to every connection. */
  readonly push: (message: unknown) => void
  readonly announce: (height: number) => void
  /** Cuts every connection without a closing handshake. */
  readonly cut: () => void
}

const indexOf = (ledger: Json) => Number(ledger.ledger_index)

/** The inner `ledger` object as API version 2 has it. */
export const version2 = (ledger: Json): Json => ({
  ...ledger,
  ledger_index: indexOf(ledger),
  transactions: ledger.transactions.map(({ hash, metaData, ...fields }: Json) => {
    const { Amount, ...rest } = fields
    const isPayment = rest.TransactionType === "Payment"
    const amount = Amount === undefined ? {} : isPayment ? { DeliverMax: Amount } : { Amount }
    return {
      close_time_iso: "2015-01-14T18:28:10Z",
      hash,
      ledger_hash: ledger.ledger_hash,
      ledger_index: indexOf(ledger),
      meta: metaData,
      tx_json: { ...rest, ...amount, date: ledger.close_time, ledger_index: indexOf(ledger) },
      validated: true
    }
  })
})

const refusals: Record<string, readonly [code: number, message: string]> = {
  lgrNotFound: [21, "ledgerNotFound"],
  txnNotFound: [29, "Transaction not found."],
  actNotFound: [19, "Account not found."],
  unknownCmd: [32, "Unknown method."],
  slowDown: [10, "You are placing too much load on the server."],
  noNetwork: [17, "Not synced to the network."]
}

const refusal = (error: string) => ({
  error,
  error_code: refusals[error]?.[0] ?? 0,
  error_message: refusals[error]?.[1] ?? error,
  status: "error"
})

export const make = (options: XrpServerOptions): Effect.Effect<XrpServer, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { ledgers, version = 1 } = options
    const commands: Array<Json> = []
    let connections = 0
    const sockets = new Set<WebSocket>()

    const ledger = (params: Json): Json => {
      const wanted = params.ledger_index === "validated" ? server.validated : params.ledger_index
      const found = ledgers.find((candidate) =>
        params.ledger_hash === undefined ? indexOf(candidate) === wanted : candidate.ledger_hash === params.ledger_hash
      )
      if (found === undefined || indexOf(found) > server.validated + 1) return refusal("lgrNotFound")
      const shaped = version === 2 ? version2(found) : found
      const { transactions, ...header } = shaped
      return {
        ledger: params.transactions === true ? shaped : header,
        ledger_hash: found.ledger_hash,
        ledger_index: indexOf(found),
        validated: indexOf(found) <= server.validated,
        status: "success"
      }
    }

    /** What names the account, a few at a time. */
    const accountTransactions = (params: Json): Json => {
      const { account, forward = false, ledger_index_max: max, ledger_index_min: min, limit, marker } = params
      const validated = ledgers.filter((each) => indexOf(each) <= server.validated)
      const first = indexOf(validated[0]!)
      const all = validated
        .filter((each) => (min < 0 || indexOf(each) >= min) && (max < 0 || indexOf(each) <= max))
        .flatMap((each) => {
          const shaped = version === 2 ? version2(each) : each
          const entries = shaped.transactions.map((entry: Json) => {
            if (version === 2) return { ...entry, validated: true }
            const { metaData, ...tx } = entry
            return { tx: { ...tx, ledger_index: indexOf(each) }, meta: metaData, validated: true }
          })
          return entries
            .filter((entry: Json) => JSON.stringify(entry).includes(account))
            .sort((a: Json, b: Json) => a.meta.TransactionIndex - b.meta.TransactionIndex)
        })
      if (!forward) all.reverse()
      const from = marker?.seq ?? 0
      const end = from + Math.min(limit, 7)
      return {
        ...{ account, limit, validated: true, status: "success", transactions: all.slice(from, end) },
        ...{ ledger_index_min: min < 0 ? first : min, ledger_index_max: max < 0 ? server.validated : max },
        ...(end < all.length ? { marker: { ledger: 0, seq: end } } : {})
      }
    }

    const answer = (command: string, params: Json): Json => {
      switch (command) {
        case "subscribe":
          return { validated_ledgers: options.completeLedgers, status: "success" }
        case "server_info":
          return {
            info: {
              build_version: "2.2.3",
              complete_ledgers: options.completeLedgers ?? `${indexOf(ledgers[0]!)}-${server.validated}`,
              server_state: "full",
              ...(options.networkId === undefined ? {} : { network_id: options.networkId })
            },
            status: "success"
          }
        case "ledger":
          return ledger(params)
        case "tx": {
          const inIt = ({ hash }: Json) => hash === params.transaction
          const found = ledgers.find((each) => each.transactions.some(inIt))
          if (found === undefined) return refusal("txnNotFound")
          const validated = indexOf(found) <= server.validated
          const { metaData, ...fields } = found.transactions.find(inIt)
          return version === 1
            ? { ...fields, meta: metaData, ledger_index: indexOf(found), validated, status: "success" }
            : { ...version2(found).transactions.find(inIt), ledger_index: indexOf(found), validated, status: "success" }
        }
        case "account_info": {
          const balance = options.balances?.[params.account]
          return balance === undefined
            ? refusal("actNotFound")
            : {
                account_data: { Account: params.account, Balance: balance, LedgerEntryType: "AccountRoot" },
                ledger_index: params.ledger_index,
                status: "success",
                validated: true
              }
        }
        case "account_tx": {
          const { account } = params
          if (params.forward !== undefined) return accountTransactions(params)
          const isNamed = options.balances?.[account] !== undefined || options.deleted?.includes(account) === true
          const transactions = isNamed ? [{ tx: {}, meta: {}, validated: true }] : []
          return {
            ...{ account, transactions, limit: 10, validated: true, status: "success" },
            ...{ ledger_index_min: options.firstLedger ?? 32_570, ledger_index_max: server.validated }
          }
        }
        default:
          return refusal("unknownCmd")
      }
    }

    const http = createServer((request: IncomingMessage, response) => {
      void bodyOf(request).then((body) => {
        const { method, params } = JSON.parse(body)
        const asked = { command: method, ...params[0] }
        commands.push(asked)
        const other = server.override?.(method, asked)
        if (other === "silence") return
        if (other === "drop") {
          response.destroy()
          return
        }
        response
          .writeHead(200, { "content-type": "application/json" })
          .end(JSON.stringify({ result: other ?? answer(method, asked) }))
      })
    })
    const ws = new WebSocketServer({ server: http })
    ws.on("connection", (socket) => {
      connections++
      sockets.add(socket)
      socket.on("close", () => sockets.delete(socket))
      socket.on("message", (data) => {
        const { command, id, ...params } = JSON.parse(String(data))
        commands.push({ command, ...params })
        const other = server.override?.(command, params)
        if (other === "silence") return
        if (other === "drop") return socket.terminate()
        const { status, ...result } = other ?? answer(command, params)
        const reply =
          status === "error" ? { ...result, id, status, type: "response" } : { id, result, status, type: "response" }
        socket.send(JSON.stringify(reply))
      })
    })

    const port = yield* LocalServer.listen(http)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        for (const socket of sockets) socket.terminate()
        ws.close()
      })
    )
    const push = (message: unknown) => {
      for (const socket of sockets) socket.send(typeof message === "string" ? message : JSON.stringify(message))
    }
    const server: XrpServer = {
      wsUrl: `ws://127.0.0.1:${port}`,
      httpUrl: `http://127.0.0.1:${port}`,
      commands,
      connections: () => connections,
      validated: indexOf(ledgers.at(-1)!),
      override: undefined,
      answer,
      push,
      announce: (height) =>
        push({
          type: "ledgerClosed",
          ledger_index: height,
          ledger_hash: ledgers.find((candidate) => indexOf(candidate) === height)?.ledger_hash,
          txn_count: 0
        }),
      cut: () => {
        for (const socket of sockets) socket.terminate()
      }
    }
    return server
  })
