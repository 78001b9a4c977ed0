/** A picture from Mermaid's text; the text itself until it is drawn, and where it cannot be. Mermaid is loaded by pages that have one. */
import { useData } from "vitepress"
import { defineComponent, h, onMounted, ref, useId, watch } from "vue"

export const MermaidPicture = defineComponent({
  props: { text: { type: String, required: true } },
  setup: (props) => {
    const { isDark } = useData()
    const id = `mermaid-${useId()}`
    const text = decodeURIComponent(props.text)
    const picture = ref("")
    const draw = async () => {
      const { default: mermaid } = await import("mermaid")
      // In its own size, however wide: it scrolls where it would be too small to read.
      const size = { useMaxWidth: false }
      mermaid.initialize({
        ...{ startOnLoad: false, securityLevel: "strict", theme: isDark.value ? "dark" : "neutral" },
        ...{ flowchart: size, state: size, sequence: size }
      })
      picture.value = (await mermaid.render(id, text)).svg
    }
    onMounted(draw)
    watch(isDark, draw)
    return () =>
      picture.value === ""
        ? h("pre", { class: "mermaid-text" }, text)
        : h("div", { class: "mermaid-picture", innerHTML: picture.value })
  }
})
