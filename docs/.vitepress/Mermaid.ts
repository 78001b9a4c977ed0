/** Blocks of the language `mermaid` become pictures, drawn in the browser by a component that loads what draws. */
import type { MarkdownRenderer } from "vitepress"

export const plugin = (md: MarkdownRenderer) => {
  const fence = md.renderer.rules.fence!
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const { content, info } = tokens[index]!
    return info.trim() === "mermaid"
      ? `<MermaidPicture text="${encodeURIComponent(content)}" />`
      : fence(tokens, index, options, env, self)
  }
}
