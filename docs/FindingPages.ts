/** The page of what `headwater doctor` finds. */
import { type About, explanations } from "@headwater/daemon/doctor/FindingExplanations"
import { explained } from "./Explained.ts"

const titles: Readonly<Record<About, string>> = {
  listening: "Listening",
  store: "The store",
  record: "The record",
  market: "Market data",
  chain: "A chain",
  node: "A node"
}

/** The page of all findings. */
export const all = (): string => {
  const groups = Map.groupBy(Object.entries(explanations), ([, { about }]) => about)
  return [
    "# Findings of the doctor\n",
    "Written by `docs/generate.ts` from the program; `headwater explain CODE` prints the same. Do not edit.\n",
    "`headwater doctor` names each finding that is not `ok` by a code, which stays the same from version to version.\n",
    ...[...groups].flatMap(([about, members]) => [
      `## ${titles[about]}\n`,
      ...members.map(([code, finding]) => `### ${code}\n\n${explained(finding)}`)
    ])
  ].join("\n")
}
