import { renderMarkdown } from '../config/render.ts'
import { createMetrics } from '../metrics.ts'
import { limitsTable } from './limits-table.ts'

/** Tables that are made of the code, by the name of the mark between which they stand in a chapter. */
const tables: Readonly<Record<string, () => string>> = {
  options: renderMarkdown,
  limits: limitsTable,
  metrics: metricsTable,
}

/** The text of a chapter with its tables as the code says now. */
export const filled = (chapter: string): string =>
  chapter.replaceAll(
    /<!-- (\w+) -->\n[\s\S]*?<!-- \/\1 -->/g,
    (_, name: string) => `<!-- ${name} -->\n\n${tables[name]?.() ?? ''}\n\n<!-- /${name} -->`,
  )

/** Ours alone: what Node tells of itself is known elsewhere. */
function metricsTable(): string {
  const { registry } = createMetrics()
  const rows = registry
    .getMetricsAsArray()
    .map((each) => each as unknown as { readonly name: string; readonly help: string; readonly type: string })
    .filter(({ name }) => name.startsWith('weft_'))
    .toSorted((one, other) => one.name.localeCompare(other.name))
    .map(({ name, type, help }) => `| \`${name}\` | ${type} | ${help.replaceAll('|', '\\|')} |`)
  registry.clear()
  return ['| Metric | Type | Meaning |', '|---|---|---|', ...rows].join('\n')
}
