/** Delivery as a process of its own, to be killed: `node DeliveryProcess.ts <store file> <PEM file of the authority>`. */
import { readFileSync } from "node:fs"
import { AllowedHosts, CallbackTarget } from "@headwater/daemon/delivery/CallbackTarget"
import * as Delivery from "@headwater/daemon/delivery/Delivery"
import { ReceiverClient, ReceiverClientOptions } from "@headwater/daemon/delivery/ReceiverClient"
import { Database } from "@headwater/indexer/store/database/Database"
import { RecurringTasks } from "@headwater/indexer/store/database/RecurringTasks"
import { OwnOutages } from "@headwater/daemon/supervision/OwnOutages"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Dns from "effect/net/Dns"

const [file, ca] = process.argv.slice(2) as [string, string]
const names = ["a.test", "b.test", "c.test"]
const defaults = Context.get(Context.empty(), Delivery.DeliveryOptions)

Delivery.layer.pipe(
  Layer.provide([ReceiverClient.layer, Outbox.layer, OwnOutages.layer, RecurringTasks.layer]),
  Layer.provide([CallbackTarget.layer, Subscriptions.layer]),
  Layer.provide(Dns.layerStatic({ hosts: Object.fromEntries(names.map((name) => [name, ["127.0.0.1"]])) })),
  Layer.provide(Database.layer({ kind: "sqlite", file })),
  Layer.provide(Layer.succeed(AllowedHosts, new Set(names))),
  Layer.provide(
    Layer.succeed(ReceiverClientOptions, { timeoutMillis: 1000, connections: 32, extraCa: readFileSync(ca, "utf8") })
  ),
  Layer.provide(
    Layer.succeed(Delivery.DeliveryOptions, {
      ...defaults,
      profile: { delays: Array(100).fill(300) as Array<number>, jitter: 0.2 },
      pauseMillis: 100,
      maxPauseMillis: 300
    })
  ),
  Layer.launch,
  Effect.runFork
)
