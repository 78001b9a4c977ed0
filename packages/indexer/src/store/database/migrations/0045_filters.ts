/** The part of an address's events that a subscription is for. */
export const up = (): ReadonlyArray<string> => ["alter table subscription add column filter text"]
