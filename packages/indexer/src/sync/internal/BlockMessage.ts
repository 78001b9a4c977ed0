/**
 * A block as a message between threads: packed bytes, which move, and one text. The structured clone of a block, thousands of
 * objects with amounts, takes longer on both sides than the block took to read.
 */
import { type AddressBytes, fromBytes } from "@headwater/core/address/Address"
import type {
  Block,
  CoinTransfer,
  ContractLog,
  InternalTransfer,
  Spend,
  TokenTransfer,
  TransactionParties,
  Transfer
} from "@headwater/core/Block"
import type { Unlocking } from "@headwater/core/utxo/Unlocking"
import { type Packed, PackedReader, PackedWriter } from "./PackedBytes.ts"

/** The parts of a block that few blocks have: cloned as they are. */
type Remarks = Pick<Block, "missing" | "unproven" | "notUnderstood" | "untraced">

export interface BlockMessage extends Packed {
  readonly remarks: Remarks
}

/** The kind of a transfer, in the lowest two bits of its first byte. */
const kinds = ["coin", "token", "internal"] as const satisfies ReadonlyArray<Transfer["kind"]>
const tokens = ["fungible", "non-fungible", "multi"] as const satisfies ReadonlyArray<TokenTransfer["token"]>
const [coin, token, internal] = [0, 1, 2]
/** What a transfer has, in the bits above. */
const [hasFrom, hasTo, hasDetails, hasTaggedFrom, hasTaggedTo] = [4, 8, 16, 32, 64]
const hasTokenId = 4
const [hasSourceTag, hasDestinationTag] = [1, 2]
/** What is known of how an input unlocks its output. */
const [noUnlocking, unlockingShown, unlockingUnknown] = [0, 1, 2]
/** Lists that a block may be without. */
const [hasParties, hasLogs] = [1, 2]

const writeOptional = (writer: PackedWriter, value: Uint8Array | undefined) => {
  if (value !== undefined) writer.bytes(value)
}

const writeCoin = (writer: PackedWriter, transfer: CoinTransfer) => {
  const { amount, details, from, position, taggedFrom, taggedTo, to, transaction } = transfer
  writer.byte(
    coin |
      (from === undefined ? 0 : hasFrom) |
      (to === undefined ? 0 : hasTo) |
      (details === undefined ? 0 : hasDetails) |
      (taggedFrom === undefined ? 0 : hasTaggedFrom) |
      (taggedTo === undefined ? 0 : hasTaggedTo)
  )
  writer.number(transaction)
  writer.number(position)
  writeOptional(writer, from)
  writeOptional(writer, to)
  writer.amount(amount)
  writeOptional(writer, taggedFrom)
  writeOptional(writer, taggedTo)
  if (details === undefined) return
  const { destinationTag, sourceTag, transactionType } = details
  writer.byte((sourceTag === undefined ? 0 : hasSourceTag) | (destinationTag === undefined ? 0 : hasDestinationTag))
  writer.text(transactionType)
  if (sourceTag !== undefined) writer.number(sourceTag)
  if (destinationTag !== undefined) writer.number(destinationTag)
}

const readCoin = (reader: PackedReader, has: number): CoinTransfer => {
  const address = (flag: number) => ((has & flag) === 0 ? undefined : fromBytes(reader.bytes()))
  const transaction = reader.number()
  const position = reader.number()
  const from = address(hasFrom)
  const to = address(hasTo)
  const transfer: CoinTransfer = { kind: "coin", transaction, position, from, to, amount: reader.amount() }
  if ((has & (hasDetails | hasTaggedFrom | hasTaggedTo)) === 0) return transfer
  const taggedFrom = address(hasTaggedFrom)
  const taggedTo = address(hasTaggedTo)
  return {
    ...transfer,
    ...((has & hasDetails) === 0 ? {} : { details: readDetails(reader) }),
    ...(taggedFrom === undefined ? {} : { taggedFrom }),
    ...(taggedTo === undefined ? {} : { taggedTo })
  }
}

const readDetails = (reader: PackedReader): NonNullable<CoinTransfer["details"]> => {
  const has = reader.byte()
  const transactionType = reader.text()
  return {
    transactionType,
    ...((has & hasSourceTag) === 0 ? {} : { sourceTag: reader.number() }),
    ...((has & hasDestinationTag) === 0 ? {} : { destinationTag: reader.number() })
  }
}

const writeToken = (writer: PackedWriter, transfer: TokenTransfer) => {
  const { amount, batchIndex, contract, from, position, to, tokenId, transaction } = transfer
  writer.byte(token | (tokenId === undefined ? 0 : hasTokenId) | (tokens.indexOf(transfer.token) << 3))
  writer.number(transaction)
  writer.number(position)
  writer.number(batchIndex)
  writer.bytes(contract)
  writer.bytes(from)
  writer.bytes(to)
  writer.amount(amount)
  if (tokenId !== undefined) writer.amount(tokenId)
}

const readToken = (reader: PackedReader, has: number): TokenTransfer => ({
  kind: "token",
  transaction: reader.number(),
  position: reader.number(),
  batchIndex: reader.number(),
  contract: fromBytes(reader.bytes()),
  token: tokens[has >> 3]!,
  from: fromBytes(reader.bytes()),
  to: fromBytes(reader.bytes()),
  amount: reader.amount(),
  tokenId: (has & hasTokenId) === 0 ? undefined : reader.amount()
})

const writeInternal = (writer: PackedWriter, transfer: InternalTransfer) => {
  writer.byte(internal)
  writer.number(transfer.transaction)
  writer.text(transfer.operation)
  writer.text(transfer.operationType)
  writer.bytes(transfer.from)
  writer.bytes(transfer.to)
  writer.amount(transfer.amount)
}

const readInternal = (reader: PackedReader): InternalTransfer => ({
  kind: "internal",
  transaction: reader.number(),
  operation: reader.text(),
  operationType: reader.text(),
  from: fromBytes(reader.bytes()),
  to: fromBytes(reader.bytes()),
  amount: reader.amount()
})

const writeTransfer = (writer: PackedWriter, transfer: Transfer) => {
  switch (transfer.kind) {
    case "coin":
      return writeCoin(writer, transfer)
    case "token":
      return writeToken(writer, transfer)
    case "internal":
      return writeInternal(writer, transfer)
  }
}

const readTransfer = (reader: PackedReader): Transfer => {
  const first = reader.byte()
  switch (kinds[first & 3]!) {
    case "coin":
      return readCoin(reader, first)
    case "token":
      return readToken(reader, first)
    case "internal":
      return readInternal(reader)
  }
}

const writeParties = (writer: PackedWriter, { from, to, transaction }: TransactionParties) => {
  writer.number(transaction)
  writer.byte(to === undefined ? 0 : hasTo)
  writer.bytes(from)
  writeOptional(writer, to)
}

const readParties = (reader: PackedReader): TransactionParties => {
  const transaction = reader.number()
  const has = reader.byte()
  const from = fromBytes(reader.bytes())
  const to: AddressBytes | undefined = has === 0 ? undefined : fromBytes(reader.bytes())
  return { kind: "transaction", transaction, from, to }
}

const writeLog = (writer: PackedWriter, { contract, data, position, topics, transaction }: ContractLog) => {
  writer.number(transaction)
  writer.number(position)
  writer.bytes(contract)
  writer.number(topics.length)
  for (const topic of topics) writer.text(topic)
  writer.text(data)
}

const readLog = (reader: PackedReader): ContractLog => {
  const transaction = reader.number()
  const position = reader.number()
  const contract = fromBytes(reader.bytes())
  const topics: Array<string> = []
  for (let left = reader.number(); left > 0; left--) topics.push(reader.text())
  return { transaction, position, contract, data: reader.text(), topics }
}

const writeUnlocking = (writer: PackedWriter, unlocking: Spend["unlocking"]) => {
  if (unlocking === undefined) return writer.byte(noUnlocking)
  const shown = unlocking()
  if (shown === undefined) return writer.byte(unlockingUnknown)
  writer.byte(unlockingShown)
  writer.bytes(shown.scriptSig)
  writer.byte(shown.witness.length)
  for (const item of shown.witness) writer.bytes(item)
}

const writeSpend = (writer: PackedWriter, { outpoint, position, transaction, unlocking }: Spend) => {
  writer.number(transaction)
  writer.number(position)
  writer.bytes(outpoint.transactionId)
  writer.number(outpoint.index)
  writeUnlocking(writer, unlocking)
}

const unlockingAt = (message: Packed, at: number): Unlocking => {
  const reader = new PackedReader(message, at)
  const scriptSig = reader.bytes()
  const witness: Array<Uint8Array> = []
  for (let left = reader.byte(); left > 0; left--) witness.push(reader.bytes())
  return { scriptSig, witness }
}

const skipUnlocking = (reader: PackedReader) => {
  reader.skipBytes()
  for (let left = reader.byte(); left > 0; left--) reader.skipBytes()
}

const readSpend = (reader: PackedReader, message: Packed): Spend => {
  const transaction = reader.number()
  const position = reader.number()
  const outpoint = { transactionId: reader.bytes(), index: reader.number() }
  const known = reader.byte()
  if (known === noUnlocking) return { transaction, position, outpoint }
  if (known === unlockingUnknown) return { transaction, position, outpoint, unlocking: () => undefined }
  const { at } = reader
  skipUnlocking(reader)
  return { transaction, position, outpoint, unlocking: () => unlockingAt(message, at) }
}

const writeEach = <A>(
  writer: PackedWriter,
  items: ReadonlyArray<A>,
  write: (writer: PackedWriter, item: A) => void
): void => {
  writer.number(items.length)
  for (const item of items) write(writer, item)
}

function* readEach<A>(reader: PackedReader, read: (reader: PackedReader) => A): Generator<void, Array<A>> {
  const count = reader.number()
  const items: Array<A> = []
  for (let index = 0; index < count; index++) {
    items.push(read(reader))
    yield
  }
  return items
}

/** A copy of its own: a view would be cloned with all of the bytes that it is on. */
const ownBytes = (bytes: Uint8Array): Uint8Array => Uint8Array.from(bytes)

const remarksOf = ({ missing, notUnderstood, unproven, untraced }: Block): Remarks => ({
  ...(missing === undefined ? {} : { missing }),
  ...(unproven === undefined ? {} : { unproven }),
  ...(notUnderstood === undefined
    ? {}
    : {
        notUnderstood: notUnderstood.map((one) => ({
          ...one,
          transactionId: one.transactionId && ownBytes(one.transactionId)
        }))
      }),
  ...(untraced === undefined ? {} : { untraced })
})

/** The message of a block; its buffer is to be transferred. */
export const write = (block: Block): BlockMessage => {
  const { logs, parties } = block
  const writer = new PackedWriter()
  writer.number(block.height)
  writer.number(block.time)
  writer.bytes(block.hash)
  writer.bytes(block.parent)
  writer.byte((parties === undefined ? 0 : hasParties) | (logs === undefined ? 0 : hasLogs))
  writeEach(writer, block.transactions, (writer, id) => writer.bytes(id))
  writeEach(writer, block.transfers, writeTransfer)
  writeEach(writer, block.spends, writeSpend)
  if (parties !== undefined) writeEach(writer, parties, writeParties)
  if (logs !== undefined) writeEach(writer, logs, writeLog)
  return { ...writer.packed(), remarks: remarksOf(block) }
}

/** The block of a message. */
export function* read(message: BlockMessage): Generator<void, Block> {
  const reader = new PackedReader(message)
  const height = reader.number()
  const time = reader.number()
  const hash = reader.bytes()
  const parent = reader.bytes()
  const has = reader.byte()
  const transactions = yield* readEach(reader, (reader) => reader.bytes())
  const transfers = yield* readEach(reader, readTransfer)
  const spends = yield* readEach(reader, (reader) => readSpend(reader, message))
  const parties = (has & hasParties) === 0 ? undefined : yield* readEach(reader, readParties)
  const logs = (has & hasLogs) === 0 ? undefined : yield* readEach(reader, readLog)
  return {
    ...{ height, hash, parent, time, transactions, transfers, spends },
    ...(parties === undefined ? {} : { parties }),
    ...(logs === undefined ? {} : { logs }),
    ...message.remarks
  }
}
