/** The blocks that a subscription is yet to be told of, in their order: one account after another has a turn. */
export const up = (): ReadonlyArray<string> => [
  "drop index past_payment_subscription",
  "create index past_payment_subscription on past_payment (subscription, height)"
]
