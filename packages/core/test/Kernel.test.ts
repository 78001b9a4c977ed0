import * as Kernel from "@headwater/core/Kernel"
import { keccak_256 } from "@noble/hashes/sha3.js"
import { describe, expect, it } from "vitest"
import compiled from "../src/evm/internal/compiledKernel.ts"

interface Exports extends Kernel.Exports {
  readonly keccak: (to: number, from: number, length: number) => void
}

const kernel = Kernel.make<Exports>(compiled)

describe("a kernel", () => {
  it("hashes as keccak does, whatever the length", () => {
    const instance = kernel.take()
    const from = instance.begin() + 32
    expect(instance.reach(from + 600)).toBe(1)
    const memory = new Uint8Array(instance.memory.buffer)
    const bytes = Uint8Array.from({ length: 600 }, (_, index) => index * 7)
    memory.set(bytes, from)
    for (let length = 0; length <= bytes.length; length++) {
      instance.keccak(from - 32, from, length)
      expect(memory.slice(from - 32, from)).toEqual(keccak_256(bytes.subarray(0, length)))
    }
    kernel.giveBack(instance)
  })

  it("has a memory that grows with what it is given, and is let go when it has grown large", () => {
    const instance = kernel.take()
    kernel.giveBack(instance)
    expect(kernel.take()).toBe(instance)
    expect(instance.reach(20 * 2 ** 20)).toBe(1)
    expect(instance.memory.buffer.byteLength).toBeGreaterThan(20 * 2 ** 20)
    kernel.giveBack(instance)
    expect(kernel.take()).not.toBe(instance)
  })
})
