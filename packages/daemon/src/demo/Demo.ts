/**
 * Headwater shown at work on one machine: a development chain, a store, the API, the console and a receiver;
 * subscriptions made through the API, transactions, a reorganisation, and the callbacks as they arrive. No port is open to
 * other machines, and no data is kept.
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
import * as Stream from "effect/Stream"
import * as Serve from "../Serve.ts"
import { Settings, schema } from "../settings/Settings.ts"
import * as Browser from "./Browser.ts"
import { DemoFailed } from "./DemoFailed.ts"
import * as DevelopmentCertificate from "./DevelopmentCertificate.ts"
import * as DevelopmentChain from "./DevelopmentChain.ts"
import * as Messages from "./Messages.ts"
import * as Ports from "./Ports.ts"
import * as Receiver from "./Receiver.ts"
import * as Story from "./Story.ts"

const folder = ".headwater"
const ports = { api: 8080, console: 8081, chain: 8545, receiver: 9443 }
const blockSeconds = 2
const callbackLimit = "60 seconds"

/** What the demo says an ether costs: it asks nobody. */
const rates = `${JSON.stringify({ slug: "ethereum", latestRate: { amount: "2500" } })}\n`

/** A folder of its own, so that several demos can run side by side; gone with the scope. */
const makeFolder = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  yield* fs.makeDirectory(folder, { recursive: true })
  return yield* fs.makeTempDirectoryScoped({ directory: folder, prefix: "demo-" })
})

const newSecret = Effect.sync(() => crypto.randomUUID())

const milliEther = 10n ** 15n

/** Runs until it is interrupted; `openConsole` shows the console in a browser as soon as it is there. */
export const run = Effect.fn("Demo.run")(function* ({ openConsole }: { readonly openConsole: boolean }) {
  const started = yield* Clock.currentTimeMillis
  const path = yield* Path.Path
  const fs = yield* FileSystem.FileSystem
  const own = yield* makeFolder
  const store = path.join(own, "headwater.db")
  const assets = path.join(own, "rates.jsonl")
  yield* fs.writeFileString(assets, rates)
  const secret = yield* newSecret
  const password = yield* newSecret
  const certificate = yield* DevelopmentCertificate.make(["localhost"])
  const apiPort = yield* Ports.free(ports.api)
  const consolePort = yield* Ports.free(ports.console)
  const receiverPort = yield* Ports.free(ports.receiver)
  const chain = yield* DevelopmentChain.start({ port: yield* Ports.free(ports.chain), blockSeconds })
  const received = yield* Receiver.listen({ port: receiverPort, secret, certificate })

  const settings = yield* Schema.decodeEffect(schema)({
    http: { port: apiPort },
    console: { port: consolePort, password },
    store: { sqlite: store },
    callbacks: { allowHosts: ["localhost"], extraCa: certificate.ca },
    marketData: { file: { path: assets } },
    chains: { "ethereum/devnet": { nodes: [chain.url] } }
  })

  return yield* Effect.gen(function* () {
    const accounts = yield* Accounts
    const account = yield* accounts.create("demo")
    yield* accounts.setRetractions(account.id, true)
    const apiKey = Redacted.value((yield* accounts.createKey(account.id, { name: "demo" })).key)
    const place: Messages.Place = {
      api: `http://127.0.0.1:${apiPort}`,
      apiKey,
      console: `http://127.0.0.1:${consolePort}`,
      password,
      chain: chain.url,
      callbackUrl: `https://localhost:${receiverPort}/callbacks`,
      secret,
      store
    }
    yield* Console.log(Messages.introduction(place))
    const showConsole = Effect.flatMap(Browser.open(place.console), (isOpen) =>
      Console.log(Messages.consoleOpened(place, isOpen))
    )
    if (Browser.canPress) yield* Console.log(Messages.pressEnter)
    yield* Effect.forkScoped(Stream.runForEach(Browser.enterPresses, () => showConsole))
    if (openConsole) yield* showConsole

    const [rich, watched, other, byHand] = chain.accounts as [string, string, string, string]
    const client = yield* Client.makeFetch({ baseUrl: place.api, apiKey })
    const subscription = { address: watched, callbackUrl: place.callbackUrl, callbackSecretKey: secret }
    const { item } = yield* client.subscriptions["address-coins-transactions-confirmed"]({
      params: { blockchain: "ethereum", network: "devnet" },
      query: {},
      payload: { data: { item: subscription } }
    })
    yield* Console.log(Messages.subscribed(item.address, item.referenceId))
    const send = (from: string, to: string, value: bigint) => Story.send(chain.rpc, { from, to, value })
    yield* Console.log(Messages.sent("1.5 ETH to the address", yield* send(rich, watched, 1500n * milliEther)))
    yield* Console.log(Messages.sent("0.25 ETH from the address", yield* send(watched, other, 250n * milliEther)))
    const deployed = yield* Story.deploy(chain.rpc, rich)

    const show = Effect.tap(Queue.take(received), (callback) => Console.log(Messages.callback(callback)))
    const showUntil = (holds: (callback: Receiver.Received) => boolean) =>
      Effect.repeat(show, { until: holds }).pipe(
        Effect.timeoutOrElse({
          duration: callbackLimit,
          orElse: () =>
            Effect.fail(new DemoFailed({ message: `The callback did not come, verified, within ${callbackLimit}` }))
        })
      )
    yield* showUntil(({ verified }) => verified.xSignature && verified.standardWebhooks)
    const seconds = ((yield* Clock.currentTimeMillis) - started) / 1000
    yield* Console.log(Messages.firstVerified(seconds))
    yield* show
    yield* Story.tell({ rpc: chain.rpc, client, subscription, rich, deployed, showUntil })
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
}, Effect.scoped)
