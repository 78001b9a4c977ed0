/** Keccak-256 as Ethereum hashes (the padding is that of before SHA-3). */

const rate: usize = 136
const state = memory.data(200)
const rounds = memory.data<u64>([
  0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000, 0x000000000000808b,
  0x0000000080000001, 0x8000000080008081, 0x8000000000008009, 0x000000000000008a, 0x0000000000000088,
  0x0000000080008009, 0x000000008000000a, 0x000000008000808b, 0x800000000000008b, 0x8000000000008089,
  0x8000000000008003, 0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
  0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008
])

/** The permutation of 1,600 bits: each lane is a variable, so that none leaves the registers without need. */
function permute(): void {
  let a00 = load<u64>(state, 0)
  let a10 = load<u64>(state, 8)
  let a20 = load<u64>(state, 16)
  let a30 = load<u64>(state, 24)
  let a40 = load<u64>(state, 32)
  let a01 = load<u64>(state, 40)
  let a11 = load<u64>(state, 48)
  let a21 = load<u64>(state, 56)
  let a31 = load<u64>(state, 64)
  let a41 = load<u64>(state, 72)
  let a02 = load<u64>(state, 80)
  let a12 = load<u64>(state, 88)
  let a22 = load<u64>(state, 96)
  let a32 = load<u64>(state, 104)
  let a42 = load<u64>(state, 112)
  let a03 = load<u64>(state, 120)
  let a13 = load<u64>(state, 128)
  let a23 = load<u64>(state, 136)
  let a33 = load<u64>(state, 144)
  let a43 = load<u64>(state, 152)
  let a04 = load<u64>(state, 160)
  let a14 = load<u64>(state, 168)
  let a24 = load<u64>(state, 176)
  let a34 = load<u64>(state, 184)
  let a44 = load<u64>(state, 192)
  for (let round: usize = 0; round < 192; round += 8) {
    const c0 = a00 ^ a01 ^ a02 ^ a03 ^ a04
    const c1 = a10 ^ a11 ^ a12 ^ a13 ^ a14
    const c2 = a20 ^ a21 ^ a22 ^ a23 ^ a24
    const c3 = a30 ^ a31 ^ a32 ^ a33 ^ a34
    const c4 = a40 ^ a41 ^ a42 ^ a43 ^ a44
    const d0 = c4 ^ rotl<u64>(c1, 1)
    const d1 = c0 ^ rotl<u64>(c2, 1)
    const d2 = c1 ^ rotl<u64>(c3, 1)
    const d3 = c2 ^ rotl<u64>(c4, 1)
    const d4 = c3 ^ rotl<u64>(c0, 1)
    const b00 = a00 ^ d0
    const b13 = rotl<u64>(a01 ^ d0, 36)
    const b21 = rotl<u64>(a02 ^ d0, 3)
    const b34 = rotl<u64>(a03 ^ d0, 41)
    const b42 = rotl<u64>(a04 ^ d0, 18)
    const b02 = rotl<u64>(a10 ^ d1, 1)
    const b10 = rotl<u64>(a11 ^ d1, 44)
    const b23 = rotl<u64>(a12 ^ d1, 10)
    const b31 = rotl<u64>(a13 ^ d1, 45)
    const b44 = rotl<u64>(a14 ^ d1, 2)
    const b04 = rotl<u64>(a20 ^ d2, 62)
    const b12 = rotl<u64>(a21 ^ d2, 6)
    const b20 = rotl<u64>(a22 ^ d2, 43)
    const b33 = rotl<u64>(a23 ^ d2, 15)
    const b41 = rotl<u64>(a24 ^ d2, 61)
    const b01 = rotl<u64>(a30 ^ d3, 28)
    const b14 = rotl<u64>(a31 ^ d3, 55)
    const b22 = rotl<u64>(a32 ^ d3, 25)
    const b30 = rotl<u64>(a33 ^ d3, 21)
    const b43 = rotl<u64>(a34 ^ d3, 56)
    const b03 = rotl<u64>(a40 ^ d4, 27)
    const b11 = rotl<u64>(a41 ^ d4, 20)
    const b24 = rotl<u64>(a42 ^ d4, 39)
    const b32 = rotl<u64>(a43 ^ d4, 8)
    const b40 = rotl<u64>(a44 ^ d4, 14)
    a00 = b00 ^ (~b10 & b20) ^ load<u64>(rounds + round)
    a10 = b10 ^ (~b20 & b30)
    a20 = b20 ^ (~b30 & b40)
    a30 = b30 ^ (~b40 & b00)
    a40 = b40 ^ (~b00 & b10)
    a01 = b01 ^ (~b11 & b21)
    a11 = b11 ^ (~b21 & b31)
    a21 = b21 ^ (~b31 & b41)
    a31 = b31 ^ (~b41 & b01)
    a41 = b41 ^ (~b01 & b11)
    a02 = b02 ^ (~b12 & b22)
    a12 = b12 ^ (~b22 & b32)
    a22 = b22 ^ (~b32 & b42)
    a32 = b32 ^ (~b42 & b02)
    a42 = b42 ^ (~b02 & b12)
    a03 = b03 ^ (~b13 & b23)
    a13 = b13 ^ (~b23 & b33)
    a23 = b23 ^ (~b33 & b43)
    a33 = b33 ^ (~b43 & b03)
    a43 = b43 ^ (~b03 & b13)
    a04 = b04 ^ (~b14 & b24)
    a14 = b14 ^ (~b24 & b34)
    a24 = b24 ^ (~b34 & b44)
    a34 = b34 ^ (~b44 & b04)
    a44 = b44 ^ (~b04 & b14)
  }
  store<u64>(state, a00, 0)
  store<u64>(state, a10, 8)
  store<u64>(state, a20, 16)
  store<u64>(state, a30, 24)
  store<u64>(state, a40, 32)
  store<u64>(state, a01, 40)
  store<u64>(state, a11, 48)
  store<u64>(state, a21, 56)
  store<u64>(state, a31, 64)
  store<u64>(state, a41, 72)
  store<u64>(state, a02, 80)
  store<u64>(state, a12, 88)
  store<u64>(state, a22, 96)
  store<u64>(state, a32, 104)
  store<u64>(state, a42, 112)
  store<u64>(state, a03, 120)
  store<u64>(state, a13, 128)
  store<u64>(state, a23, 136)
  store<u64>(state, a33, 144)
  store<u64>(state, a43, 152)
  store<u64>(state, a04, 160)
  store<u64>(state, a14, 168)
  store<u64>(state, a24, 176)
  store<u64>(state, a34, 184)
  store<u64>(state, a44, 192)
}

/** Puts the hash of `length` bytes at `from` to `to`, 32 bytes. */
export function keccak(to: usize, from: usize, length: usize): void {
  memory.fill(state, 0, 200)
  let at = from
  let left = length
  for (; left >= rate; left -= rate, at += rate) {
    for (let lane: usize = 0; lane < rate; lane += 8) {
      store<u64>(state + lane, load<u64>(state + lane) ^ load<u64>(at + lane))
    }
    permute()
  }
  for (let index: usize = 0; index < left; index++) {
    store<u8>(state + index, load<u8>(state + index) ^ load<u8>(at + index))
  }
  store<u8>(state + left, load<u8>(state + left) ^ 1)
  store<u8>(state, load<u8>(state, rate - 1) ^ 0x80, rate - 1)
  permute()
  memory.copy(to, state, 32)
}
