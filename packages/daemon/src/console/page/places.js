/** Where the console shows what: the part of an address after its "#". */

const encoded = (...parts) => `#/${parts.map((part) => encodeURIComponent(part)).join("/")}`
/** Chains have a slash in their names, which stays readable. */
const ofChain = (view, chain, what) => `#/${view}/${chain}/${encodeURIComponent(what)}`

export const place = {
  account: (name) => encoded("accounts", name),
  address: (chain, address) => ofChain("addresses", chain, address),
  block: (chain, block) => ofChain("blocks", chain, block),
  callback: (key) => encoded("callbacks", key),
  search: (text) => `#/search?q=${encodeURIComponent(text)}`,
  subscription: (reference) => encoded("subscriptions", reference),
  subscriptions: (search) => `#/subscriptions?search=${encodeURIComponent(search)}`,
  transaction: (chain, id) => ofChain("transactions", chain, id)
}

/** The place of what the daemon points to. */
export const placeOf = (to) => {
  if (to.view === "callback") return place.callback(to.key)
  if (to.view === "subscription") return place.subscription(to.reference)
  if (to.view === "block") return place.block(to.chain, to.block)
  if (to.view === "transaction") return place.transaction(to.chain, to.id)
  if (to.view === "address") return place.address(to.chain, to.address)
  if (to.view === "account") return place.account(to.account)
  if (to.view === "host") return place.subscriptions(to.host)
  return `#/${to.view}`
}
