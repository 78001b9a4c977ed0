/**
 * Token contracts that have said nothing are asked again once they move: it may have been a node that did not have their first
 * block yet, and their amounts are told in the smallest unit since.
 */
export const up = (): ReadonlyArray<string> => [
  "delete from token where name = '' and symbol = '' and decimals is null",
  // An older program would keep what such a node says once more.
  "update store_format set oldest_migration = '0078_silent_tokens', oldest_program = '0.2.0'"
]
