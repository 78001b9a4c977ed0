/** Who began to follow a chain last: commits of those who began before are refused. */
export const up = (): ReadonlyArray<string> => ["alter table chain add column epoch bigint not null default 0"]
