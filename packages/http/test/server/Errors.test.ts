import { assert, describe, layer } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import { type EventKind, eventKinds } from "@headwater/core/events/EventKinds"
import { Api } from "@headwater/http/contract/Api"
import * as Errors from "@headwater/http/contract/Errors"
import { LargestBody } from "@headwater/http/contract/MessageSize"
import { defaultMaxima, Limits } from "@headwater/indexer/store/accounts/Limits"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { takenStores } from "../../../../test/Stores.ts"
import { quarter } from "../../../../test/Turn.ts"
import { errorsOf, operationNamed, operations, wrongWith, wrongWithError } from "../Contract.ts"
import { type Answer, send, TestServer, testServer } from "../TestServer.ts"

const evmAddress = "0x52908400098527886E0F7030069857D2E4169EE7"
const hash = "ab".repeat(32)
const secret = { callbackSecretKey: "secret", allowDuplicates: false }
const context = "a context"
/** BIP-32, test vector 1, chain m/0'. */
const accountKey =
  "xpub68Gmy5EdvgibQVfPdqkBBCHxA5htiqg55crXYuXoQRKfDBFA1WEjWgP6LHhwBZeNK1VTsfTFUHCdrfp1bgwQ9xv5ski8PX9rL2dZXvgGDnw"

interface Request {
  readonly params: Record<string, string>
  readonly query: Record<string, string>
  readonly item?: Record<string, unknown>
  /** Instead of the item, as it is. */
  readonly raw?: string
  readonly headers?: Record<string, string>
}

/** A request that each operation answers without an error, where nothing has gone before. */
const valid = (operationId: string): Request => {
  const [group, name] = operationId.split(".") as [string, string]
  const query = { context }
  const evm = { blockchain: "ethereum", network: "mainnet" }
  const utxo = { blockchain: "bitcoin", network: "mainnet" }
  const xrp = { blockchain: "xrp", network: "mainnet" }
  const wallet = { extendedPublicKey: "xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFj" }
  const reference = { referenceId: "00000000-0000-4000-8000-000000000000" }
  const callbackUrl = `https://example.com/${crypto.randomUUID()}`
  switch (group) {
    case "subscriptions": {
      if (name === "list") return { params: evm, query }
      if (["get", "delete", "activate"].includes(name)) return { params: { ...evm, ...reference }, query }
      const kind = Object.values<EventKind>(eventKinds).find(({ path }) => path === name)!
      const onEvm = kind.families.includes("evm")
      const item = {
        ...secret,
        ...(kind.class === "transaction" ? { transactionId: "ab".repeat(32) } : {}),
        ...(kind.class === "block" || kind.class === "transaction"
          ? {}
          : { address: onEvm ? evmAddress : "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2" }),
        callbackUrl,
        ...(kind.confirmations === "confirmationsCount" ? { confirmationsCount: 2 } : {})
      }
      return { params: onEvm ? evm : utxo, query, item }
    }
    case "addressLists": {
      const eventType = "ADDRESS_COINS_TRANSACTION_CONFIRMED"
      if (name === "create") return { params: evm, query, item: { eventType, callbackUrl } }
      const params = { ...evm, ...reference }
      return { params, query, ...(name === "list" ? {} : { item: { addresses: [evmAddress] } }) }
    }
    case "extendedKeys": {
      if (name === "get") return { params: { ...evm, ...reference }, query }
      const eventType = "ADDRESS_COINS_TRANSACTION_CONFIRMED"
      return { params: evm, query, item: { eventType, callbackUrl, extendedPublicKey: accountKey } }
    }
    case "bulk": {
      if (name === "list") return { params: evm, query }
      if (name === "delete") return { params: evm, query, item: { referenceIds: [reference.referenceId] } }
      return {
        params: evm,
        query,
        item: { idempotencyKey: callbackUrl, items: [{ eventType: "BLOCK_MINED", callbackUrl }] }
      }
    }
    case "callbacks": {
      const params = { ...evm, ...reference, ...(name === "redeliver" ? { idempotencyKey: "ab".repeat(16) } : {}) }
      if (name === "recover") return { params, query, item: { afterSequence: 1, callbackUrl: "https://example.com/" } }
      return { params, query, ...(name === "rotateSecret" ? { item: { callbackSecretKey: "secret" } } : {}) }
    }
    case "addressForms": {
      const item = { address: "1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu" }
      if (name === "derive") return { params: { ...utxo, extendedPublicKey }, query }
      if (name === "convert") return { params: { ...utxo, blockchain: "bitcoin-cash" }, query, item }
      if (name === "decodeX") {
        return { params: { ...xrp, xAddress: "XVLhHMPHU98es4dbozjVtdWzVrDjtV8xvjGQTYPiAx6gwDC" }, query }
      }
      if (name === "encodeX") {
        return { params: { ...xrp, classicAddress: "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf", addressTag: "1" }, query }
      }
      return { params: name === "evmValidate" ? evm : name === "xrpValidate" ? xrp : utxo, query, item }
    }
    case "receivers":
      return { params: {}, query, ...(name === "recover" ? { item: { host: "example.com" } } : {}) }
    case "domains":
      return name === "add"
        ? { params: {}, query, item: { domain: "example.com" } }
        : { params: name === "verify" ? { domain: "example.org" } : {}, query }
    case "blocks": {
      const chain = name.startsWith("evm") ? evm : name.startsWith("utxo") ? utxo : { network: "mainnet" }
      const block = name.endsWith("Height") ? { blockHeight: "170" } : { blockHash: hash }
      return { params: /(Latest|Newest)$/.test(name) ? chain : { ...chain, ...block }, query }
    }
    case "transactions":
      if (name === "xrpTransaction") return { params: { network: "mainnet", transactionHash: hash }, query }
      if (name.startsWith("utxo")) return { params: { ...utxo, transactionHash: hash }, query }
      return name !== "prepare"
        ? { params: { ...evm, transactionHash: hash }, query }
        : {
            params: evm,
            query,
            item: { amount: "1", recipient: evmAddress, sender: evmAddress, fee: { priority: "slow" } }
          }
    case "tokenPreparation": {
      const own = name === "prepareFungible" ? { amount: "1" } : { tokenId: "1" }
      const parties = { contract: evmAddress, recipient: evmAddress, sender: evmAddress }
      return { params: evm, query, item: { ...parties, ...own, fee: { priority: "slow" } } }
    }
    case "xrpPreparation": {
      const [sender, recipient] = ["rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf", "r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59"]
      const publicKey = "0330E7FC9D56BB25D6893BA3F317AE5BCF33B3291BD63DB32654A313222F7FD020"
      return { params: { network: "mainnet" }, query, item: { amount: "1", publicKey, recipient, sender } }
    }
    case "simulation":
      return { params: evm, query, item: { amount: "1", gasLimit: 21_000, recipient: evmAddress, sender: evmAddress } }
    case "fees": {
      if (name === "ledgerFees") return { params: { network: "mainnet" }, query }
      if (!name.endsWith("Gas")) return { params: /^(utxo|smart)/.test(name) ? utxo : evm, query }
      const item = { amount: "1", recipient: evmAddress, sender: evmAddress }
      return {
        params: evm,
        query,
        item: { ...item, ...(name === "tokenGas" ? { contract: evmAddress, contractType: "ERC-20" } : {}) }
      }
    }
    case "balances":
      if (name === "tokenDetails") return { params: { ...evm, contractAddress: evmAddress }, query }
      return name === "evmBalance"
        ? { params: { ...evm, address: evmAddress }, query }
        : { params: { network: "mainnet", address: "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf" }, query }
    case "nextNonce":
      return name === "nextNonce"
        ? { params: { ...evm, address: evmAddress }, query }
        : { params: { network: "mainnet", address: "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf" }, query }
    case "rawTransactions":
      return { params: name === "evmDecode" ? evm : utxo, query, item: { rawTransactionHex: "00" } }
    case "broadcasts":
      return name === "broadcast"
        ? { params: evm, query, item: { signedTransactionHex: "0x01" } }
        : { params: { ...evm, transactionId: hash }, query }
    case "addressHistory": {
      const since = name.endsWith("Since") ? { timestamp: "1764158400" } : {}
      if (name.startsWith("xrp")) {
        return { params: { network: "mainnet", address: "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf" }, query }
      }
      return name.startsWith("utxo")
        ? { params: { ...utxo, ...since, address: "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2" }, query }
        : { params: { ...evm, ...since, address: evmAddress }, query }
    }
    case "addresses":
      if (name === "syncedAddresses") return { params: evm, query }
      if (name === "syncAddress") return { params: evm, query, item: { address: evmAddress } }
      return { params: { ...evm, address: evmAddress }, query }
    case "hdWalletDetails":
    case "hdWalletLists":
    case "hdWallets":
      if (name === "syncedWallets") return { params: evm, query }
      if (name === "utxoPrepare") {
        const recipients = [{ address: "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", amount: "0.1" }]
        return { params: { ...utxo, ...wallet }, query, item: { recipients, fee: { priority: "slow" } } }
      }
      if (name === "evmPrepare") {
        const item = { amount: "1", recipient: evmAddress, sender: evmAddress, fee: { priority: "slow" } }
        return { params: { ...evm, ...wallet }, query, item }
      }
      if (/sync(ed)?Wallet/i.test(name)) return { params: { ...evm, ...wallet }, query }
      return { params: { ...(name.startsWith("evm") ? evm : name.startsWith("utxo") ? utxo : xrp), ...wallet }, query }
    case "marketData": {
      const params: Record<string, Record<string, string>> = {
        assetById: { assetId: "bitcoin" },
        assetBySymbol: { assetSymbol: "BTC" },
        assetBySlug: { assetSlug: "bitcoin" },
        rateById: { fromAssetId: "1", toAssetId: "2" },
        rateBySymbol: { fromAssetSymbol: "BTC", toAssetSymbol: "USD" }
      }
      return { params: params[name] ?? {}, query }
    }
    default:
      return { params: {}, query }
  }
}

/** Of test vector 1 of BIP-32. */
const extendedPublicKey =
  "xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8"

const failures: Record<string, unknown> = {
  invalid_xpub: new Errors.InvalidXpub({ message: "no key" }),
  xpubs_limit_reached: new Errors.XpubsLimitReached({ message: "so many wallets" }),
  sync_addresses_limit_reached: new Errors.SyncAddressesLimitReached({ message: "so many addresses" }),
  xpub_not_synced: new Errors.XpubNotSynced({ message: "not synced" }),
  xpub_sync_in_progress: new Errors.XpubSyncInProgress({ message: "in progress" }),
  could_not_calculate_rate_for_pair: new Errors.PairNotAvailable({ message: "no rate" }),
  blockchain_data_token_details_not_found: new Errors.TokenDetailsNotFound({ message: "no token" }),
  address_not_synced: new Errors.AddressNotSynced({ message: "not synced" }),
  sync_address_not_active: new Errors.SyncAddressNotActive({ message: "not active" }),
  sync_address_already_active: new Errors.SyncAddressAlreadyActive({ message: "active" }),
  xpub_already_active: new Errors.XpubAlreadyActive({ message: "active" }),
  blockchain_data_block_not_found: new Errors.BlockNotFound({ message: "no block" }),
  blockchain_data_transaction_not_found: new Errors.TransactionNotFound({ message: "no transaction" })
}

/** Errors that need a server of another kind, and the operation they need it for; undefined for all. */
const elsewhere: Record<string, string | undefined> = {
  request_limit_reached: undefined,
  blockchain_events_callbacks_limit_reached: undefined,
  unimplemented: "domains.verify"
}

/** Answered by rules alone: the store fails them only where a key is not known yet, which it is asked for. */
const isByRules = ({ operationId }: Operation) => operationId.startsWith("addressForms.")

/** A key of nobody's. */
const strangers = () => `hw_${crypto.randomUUID().replaceAll("-", "")}`

/** What a server answers that allows no account anything. */
const withoutRoom = ({ operationId }: Operation, status: number, code: string) =>
  (code === "blockchain_events_callbacks_limit_reached" &&
    !["addressLists.add", "callbacks.recover"].includes(operationId)) ||
  (operationId === "domains.add" && status === 409)

type Operation = (typeof operations)[number]

/** The bytes that a body may have, by the operation. */
const largestOf = new Map<string, number>()
HttpApi.reflect(Api, {
  onGroup: () => {},
  onEndpoint: ({ endpoint, group }) =>
    largestOf.set(
      `${group.identifier}.${endpoint.identifier}`,
      Context.get(endpoint.annotations, LargestBody) ?? 65_536
    )
})

const tried = quarter("operations", operations)

for (const store of takenStores(import.meta.url)) {
  describe(`Errors on ${store.name}`, () => {
    const call = Effect.fnUntraced(function* (operation: Operation, request: Request, key?: string) {
      const { url } = yield* TestServer
      const path = operation.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(request.params[name]!))
      const body = request.raw ?? (request.item === undefined ? undefined : { data: { item: request.item } })
      return yield* send(url, {
        method: operation.method,
        path: `${path}?${new URLSearchParams(request.query)}`,
        key,
        body,
        ...(request.headers === undefined ? {} : { headers: request.headers })
      })
    })

    /** A request that is answered by the wanted error, and whatever must be done before. */
    const provoke = Effect.fnUntraced(function* (operation: Operation, status: number, code: string) {
      const { alice, insides, poor, poorId, url, useless } = yield* TestServer
      const request = valid(operation.operationId)
      const subscribe = Effect.fnUntraced(function* () {
        const made = yield* call(
          operations.find(({ operationId }) => operationId === "subscriptions.block-mined")!,
          valid("subscriptions.block-mined"),
          alice
        )
        return made.body.data.item.referenceId as string
      })
      switch (code) {
        case "missing_api_key":
          return yield* call(operation, request)
        case "invalid_api_key":
          return yield* call(operation, request, `${alice}x`)
        case "endpoint_not_allowed_for_api_key":
          return yield* call(operation, request, useless)
        case "insufficient_credits": {
          if (!("referenceId" in request.params)) return yield* call(operation, request, poor)
          const { create, createKey, createList, deactivate } = yield* Subscriptions
          const key = {
            publicKey: accountKey,
            derivation: "bip32",
            format: "STANDARD",
            branches: [],
            window: 1
          } as const
          const makers: Record<string, typeof create> = {
            "addressLists.add": createList,
            "extendedKeys.get": (subscription) => createKey(subscription, key)
          }
          const make = makers[operation.operationId] ?? create
          const { id, referenceId } = yield* make({
            account: poorId,
            chain: Result.getOrThrow(Chain.find("ethereum", "mainnet")),
            event: "BLOCK_MINED",
            address: undefined,
            callbackUrl: "https://example.com/",
            secret: undefined,
            confirmations: 1,
            allowDuplicates: true
          })
          yield* deactivate(id, "test")
          const params = { ...request.params, referenceId }
          return yield* call(operation, { ...request, params }, poor)
        }
        case "invalid_blockchain":
          return yield* call(operation, { ...request, params: { ...request.params, blockchain: "nonsense" } }, alice)
        case "invalid_network":
          return yield* call(operation, { ...request, params: { ...request.params, network: "nonsense" } }, alice)
        case "invalid_data": {
          if (status === 409 && operation.operationId === "subscriptions.activate") {
            return yield* call(
              operation,
              { ...request, params: { ...request.params, referenceId: yield* subscribe() } },
              alice
            )
          }
          if (operation.operationId === "callbacks.redeliver" && status === 409) {
            const referenceId = yield* subscribe()
            const params = { ...request.params, referenceId }
            const test = operationNamed("callbacks.test")
            const made = yield* call(test, { ...valid("callbacks.test"), params }, alice)
            // It has not been sent for the first time yet.
            const { idempotencyKey } = made.body.data.item
            return yield* call(operation, { ...request, params: { ...params, idempotencyKey } }, alice)
          }
          if (status === 409 && ["callbacks.list", "feed.read"].includes(operation.operationId)) {
            const params = { ...request.params, referenceId: yield* subscribe() }
            return yield* call(operation, { ...request, params, query: { context, startingAfter: "999999" } }, alice)
          }
          if (status === 409 && /^(addressLists|extendedKeys)\./.test(operation.operationId)) {
            return yield* call(
              operation,
              { ...request, params: { ...request.params, referenceId: yield* subscribe() } },
              alice
            )
          }
          if (status === 409 && operation.operationId === "bulk.create") {
            yield* call(operation, request, alice)
            return yield* call(operation, { ...request, item: { ...request.item, items: [{}] } }, alice)
          }
          if (status === 409 && operation.operationId !== "domains.verify") {
            insides.failure = new Errors.Conflict({ message: "not in this state" })
            return yield* call(operation, request, alice)
          }
          if (status === 409) {
            const body = { data: { item: { domain: "example.net" } } }
            yield* send(url, { method: "POST", path: "/domains", key: alice, body })
            return yield* call(operation, { ...request, params: { domain: "example.net" } }, alice)
          }
          if (request.item === undefined) {
            return yield* call(operation, { ...request, query: { context: "x".repeat(513) } }, alice)
          }
          const [field] = Object.keys(request.item)
          return yield* call(operation, { ...request, item: { ...request.item, [field!]: -17 } }, alice)
        }
        case "invalid_pagination":
          return yield* call(operation, { ...request, query: { context, limit: "0" } }, alice)
        case "limit_greater_than_allowed":
          return yield* call(operation, { ...request, query: { context, limit: "1001" } }, alice)
        case "uri_not_found": {
          const [last] = Object.keys(request.params).slice(-1)
          return yield* call(operation, { ...request, params: { ...request.params, [last!]: "x".repeat(300) } }, alice)
        }
        case "resource_not_found":
          if (
            /^(marketData|addresses|blocks|broadcasts|hdWallets|hdWalletLists|nextNonce|transactions)\./.test(
              operation.operationId
            )
          ) {
            insides.failure = new Errors.ResourceNotFound({ message: "no such thing" })
          }
          return yield* call(operation, request, alice)
        case "already_exists":
          if (["addresses.syncAddress", "hdWallets.syncWallet"].includes(operation.operationId)) {
            insides.failure = new Errors.AlreadyExists({ message: "synced before" })
          }
          yield* call(operation, request, alice)
          return yield* call(operation, request, alice)
        case "payload_too_large":
          return yield* call(
            operation,
            { ...request, raw: JSON.stringify({ data: "x".repeat(largestOf.get(operation.operationId)!) }) },
            alice
          )
        case "unsupported_media_type":
          return yield* call(operation, { ...request, raw: "{}", headers: { "content-type": "text/plain" } }, alice)
        case "invalid_request_body_structure":
          return yield* call(operation, { ...request, raw: "{" }, alice)
        case "unexpected_server_error":
          insides.broken = true
          return yield* call(operation, request, isByRules(operation) ? strangers() : alice)
        case "unimplemented": {
          if (operation.operationId === "addressForms.convert") {
            return yield* call(operation, { ...request, params: { ...request.params, blockchain: "bitcoin" } }, alice)
          }
          if (/^(subscriptions|addressLists|extendedKeys)\./.test(operation.operationId)) {
            // Dash has no events here, and nothing else is looked at before that is known.
            return yield* call(operation, { ...request, params: { blockchain: "dash", network: "mainnet" } }, alice)
          }
          if (operation.operationId.startsWith("marketData.")) {
            insides.failure = new Errors.Unimplemented({ message: "no market data" })
          }
          return yield* call(
            operation,
            { ...request, params: { ...request.params, network: testNetwork(request) } },
            alice
          )
        }
        case "node_unavailable":
          // What needs no node needs the store.
          if (
            /^(addresses|addressHistory|balances|blocks|broadcasts|hdWallets|hdWalletDetails|hdWalletLists|transactions)\./.test(
              operation.operationId
            )
          ) {
            insides.failure = new Errors.NodeUnavailable({ message: "no node", retryAfter: 7 })
          } else insides.storeFails = true
          return yield* call(operation, request, isByRules(operation) ? strangers() : alice)
        case "invalid_xpub":
          if (operation.operationId === "extendedKeys.create") {
            return yield* call(operation, { ...request, item: { ...request.item, extendedPublicKey: "xpub" } }, alice)
          }
          if (operation.operationId === "addressForms.derive") {
            const params = { ...request.params, extendedPublicKey: "xpub1" }
            return yield* call(operation, { ...request, params }, alice)
          }
          insides.failure = failures[code]
          return yield* call(operation, request, alice)
        default:
          insides.failure = failures[code]
          assert.isDefined(insides.failure, `no way is known to provoke ${code}`)
          return yield* call(operation, request, alice)
      }
    })

    /** What these answer without an error, the tests of what they do show. */
    const needsASubscription = ({ operationId }: Operation) => "referenceId" in valid(operationId).params

    /** What the document says of a page's size where a request does not say; undefined where there are no pages. */
    const defaultLimit = ({ parameters }: Operation): number | undefined => {
      const limit = parameters.find(({ name }) => name === "limit") as { readonly description?: string } | undefined
      const [, count] = /; (\d+) if not given$/.exec(limit?.description ?? "") ?? []
      return count === undefined ? undefined : Number(count)
    }

    const testNetwork = ({ params }: Request) => (params.blockchain === "ethereum" ? "sepolia" : "testnet")

    const check = (operation: Operation, status: number, code: string, answer: Answer) => {
      assert.strictEqual(answer.status, status, answer.text)
      assert.strictEqual(answer.body.error.code, code, answer.text)
      assert.isUndefined(wrongWith(operation, status, answer.body))
      assert.isUndefined(wrongWithError(code, answer.body))
      assert.strictEqual(answer.headers.get("x-request-id"), answer.body.requestId)
      assert.strictEqual(answer.headers.get("content-type"), "application/json")
      if (status === 405) assert.strictEqual(answer.headers.get("allow"), "GET, HEAD")
    }

    layer(testServer(store), { excludeTestServices: true })((it) => {
      for (const operation of tried) {
        it.effect(`${operation.operationId} answers without an error`, () =>
          Effect.gen(function* () {
            const { alice } = yield* TestServer
            if (needsASubscription(operation) || operation.operationId === "domains.verify") return
            const answer = yield* call(operation, valid(operation.operationId), alice)
            assert.isBelow(answer.status, 300, answer.text)
            assert.isUndefined(wrongWith(operation, answer.status, answer.body))
            assert.strictEqual(answer.body.context, context)
            const limit = defaultLimit(operation)
            if (limit !== undefined) assert.strictEqual(answer.body.data.limit, limit)
          })
        )
        for (const [status, code] of errorsOf(operation)) {
          if (withoutRoom(operation, status, code)) continue
          if (code in elsewhere && (elsewhere[code] ?? operation.operationId) === operation.operationId) continue
          it.effect(`${operation.operationId} answers ${status} ${code}`, () =>
            Effect.gen(function* () {
              const { insides } = yield* TestServer
              const answer = yield* provoke(operation, status, code).pipe(
                Effect.ensuring(
                  Effect.sync(() => {
                    insides.failure = undefined
                    insides.broken = false
                    insides.storeFails = false
                  })
                )
              )
              check(operation, status, code, answer)
              if (answer.body.context === undefined) {
                assert.isTrue(status === 400 && code === "invalid_data", "the context is echoed")
              } else assert.strictEqual(answer.body.context, context)
              if (code === "node_unavailable") {
                const { text } = answer
                assert.strictEqual(answer.headers.get("retry-after"), text.includes("no node") ? "7" : "5", text)
              }
            })
          )
        }
        it.effect(`${operation.operationId} answers 503 where the store is out of order`, () =>
          Effect.gen(function* () {
            const { alice, insides } = yield* TestServer
            insides.storeFails = true
            const key = isByRules(operation) ? strangers() : alice
            const answer = yield* call(operation, valid(operation.operationId), key).pipe(
              Effect.ensuring(Effect.sync(() => (insides.storeFails = false)))
            )
            check(operation, 503, "node_unavailable", answer)
            assert.strictEqual(answer.headers.get("retry-after"), "5")
            assert.notInclude(answer.text, "disk is full")
          })
        )
      }
    })

    // What is spent does not come back while the test runs.
    layer(testServer(store, { rate: { creditsPerSecond: 0.001, burst: 1 } }), { excludeTestServices: true })((it) => {
      for (const operation of tried) {
        it.effect(`${operation.operationId} answers 429 request_limit_reached`, () =>
          Effect.gen(function* () {
            const { alice, url } = yield* TestServer
            yield* send(url, { path: "/blockchain-events/ethereum/mainnet", key: alice })
            const answer = yield* call(operation, valid(operation.operationId), alice)
            check(operation, 429, "request_limit_reached", answer)
            assert.strictEqual(answer.body.context, context)
            assert.isAtLeast(Number(answer.headers.get("retry-after")), 1)
          })
        )
      }
    })

    const full = Layer.merge(
      store.layer,
      Layer.succeed(Limits, { ...defaultMaxima, subscriptions: 0, domains: 0, bulkRequests: 0 })
    )
    layer(testServer({ ...store, layer: full }), { excludeTestServices: true })((it) => {
      for (const operation of tried) {
        for (const [status, code] of errorsOf(operation)) {
          if (!withoutRoom(operation, status, code)) continue
          it.effect(`${operation.operationId} answers ${status} ${code}`, () =>
            Effect.gen(function* () {
              const { alice } = yield* TestServer
              check(operation, status, code, yield* call(operation, valid(operation.operationId), alice))
            })
          )
        }
      }
    })

    layer(testServer(store, { verifier: false }), { excludeTestServices: true })((it) => {
      it.effect("domains.verify answers 501 unimplemented", () =>
        Effect.gen(function* () {
          const { alice } = yield* TestServer
          const verify = operationNamed("domains.verify")
          check(verify, 501, "unimplemented", yield* call(verify, valid("domains.verify"), alice))
        })
      )
    })

    layer(testServer(store), { excludeTestServices: true })((it) => {
      const cases: ReadonlyArray<readonly [Parameters<typeof send>[1], number, string]> = [
        [{ path: "/nowhere?context=c" }, 404, "uri_not_found"],
        [{ path: "/blockchain-events/ethereum/mainnet/%zz?context=c" }, 404, "uri_not_found"],
        [{ path: "/blockchain-events/ethereum/mainnet?context=c", method: "PUT" }, 405, "method_not_allowed"],
        [
          { path: "/blockchain-events/ethereum/mainnet/block-mined?context=c", method: "PATCH" },
          405,
          "method_not_allowed"
        ],
        [{ path: "/openapi.json?context=c", method: "POST", body: {} }, 405, "method_not_allowed"],
        [{ path: "/credits/balance?context=c", headers: { "x-api-version": "2023-04-25" } }, 400, "invalid_data"]
      ]
      for (const [request, status, code] of cases) {
        it.effect(`${request.method ?? "GET"} ${request.path} answers ${status} ${code}`, () =>
          Effect.gen(function* () {
            const { alice, url } = yield* TestServer
            const answer = yield* send(url, { ...request, key: alice })
            assert.strictEqual(answer.status, status)
            assert.isUndefined(wrongWithError(code, answer.body))
            assert.strictEqual(answer.body.context, "c")
            assert.strictEqual(answer.headers.get("allow") === null, status !== 405)
          })
        )
      }

      it.effect("says where the paths are described", () =>
        Effect.gen(function* () {
          const { url } = yield* TestServer
          assert.include((yield* send(url, { path: "/" })).body.error.message, "/docs")
        })
      )

      it.effect("names the methods that a path takes", () =>
        Effect.gen(function* () {
          const { url } = yield* TestServer
          const allowed = (path: string) =>
            Effect.map(send(url, { path, method: "PUT" }), ({ headers }) => headers.get("allow"))
          assert.strictEqual(yield* allowed("/blockchain-events/ethereum/mainnet"), "GET, HEAD")
          assert.strictEqual(yield* allowed("/blockchain-events/ethereum/mainnet/x"), "GET, HEAD, DELETE")
          assert.strictEqual(yield* allowed("/blockchain-events/ethereum/mainnet/x/activate"), "POST")
          assert.strictEqual(yield* allowed("/domains"), "GET, HEAD, POST")
        })
      )

      it.effect("names every field that is wrong, and the rule", () =>
        Effect.gen(function* () {
          const { alice, url } = yield* TestServer
          const answer = yield* send(url, {
            method: "POST",
            path: "/blockchain-events/ethereum/mainnet/address-internal-transactions-confirmed-each-confirmation",
            key: alice,
            body: { context: "c", data: { item: { confirmationsCount: 101, callbackUrl: 1, address: "" } } }
          })
          assert.strictEqual(answer.body.context, "c")
          assert.deepStrictEqual(
            answer.body.error.details.map(({ attribute }: { attribute: string }) => attribute).sort(),
            ["address", "allowDuplicates", "callbackSecretKey", "callbackUrl", "confirmationsCount"]
          )
        })
      )

      it.effect("takes the context of the body before that of the query", () =>
        Effect.gen(function* () {
          const { alice, url } = yield* TestServer
          const path = "/blockchain-events/ethereum/mainnet/block-mined?context=query"
          const body = { context: "body", data: { item: { callbackUrl: "https://example.com/" } } }
          const made = yield* send(url, { method: "POST", path, key: alice, body })
          assert.strictEqual(made.body.context, "body")
          const again = yield* send(url, { method: "POST", path, key: alice, body: { ...body, context: 17 } })
          assert.deepStrictEqual([again.status, again.body.context], [400, "query"])
          for (const method of ["PUT", "PATCH", "DELETE"]) {
            const refused = yield* send(url, { method, path, key: alice, body })
            assert.deepStrictEqual([refused.status >= 400, refused.body.context], [true, "body"], method)
          }
        })
      )
    })
  })
}
