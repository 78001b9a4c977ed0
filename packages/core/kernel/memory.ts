/** The memory of a kernel: what the compiler lays out, and behind that what a use needs. */

/** Where a use's bytes may begin. */
export function begin(): usize {
  return (__heap_base + 63) & ~(<usize>63)
}

/** Makes the memory reach to `end`, and some bytes beyond, which may be read at once with the last ones; false where it cannot. */
export function reach(end: usize): bool {
  const pages = <i32>((end + 64 + 0xffff) >> 16)
  const more = pages - memory.size()
  return more <= 0 || memory.grow(more) >= 0
}
