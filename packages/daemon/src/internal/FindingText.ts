/** A finding of the doctor's as a terminal shows it: its level in colour, its message, and the advice below. */
import type { Finding } from "../doctor/Finding.ts"
import * as Screen from "./Screen.ts"

const marks: Record<Finding["level"], { readonly text: string; readonly colour: Screen.Colour }> = {
  ok: { text: "ok", colour: "green" },
  unknown: { text: "unknown", colour: "yellow" },
  warning: { text: "warning", colour: "yellow" },
  problem: { text: "PROBLEM", colour: "red" }
}

export const lines =
  (screen: Screen.Screen) =>
  ({ advice, code, level, message }: Finding): ReadonlyArray<string> => {
    const { colour, text } = marks[level]
    const found = Screen.wrap(message, screen.width, `  ${text.padEnd(8)} `)
    return [
      found.replace(text, screen[colour](text)),
      ...(advice === undefined ? [] : [Screen.wrap(`${advice} (${code})`, screen.width, "           → ")])
    ]
  }
