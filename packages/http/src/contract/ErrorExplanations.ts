/**
 * Every error code of the interface explained: its meaning, its usual causes, and the remedy. `headwater explain` and the
 * documentation show these texts; the statuses come from the contract.
 */
import { type Code, Failures, outsideOperations } from "./Errors.ts"

/** A code of an error or a finding, for whoever has to act on it. Backquotes enclose code. */
export interface Explanation {
  /** One or two sentences. */
  readonly meaning: string
  /** The most frequent first. */
  readonly causes: ReadonlyArray<string>
  /** In the order in which to try. */
  readonly remedies: ReadonlyArray<string>
}

export const explanations: Readonly<Record<Code, Explanation>> = {
  invalid_pagination: {
    meaning:
      "`limit`, `offset`, `startingAfter` or `sortingOrder` is not valid. `details` names the field and its rule.",
    causes: [
      "`startingAfter` comes from another list, from another address or was cut: it has to be the `nextStartingAfter` of this very list.",
      "`limit` is no whole number from 1 on, or `offset` is negative.",
      "`sortingOrder` is neither `ASCENDING` nor `DESCENDING` (letter case does not matter)."
    ],
    remedies: [
      "Pass `nextStartingAfter` on as it came, URL-encoded, and with the same path and the same filters.",
      "Begin the list anew without `startingAfter` where the cursor is lost: pages are stable, so that an item that was read before comes again, and none is skipped."
    ]
  },
  limit_greater_than_allowed: {
    meaning: "`limit` is above the most items that a page of this list may have; `details` names that number.",
    causes: ["The client asks for more than 50 items a page."],
    remedies: ["Ask for 50 items or fewer, and for the rest page by page: `offset`, or `startingAfter`."]
  },
  invalid_blockchain: {
    meaning: "The path names no blockchain of the interface, or one of a family that the operation is not for.",
    causes: [
      "The name is spelt otherwise: `binance-smart-chain`, not `bsc`; `bitcoin-cash`, not `bch`.",
      "An operation of one family is called for another, such as a path with `/utxo/` for `ethereum`."
    ],
    remedies: [
      "Take the name from the message, which lists those that there are.",
      "Where the family is wrong, use the same operation under the path of the chain's own family."
    ]
  },
  invalid_network: {
    meaning: "The blockchain has no network of this name, or this server does not follow it.",
    causes: [
      "The operator has not configured the chain: the message then says that it is known, but not configured.",
      "The name is that of another blockchain: Ethereum's test network is `sepolia`, Polygon's `amoy`."
    ],
    remedies: [
      "Take the network from the message, which lists those of the blockchain.",
      'Operator: add a table for the chain to the settings, `[chains."ethereum/sepolia"]` with its `nodes`, and start the daemon again.'
    ]
  },
  invalid_xpub: {
    meaning: "The path or the body has no extended public key of this blockchain and network.",
    causes: [
      "A character was lost or changed: the checksum does not fit.",
      "The key is of another network, such as `tpub…` for a mainnet.",
      "It is a private key (`xprv…`), which Headwater refuses and never logs."
    ],
    remedies: [
      "Export the account's extended public key from the wallet once more, and send it whole.",
      "Where a private key was sent, treat it as known to others: move the coins to a new wallet."
    ]
  },
  xpub_not_synced: {
    meaning:
      "The answer needs what was never recorded of the wallet or address. Headwater refuses rather than answer less than the truth; the message says what is lacking.",
    causes: [
      "The account has not synced the extended public key.",
      "The wallet was in use before it was synced, and its past has not been read.",
      "The record has a gap: blocks without internal transactions, or a transaction that was not understood."
    ],
    remedies: [
      "Sync the wallet: `POST …/{extendedPublicKey}/addresses/derive-and-sync`, or `POST …/{extendedPublicKey}/sync`.",
      "EVM: sync with a `birthHeight` before the wallet's first transaction, where the node shows the past.",
      "Operator: `headwater status` names gaps of the record, and the command that fills them in."
    ]
  },
  invalid_data: {
    meaning:
      "With status 400, a field breaks a rule. With status 409, the request is well formed and cannot be done in the present state. In both cases `details` names the field, where one is at fault.",
    causes: [
      "400: a required field is missing, an address is not of this chain, or a `callbackUrl` is not https or leads to a private host.",
      "400: the header `x-api-version` names a version that this server does not have.",
      "409: the balance does not cover amount and fee, a nonce is used already, or the nodes refuse the transaction.",
      "409: the subscription, wallet or address is already active (or inactive), or the proof of a domain was not found.",
      "409: the request takes more calls of the node, or the account has more domains, than `limits` allows."
    ],
    remedies: [
      "Correct the field that `details` names by the rule beside it. The same request again fails again.",
      "409: read the present state (balance, nonce, subscription, domain), and decide anew."
    ]
  },
  missing_api_key: {
    meaning: "The request has no header `x-api-key`.",
    causes: [
      "The client sends the key elsewhere, as in `Authorization` or the query.",
      "A proxy in front of the server drops the header."
    ],
    remedies: [
      "Send `x-api-key: hw_…`.",
      "Ask the server without the proxy; where that works, let the proxy pass the header on."
    ]
  },
  invalid_api_key: {
    meaning: "The key in `x-api-key` is unknown, revoked or expired.",
    causes: [
      "The key was revoked, or its time is over (`keys create --expires`).",
      "The key belongs to another server, or to a store that was replaced.",
      "The value has quotes, a space or a line break around it."
    ],
    remedies: [
      "Operator: `headwater keys list ACCOUNT` shows each key with its end and its last use.",
      "Make a new key with `headwater keys create ACCOUNT`: a lost key cannot be shown again."
    ]
  },
  insufficient_credits: {
    meaning: "The account has fewer credits left than the request costs. Nothing was done, and nothing was charged.",
    causes: [
      "The credits are used up: each active subscription and synced address costs credits every day.",
      "The request is for many results, each of which has its price."
    ],
    remedies: [
      "Look at `GET /credits/balance`, or as the operator at `headwater credits statement ACCOUNT`.",
      "Operator: `headwater credits grant ACCOUNT AMOUNT`.",
      "Remove subscriptions that nobody needs. Where an account cannot pay for a day, its newest subscriptions are deactivated."
    ]
  },
  endpoint_not_allowed_for_api_key: {
    meaning: "The key is valid and may not call this operation.",
    causes: [
      "The key was made with `--endpoints`, and the operation is not on its list.",
      "The key was made with `--read-only`, and the operation is not a `GET`."
    ],
    remedies: [
      "Use another key of the account.",
      "Operator: make a key with the operation that the message names, as in `headwater keys create ACCOUNT --endpoints 'subscriptions.*'`. The rights of a key cannot be changed."
    ]
  },
  blockchain_events_callbacks_limit_reached: {
    meaning: "The account has as much as it may of what the request would add; the message names the limit.",
    causes: [
      "Subscriptions of the account over all chains (`limits.subscriptions`), inactive ones counted.",
      "Subscriptions to one event of one address (`limits.duplicates`), as where a client creates them again at every start with `allowDuplicates`.",
      "Addresses in lists, requests for many subscriptions, or copies of callbacks under way."
    ],
    remedies: [
      "`GET /limits` shows each limit with what the account has of it.",
      "Remove what is not needed. For many addresses, use one subscription on a list of addresses.",
      "Operator: raise the limit in `[limits]`, and start the daemon again."
    ]
  },
  xpubs_limit_reached: {
    meaning: "The account has synced as many wallets as it may, over all chains, inactive ones counted.",
    causes: ["The account makes a wallet for each of its users; `limits.wallets` is 10,000 by default."],
    remedies: [
      "`GET /limits` shows the limit; remove wallets that are no longer used.",
      "Operator: raise `wallets` in `[limits]`, and start the daemon again."
    ]
  },
  sync_addresses_limit_reached: {
    meaning: "The account has synced as many single addresses as it may, over all chains, inactive ones counted.",
    causes: ["The account syncs an address for each payment; `limits.addresses` is 100,000 by default."],
    remedies: [
      "`GET /limits` shows the limit; remove addresses that are no longer used.",
      "Use subscriptions, lists of addresses or an extended public key where only callbacks are wanted.",
      "Operator: raise `addresses` in `[limits]`, and start the daemon again."
    ]
  },
  address_not_synced: {
    meaning: "Nothing is recorded of the address for this account, so that there is nothing to list.",
    causes: [
      'The chain records watched addresses alone (`record = "watched"`), and the account watches this one neither by a subscription nor by a sync.',
      "What was asked for is older than the record."
    ],
    remedies: [
      "Sync the address, with `birthHeight` where its past is wanted, and ask again once it is synced.",
      'Operator: a chain that is followed anew with `record = "all"` and an early `start` has every address.'
    ]
  },
  sync_address_not_active: {
    meaning: "The account has synced the address and deactivated it since, so that its record is not continued.",
    causes: ["The address was deactivated through the interface."],
    remedies: ["Activate the address, and ask again: what happened meanwhile is read then."]
  },
  resource_not_found: {
    meaning:
      "The account has no such subscription, callback, wallet, domain or broadcast; or there is no such asset or transaction.",
    causes: [
      "The id belongs to another account, chain or network: an id counts under its own path alone.",
      "The resource was removed, or its time is over: callbacks are kept for `callbacks.keepDays`.",
      "The id was cut or changed on its way."
    ],
    remedies: [
      "List the resources with the same key and under the same blockchain and network, and take the id from there.",
      "Operator: `headwater subscriptions list ACCOUNT CHAIN`, `headwater domains list ACCOUNT`, `headwater assets list`."
    ]
  },
  uri_not_found: {
    meaning: "The server has no such path.",
    causes: [
      "A part of the path is missing or misspelt, such as `/blockchain-event/…`.",
      "A proxy adds or removes a prefix.",
      "A part of the path is not URL-encoded, or is empty."
    ],
    remedies: [
      "Compare the path with `/docs` of the same server.",
      "Where there is a proxy, look at the path in its log: Headwater has no prefix of its own."
    ]
  },
  blockchain_data_block_not_found: {
    meaning: "The chain has no block of this height or hash, as its node says.",
    causes: [
      "The height is above the newest block, or the hash is of another chain or network.",
      "The block left the chain in a reorganisation.",
      "The node is pruned, and has thrown the block away."
    ],
    remedies: [
      "Compare the height with the newest block: `…/latest/details`.",
      "Operator: `headwater doctor` says from which block on a node has blocks; an old block needs a node that keeps all."
    ]
  },
  blockchain_data_transaction_not_found: {
    meaning: "No block of the chain has this transaction, as its node says.",
    causes: [
      "The transaction waits in the mempool, and the operation shows mined ones alone.",
      "The transaction was replaced or dropped, or its block left the chain.",
      "The node has no index of transactions, or has thrown the block away."
    ],
    remedies: [
      "Ask again after the next block.",
      "Of a transaction that this account broadcast, ask `GET /broadcast-transactions/…/{transactionId}`.",
      "Operator: on UTXO chains set `txindex=1` at the node; for old transactions use a node that keeps all blocks."
    ]
  },
  blockchain_data_token_details_not_found: {
    meaning: "The address has no contract of a token of a known standard (ERC-20, ERC-721, ERC-1155).",
    causes: [
      "The address is that of a person or of another contract.",
      "The token lives on another chain or network under the same address."
    ],
    remedies: ["Compare the contract's address, and blockchain and network in the path, with the issuer's page."]
  },
  method_not_allowed: {
    meaning: "The path exists and takes another method; the header `Allow` names those that it takes.",
    causes: [
      "A `GET` where the operation is a `POST`, or the other way round; a redirect of a proxy turned a `POST` into a `GET`."
    ],
    remedies: ["Use a method of `Allow`. Call the address with https directly where a proxy redirects."]
  },
  request_timeout: {
    meaning: "The request did not arrive as a whole in the time that a connection is given.",
    causes: ["The client opened a connection and sent its headers or its body too slowly, or not at all."],
    remedies: [
      "Send the request again. Where it comes back, look at the network between client and server, and at proxies."
    ]
  },
  already_exists: {
    meaning: "The account has the same resource already. Nothing was changed.",
    causes: [
      "A request was repeated after its answer was lost: the first one did its work.",
      "The wallet or address was synced before, and may be inactive: the message then says so."
    ],
    remedies: [
      "Use what there is: for a subscription, `details` has its `referenceId`.",
      "Where a second subscription of the same kind is wanted, send `allowDuplicates: true`.",
      "An inactive wallet or address is activated, not synced anew."
    ]
  },
  sync_address_already_active: {
    meaning: "The address that is to be activated is active. Nothing was changed, and nothing was charged.",
    causes: ["A request was repeated after its answer was lost: the first one did its work."],
    remedies: ["Go on: the address is synced. `GET /addresses-historical/manage/…` shows how far."]
  },
  xpub_already_active: {
    meaning: "The wallet that is to be activated is active. Nothing was changed, and nothing was charged.",
    causes: ["A request was repeated after its answer was lost: the first one did its work."],
    remedies: ["Go on: the wallet is synced. `GET /hd-wallets/manage/…` shows how far."]
  },
  payload_too_large: {
    meaning:
      "The body is larger than the operation takes (status 413), or URL and headers are larger than the server takes (431).",
    causes: [
      "More items in one request than the operation allows.",
      "Cookies or other headers of a browser or proxy that are no concern of the server's."
    ],
    remedies: [
      "Send fewer items at a time.",
      "Operator: raise `http.maxBodyBytes`, 65,536 by default, and the limit of the proxy in front of the server."
    ]
  },
  unsupported_media_type: {
    meaning: "The body is not declared as JSON, or is compressed.",
    causes: [
      "The header `content-type` is missing, or is that of a form, as `curl -d` sets it by itself.",
      "The header `content-encoding` names a compression, as `gzip`: bodies are taken as they are alone."
    ],
    remedies: ["Send `content-type: application/json`, and no `content-encoding`."]
  },
  invalid_request_body_structure: {
    meaning: "The body is not JSON of the form `{context?, data: {item: {…}}}` in UTF-8.",
    causes: [
      "The fields stand at the top, and not inside `data.item`.",
      "The JSON is broken: quotes that a shell has eaten, a comma at the end.",
      "The body is empty where the operation needs one."
    ],
    remedies: ["Take the example of the operation from `/docs`, and change its values."]
  },
  xpub_sync_in_progress: {
    meaning: "What the answer needs is being read at this moment: the wallet's past, or the coins of its addresses.",
    causes: [
      "The wallet or address was synced a short while ago.",
      "The chain's node is slow, or reads far into the past."
    ],
    remedies: [
      "Ask again in some seconds. The lists of synced wallets and addresses say how far the reading is.",
      "Operator: `headwater status` says how many blocks or addresses are left."
    ]
  },
  could_not_calculate_rate_for_pair: {
    meaning: "There is no rate of one of the two assets for that moment, so that none can be calculated for the pair.",
    causes: [
      "The operator has configured no provider of market data, or the provider does not list the asset.",
      "The moment is before the first rate that is kept, or too long after the last one."
    ],
    remedies: [
      "Ask for another moment, or leave the moment out.",
      "Operator: `headwater assets list` shows the last rate of each asset; `headwater assets refresh` reads them anew."
    ]
  },
  request_limit_reached: {
    meaning:
      "The account asks for more at a time than it may. The header `Retry-After` says how many seconds to wait; nothing was done.",
    causes: [
      "More credits a second than `credits.perSecond`, whether or not credits are charged. The headers `RateLimit-…` say what is left.",
      "More requests at the same time than `http.requestsAtOnce`.",
      "More readers of the feed than `limits.streams`, or more verifications of domains in an hour than allowed."
    ],
    remedies: [
      "Wait as long as `Retry-After` says, then repeat the request; spread requests, and make no more than some at a time.",
      "Ask for many things in one request where the interface can: pages of 50, lists of addresses, many subscriptions at once.",
      "Operator: raise `credits.perSecond` and `credits.burst`, or the setting that the message names."
    ]
  },
  unexpected_server_error: {
    meaning: "The server has failed in a way that nobody foresaw. Whether a change took effect is not certain.",
    causes: ["A defect of Headwater."],
    remedies: [
      "Read the state before a change is repeated: a subscription that exists answers `already_exists`.",
      "Operator: find the `requestId` of the answer in the log; the line beside it has the cause. Report the line, with the version."
    ]
  },
  unimplemented: {
    meaning:
      "This blockchain has no such thing, or this server does not offer it. The same request will not succeed later by itself.",
    causes: [
      "The chain lacks what was asked for: no token events on Bitcoin, no base fee on a chain without EIP-1559.",
      "The chain's node lacks an ability: traces for internal transactions, an estimate of fees.",
      "The daemon runs without the part, such as the verification of domains."
    ],
    remedies: [
      "Read the message, which names what is missing.",
      "Operator: `headwater doctor` says what each node cannot do, and how to switch it on."
    ]
  },
  node_unavailable: {
    meaning:
      "What the request depends on does not answer, or is behind: the chain's node, or the server's store. Headwater gives no stale answer in its place. `Retry-After` says how many seconds to wait.",
    causes: [
      "The chain's node is down, restarts or refuses requests.",
      "The node is behind what is recorded, or the record is still behind the node.",
      "The chain is being reorganised at this moment.",
      "The store's disk is full, or its server does not answer."
    ],
    remedies: [
      "Repeat the request after `Retry-After`. A broadcast may be repeated as it is: the same transaction is sent once.",
      "Operator: `headwater status` says how far each chain is and why it fails; `headwater doctor` asks every node and looks at the store.",
      "Operator: name a second node in the chain's `nodes`, so that one may fail."
    ]
  }
}

/** Every code, in the order of the contract. */
export const codes: ReadonlyArray<Code> = Object.keys(explanations) as ReadonlyArray<Code>

/** The statuses with which a code comes, in ascending order. */
export const statusesOf = (code: Code): ReadonlyArray<number> =>
  [
    ...Object.values(Failures).map(({ ast, from }) => ({
      code: from.fields.error.fields.code.literal,
      status: ast.annotations?.httpApiStatus
    })),
    ...outsideOperations
  ]
    .flatMap((published) => (published.code === code ? [Number(published.status)] : []))
    .sort((a, b) => a - b)
