/** `data.item` of the callbacks (interface section 6.3), as schemas that the event kinds name. */
import * as Schema from "effect/Schema"

const text = (description: string) => Schema.String.annotate({ description })
const integer = (description: string) => Schema.Int.annotate({ description })

export const Direction = Schema.Literals(["incoming", "outgoing"])
export type Direction = typeof Direction.Type

const place = {
  blockchain: text("Name of the blockchain"),
  network: text("Network of the blockchain")
}

const seconds = "Seconds since the Unix epoch"

const address = text("The subscription's address, in the form that the chain's users write")
const transactionId = text("The transaction's id, on an account chain its hash")

const MinedInBlock = Schema.Struct({
  height: integer("Blocks before this one"),
  hash: text("Hash of the block"),
  timestamp: integer(seconds)
}).annotate({ description: "The block that has the transaction" })

const direction = Direction.annotate({
  description: "Of a UTXO chain's transaction: `incoming` where the address gets more than it pays"
})

const coins = {
  amount: text("Decimal text in whole coins, without exponent; on a UTXO chain the net of the transaction"),
  unit: text("The coin"),
  direction
}

/** Where an address is below an extended public key. */
export const AddressDerivation = Schema.Struct({
  type: Schema.Literals(["receiving", "change"]).annotate({ description: "The branch of the wallet" }),
  index: integer("The index in the branch")
})
export type AddressDerivation = typeof AddressDerivation.Type

const derivation = {
  derivation: Schema.optionalKey(
    AddressDerivation.annotate({
      description: "Of a subscription on an extended public key alone: where the address is below the key"
    })
  )
}

export const CoinItem = Schema.Struct({
  ...place,
  address,
  minedInBlock: MinedInBlock,
  transactionId,
  ...coins,
  transactionType: Schema.optionalKey(text("On the XRP Ledger alone: type of the transaction")),
  sourceTag: Schema.optionalKey(integer("On the XRP Ledger alone: tag of the account that pays")),
  destinationTag: Schema.optionalKey(integer("On the XRP Ledger alone: tag of the account that is paid")),
  ...derivation
})
export type CoinItem = typeof CoinItem.Type

export const UnconfirmedCoinItem = Schema.Struct({
  ...place,
  address,
  transactionId,
  ...coins,
  firstSeenInMempoolTimestamp: integer(seconds),
  ...derivation
})
export type UnconfirmedCoinItem = typeof UnconfirmedCoinItem.Type

export const InternalItem = Schema.Struct({
  ...place,
  address,
  minedInBlock: MinedInBlock,
  parentTransactionId: text("Hash of the transaction that made the call"),
  operationId: text("Trace address of the call: `call_0_1`"),
  ...coins,
  ...derivation
})
export type InternalItem = typeof InternalItem.Type

export const TokenItem = Schema.Struct({
  ...place,
  address,
  minedInBlock: MinedInBlock,
  transactionId,
  tokenType: text("The token's standard, such as ERC-20"),
  token: Schema.Struct({
    name: text("As the contract says it; empty where the contract does not"),
    symbol: text("As the contract says it; empty where the contract does not"),
    decimals: Schema.optionalKey(
      text("Absent for a non-fungible or multi token, and where the contract does not say it")
    ),
    amount: text("Decimal text in whole tokens, without exponent; in smallest units where `decimals` is absent"),
    tokenId: Schema.optionalKey(text("Of a non-fungible or multi token")),
    contractAddress: text("Address of the token's contract")
  }),
  direction,
  ...derivation
})
export type TokenItem = typeof TokenItem.Type

/** The arguments of a log, by an event's ABI. */
const DecodedEvent = Schema.Struct({
  event: text("Name of the event"),
  signature: text("Name and types of the event, of which the first topic is the hash"),
  arguments: Schema.Array(
    Schema.Struct({
      name: text("Empty where the ABI does not name the argument"),
      type: text("As the ABI has it"),
      value: Schema.Json.annotate({
        description:
          "Numbers as decimal text, addresses as the chain's users write them, bytes as `0x` and hexadecimal digits; of an " +
          "indexed text, bytes or list its hash, as the log has no more"
      })
    })
  )
})
export type DecodedEvent = typeof DecodedEvent.Type

export const ContractEventItem = Schema.Struct({
  ...place,
  address: text("Address of the contract"),
  minedInBlock: MinedInBlock,
  transactionId,
  logIndex: integer("Index of the log in its block"),
  topics: Schema.Array(Schema.String).annotate({
    description: "Topics of the log: `0x` and 64 hexadecimal digits each"
  }),
  data: Schema.optionalKey(
    text("Data of the log: `0x` and hexadecimal digits; absent where they are more than 16 KiB, which the receipt has")
  ),
  decoded: Schema.optionalKey(
    DecodedEvent.annotate({
      description: "What the log says by the ABI that the subscription has; absent where the log does not fit"
    })
  )
})
export type ContractEventItem = typeof ContractEventItem.Type

export const TransactionItem = Schema.Struct({ ...place, transactionId, minedInBlock: MinedInBlock })
export type TransactionItem = typeof TransactionItem.Type

export const BlockItem = Schema.Struct({
  ...place,
  height: integer("Blocks before this one"),
  hash: text("Hash of the block"),
  timestamp: integer(seconds)
})
export type BlockItem = typeof BlockItem.Type

/** The blocks that a subscription was not matched against while it was inactive. */
export const GapItem = Schema.Struct({
  ...place,
  fromHeight: integer("The first of the blocks"),
  toHeight: integer("The last of the blocks")
})
export type GapItem = typeof GapItem.Type

/** The failure of a subscription, after half of the retries. */
export const FailingItem = Schema.Struct({
  ...place,
  failingSince: integer(
    "When the first attempt failed after the last one that was accepted, in milliseconds since the Unix epoch"
  ),
  error: Schema.String.annotate({ description: "Why the last attempt failed" }),
  retriesLeft: integer("How many more attempts there are until the subscription is deactivated")
})
export type FailingItem = typeof FailingItem.Type

const confirmations = {
  currentConfirmations: integer("The confirmation that the callback is for"),
  targetConfirmations: integer("The last confirmation that the subscription asks for")
}
export type Confirmations = Schema.Struct.Type<typeof confirmations>

/** A transaction that a node has taken, or that is mined, of those that were broadcast here. */
export const BroadcastItem = Schema.Struct({ ...place, transactionId })
export type BroadcastItem = typeof BroadcastItem.Type

/** A transaction that was broadcast here, and that the chain will not have. */
export const BroadcastFailItem = Schema.Struct({
  ...BroadcastItem.fields,
  errorMessage: text("Why: refused by the nodes, replaced by another transaction, or known to no node any more")
})
export type BroadcastFailItem = typeof BroadcastFailItem.Type

/** The item of an each-confirmation event: also says which confirmation the callback is for, and which is the last. */
export const atConfirmation = <F extends Schema.Struct.Fields>(item: Schema.Struct<F>) =>
  Schema.Struct({ ...item.fields, ...confirmations })
