/** `data.item` of the callbacks (interface section 6.3), as schemas that the event kinds name. */
import * as Schema from "effect/Schema"

export const Direction = Schema.Literals(["incoming", "outgoing"])
export type Direction = typeof Direction.Type

const place = { blockchain: Schema.String, network: Schema.String }

const MinedInBlock = Schema.Struct({
  height: Schema.Int,
  hash: Schema.String,
  /** Seconds since the Unix epoch. */
  timestamp: Schema.Int
})

const coins = {
  /** Decimal text in whole coins. */
  amount: Schema.String,
  unit: Schema.String,
  direction: Direction
}

export const CoinItem = Schema.Struct({
  ...place,
  address: Schema.String,
  minedInBlock: MinedInBlock,
  transactionId: Schema.String,
  ...coins,
  /** Of the XRP Ledger alone: the transaction's type, and the tags of the account that pays and of the one that is paid. */
  transactionType: Schema.optionalKey(Schema.String),
  sourceTag: Schema.optionalKey(Schema.Int),
  destinationTag: Schema.optionalKey(Schema.Int)
})
export type CoinItem = typeof CoinItem.Type

export const UnconfirmedCoinItem = Schema.Struct({
  ...place,
  address: Schema.String,
  transactionId: Schema.String,
  ...coins,
  /** Seconds since the Unix epoch. */
  firstSeenInMempoolTimestamp: Schema.Int
})
export type UnconfirmedCoinItem = typeof UnconfirmedCoinItem.Type

export const InternalItem = Schema.Struct({
  ...place,
  address: Schema.String,
  minedInBlock: MinedInBlock,
  parentTransactionId: Schema.String,
  operationId: Schema.String,
  ...coins
})
export type InternalItem = typeof InternalItem.Type

export const TokenItem = Schema.Struct({
  ...place,
  address: Schema.String,
  minedInBlock: MinedInBlock,
  transactionId: Schema.String,
  /** The token's standard, such as ERC-20. */
  tokenType: Schema.String,
  token: Schema.Struct({
    name: Schema.String,
    symbol: Schema.String,
    /** Absent for a non-fungible or multi token, and where the contract does not say. */
    decimals: Schema.optionalKey(Schema.String),
    /** Decimal text in whole tokens. */
    amount: Schema.String,
    /** Of a non-fungible or multi token. */
    tokenId: Schema.optionalKey(Schema.String),
    contractAddress: Schema.String
  }),
  direction: Direction
})
export type TokenItem = typeof TokenItem.Type

export const BlockItem = Schema.Struct({
  ...place,
  height: Schema.Int,
  hash: Schema.String,
  /** Seconds since the Unix epoch. */
  timestamp: Schema.Int
})
export type BlockItem = typeof BlockItem.Type

const confirmations = {
  currentConfirmations: Schema.Int,
  targetConfirmations: Schema.Int
}
export type Confirmations = Schema.Struct.Type<typeof confirmations>

/** The item of an each-confirmation event: also says which confirmation the callback is for, and which is the last. */
export const atConfirmation = <F extends Schema.Struct.Fields>(item: Schema.Struct<F>) =>
  Schema.Struct({ ...item.fields, ...confirmations })
