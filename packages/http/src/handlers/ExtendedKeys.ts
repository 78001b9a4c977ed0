/** Answers the operations on subscriptions on extended public keys. */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as Descriptor from "@headwater/core/keys/Descriptor"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import { Database } from "@headwater/indexer/store/database/Database"
import * as ExtendedKeys from "@headwater/indexer/store/subscriptions/ExtendedKeys"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as Result from "effect/Result"
import { Api } from "../contract/Api.ts"
import { Conflict, invalidField } from "../contract/Errors.ts"
import { defaultWindow } from "../contract/ExtendedKeys.ts"
import { Payment } from "../contract/Price.ts"
import { CurrentChain } from "../contract/RequestedChain.ts"
import * as Wallet from "../operations/Wallet.ts"
import { CallbackUrlPolicy } from "../server/CallbackUrlPolicy.ts"
import { subscriptionFailures, subscriptionKey } from "../server/ReferenceId.ts"
import { ConfiguredChains } from "../server/RequestedChain.ts"
import * as NewSubscriptions from "./NewSubscriptions.ts"
import { detailed } from "./Subscriptions.ts"

/** How a request names the addresses of a wallet. */
interface Named {
  readonly extendedPublicKey?: string
  readonly descriptor?: string
  readonly derivation?: Derivation.Derivation
  readonly format?: Derivation.Format
}

const ofDescriptor = (chain: Chain, text: string, { derivation, format }: Named) => {
  if (derivation !== undefined) return Effect.fail(invalidField("derivation", "is what the descriptor says"))
  if (format !== undefined) return Effect.fail(invalidField("format", "is what the descriptor says"))
  return Effect.mapError(Effect.fromResult(Descriptor.parse(chain, text)), ({ message }) =>
    invalidField("descriptor", message.replace(/^descriptor: /, ""))
  )
}

const ofKey = (chain: Chain, text: string, { derivation = "account", format: asked }: Named) =>
  Effect.mapError(
    Effect.fromResult(
      Result.gen(function* () {
        const key = yield* ExtendedPublicKey.decode(chain, text)
        const format = asked ?? Derivation.defaultFormat(chain, key)
        const branches = yield* Derivation.branches(chain, key, { derivation, format })
        return { key, derivation, format, types: branches.map(({ type }) => type) }
      })
    ),
    Wallet.refusalOf
  )

/** The addresses that a request names: by a key or by a descriptor. */
const namedBy = (chain: Chain, named: Named) => {
  const { descriptor, extendedPublicKey } = named
  if (descriptor !== undefined && extendedPublicKey !== undefined) {
    return Effect.fail(invalidField("descriptor", "is in place of extendedPublicKey"))
  }
  if (descriptor !== undefined) return ofDescriptor(chain, descriptor, named)
  return extendedPublicKey === undefined
    ? Effect.fail(invalidField("extendedPublicKey", "is required, or a descriptor"))
    : ofKey(chain, extendedPublicKey, named)
}

const typeNames = { receive: "receiving", change: "change" } as const

export const layer = HttpApiBuilder.group(
  Api,
  "extendedKeys",
  Effect.fnUntraced(function* (handlers) {
    const configured = yield* ConfiguredChains
    const database = yield* Database
    const policy = yield* CallbackUrlPolicy
    const subscriptions = yield* Subscriptions

    return handlers.handleAll({
      create: Effect.fnUntraced(
        function* ({ payload }) {
          const { descriptor, derivation, extendedPublicKey, format, furthestUsedIndex, window, ...item } =
            payload.data.item
          const wanted = yield* NewSubscriptions.readList(policy, item)
          const chain = yield* CurrentChain
          const given = { descriptor, derivation, extendedPublicKey, format }
          const named = yield* namedBy(
            chain,
            Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
          )
          const names = named.types.map((type) => typeNames[type])
          const missing = Object.values(typeNames).find(
            (name) => furthestUsedIndex?.[name] !== undefined && !names.includes(name)
          )
          if (missing !== undefined)
            return yield* invalidField(`furthestUsedIndex.${missing}`, "is of a branch that the key does not have")
          const key: ExtendedKeys.NewKey = {
            publicKey: ExtendedPublicKey.encode(chain, named.key),
            ...{ derivation: named.derivation, format: named.format, window: window ?? defaultWindow },
            branches: named.types.map((type) => ({ type, furthestUsedIndex: furthestUsedIndex?.[typeNames[type]] }))
          }
          const { paying } = yield* Payment
          return { item: detailed(yield* paying(subscriptions.createKey(wanted, key), () => 1)) }
        },
        Effect.provideService(ConfiguredChains, configured),
        Effect.catchTags({
          DatabaseError: Effect.die,
          DuplicateSubscription: NewSubscriptions.refusals.DuplicateSubscription,
          LimitReached: NewSubscriptions.refusals.LimitReached
        })
      ),
      get: Effect.fnUntraced(
        function* ({ params }) {
          const state = yield* ExtendedKeys.get(yield* subscriptionKey(params.referenceId))
          const { branches, completeFrom, derivation, publicKey, ...rest } = state
          return {
            item: {
              ...{ ...rest, extendedPublicKey: publicKey, derivationType: derivation },
              ...(completeFrom === undefined ? {} : { completeFrom }),
              branches: branches.map(({ addresses, furthestUsedIndex, type }) => ({
                ...{ type: typeNames[type], addresses },
                ...(furthestUsedIndex === undefined ? {} : { furthestUsedIndex })
              }))
            }
          }
        },
        Effect.provideService(Database, database),
        Effect.catchTags({
          ...subscriptionFailures,
          NotAKey: () => Effect.fail(new Conflict({ message: "The subscription is not on an extended public key" }))
        })
      )
    })
  })
)
