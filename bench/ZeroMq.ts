/** A ZeroMQ publisher of loopback, as a node has one: by the package that the indexer's tests have. */
import { createRequire } from "node:module"

/** As much of `zeromq`'s own as is used. */
interface Socket {
  readonly lastEndpoint: string | null
  readonly bind: (endpoint: string) => Promise<void>
  readonly send: (parts: ReadonlyArray<string | Uint8Array>) => Promise<void>
  readonly close: () => void
}

const { Publisher: Socket } = createRequire(new URL("../packages/indexer/package.json", import.meta.url))("zeromq") as {
  readonly Publisher: new (options: { readonly linger: number }) => Socket
}

export interface Publisher {
  readonly endpoint: string
  /** Announces the block with this hash, in hexadecimal. */
  readonly announce: (hash: string) => Promise<void>
  readonly close: () => void
}

export const publisher = async (): Promise<Publisher> => {
  const socket = new Socket({ linger: 0 })
  await socket.bind("tcp://127.0.0.1:0")
  return {
    endpoint: socket.lastEndpoint!,
    announce: (hash) => socket.send(["hashblock", Buffer.from(hash, "hex"), Buffer.alloc(4)]),
    close: () => socket.close()
  }
}
