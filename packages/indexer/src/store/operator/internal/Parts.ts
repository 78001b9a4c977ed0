/** Which parts of what the store has somebody may see: not every API key may read all that its account has. */

export interface Parts {
  readonly broadcasts: boolean
  readonly callbacks: boolean
  readonly domains: boolean
  readonly subscriptions: boolean
  readonly syncedAddresses: boolean
  readonly wallets: boolean
}

export const all: Parts = {
  ...{ broadcasts: true, callbacks: true, domains: true, subscriptions: true, syncedAddresses: true, wallets: true }
}
