/** The delivery of callbacks over HTTPS to hosts that are this machine. */
import { AllowedHosts, CallbackTarget } from "@headwater/daemon/delivery/CallbackTarget"
import * as Delivery from "@headwater/daemon/delivery/Delivery"
import { ReceiverClient, ReceiverClientOptions } from "@headwater/daemon/delivery/ReceiverClient"
import { OwnOutages } from "@headwater/daemon/supervision/OwnOutages"
import * as Layer from "effect/Layer"
import * as Dns from "effect/net/Dns"

/** `ca`: the authority of their certificates, as PEM. */
export const layer = (hosts: ReadonlyArray<string>, ca: string, connections = 32) =>
  Delivery.layer.pipe(
    Layer.provide(ReceiverClient.layer),
    Layer.provide([CallbackTarget.layer, OwnOutages.layer]),
    Layer.provide(Dns.layerStatic({ hosts: Object.fromEntries(hosts.map((host) => [host, ["127.0.0.1"]])) })),
    Layer.provide(Layer.succeed(AllowedHosts, new Set(hosts))),
    Layer.provide(Layer.succeed(ReceiverClientOptions, { timeoutMillis: 5000, connections, extraCa: ca }))
  )
