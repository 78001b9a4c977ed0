/** Files that the package holds beside its modules. */

/** A file by its path in the package. This module lies one folder below it, as a source and in everything built of it. */
export const packageFile = (path: string): URL => new URL(`../${path}`, import.meta.url)
