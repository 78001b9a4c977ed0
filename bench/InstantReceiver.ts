/** The daemon's delivery without HTTP: every callback is accepted at once, wherever it goes. */
import { CallbackTarget } from "@headwater/daemon/delivery/CallbackTarget"
import * as Delivery from "@headwater/daemon/delivery/Delivery"
import { ReceiverClient } from "@headwater/daemon/delivery/ReceiverClient"
import { OwnOutages } from "@headwater/daemon/supervision/OwnOutages"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** `sent` is told the key of each callback. */
export const delivery = (sent: (idempotencyKey: string) => unknown) =>
  Delivery.layer.pipe(
    Layer.provide(OwnOutages.layer),
    Layer.provide(
      Layer.mergeAll(
        Layer.succeed(ReceiverClient, {
          request: ({ headers }) =>
            Effect.sync(() => {
              sent(headers["webhook-id"]!)
              return { status: 200, retryAfter: undefined, text: "" }
            }),
          reaches: () => Effect.succeed(true),
          isCertified: () => Effect.succeed(true),
          looksUp: () => false
        }),
        Layer.succeed(CallbackTarget, {
          parse: (text) => Effect.sync(() => new URL(text)),
          resolve: () => Effect.die("no name is resolved"),
          isAllowed: () => true,
          nameServerAnswers: Effect.succeed(true)
        })
      )
    )
  )
