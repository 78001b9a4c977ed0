/**
 * Kernels: programs of WebAssembly for work on many bytes, which run wherever core does. Their sources, in AssemblyScript,
 * are in `packages/core/kernel`; core holds them compiled.
 *
 * A kernel has a memory of its own, which grows with what it is given and does not shrink: an instance that has grown large
 * is let go after its use.
 */
import { base64 } from "@scure/base"

interface Memory {
  readonly buffer: ArrayBuffer
}

/** What every kernel exports. */
export interface Exports {
  readonly memory: Memory
  /** Where the memory is free. */
  readonly begin: () => number
  /** Makes the memory reach to `end`; 0 where it cannot. What is known of `memory.buffer` may be another one then. */
  readonly reach: (end: number) => number
}

/** What is used of the global of the same name, which every engine of today has. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => { readonly kind: "module" }
  readonly Instance: new (module: { readonly kind: "module" }) => { readonly exports: unknown }
}

export interface Kernel<E extends Exports> {
  /** An instance that nobody else uses until it is given back. */
  readonly take: () => E
  /** One that is not given back, as after an error, is collected as garbage. */
  readonly giveBack: (instance: E) => void
}

/** An instance with more bytes is not kept. */
const keptBytes = 16 * 2 ** 20
/** Instances that are kept for the next use. */
const keptInstances = 4

/** The kernel of a compiled module in base64, which is made ready at its first use. */
export const make = <E extends Exports>(compiled: string): Kernel<E> => {
  let module: { readonly kind: "module" } | undefined
  const kept: Array<E> = []
  return {
    take: () => {
      module ??= new WebAssembly.Module(base64.decode(compiled))
      return kept.pop() ?? (new WebAssembly.Instance(module).exports as E)
    },
    giveBack: (instance) => {
      if (kept.length < keptInstances && instance.memory.buffer.byteLength <= keptBytes) kept.push(instance)
    }
  }
}
