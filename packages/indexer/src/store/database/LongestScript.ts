/**
 * Bytes that are kept of the script of an output. PostgreSQL takes no more than 2,700 bytes in an index, and scripts may have
 * 10,000. None that has an address is nearly as long, so of others the beginning is kept.
 */
export const longestScript = 1_000
