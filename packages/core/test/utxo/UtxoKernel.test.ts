import * as Unlocking from "@headwater/core/utxo/Unlocking"
import * as UtxoKernel from "@headwater/core/utxo/UtxoKernel"
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, concatBytes } from "@noble/hashes/utils.js"
import { describe, expect, it } from "vitest"

const { kernel } = UtxoKernel
const longest = 700
const roomOfLane = 832

/** The kernel's hashes of messages of three slices each. */
const hashes = (bytes: Uint8Array, slices: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const count = slices.length / 6
  const instance = kernel.take()
  const table = instance.begin() + Math.ceil(bytes.length / 64) * 64
  const to = table + slices.length * 4
  const room = to + count * 32
  expect(instance.reach(room + 4 * roomOfLane)).toBe(1)
  const memory = new Uint8Array(instance.memory.buffer)
  memory.set(bytes, instance.begin())
  new Uint32Array(instance.memory.buffer, table, slices.length).set(slices)
  instance.hash(instance.begin(), table, count, to, room, roomOfLane)
  instance.again(to, count, to)
  const found = Array.from({ length: count }, (_, index) => memory.slice(to + index * 32, to + (index + 1) * 32))
  kernel.giveBack(instance)
  return found
}

const plain = (bytes: Uint8Array, slices: ReadonlyArray<number>) =>
  Array.from({ length: slices.length / 6 }, (_, index) => {
    const [a, b, c, d, e, f] = slices.slice(index * 6)
    return sha256(sha256(concatBytes(bytes.subarray(a, b), bytes.subarray(c, d), bytes.subarray(e, f))))
  })

const bytes = Uint8Array.from({ length: 4_000 }, (_, index) => index * 31 + (index >> 8))

describe("the kernel of UTXO chains", () => {
  it("hashes messages of every length", () => {
    const slices = Array.from({ length: longest + 1 }, (_, length) => [7, 7 + length, 0, 0, 0, 0]).flat()
    expect(hashes(bytes, slices)).toEqual(plain(bytes, slices))
  })

  it("hashes messages of several slices, whatever their number", () => {
    for (let count = 0; count < 12; count++) {
      const slices = Array.from({ length: count }, (_, index) => {
        const [a, b, c] = [(index * 401) % 3_000, (index * 97) % 2_000, (index * 13) % 1_000]
        return [a, a + 4, b, b + ((index * 173) % 400), c, c + (index % 3) * 4]
      }).flat()
      expect(hashes(bytes, slices)).toEqual(plain(bytes, slices))
    }
  })

  it("hashes pairs of hashes, whatever their number, in their place", () => {
    for (let count = 0; count < 12; count++) {
      const instance = kernel.take()
      const at = instance.begin()
      instance.reach(at + 12 * 64)
      const memory = new Uint8Array(instance.memory.buffer)
      memory.set(bytes.subarray(0, count * 64), at)
      instance.pairs(at, count, at)
      const found = Array.from({ length: count }, (_, index) => memory.slice(at + index * 32, at + (index + 1) * 32))
      kernel.giveBack(instance)
      const slices = Array.from({ length: count }, (_, index) => [index * 64, (index + 1) * 64, 0, 0, 0, 0]).flat()
      expect(found).toEqual(plain(bytes, slices))
    }
  })

  it("reads hexadecimal digits, and tells each byte that is none, at every place", () => {
    const instance = kernel.take()
    const at = instance.begin()
    const to = at + 128
    instance.reach(to + 64)
    const memory = new Uint8Array(instance.memory.buffer)
    for (const length of [1, 15, 16, 33]) {
      const digits = Uint8Array.from({ length: 2 * length }, (_, index) =>
        "0123456789abcdefABCDEF".charCodeAt(index % 22)
      )
      for (let place = 0; place < 2 * length; place++) {
        for (let byte = 0; byte < 256; byte++) {
          const text = String.fromCharCode(...digits.with(place, byte))
          memory.set(digits.with(place, byte), at)
          const isRead = instance.decode(at, length, to) !== 0
          expect(isRead).toBe(/^[0-9a-f]+$/i.test(text))
          if (isRead) expect(bytesToHex(memory.subarray(to, to + length))).toBe(text.toLowerCase())
        }
      }
    }
    kernel.giveBack(instance)
  })

  it("hashes keys and scripts of every length as every engine does, whatever their number", () => {
    const contents = Array.from({ length: longest + 1 }, (_, length) => bytes.subarray(7, 7 + length))
    expect(UtxoKernel.hashesOf(contents)).toEqual(Unlocking.hashesOf(contents))
    const large = [...contents.slice(0, 70), Uint8Array.from({ length: 12_000 }, (_, index) => index * 7), bytes]
    expect(UtxoKernel.hashesOf(large)).toEqual(Unlocking.hashesOf(large))
    for (let count = 0; count < 12; count++) {
      const some = contents.slice(30 + count, 30 + 2 * count)
      expect(UtxoKernel.hashesOf(some)).toEqual(Unlocking.hashesOf(some))
    }
  })
})
