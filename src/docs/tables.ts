import { renderMarkdown } from '../core/config/render-config.ts'
import { createMetrics } from '../core/metrics/metrics.ts'
import { errorList } from './error-list.ts'
import { limitsTable } from './limits-table.ts'

/** Tables that are generated from the code, by the name of the markers that enclose them in a chapter. */
const tables: Readonly<Record<string, () => string>> = {
  options: renderMarkdown,
  limits: limitsTable,
  metrics: metricsTable,
  errors: errorList,
}

/**
 * Returns the text of a chapter with its tables generated from the code.
 * @param more further tables, which belong to higher layers; a table that has no function stays unchanged
 */
export const fillTables = (chapter: string, more: Readonly<Record<string, () => string>> = {}): string =>
  Object.entries({ ...tables, ...more }).reduce((text, [name, table]) => {
    const [start, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`]
    const [from, to] = [text.indexOf(start), text.indexOf(end)]
    if (from === -1 || to === -1) return text
    return `${text.slice(0, from)}${start}\n${table()}\n\n${text.slice(to)}`
  }, chapter)

/**
 * Returns the table of the metrics of Weft. The documentation of prom-client describes the metrics of Node.
 */
function metricsTable(): string {
  const { registry } = createMetrics()
  const rows = registry
    .getMetricsAsArray()
    .map((each) => each as unknown as { readonly name: string; readonly help: string })
    .filter(({ name }) => name.startsWith('weft_'))
    .toSorted((one, other) => one.name.localeCompare(other.name))
    .map(({ name, help }) => `| \`${name}\` | ${help.replaceAll('|', '\\|')} |`)
  registry.clear()
  return ['| Metric | Meaning |', '|---|---|', ...rows].join('\n')
}
