/**
 * The errors of the operations. The tag of each error is the error's code in the interface, so that a client catches
 * errors by the words of the interface.
 */
import * as Schema from "effect/Schema"
import { ErrorDetail, failure } from "./Envelope.ts"

const fields = {
  message: Schema.String,
  details: Schema.optionalKey(Schema.Array(ErrorDetail))
}

/** Temporary errors: the seconds to wait stand in the header Retry-After. */
const passing = { ...fields, retryAfter: Schema.optionalKey(Schema.Int) }

export class InvalidPagination extends Schema.TaggedError<InvalidPagination>()("invalid_pagination", fields) {}
export class LimitGreaterThanAllowed extends Schema.TaggedError<LimitGreaterThanAllowed>()(
  "limit_greater_than_allowed",
  fields
) {}
export class InvalidBlockchain extends Schema.TaggedError<InvalidBlockchain>()("invalid_blockchain", fields) {}
export class InvalidNetwork extends Schema.TaggedError<InvalidNetwork>()("invalid_network", fields) {}
export class InvalidXpub extends Schema.TaggedError<InvalidXpub>()("invalid_xpub", fields) {}
export class XpubNotSynced extends Schema.TaggedError<XpubNotSynced>()("xpub_not_synced", fields) {}
export class InvalidData extends Schema.TaggedError<InvalidData>()("invalid_data", fields) {}

/** One field of a request breaks a rule. */
export const invalidField = (attribute: string, message: string) =>
  new InvalidData({ message: `${attribute}: ${message}`, details: [{ attribute, message }] })

/** A field of a request that the state of the chain contradicts. */
export const conflictingField = (attribute: string, message: string): Conflict =>
  new Conflict({ message: `${attribute}: ${message}`, details: [{ attribute, message }] })

export class MissingApiKey extends Schema.TaggedError<MissingApiKey>()("missing_api_key", fields) {}
export class InvalidApiKey extends Schema.TaggedError<InvalidApiKey>()("invalid_api_key", fields) {}
export class InsufficientCredits extends Schema.TaggedError<InsufficientCredits>()("insufficient_credits", fields) {}
export class EndpointNotAllowed extends Schema.TaggedError<EndpointNotAllowed>()(
  "endpoint_not_allowed_for_api_key",
  fields
) {}
export class CallbacksLimitReached extends Schema.TaggedError<CallbacksLimitReached>()(
  "blockchain_events_callbacks_limit_reached",
  fields
) {}
export class XpubsLimitReached extends Schema.TaggedError<XpubsLimitReached>()("xpubs_limit_reached", fields) {}
export class SyncAddressesLimitReached extends Schema.TaggedError<SyncAddressesLimitReached>()(
  "sync_addresses_limit_reached",
  fields
) {}
export class AddressNotSynced extends Schema.TaggedError<AddressNotSynced>()("address_not_synced", fields) {}
export class SyncAddressNotActive extends Schema.TaggedError<SyncAddressNotActive>()(
  "sync_address_not_active",
  fields
) {}
export class ResourceNotFound extends Schema.TaggedError<ResourceNotFound>()("resource_not_found", fields) {}
export class BlockNotFound extends Schema.TaggedError<BlockNotFound>()("blockchain_data_block_not_found", fields) {}
export class TransactionNotFound extends Schema.TaggedError<TransactionNotFound>()(
  "blockchain_data_transaction_not_found",
  fields
) {}
export class TokenDetailsNotFound extends Schema.TaggedError<TokenDetailsNotFound>()(
  "blockchain_data_token_details_not_found",
  fields
) {}
export class UriNotFound extends Schema.TaggedError<UriNotFound>()("uri_not_found", fields) {}
export class AlreadyExists extends Schema.TaggedError<AlreadyExists>()("already_exists", fields) {}
export class SyncAddressAlreadyActive extends Schema.TaggedError<SyncAddressAlreadyActive>()(
  "sync_address_already_active",
  fields
) {}
export class XpubAlreadyActive extends Schema.TaggedError<XpubAlreadyActive>()("xpub_already_active", fields) {}
/** The present state does not allow the operation: 409 with the code of invalid data. */
export class Conflict extends Schema.TaggedError<Conflict>("@headwater/http/contract/Errors/Conflict")(
  "invalid_data",
  fields
) {}
export class PayloadTooLarge extends Schema.TaggedError<PayloadTooLarge>()("payload_too_large", fields) {}
export class UnsupportedMediaType extends Schema.TaggedError<UnsupportedMediaType>()(
  "unsupported_media_type",
  fields
) {}
export class InvalidRequestBodyStructure extends Schema.TaggedError<InvalidRequestBodyStructure>()(
  "invalid_request_body_structure",
  fields
) {}
export class XpubSyncInProgress extends Schema.TaggedError<XpubSyncInProgress>()("xpub_sync_in_progress", fields) {}
export class PairNotAvailable extends Schema.TaggedError<PairNotAvailable>()(
  "could_not_calculate_rate_for_pair",
  fields
) {}
export class RequestLimitReached extends Schema.TaggedError<RequestLimitReached>()("request_limit_reached", passing) {}
export class UnexpectedServerError extends Schema.TaggedError<UnexpectedServerError>()(
  "unexpected_server_error",
  fields
) {}
export class Unimplemented extends Schema.TaggedError<Unimplemented>()("unimplemented", fields) {}
export class NodeUnavailable extends Schema.TaggedError<NodeUnavailable>()("node_unavailable", passing) {}

/** How each error is published. */
export const Failures = {
  invalidPagination: failure(InvalidPagination, {
    code: "invalid_pagination",
    status: 400,
    description: "`limit`, `offset`, `startingAfter` or `sortingOrder` is not valid"
  }),
  limitGreaterThanAllowed: failure(LimitGreaterThanAllowed, {
    code: "limit_greater_than_allowed",
    status: 400,
    description: "`limit` is above the maximum"
  }),
  invalidBlockchain: failure(InvalidBlockchain, {
    code: "invalid_blockchain",
    status: 400,
    description: "No such blockchain, or one that the operation is not for"
  }),
  invalidNetwork: failure(InvalidNetwork, {
    code: "invalid_network",
    status: 400,
    description: "The blockchain has no such network, or this server is not configured for it"
  }),
  invalidXpub: failure(InvalidXpub, {
    code: "invalid_xpub",
    status: 400,
    description: "Not an extended public key of this blockchain and network"
  }),
  xpubNotSynced: failure(XpubNotSynced, {
    code: "xpub_not_synced",
    status: 400,
    description: "Nothing was recorded for the extended public key: derive and sync its addresses first"
  }),
  invalidData: failure(InvalidData, {
    code: "invalid_data",
    status: 400,
    description: "A field is not valid; `details` names it and the rule that it breaks"
  }),
  missingApiKey: failure(MissingApiKey, {
    code: "missing_api_key",
    status: 401,
    description: "The header x-api-key is missing"
  }),
  invalidApiKey: failure(InvalidApiKey, {
    code: "invalid_api_key",
    status: 401,
    description: "The API key is unknown, revoked or expired"
  }),
  insufficientCredits: failure(InsufficientCredits, {
    code: "insufficient_credits",
    status: 402,
    description: "The account has too few credits left"
  }),
  endpointNotAllowed: failure(EndpointNotAllowed, {
    code: "endpoint_not_allowed_for_api_key",
    status: 403,
    description: "The API key may not call this operation"
  }),
  callbacksLimitReached: failure(CallbacksLimitReached, {
    code: "blockchain_events_callbacks_limit_reached",
    status: 403,
    description:
      "The account has as many subscriptions, in all or to one event of one address, transaction or chain, as it may have"
  }),
  xpubsLimitReached: failure(XpubsLimitReached, {
    code: "xpubs_limit_reached",
    status: 403,
    description: "The account has synced as many wallets as it may"
  }),
  syncAddressesLimitReached: failure(SyncAddressesLimitReached, {
    code: "sync_addresses_limit_reached",
    status: 403,
    description: "The account has synced as many addresses as it may"
  }),
  addressNotSynced: failure(AddressNotSynced, {
    code: "address_not_synced",
    status: 403,
    description: "Nothing was recorded for the address"
  }),
  syncAddressNotActive: failure(SyncAddressNotActive, {
    code: "sync_address_not_active",
    status: 405,
    description: "The account has stopped syncing the address: activate the address",
    // HTTP wants to know with this status; another method reads no more.
    headers: { allow: "GET, HEAD" }
  }),
  resourceNotFound: failure(ResourceNotFound, {
    code: "resource_not_found",
    status: 404,
    description: "There is no such resource"
  }),
  blockNotFound: failure(BlockNotFound, {
    code: "blockchain_data_block_not_found",
    status: 404,
    description: "The chain has no such block"
  }),
  transactionNotFound: failure(TransactionNotFound, {
    code: "blockchain_data_transaction_not_found",
    status: 404,
    description: "The chain has no such transaction"
  }),
  tokenDetailsNotFound: failure(TokenDetailsNotFound, {
    code: "blockchain_data_token_details_not_found",
    status: 404,
    description: "There is no contract of a token of a known standard at the address"
  }),
  uriNotFound: failure(UriNotFound, {
    code: "uri_not_found",
    status: 404,
    description: "There is no such path"
  }),
  alreadyExists: failure(AlreadyExists, {
    code: "already_exists",
    status: 409,
    description: "The same resource exists already"
  }),
  syncAddressAlreadyActive: failure(SyncAddressAlreadyActive, {
    code: "sync_address_already_active",
    status: 409,
    description: "The account syncs the address already"
  }),
  xpubAlreadyActive: failure(XpubAlreadyActive, {
    code: "xpub_already_active",
    status: 409,
    description: "The account syncs the wallet already"
  }),
  conflict: failure(Conflict, {
    code: "invalid_data",
    status: 409,
    description: "Cannot be done in the present state"
  }),
  payloadTooLarge: failure(PayloadTooLarge, {
    code: "payload_too_large",
    status: 413,
    description: "The body is too large"
  }),
  unsupportedMediaType: failure(UnsupportedMediaType, {
    code: "unsupported_media_type",
    status: 415,
    description: "The body is not application/json"
  }),
  invalidRequestBodyStructure: failure(InvalidRequestBodyStructure, {
    code: "invalid_request_body_structure",
    status: 422,
    description: "The body is not JSON of the form {context?, data: {item: {…}}}"
  }),
  xpubSyncInProgress: failure(XpubSyncInProgress, {
    code: "xpub_sync_in_progress",
    status: 422,
    description: "The addresses of the extended public key are still being recorded"
  }),
  pairNotAvailable: failure(PairNotAvailable, {
    code: "could_not_calculate_rate_for_pair",
    status: 422,
    description: "There is no rate of one of the assets for that moment"
  }),
  requestLimitReached: failure(RequestLimitReached, {
    code: "request_limit_reached",
    status: 429,
    description: "Too many credits a second; the header Retry-After says how many seconds to wait"
  }),
  unexpectedServerError: failure(UnexpectedServerError, {
    code: "unexpected_server_error",
    status: 500,
    description: "The server has failed; its log has the request's id"
  }),
  unimplemented: failure(Unimplemented, {
    code: "unimplemented",
    status: 501,
    description: "The blockchain, or this server, does not support the operation"
  }),
  nodeUnavailable: failure(NodeUnavailable, {
    code: "node_unavailable",
    status: 503,
    description:
      "The chain's node is down or behind, or the server's store is out of order; the header Retry-After says how many " +
      "seconds to wait"
  })
}

/** Errors of requests that reach no operation, beside those that operations have as well. */
export const outsideOperations = [
  { code: "method_not_allowed", status: 405 },
  { code: "request_timeout", status: 408 },
  { code: "payload_too_large", status: 431 }
] as const

/** Every code of the interface. */
export type Code = (typeof Failures)[keyof typeof Failures]["Type"]["_tag"] | (typeof outsideOperations)[number]["code"]
