/**
 * A wallet in a page: its addresses are derived here from its extended public key, what it has is asked of a server. The
 * key to the server is the reader's own; `http.allowedOrigins` of the server's settings names the page's origin.
 *
 * `node_modules/.bin/vite examples/balance-view` opens it at http://localhost:5173.
 */
import * as Chain from "@headwater/core/chains/Chain"
import { Derivation } from "@headwater/core/services/Derivation"
import { Secp256k1 } from "@headwater/core/services/Secp256k1"
import * as Client from "@headwater/http/client"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Amounts are decimal text from the server to the reader: no number holds them. */
interface Asset {
  readonly amount: string
  readonly unit: string
}

const addressesOf = ({ blockchain, network }: Chain.Chain, extendedPublicKey: string) =>
  Effect.gen(function* () {
    const derivation = yield* Derivation
    return yield* derivation.addresses({ blockchain, network, extendedPublicKey, count: 20 })
  }).pipe(Effect.provide(Layer.provide(Derivation.layer, Secp256k1.layerNoble)), Effect.runPromise)

const assetsOf = (
  { hdWallets }: Client.Client,
  { blockchain, family, network }: Chain.Chain,
  extendedPublicKey: string
): Promise<ReadonlyArray<Asset>> => {
  const request = { params: { blockchain, network, extendedPublicKey } }
  const read = async () => {
    if (family === "utxo") return [(await hdWallets.utxoAssets(request)).item.confirmedBalance]
    if (family === "xrp") return [(await hdWallets.xrpAssets(request)).item.confirmedBalance]
    const { item } = await hdWallets.evmAssets(request)
    const tokens = item.fungibleTokens.map(({ amount, symbol }) => ({ amount, unit: symbol }))
    return [{ amount: item.confirmedBalance, unit: item.unit }, ...tokens]
  }
  return read().catch(async (error: unknown) => {
    if (!Client.isServiceError(error, "xpub_not_synced")) throw error
    // The server records the wallet from now on.
    if (family === "utxo") await hdWallets.utxoDerive(request)
    else if (family === "xrp") await hdWallets.xrpDerive(request)
    else await hdWallets.syncWallet(request)
    return read()
  })
}

const find = <E extends Element>(selector: string): E => document.querySelector<E>(selector)!
const [form, status] = [find<HTMLFormElement>("form"), find("[role=status]")]

const element = (name: string, ...content: ReadonlyArray<string | Node>) => {
  const made = document.createElement(name)
  made.append(...content)
  return made
}

const show = async () => {
  const field = (name: string) => String(new FormData(form).get(name)).trim()
  const chain = Chain.ofName(field("chain"))!
  const addresses = await addressesOf(chain, field("key"))
  find("ol").replaceChildren(...addresses.map(({ address }) => element("li", address)))
  const client = Client.make({ baseUrl: field("server"), apiKey: field("apiKey") })
  const assets = await assetsOf(client, chain, field("key"))
  const rows = assets.map(({ amount, unit }) => element("tr", element("td", amount), element("td", unit)))
  find("tbody").replaceChildren(...rows)
}

find("select").append(...Chain.all.map((chain) => element("option", Chain.nameOf(chain))))
form.addEventListener("submit", (event) => {
  event.preventDefault()
  for (const selector of ["ol", "tbody"]) find(selector).replaceChildren()
  status.textContent = "…"
  show().then(
    () => {
      status.textContent = ""
    },
    // Errors of core name the rule and never the key; those of the server have a code, such as xpub_sync_in_progress.
    (error: unknown) => {
      status.textContent = error instanceof Error ? error.message : String(error)
    }
  )
})
