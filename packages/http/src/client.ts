/**
 * A client of the interface on one `fetch`, with promises: for browsers, Node and whatever else has `fetch`. The client
 * needs no other package.
 *
 * The same operations for programs with Effect: `@headwater/http/contract/Client`.
 */
import type { Answer, Call, CallOptions, OperationName } from "./client/Call.ts"
import { type Calls, type ErrorCode, endpoints } from "./client/Calls.ts"

export type { Answer, CallOptions, OperationName, Request } from "./client/Call.ts"
export type { ErrorCode } from "./client/Calls.ts"

/** The operations by their groups, as methods that answer promises. */
export type Client = Calls

export interface Options {
  readonly baseUrl: string | URL
  readonly apiKey: string
  /** In place of the platform's own. */
  readonly fetch?: (url: URL, init: RequestInit) => Promise<Response>
  /** How often a request is made at the most; 4 if not given. */
  readonly attempts?: number
  /** How long an attempt may take, in milliseconds, beside the `wait` that it asks for; 30,000 if not given. */
  readonly timeoutMillis?: number
}

/** The version of the interface that the types are of. */
const apiVersion = "2024-12-12"

/** What the service refuses, or failed to do. The tag is the error's code in the interface. */
export class ServiceError<Code extends string = ErrorCode> extends Error {
  readonly _tag: Code
  readonly status: number
  /** The fields of the request that are concerned, each with its rule. */
  readonly details: ReadonlyArray<{ readonly attribute: string; readonly message: string }>
  /** Names the request in the log of the service. */
  readonly requestId: string | undefined
  /** Seconds after which the same request may succeed. */
  readonly retryAfter: number | undefined

  constructor(code: Code, answer: Pick<ServiceError, "details" | "message" | "requestId" | "retryAfter" | "status">) {
    super(answer.message)
    this.name = "ServiceError"
    this._tag = code
    this.status = answer.status
    this.details = answer.details
    this.requestId = answer.requestId
    this.retryAfter = answer.retryAfter
  }
}

/** No answer of the service arrived: whether the request was carried out is unknown. */
export class ConnectionFailed extends Error {
  readonly _tag = "ConnectionFailed"
  constructor(cause: unknown) {
    super("The service did not answer", { cause })
    this.name = "ConnectionFailed"
  }
}

/**
 * Whether a failure is an error of the interface with one of the codes, or with any code.
 *
 * @example
 * ```ts
 * import * as Client from "@headwater/http/client"
 *
 * const client = Client.make({ baseUrl: "http://127.0.0.1:8080", apiKey: "hw_yours" })
 * export const available = () =>
 *   client.credits.balance().then(
 *     ({ item }) => item.available,
 *     (failure) => (Client.isServiceError(failure, "invalid_api_key") ? 0 : Promise.reject(failure))
 *   )
 * ```
 */
export const isServiceError = <Code extends ErrorCode = ErrorCode>(
  failure: unknown,
  ...codes: ReadonlyArray<Code>
): failure is ServiceError<Code> =>
  failure instanceof ServiceError && (codes.length === 0 || (codes as ReadonlyArray<string>).includes(failure._tag))

interface AnyRequest {
  readonly params?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly payload?: { readonly data?: { readonly item?: Readonly<Record<string, unknown>> } }
}

const urlOf = (baseUrl: string | URL, path: string, { params = {}, query = {} }: AnyRequest) => {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(params[name] ?? "")
    // A URL has no such segments, escaped or not: the path would be that of another operation.
    if (/^\.{0,2}$/.test(value)) throw new TypeError(`params.${name}: must be given, and be neither "." nor ".."`)
    return encodeURIComponent(value)
  })
  const url = new URL(baseUrl)
  url.pathname = url.pathname.replace(/\/+$/, "") + filled
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value))
  return url
}

const secondsOf = (text: string | null) => (text !== null && /^\d+$/.test(text) ? Number(text) : undefined)

interface Envelope {
  readonly requestId?: string
  readonly data?: unknown
  readonly error?: {
    readonly code?: unknown
    readonly message?: string
    readonly details?: ServiceError["details"]
  }
}

/** The `data` of an answer, or its error. */
const read = ({ headers, ok, status }: Response, answer: Envelope | null) => {
  const { data, error, requestId } = answer ?? {}
  if (ok && typeof data === "object" && data !== null) return data
  const { code, details, message = `HTTP ${status}` } = error ?? {}
  // Somebody else's answer, such as a proxy's.
  if (typeof code !== "string") throw new ConnectionFailed(new Error(`HTTP ${status} without the service's envelope`))
  throw new ServiceError(code as ErrorCode, {
    ...{ message, requestId, retryAfter: secondsOf(headers.get("retry-after")), status },
    details: Array.isArray(details) ? details : []
  })
}

const sleep = (millis: number, signal: AbortSignal | undefined) =>
  new Promise<void>((resolve, reject) => {
    signal?.throwIfAborted()
    const stop = () => {
      clearTimeout(timer)
      reject(signal!.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop)
      resolve()
    }, millis)
    signal?.addEventListener("abort", stop, { once: true })
  })

/** Before the attempt with the number, in milliseconds, where the service does not say. */
const pause = (attempt: number) => 250 * 2 ** attempt * (0.5 + Math.random() / 2)

/** The longest pause that the service is let ask for, in milliseconds: a limit by the hour would hold a caller up for one. */
const longestPause = 60_000

/** What a timer can have, in milliseconds. */
const longestTimeout = 2 ** 31 - 1

/** Operations whose second request does no more than the first one, beside all that read or delete. */
const repeatable =
  /^(subscriptions|extendedKeys|domains|fees|addressForms|rawTransactions)\.|^addressLists\.(add|remove)$|^broadcasts\.broadcast$|^callbacks\.rotateSecret$/

/** Operations that make what is there twice after a second request, where they are not repeatable. */
const making = /^(subscriptions|bulk|addressLists|extendedKeys)\./

const isRepeatable = (name: OperationName, method: string, { payload }: AnyRequest) =>
  method !== "POST" || (repeatable.test(name) && payload?.data?.item?.allowDuplicates !== true)

/**
 * The client. A request is made again, after the pause that the service asks for or one that grows, where the service is
 * busy (429, 503) for at most a minute, and where no answer came and a second request cannot do more than the first one
 * did. A 503 may be of a store that failed behind the commit: a request that could make a second subscription is not made
 * again for it. Where the answer to a new or activated subscription was lost, the second request's refusal counts as that answer:
 * the subscription is read and given, unless it has another secret. What was deleted is `resource_not_found` to a second
 * request. Redirections are not followed: they would take the key to wherever they lead.
 *
 * The promises are rejected with a {@link ServiceError} or {@link ConnectionFailed}.
 *
 * @example
 * ```ts
 * import * as Client from "@headwater/http/client"
 *
 * const client = Client.make({ baseUrl: "http://127.0.0.1:8080", apiKey: "hw_yours" })
 * export const subscribe = (address: string) =>
 *   client.subscriptions["address-coins-transactions-confirmed"]({
 *     params: { blockchain: "ethereum", network: "mainnet" },
 *     payload: { data: { item: { address, callbackUrl: "https://receiver.example/callbacks", receiveCallbackOn: 12 } } }
 *   })
 * ```
 */
export const make = ({ apiKey, attempts = 4, baseUrl, timeoutMillis = 30_000, ...options }: Options): Client => {
  const key = apiKey.trim()
  // The platform's error would show the key.
  if (!/^[ -~]*$/.test(key)) throw new TypeError("apiKey: must have printable ASCII characters only")
  if (!(attempts >= 1 && timeoutMillis > 0)) throw new TypeError("attempts, timeoutMillis: must be above 0")
  // What it throws at once is a rejection, too.
  const send = async (url: URL, init: RequestInit) => (options.fetch ?? fetch)(url, init)

  const attempt = (method: string, url: URL, { payload, query }: AnyRequest, signal: AbortSignal | undefined) => {
    const millis = timeoutMillis + 1_000 * (Number(query?.wait) || 0)
    const timeout = AbortSignal.timeout(Math.min(Math.ceil(millis), longestTimeout))
    return send(url, {
      ...{ method, redirect: "error" },
      headers: {
        "x-api-key": key,
        "x-api-version": apiVersion,
        ...(payload !== undefined && { "content-type": "application/json" })
      },
      ...(payload !== undefined && { body: JSON.stringify(payload) }),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout])
    })
      .then(async (response) => [response, (await response.json()) as Envelope | null] as const)
      .then(
        ([response, answer]) => read(response, answer),
        (cause) => Promise.reject(signal?.aborted ? signal.reason : new ConnectionFailed(cause))
      )
  }

  const call = async (
    name: OperationName,
    request: AnyRequest = {},
    { signal }: CallOptions = {}
  ): Promise<unknown> => {
    const [method, path] = endpoints[name].split(" ") as [string, string]
    const url = urlOf(baseUrl, path, request)
    const again = isRepeatable(name, method, request)
    let isLost = false
    for (let tried = 1; ; tried++) {
      const outcome = await attempt(method, url, request, signal).then(
        (data) => ({ data }),
        (failure: unknown) => ({ failure })
      )
      if ("data" in outcome) return outcome.data
      const { failure } = outcome
      if (isLost && isServiceError(failure)) {
        if (failure._tag === "already_exists") return made(failure, request, signal)
        if (name === "subscriptions.activate" && failure.status === 409) return active(failure, request, signal)
      }
      const isRefused = isServiceError(failure, "request_limit_reached")
      // A store that fails may have done what was asked all the same.
      const isUnavailable = isServiceError(failure, "node_unavailable")
      isLost ||= isUnavailable || failure instanceof ConnectionFailed
      const mayAsk =
        isRefused || (isUnavailable && (again || !making.test(name))) || (again && failure instanceof ConnectionFailed)
      if (tried >= attempts || !mayAsk) throw failure
      const asked = isServiceError(failure) ? failure.retryAfter : undefined
      const millis = asked === undefined ? pause(tried) : asked * 1000
      if (millis > longestPause) throw failure
      await sleep(millis, signal)
    }
  }

  const get = (params: AnyRequest["params"] = {}, signal: AbortSignal | undefined) =>
    call("subscriptions.get", { params }, signal && { signal }) as Promise<Answer<"subscriptions.get">>

  /** The subscription that is active by now, perhaps by the request whose answer was lost; other conflicts leave it as it was. */
  const active = async (failure: ServiceError, { params }: AnyRequest, signal: AbortSignal | undefined) => {
    const answer = await get(params, signal)
    if (!answer.item.isActive) throw failure
    return answer
  }

  /** The subscription that a request made whose answer was lost: two are the same whatever their secrets are. */
  const made = async (failure: ServiceError, { params, payload }: AnyRequest, signal: AbortSignal | undefined) => {
    const referenceId = failure.details.find(({ attribute }) => attribute === "referenceId")?.message
    if (referenceId === undefined) throw failure
    const { item } = await get({ ...params, referenceId }, signal)
    const { callbackSecretKey = "", confirmationsCount: receiveCallbackOn } = item
    // Null and no text are no secret, too.
    if (callbackSecretKey !== (payload?.data?.item?.callbackSecretKey || "")) throw failure
    return { item: { ...item, callbackSecretKey, ...(receiveCallbackOn !== undefined && { receiveCallbackOn }) } }
  }

  const groups: Record<string, Record<string, Call<OperationName>>> = {}
  for (const name of Object.keys(endpoints) as ReadonlyArray<OperationName>) {
    const [group, method] = name.split(".") as [string, string]
    groups[group] ??= {}
    groups[group][method] = (...args: ReadonlyArray<unknown>) =>
      call(name, args[0] as AnyRequest, args[1] as CallOptions) as never
  }
  return groups as unknown as Client
}

/** Where a page begins: as asked for where it says nothing. */
interface Place {
  readonly startingAfter?: string
  readonly offset?: number
}

/** A page of a list: the place of the next one is a cursor, or the number of items before. */
interface Page<Item> {
  readonly items: ReadonlyArray<Item>
  readonly hasMore?: boolean
  readonly nextStartingAfter?: string
  readonly offset?: number
  readonly total?: number
}

/** The place of the page behind `page`, undefined where that was the last one; `place` is its own. */
const nextPlace = (page: Page<unknown>, place: Place, seen: Set<string>): Place | undefined => {
  const { hasMore, items, nextStartingAfter, offset = 0, total } = page
  const broken = (rule: string) => new ConnectionFailed(new Error(`a list ${rule}`))
  if (!Array.isArray(items)) throw broken("has no items")
  if (total !== undefined) {
    if (offset < (place.offset ?? 0)) throw broken("went back")
    const next = offset + items.length
    return items.length === 0 || next >= total ? undefined : { offset: next }
  }
  if (!hasMore) return undefined
  if (nextStartingAfter === undefined) throw broken("says that there is more, but not where")
  if (seen.has(nextStartingAfter)) throw broken("went back")
  seen.add(nextStartingAfter)
  return { startingAfter: nextStartingAfter }
}

/**
 * All items of a list, page by page as they are asked for. Rejected with {@link ConnectionFailed} where the pages do not
 * lead to an end. A list by a cursor has whatever stays while it is read; of one by `offset`, such as `subscriptions.list`,
 * items that stay are passed over, or come twice, where others before them go or come meanwhile.
 *
 * @example
 * ```ts
 * import * as Client from "@headwater/http/client"
 *
 * const client = Client.make({ baseUrl: "http://127.0.0.1:8080", apiKey: "hw_yours" })
 * export const urls = async () => {
 *   const found: Array<string> = []
 *   const params = { blockchain: "ethereum", network: "mainnet" }
 *   for await (const { callbackUrl } of Client.items(client.bulk.list, { params })) found.push(callbackUrl)
 *   return found
 * }
 * ```
 */
export async function* items<R extends object, Item>(
  list: (request: R, options?: CallOptions) => Promise<Page<Item>>,
  request: R,
  options?: CallOptions
): AsyncGenerator<Item, void, undefined> {
  const { query = {} } = request as AnyRequest
  const seen = new Set<string>()
  for (let place: Place | undefined = {}; place !== undefined; ) {
    const page: Page<Item> = await list({ ...request, query: { ...query, ...place } }, options)
    place = nextPlace(page, place, seen)
    yield* page.items
  }
}
