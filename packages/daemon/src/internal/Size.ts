/** Bytes as people read them. */

const units = ["bytes", "KiB", "MiB", "GiB", "TiB"]

/** `512 bytes`, `1.5 MiB`, `120 GiB`. */
export const describe = (bytes: number): string => {
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)))
  const value = bytes / 1024 ** power
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`
}
