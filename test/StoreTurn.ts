import { waitingFiles } from "./WaitingFiles.ts"

/**
 * Says which store the tests run on (`taken` and others of `Stores.ts`), which cases they try where there are many
 * (`Turn.ts`), and which files wait: others in another run.
 */
export default function setup() {
  console.log(
    `Again with the same stores, cases and files: HEADWATER_TURN=${process.env.HEADWATER_TURN}; with all: HEADWATER_EVERY_WAY=1`
  )
  const waiting = waitingFiles()
  if (waiting.length > 0) console.log(`${waiting.length} files wait for another turn:\n  ${waiting.join("\n  ")}`)
}
