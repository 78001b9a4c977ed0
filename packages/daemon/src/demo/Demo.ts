/**
 * Headwater shown at work on one machine: a development chain, a store, the API and a receiver; a subscription made
 * through the API, transactions, and their callbacks as they arrive. No port is open to other machines, and no data is
 * kept.
 */
import * as NodeDns from "@effect/platform-node/NodeDns"
import * as Client from "@headwater/http/contract/Client"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Serve from "../Serve.ts"
import { Settings, schema } from "../settings/Settings.ts"
import * as DevelopmentCertificate from "./DevelopmentCertificate.ts"
import * as DevelopmentChain from "./DevelopmentChain.ts"
import * as Messages from "./Messages.ts"
import * as Ports from "./Ports.ts"
import * as Receiver from "./Receiver.ts"

/** The demo's callback did not come. */
export class DemoFailed extends Schema.TaggedError<DemoFailed>()("DemoFailed", { message: Schema.String }) {}

const folder = ".headwater"
const ports = { api: 8080, chain: 8545, receiver: 9443 }
const blockSeconds = 2
const firstCallbackLimit = "60 seconds"

/** A folder of its own, so that several demos can run side by side; gone with the scope. */
const makeFolder = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  yield* fs.makeDirectory(folder, { recursive: true })
  return yield* fs.makeTempDirectoryScoped({ directory: folder, prefix: "demo-" })
})

const newSecret = Effect.sync(() => crypto.randomUUID())

/** Sends coins between two addresses that the node signs for; the transaction's hash. */
const send = (rpc: DevelopmentChain.DevelopmentChain["rpc"], from: string, to: string, wei: bigint) =>
  Effect.map(rpc.call("eth_sendTransaction", [{ from, to, value: `0x${wei.toString(16)}` }]), String)

const milliEther = 10n ** 15n

/** Runs until it is interrupted. */
export const run = Effect.gen(function* () {
  const started = yield* Clock.currentTimeMillis
  const path = yield* Path.Path
  const store = path.join(yield* makeFolder, "headwater.db")
  const secret = yield* newSecret
  const certificate = yield* DevelopmentCertificate.make(["localhost"])
  const apiPort = yield* Ports.free(ports.api)
  const receiverPort = yield* Ports.free(ports.receiver)
  const chain = yield* DevelopmentChain.start({ port: yield* Ports.free(ports.chain), blockSeconds })
  const received = yield* Receiver.listen({ port: receiverPort, secret, certificate })

  const settings = yield* Schema.decodeEffect(schema)({
    http: { port: apiPort },
    store: { sqlite: store },
    callbacks: { allowHosts: ["localhost"], extraCa: certificate.ca },
    chains: { "ethereum/devnet": { nodes: [chain.url] } }
  })

  return yield* Effect.gen(function* () {
    const accounts = yield* Accounts
    const account = yield* accounts.create("demo")
    const apiKey = Redacted.value((yield* accounts.createKey(account.id, { name: "demo" })).key)
    const place: Messages.Place = {
      api: `http://127.0.0.1:${apiPort}`,
      apiKey,
      chain: chain.url,
      callbackUrl: `https://localhost:${receiverPort}/callbacks`,
      secret,
      store
    }
    yield* Console.log(Messages.introduction(place))

    const [rich, watched, other, byHand] = chain.accounts as [string, string, string, string]
    const client = yield* Client.makeFetch({ baseUrl: place.api, apiKey })
    const { item } = yield* client.subscriptions["address-coins-transactions-confirmed"]({
      params: { blockchain: "ethereum", network: "devnet" },
      query: {},
      payload: {
        data: { item: { address: watched, callbackUrl: place.callbackUrl, callbackSecretKey: secret } }
      }
    })
    yield* Console.log(Messages.subscribed(item.address, item.referenceId))
    yield* Console.log(
      Messages.sent("1.5 ETH to the address", yield* send(chain.rpc, rich, watched, 1500n * milliEther))
    )
    yield* Console.log(
      Messages.sent("0.25 ETH from the address", yield* send(chain.rpc, watched, other, 250n * milliEther))
    )

    const show = Effect.tap(Queue.take(received), (callback) => Console.log(Messages.callback(callback)))
    const verified = Effect.map(show, ({ verified }) => verified.xSignature && verified.standardWebhooks)
    yield* Effect.repeat(verified, { until: (ok) => ok }).pipe(
      Effect.timeoutOrElse({
        duration: firstCallbackLimit,
        orElse: () => Effect.fail(new DemoFailed({ message: `No verified callback came within ${firstCallbackLimit}` }))
      })
    )
    const seconds = ((yield* Clock.currentTimeMillis) - started) / 1000
    yield* Console.log(Messages.firstVerified(seconds))
    yield* show
    yield* Console.log(Messages.byHand(place, { rich, address: byHand }))
    return yield* Effect.forever(show)
  }).pipe(
    Effect.provide(
      Serve.running.pipe(
        Layer.provide(NodeDns.layer),
        Layer.provideMerge(Serve.services),
        Layer.provide(Layer.succeed(Settings, settings))
      )
    )
  )
}).pipe(Effect.scoped)
