/** Markup as tagged templates: elements are made one by one, and nothing is ever parsed as HTML. */
import htm from "/htm.js"
import { h } from "/preact.js"

/** @type {(strings: TemplateStringsArray, ...values: any[]) => any} */
export const html = htm.bind(h)
