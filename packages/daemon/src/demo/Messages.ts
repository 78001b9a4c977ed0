/** The messages of the demo. */
import { commandName } from "../CommandName.ts"
import type { Received } from "./Receiver.ts"

/** Addresses and secrets of the parts of the demo. */
export interface Place {
  readonly api: string
  readonly apiKey: string
  readonly console: string
  /** Opens the console. */
  readonly password: string
  readonly chain: string
  readonly callbackUrl: string
  /** Signs the callbacks. */
  readonly secret: string
  readonly store: string
}

export const introduction = ({ api, apiKey, callbackUrl, chain, console, password, store }: Place): string => `
Headwater with all of its parts on this machine. Ctrl-C ends the demo, and no data is kept.

  API       ${api}   documentation at ${api}/docs
  API key   ${apiKey}   new, shown only here
  Console   ${console}   password ${password}
  Chain     ${chain}   ethereum/devnet by anvil
  Receiver  ${new URL(callbackUrl).origin}   with a new certificate
  Store     ${store}
`

export const pressEnter = "Press Enter to open the console in a browser.\n"

export const consoleOpened = ({ console, password }: Place, isOpen: boolean): string =>
  isOpen
    ? `\nThe browser opens ${console}; the password is ${password}`
    : `\nNo browser could be started here. Open ${console} yourself; the password is ${password}`

export const subscribed = (address: string, referenceId: string): string =>
  `Subscribed ${address} through the API, reference ${referenceId}`

export const sent = (what: string, transaction: string): string => `Sent ${what}, transaction ${transaction}`

const mark = (ok: boolean) => (ok ? "verified" : "not by the demo's secret")

export const callback = ({ body, verified }: Received): string => {
  const { data } = body
  const { direction, height, minedInBlock, parentTransactionId, revertedIdempotencyKey, token } = data.item
  const { amount, transactionId = parentTransactionId, unit } = data.item
  const block = minedInBlock?.height ?? height
  const what = token === undefined ? `${amount} ${unit}` : `${token.amount} ${token.symbol}`
  return [
    "",
    `Callback ${data.event}${direction === undefined ? "" : `: ${direction} ${what}`}, block ${block}`,
    ...(transactionId === undefined ? [] : [`  transaction        ${transactionId}`]),
    ...(revertedIdempotencyKey === undefined ? [] : [`  takes back         ${revertedIdempotencyKey}`]),
    `  idempotency key    ${body.idempotencyKey}`,
    `  x-signature        ${mark(verified.xSignature)}`,
    `  webhook-signature  ${mark(verified.standardWebhooks)}`
  ].join("\n")
}

export const firstVerified = (seconds: number): string =>
  `\nThe first verified callback, ${seconds.toFixed(1)} s after the start.`

export const tokensAndInternal = "\nNow a token transfer, and an internal transaction: coins that a contract passes on."

export const reorganisation = "\nNow a reorganisation: a deposit is told, and its block leaves the chain."

export const reorganised = (blocks: number): string =>
  `\nThe chain replaced its newest ${blocks === 1 ? "block" : `${blocks} blocks`}. The transaction is gone, and a retraction follows.`

export const marketData = (rate: string): string =>
  `\nMarket data, from a file of the demo with a made-up rate: 1 ETH is ${rate} USD.
  GET /market-data/exchange-rates/by-symbol/ETH/USD`

const json = (value: unknown) => JSON.stringify(value)

/** Commands for another terminal, by which a developer does the same. */
export const byHand = (
  { api, apiKey, callbackUrl, chain, secret }: Place,
  { address, rich }: { readonly address: string; readonly rich: string }
): string => `
Now by hand, in another terminal; the callbacks are printed here.

1. Subscribe an address:

curl -s ${api}/blockchain-events/ethereum/devnet/address-coins-transactions-confirmed \\
  -H 'x-api-key: ${apiKey}' -H 'content-type: application/json' \\
  -d '${json({ data: { item: { address, callbackUrl, callbackSecretKey: secret } } })}'

2. Send 1 ETH to the address:

curl -s ${chain} -H 'content-type: application/json' \\
  -d '${json({ jsonrpc: "2.0", id: 1, method: "eth_sendTransaction", params: [{ from: rich, to: address, value: "0xde0b6b3a7640000" }] })}'

3. List the subscriptions:

curl -s ${api}/blockchain-events/ethereum/devnet -H 'x-api-key: ${apiKey}'

A receiver of your own verifies the callbacks as well, once the last two run, each in a terminal of this folder:

${commandName} new receiver ../my-receiver
(cd ../my-receiver && npm install && CALLBACK_SECRET=${secret} npm start)
HEADWATER_API_KEY=${apiKey} ${commandName} listen --service ${api} --forward http://127.0.0.1:3000/callbacks
`
