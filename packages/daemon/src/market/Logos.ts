/**
 * Logos of the assets that ship with Headwater: a coloured coin with a sign of a few strokes, drawn for this project. A
 * logo stands for the asset and is nobody's trademark.
 */
import type { NativeAsset } from "@headwater/core/chains/Blockchain"
import type { Entry } from "@headwater/core/market/Asset"

/** The image of a logo. */
export const draw = ({ colour, path }: NativeAsset["logo"]): NonNullable<Entry["logo"]> => ({
  encoding: "base64",
  imageData: Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="16" fill="${colour}"/><path d="${path}" fill="none" stroke="#fff" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"/></svg>`
  ).toString("base64"),
  mimeType: "image/svg+xml"
})
