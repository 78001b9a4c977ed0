/** The test contracts (`contracts/Contracts.sol`), deployed and called on an anvil chain. */
import { readFileSync } from "node:fs"
import * as Effect from "effect/Effect"
import { ContractFactory, getCreateAddress, Interface, type InterfaceAbi, Wallet } from "ethers"
import type { Anvil } from "./Anvil.ts"

type Name = "Coin" | "Collectible" | "Multi" | "OldCoin" | "Mover" | "GasPriceOracle"

const compiled = JSON.parse(readFileSync(new URL("contracts/Contracts.json", import.meta.url), "utf8")) as Readonly<
  Record<Name, { readonly abi: InterfaceAbi; readonly bytecode: string; readonly deployed?: string }>
>

/** Code of a contract as it stands on a chain. */
export const deployedCode = (name: Name): string => compiled[name].deployed!

/** The first of anvil's well-known accounts. */
export const funded = new Wallet("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80")

export interface Contract {
  readonly address: string
  readonly abi: Interface
  /** A transaction that calls it, for {@link Sender}. */
  readonly call: (method: string, args: ReadonlyArray<unknown>, value?: bigint) => Call
}

export interface Call {
  readonly to?: string
  readonly data?: string
  readonly value?: bigint
  readonly gasLimit?: bigint
}

export interface Sender {
  readonly address: string
  /** Gives the node a signed transaction; its hash. */
  readonly send: (call: Call) => Effect.Effect<string>
  readonly deploy: (name: Name) => Effect.Effect<Contract>
  /** Takes the nonce from the node again, after a reorganisation. */
  readonly resync: Effect.Effect<void>
}

/** Signs with one account and counts its nonce itself, so that many transactions fit in one block. */
export const sender = (anvil: Anvil, wallet: Wallet = funded): Effect.Effect<Sender> =>
  Effect.gen(function* () {
    let nonce = Number(yield* anvil.rpc("eth_getTransactionCount", [wallet.address, "pending"]))
    const send = (call: Call): Effect.Effect<string> =>
      Effect.gen(function* () {
        const raw = yield* Effect.promise(() =>
          wallet.signTransaction({
            ...{ chainId: 31337, type: 2, nonce: nonce++, gasLimit: 3_000_000n },
            ...{ maxFeePerGas: 1_000_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n },
            ...call
          })
        )
        return yield* anvil.rpc<string>("eth_sendRawTransaction", [raw])
      })
    const deploy = (name: Name): Effect.Effect<Contract> =>
      Effect.gen(function* () {
        const { abi, bytecode } = compiled[name]
        const address = getCreateAddress({ from: wallet.address, nonce })
        const { data } = yield* Effect.promise(() => new ContractFactory(abi, bytecode).getDeployTransaction())
        yield* send({ data })
        const contract = new Interface(abi)
        return {
          address,
          abi: contract,
          call: (method, args, value = 0n) => ({
            to: address,
            data: contract.encodeFunctionData(method, [...args]),
            value
          })
        }
      })
    return {
      address: wallet.address,
      send,
      deploy,
      resync: Effect.map(anvil.rpc("eth_getTransactionCount", [wallet.address, "pending"]), (count) => {
        nonce = Number(count)
      })
    }
  })
