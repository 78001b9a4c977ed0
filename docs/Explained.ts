/** A code of an error or a finding as a page shows it. */
import type { Explanation } from "@headwater/http/contract/ErrorExplanations"

const list = (items: ReadonlyArray<string>) => items.map((item) => `- ${item}`).join("\n")

export const explained = ({ causes, meaning, remedies }: Explanation): string =>
  `${meaning}\n\n${causes.length === 1 ? "Cause" : "Usual causes"}:\n\n${list(causes)}\n\nWhat to do:\n\n${list(remedies)}\n`
