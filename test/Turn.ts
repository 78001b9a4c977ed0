import { basename } from "node:path"

/** What a run of the tests tries of what there is to try; another run tries the rest, and with `HEADWATER_EVERY_WAY` one run all. */
export const everyWay = process.env.HEADWATER_EVERY_WAY !== undefined

/** HEADWATER_TURN, 0 to 31: a bit for each draw, and two for the files that wait (`WaitingFiles.ts`). */
export const turn = Number(process.env.HEADWATER_TURN ?? 0)

const oneIn = <A>(parts: number, drawn: number, what: string, cases: ReadonlyArray<A>): ReadonlyArray<A> => {
  if (everyWay || cases.length < 2) return cases
  const own = cases.filter((_, number) => (number + drawn) % parts === 0)
  console.log(`${what}: ${own.length} of ${cases.length}, the others in another turn`)
  return own
}

/**
 * Every second case, the others in another run, and says so; with `HEADWATER_EVERY_WAY` all. `draw`: what else the same
 * test shares out has a draw of its own; the store has 0.
 */
export const half = <A>(what: string, cases: ReadonlyArray<A>, draw: 1 | 2 = 1): ReadonlyArray<A> =>
  oneIn(2, turn >> draw, what, cases)

/** As `half`, every fourth case, by both draws. */
export const quarter = <A>(what: string, cases: ReadonlyArray<A>): ReadonlyArray<A> => oneIn(4, turn >> 1, what, cases)

/** Of which chains a run takes the file, where files show the same of one chain each: `Broadcast.bcoin.test.ts` and its like. */
const chainsInTurn: Readonly<Record<string, () => ReadonlyArray<string>>> = {
  Broadcast: () => half("chains beside anvil's that are broadcast on", ["bcoin", "utxo", "xrp", "tron"]),
  Explore: () => quarter("chains that are explored in whole", ["bcoin", "evm", "tron", "xrp"]),
  ExtendedKeys: () => half("families of extended public keys", ["evm", "utxo"]),
  MinedTransactions: () => half("chains on which transactions are waited for", ["evm", "recorded", "utxo"], 2)
}

/** Files of which a run takes every second one, and another run the others. Neighbours take as long, or resemble each other. */
const filesInTurn: ReadonlyArray<{
  readonly name: string
  readonly draw: 1 | 2
  readonly files: ReadonlyArray<string>
}> = [
  // A change of an operation or of an event shows in the files that look at all of them.
  {
    name: "files with kills and outages under traffic",
    draw: 2,
    files: [
      ...["CatchUp", "Outage", "Chaos", "Kill", "Failover", "Reconnect"],
      ...["RollingRestart", "Placement", "MigrateStore", "Feeds"]
    ]
  },
  // CI runs those of the store twice, with every draw another one: it takes all of these, each once.
  {
    name: "files about one kind of store",
    draw: 1,
    files: [
      ...["StoreMove", "PastCallbacks", "Backup", "Primary"],
      ...["Flush", "SqliteCheckpoints", "PostgresPipeline", "PartitionUpkeep"]
    ]
  }
]

/** Whether a run takes this file, which is named above; it does where a variable asks for more of what is there. */
export const isInTurn = (file: string, asked?: string): boolean => {
  const [what = "", chain = ""] = basename(file).split(".")
  const chains = chainsInTurn[what]
  if (chains !== undefined) return chains().includes(chain)
  const { draw, files, name } = filesInTurn.find(({ files }) => files.includes(what))!
  return asked !== undefined || half(name, files, draw).includes(what)
}
