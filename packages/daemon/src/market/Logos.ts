/**
 * Logos of the assets that ship with Headwater: a coloured coin and a few strokes on it, drawn for this project. They
 * stand for the assets and are nobody's trademark.
 */
import type { Entry } from "@headwater/core/market/Asset"

/** A coin in a colour, its sign as the path of a stroke on a field of 32 by 32. */
const coin = (colour: string, path: string): NonNullable<Entry["logo"]> => ({
  encoding: "base64",
  imageData: Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="16" fill="${colour}"/><path d="${path}" fill="none" stroke="#fff" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"/></svg>`
  ).toString("base64"),
  mimeType: "image/svg+xml"
})

export const logos = {
  BTC: coin("#e88a12", "M12 9h6a3.5 3.5 0 0 1 0 7h-6zm0 7h7a3.5 3.5 0 0 1 0 7h-7zM15 6v3m0 14v3"),
  BCH: coin("#3fa66a", "M13 9h6a3.5 3.5 0 0 1-1 7h-6zm-1 7h7a3.5 3.5 0 0 1-1 7h-7zM9 12l2-1"),
  LTC: coin("#5b6f8c", "M16 7l-4 17h10M10 18l9-4"),
  DOGE: coin("#b59a3c", "M12 8h4a8 8 0 0 1 0 16h-4zM9 16h8"),
  DASH: coin("#2470b8", "M12 10h7a4 4 0 0 1 0 12h-8M9 16h7"),
  ZEC: coin("#d9a520", "M11 11h10l-10 10h10M16 7v4m0 10v4"),
  ETH: coin("#5a6bb8", "M16 5l7 11-7 4-7-4zM9.5 19.5l6.5 7.5 6.5-7.5"),
  ETC: coin("#2f8a57", "M16 5l7 11-7 11-7-11zM9 16h14"),
  BNB: coin("#c9991b", "M16 7l4 4-4 4-4-4zM16 17l4 4-4 4-4-4zM8 16h.01M24 16h.01"),
  POL: coin("#7340c4", "M12 9l5 3v6l-5 3-5-3v-6zM20 11l5 3v6l-5 3-3-2"),
  AVAX: coin("#cf3a3a", "M16 7l-9 16h5l6-11zM19 23h6l-3-5z"),
  TRX: coin("#b5202b", "M8 8l16 4-8 14zM8 8l8 18M8 8l8 6 8-2M16 14v12"),
  XRP: coin("#31383f", "M9 8l4 4a4.5 4.5 0 0 0 6 0l4-4M9 24l4-4a4.5 4.5 0 0 1 6 0l4 4"),
  USD: coin("#4a7d52", "M20 11a4 3 0 0 0-4-2c-5 0-5 6 0 7s5 7 0 7a4 3 0 0 1-4-2M16 6v20"),
  EUR: coin("#34509c", "M21 10a7 7 0 1 0 0 12M9 14h8M9 18h8"),
  GBP: coin("#5c4a8a", "M20 11a4 4 0 0 0-8 1c0 4 2 6-1 11h10M10 17h7"),
  JPY: coin("#a8434f", "M11 8l5 8 5-8M16 16v8M11 17h10M11 20h10"),
  CHF: coin("#b8322f", "M16 9v14M9 16h14"),
  CNY: coin("#bf4b32", "M11 8l5 8 5-8M16 16v8M11 18h10")
} as const
