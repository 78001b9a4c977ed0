/** Wallets that their account has deactivated: still recorded, but not answered. */
export const up = (): ReadonlyArray<string> => ["alter table wallet add column active bigint not null default 1"]
