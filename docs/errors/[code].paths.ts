import * as ErrorPages from "../ErrorPages.ts"

export default {
  paths: () => ErrorPages.each().map(([code, content]) => ({ params: { code }, content }))
}
