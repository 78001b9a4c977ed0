/** The metrics of the daemon with their alerts: one page of all for GitHub, and on the site a page for each. */
import { readFileSync } from "node:fs"
import { explanations } from "@headwater/daemon/MetricExplanations"
import * as Yaml from "effect/encoding/Yaml"

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly description: string }
}

const { groups } = Yaml.parse(
  readFileSync(new URL("../packages/daemon/observability/alerts.yaml", import.meta.url), "utf8")
) as unknown as { readonly groups: ReadonlyArray<{ readonly rules: ReadonlyArray<Rule> }> }
const rules = groups.flatMap(({ rules }) => rules)

/** The parts of a histogram have names of their own. */
const alertsOf = (metric: string) =>
  rules.filter(({ expr }) => new RegExp(`\\b${metric}(?:_bucket|_count|_sum)?(?![a-z_])`).test(expr))

/** An alert's text without the template's braces: `{{ $labels.chain }}` is "the chain", `{{ $value | … }}` the value. */
const words = (text: string) =>
  text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, "the $1").replaceAll(/\{\{ \$value[^}]*\}\}/g, "…")

const alert = ({ alert, annotations, expr, for: lasting, labels }: Rule): string =>
  [
    `Alert \`${alert}\` (${labels.severity}${lasting === undefined ? "" : `, after ${lasting}`}): “${words(annotations.summary)}”.`,
    "",
    `What to do: ${words(annotations.description)}`,
    "",
    `\`\`\`promql\n${expr}\n\`\`\``
  ].join("\n")

const bodyOf = (name: string): string => {
  const { labels = {}, meaning, query, type } = explanations[name]!
  const labelled = Object.entries(labels).map(([label, text]) => `- \`${label}\`: ${text}`)
  return [
    `A ${type}. ${meaning}`,
    ...(labelled.length === 0 ? [] : [`Labels:\n\n${labelled.join("\n")}`]),
    `A query:\n\n\`\`\`promql\n${query}\n\`\`\``,
    ...alertsOf(name).map(alert)
  ]
    .join("\n\n")
    .concat("\n")
}

/** The page of all metrics. */
export const all = (): string =>
  [
    "# Metrics\n",
    "Written by `docs/generate.ts` from the program and its alert rules. Do not edit.\n",
    "`GET /metrics` is for Prometheus and [needs a token](operations.md#metrics-and-traces). The alerts are those of",
    "[alerts.yaml](../packages/daemon/observability/alerts.yaml).\n",
    `${Object.entries(explanations)
      .map(([name, { type }]) => `- [\`${name}\`](metrics.md#${name}): ${type}`)
      .join("\n")}\n`,
    ...Object.keys(explanations).map((name) => `## ${name}\n\n${bodyOf(name)}`)
  ].join("\n")

/** The page of each metric on the site, by its name. */
export const each = (): ReadonlyArray<readonly [name: string, text: string]> =>
  Object.keys(explanations).map((name) => [name, `# ${name}\n\n${bodyOf(name)}\n[All metrics](../metrics.md)\n`])
