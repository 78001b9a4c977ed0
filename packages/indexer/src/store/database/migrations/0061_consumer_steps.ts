/** Up to which step back consumers have been told what is undone, which takes several notifications where that is much. */
export const up = (): ReadonlyArray<string> => [
  "alter table consumer add column stepped_back bigint not null default 0",
  "update consumer set stepped_back = position"
]
