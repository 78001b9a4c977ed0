/** A small java-tron on loopback: blocks, infos and accounts from memory, transfers built as asked, or misbehaving. */
import type { IncomingHttpHeaders } from "node:http"
import * as TronTransaction from "@headwater/core/tron/TronTransaction"
import * as TronTransfer from "@headwater/core/tron/TronTransfer"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as FakeNode from "../../FakeNode.ts"

/** Recorded JSON of any shape. */
// biome-ignore lint/suspicious/noExplicitAny: tests reach into recorded answers of every form
export type Json = Readonly<Record<string, any>>

export interface TronBlock {
  readonly block: Json
  readonly infos: ReadonlyArray<Json>
}

export interface TronNodeOptions {
  /** In rising order. */
  readonly blocks: ReadonlyArray<TronBlock>
  /** Paths that this node does not have. */
  readonly without?: ReadonlyArray<string>
  /** Height of the solidified block; the newest but 19 if not given. */
  readonly solid?: number
  /** What `/wallet/getaccount` answers, by address (41…). */
  readonly accounts?: Readonly<Record<string, Json>>
  readonly resources?: Readonly<Record<string, Json>>
  readonly parameters?: Readonly<Record<string, number>>
  /** What constant calls answer, by contract (41…) and function. */
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, Json>>>>
}

export type Override = (path: string, body: Json) => unknown

export interface TronNode {
  readonly url: string
  readonly requests: ReadonlyArray<{
    readonly path: string
    readonly body: Json
    readonly headers: IncomingHttpHeaders
  }>
  /** Shows blocks up to this height. */
  height: number
  /** Answers instead, unless it gives undefined. A number is an HTTP status. */
  override: Override | undefined
}

const heightOf = ({ block }: TronBlock): number => block.block_header.raw_data.number ?? 0

const unhex = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"))

export const make = (options: TronNodeOptions): Effect.Effect<TronNode, never, Scope.Scope> => {
  const requests: Array<{ path: string; body: Json; headers: IncomingHttpHeaders }> = []
  const { blocks } = options
  const without = new Set(options.without)

  const at = (height: number) => blocks.find((block) => heightOf(block) === height && height <= node.height)
  const shown = () => blocks.filter((block) => heightOf(block) <= node.height)
  const header = (found: TronBlock | undefined) => {
    if (found === undefined) return {}
    const { transactions, ...rest } = found.block
    return rest
  }

  const createTransaction = (body: Json): Json => {
    const expiration = Date.now() + 60_000
    const transfer = {
      owner: unhex(body.owner_address.slice(2)),
      to: unhex(body.to_address.slice(2)),
      amount: BigInt(body.amount),
      memo: unhex(body.extra_data ?? ""),
      refBlockBytes: unhex("2927"),
      refBlockHash: unhex("939ece39d08a7abe"),
      expiration,
      timestamp: expiration - 60_000
    } as TronTransfer.TronTransfer
    return transactionOf(transfer)
  }

  const answers: Record<string, (body: Json) => unknown> = {
    "/wallet/getblock": ({ detail, id_or_num }) => {
      const found = id_or_num === undefined ? at(node.height) : at(Number(id_or_num))
      return detail === true ? (found?.block ?? {}) : header(found)
    },
    "/wallet/getnowblock": () => at(node.height)?.block ?? {},
    "/wallet/getblockbynum": ({ num }) => at(num)?.block ?? {},
    "/wallet/gettransactioninfobyblocknum": ({ num }) => (num > 0 ? (at(num)?.infos ?? []) : {}),
    "/wallet/gettransactionbyid": ({ value }) =>
      shown()
        .flatMap(({ block }) => block.transactions ?? [])
        .find(({ txID }: Json) => txID === value) ?? {},
    "/wallet/gettransactioninfobyid": ({ value }) =>
      shown()
        .flatMap(({ infos }) => infos)
        .find(({ id }) => id === value) ?? {},
    "/walletsolidity/getblock": () => header(at(options.solid ?? node.height - 19)),
    "/walletsolidity/getnowblock": () => at(options.solid ?? node.height - 19)?.block ?? {},
    "/wallet/getnodeinfo": () => ({
      block: `Num:${node.height},ID:00`,
      solidityBlock: `Num:${options.solid ?? node.height - 19},ID:${at(options.solid ?? node.height - 19)?.block.blockID}`,
      machineInfo: { cpuRate: 0.06666666666666667 }
    }),
    "/wallet/getaccount": ({ address }) => options.accounts?.[address] ?? {},
    "/wallet/getaccountresource": ({ address }) => options.resources?.[address] ?? {},
    "/wallet/getchainparameters": () => ({
      chainParameter: Object.entries({
        getTransactionFee: 1000,
        getCreateAccountFee: 100_000,
        getCreateNewAccountFeeInSystemContract: 1_000_000,
        getCreateNewAccountBandwidthRate: 1,
        getMemoFee: 1_000_000,
        getForbidTransferToContract: 1,
        ...options.parameters
      }).map(([key, value]) => (value === 0 ? { key } : { key, value }))
    }),
    "/wallet/triggerconstantcontract": ({ contract_address, function_selector }) =>
      options.contracts?.[contract_address]?.[function_selector] ?? {
        result: {
          code: "CONTRACT_VALIDATE_ERROR",
          message: Buffer.from("Smart contract is not exist.").toString("hex")
        }
      },
    "/wallet/createtransaction": createTransaction
  }

  const node = { url: "", requests, height: Math.max(...blocks.map(heightOf)), override: undefined } as {
    -readonly [K in keyof TronNode]: TronNode[K]
  }
  return Effect.map(
    FakeNode.http((request, response) => {
      void FakeNode.bodyOf(request).then((text) => {
        const path = request.url!
        // As Java reads it: no number is rounded.
        const body: Json = text === "" ? {} : JSON.parse(text.replace(/"amount":(\d+)/, '"amount":"$1"'))
        requests.push({ path, body, headers: request.headers })
        const other = node.override?.(path, body)
        if (typeof other === "number") return void response.writeHead(other).end("<html>")
        const answer = without.has(path) ? undefined : answers[path]
        if (other === undefined && answer === undefined) return void response.writeHead(404).end("<html>Not Found")
        const json = other ?? answer!(body)
        response.writeHead(200, { "content-type": "application/json" })
        response.end(typeof json === "string" ? json : JSON.stringify(json))
      })
    }),
    ({ url }) => Object.assign(node, { url })
  )
}

/** An unsigned transfer as `/wallet/createtransaction` shows it. */
export const transactionOf = (transfer: TronTransfer.TronTransfer): Json => {
  const rawData = TronTransfer.encode(transfer)
  const address = (account: Uint8Array) => `41${Buffer.from(account).toString("hex")}`
  return {
    visible: false,
    txID: Buffer.from(TronTransaction.id(rawData)).toString("hex"),
    raw_data: {
      contract: [
        {
          parameter: {
            value: {
              amount: transfer.amount > 2n ** 53n ? String(transfer.amount) : Number(transfer.amount),
              owner_address: address(transfer.owner),
              to_address: address(transfer.to)
            },
            type_url: "type.googleapis.com/protocol.TransferContract"
          },
          type: "TransferContract"
        }
      ],
      ref_block_bytes: Buffer.from(transfer.refBlockBytes).toString("hex"),
      ref_block_hash: Buffer.from(transfer.refBlockHash).toString("hex"),
      expiration: transfer.expiration,
      timestamp: transfer.timestamp
    },
    raw_data_hex: Buffer.from(rawData).toString("hex")
  }
}

/** One field of a message: fewer than 16,384 bytes. */
const field = (number: number, hex: string) => {
  const length = hex.length / 2
  const size = length < 128 ? [length] : [(length & 0x7f) | 0x80, length >> 7]
  return `${Buffer.from([number * 8 + 2, ...size]).toString("hex")}${hex}`
}

/** A transaction as it is broadcast: its `raw_data` and its signatures. */
export const signedHex = (rawData: string, ...signatures: ReadonlyArray<string>): string =>
  `${field(1, rawData)}${signatures.map((signature) => field(2, signature)).join("")}`
