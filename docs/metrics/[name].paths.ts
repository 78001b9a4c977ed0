import * as MetricPages from "../MetricPages.ts"

export default {
  paths: () => MetricPages.each().map(([name, content]) => ({ params: { name }, content }))
}
