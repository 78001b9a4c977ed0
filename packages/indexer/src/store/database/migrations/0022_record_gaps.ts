/** Which kinds of transfers a transaction that was not understood may lack, and the blocks that moved coins unseen by it. */
export const up = (): ReadonlyArray<string> => [
  ...["coin", "token", "internal"].flatMap((kind) => [
    `alter table not_understood add column lacks_${kind} bigint not null default 1`,
    `create index not_understood_${kind} on not_understood (chain, height) where lacks_${kind} = 1`
  ]),
  "alter table chain add column coins_lost_from bigint",
  "alter table chain add column coins_lost_to bigint"
]
