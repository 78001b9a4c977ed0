/** How much of a list the console shows at a time. */

/** Items of one page. */
export const size = 50

/** The first page of `found`, which may have one item more than a page: a query reads `size + 1` rows to know of more. */
export const of = <A>(found: ReadonlyArray<A>) => ({ items: found.slice(0, size), hasMore: found.length > size })
