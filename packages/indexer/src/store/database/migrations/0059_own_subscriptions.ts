/** Lists and counts of subscriptions are of those that accounts have made: the ones of broadcasts come and go by themselves. */
export const up = (): ReadonlyArray<string> => [
  "create index subscription_own on subscription (account, chain, id) where event <> 'BROADCAST_TRANSACTION'",
  `update subscription_count set total = total - (
    select count(*) from subscription s
    where s.account = subscription_count.account and s.chain = subscription_count.chain
      and s.event = 'BROADCAST_TRANSACTION'
  )`
]
