/** VitePress' own theme with the system's fonts, and pictures. */
import type { Theme } from "vitepress"
import DefaultTheme from "vitepress/theme-without-fonts"
import { MermaidPicture } from "./MermaidPicture.ts"
import "./style.css"

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => {
    app.component("MermaidPicture", MermaidPicture)
  }
} satisfies Theme
