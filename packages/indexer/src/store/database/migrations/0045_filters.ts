/** What a subscription wants of all that happens to its address. */
export const up = (): ReadonlyArray<string> => ["alter table subscription add column filter text"]
