/** The members that are read of what EVM nodes answer: the slot of each is named as the member is. */
import { add } from "../names"

export const hash = 1
export const parentHash = 2
export const sha3Uncles = 3
export const miner = 4
export const stateRoot = 5
export const transactionsRoot = 6
export const receiptsRoot = 7
export const logsBloom = 8
export const difficulty = 9
export const number = 10
export const gasLimit = 11
export const gasUsed = 12
export const timestamp = 13
export const extraData = 14
export const mixHash = 15
export const nonce = 16
export const baseFeePerGas = 17
export const withdrawalsRoot = 18
export const blobGasUsed = 19
export const excessBlobGas = 20
export const parentBeaconBlockRoot = 21
export const requestsHash = 22
export const blockAccessListHash = 23
export const slotNumber = 24
export const extDataHash = 25
export const transactions = 26
export const withdrawals = 27
export const index = 28
export const validatorIndex = 29
export const address = 30
export const amount = 31
export const blockHash = 32
export const from = 33
export const to = 34
export const value = 35
export const type = 36
export const transactionIndex = 37
export const gasPrice = 38
export const gas = 39
export const input = 40
export const v = 41
export const r = 42
export const s = 43
export const chainId = 44
export const maxPriorityFeePerGas = 45
export const maxFeePerGas = 46
export const accessList = 47
export const storageKeys = 48
export const maxFeePerBlobGas = 49
export const blobVersionedHashes = 50
export const authorizationList = 51
export const yParity = 52
export const transactionHash = 53
export const status = 54
export const root = 55
export const contractAddress = 56
export const cumulativeGasUsed = 57
export const logs = 58
export const topics = 59
export const data = 60
export const logIndex = 61
export const txHash = 62
export const result = 63
export const error = 64
export const calls = 65
export const sourceHash = 66
export const mint = 67
export const isSystemTx = 68
export const depositNonce = 69
export const depositReceiptVersion = 70
export const extDataGasUsed = 71
export const blockGasCost = 72
export const timestampMilliseconds = 73
export const minDelayExcess = 74
export const targetExponent = 75
export const minPriceExponent = 76
export const settledHeight = 77
export const settledGasUnix = 78
export const settledGasNumerator = 79
export const settledExcess = 80

add(hash, "hash")
add(parentHash, "parentHash")
add(sha3Uncles, "sha3Uncles")
add(miner, "miner")
add(stateRoot, "stateRoot")
add(transactionsRoot, "transactionsRoot")
add(receiptsRoot, "receiptsRoot")
add(logsBloom, "logsBloom")
add(difficulty, "difficulty")
add(number, "number")
add(gasLimit, "gasLimit")
add(gasUsed, "gasUsed")
add(timestamp, "timestamp")
add(extraData, "extraData")
add(mixHash, "mixHash")
add(nonce, "nonce")
add(baseFeePerGas, "baseFeePerGas")
add(withdrawalsRoot, "withdrawalsRoot")
add(blobGasUsed, "blobGasUsed")
add(excessBlobGas, "excessBlobGas")
add(parentBeaconBlockRoot, "parentBeaconBlockRoot")
add(requestsHash, "requestsHash")
add(blockAccessListHash, "blockAccessListHash")
add(slotNumber, "slotNumber")
add(extDataHash, "extDataHash")
add(transactions, "transactions")
add(withdrawals, "withdrawals")
add(index, "index")
add(validatorIndex, "validatorIndex")
add(address, "address")
add(amount, "amount")
add(blockHash, "blockHash")
add(from, "from")
add(to, "to")
add(value, "value")
add(type, "type")
add(transactionIndex, "transactionIndex")
add(gasPrice, "gasPrice")
add(gas, "gas")
add(input, "input")
add(v, "v")
add(r, "r")
add(s, "s")
add(chainId, "chainId")
add(maxPriorityFeePerGas, "maxPriorityFeePerGas")
add(maxFeePerGas, "maxFeePerGas")
add(accessList, "accessList")
add(storageKeys, "storageKeys")
add(maxFeePerBlobGas, "maxFeePerBlobGas")
add(blobVersionedHashes, "blobVersionedHashes")
add(authorizationList, "authorizationList")
add(yParity, "yParity")
add(transactionHash, "transactionHash")
add(status, "status")
add(root, "root")
add(contractAddress, "contractAddress")
add(cumulativeGasUsed, "cumulativeGasUsed")
add(logs, "logs")
add(topics, "topics")
add(data, "data")
add(logIndex, "logIndex")
add(txHash, "txHash")
add(result, "result")
add(error, "error")
add(calls, "calls")
add(sourceHash, "sourceHash")
add(mint, "mint")
add(isSystemTx, "isSystemTx")
add(depositNonce, "depositNonce")
add(depositReceiptVersion, "depositReceiptVersion")
add(extDataGasUsed, "extDataGasUsed")
add(blockGasCost, "blockGasCost")
add(timestampMilliseconds, "timestampMilliseconds")
add(minDelayExcess, "minDelayExcess")
add(targetExponent, "targetExponent")
add(minPriceExponent, "minPriceExponent")
add(settledHeight, "settledHeight")
add(settledGasUnix, "settledGasUnix")
add(settledGasNumerator, "settledGasNumerator")
add(settledExcess, "settledExcess")
