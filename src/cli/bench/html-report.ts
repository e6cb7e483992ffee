import { type BarGroup, barChart, escaped, short } from './bar-chart.ts'
import { type BenchResults, type Measured, medianOf } from './results.ts'

/** Colors of the bars, in the order of the servers. The first one is for the server with the name `own`. */
const colors = ['#2f7de1', '#8b95a5', '#b3bbc7', '#d9822b', '#a05bb5', '#3c9a6b'] as const

const style = `
  :root { color-scheme: light dark }
  body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem }
  table { border-collapse: collapse; margin: 0.5rem 0 }
  td, th { border-bottom: 1px solid #8b95a555; padding: 0.2rem 0.8rem 0.2rem 0; text-align: left; font-variant-numeric: tabular-nums }
  svg { max-width: 100%; height: auto }`

/**
 * Draws the first figure of each scenario as bars on a logarithmic scale, each with its ratio to one server.
 * @param own name of the server whose bars are highlighted
 * @param base name of the server to which the others are compared
 */
export function chartOf(all: readonly Measured[], own: string, base: string, footnote: string): string {
  const names = [...new Set(all.flatMap(({ runs }) => Object.keys(runs)))]
  const others = names.filter((name) => name !== own)
  const colorOf = (name: string): string =>
    (name === own ? colors[0] : colors[1 + (others.indexOf(name) % (colors.length - 1))]) ?? ''
  const groups = all.map((measured): BarGroup => {
    const [key = '', figure] = Object.entries(measured.figures)[firstKnown(measured, names)] ?? []
    const medianOfServer = (name: string): number | null => medianOf(measured, key, name) ?? null
    const baseValue = medianOfServer(base)
    const bars = names.flatMap((label) => {
      const value = medianOfServer(label)
      if (value === null) return []
      const ratio =
        baseValue === null || baseValue === 0 || label === base ? '' : ` · ${short(value / baseValue)}×`
      const bar = { label, value, shown: short(value) + ratio, color: colorOf(label) }
      return [label === own ? { ...bar, isHighlighted: true } : bar]
    })
    return { title: measured.name, note: `${figure?.label}, ${figure?.better} is better`, bars }
  })
  return barChart(
    groups.filter(({ bars }) => bars.length > 0),
    `${names.join(', ')}, side by side`,
    footnote,
  )
}

/** Returns the index of the first figure that was measured. The CPU time of a server elsewhere is unknown. */
const firstKnown = (measured: Measured, names: readonly string[]): number =>
  Math.max(
    0,
    Object.keys(measured.figures).findIndex((key) =>
      names.some((name) => typeof medianOf(measured, key, name) === 'number'),
    ),
  )

const row = (cells: readonly string[], tag: 'td' | 'th'): string =>
  `<tr>${cells.map((cell) => `<${tag}>${escaped(cell)}</${tag}>`).join('')}</tr>`

/** Returns a page with all figures and a chart. It needs no other file. */
export function htmlPage(
  lines: readonly string[],
  results: BenchResults,
  names: readonly string[],
  notesOf: (measured: Measured) => readonly string[],
): string {
  const [own = ''] = names
  const footnote = `Logarithmic scales, one each. ×: divided by ${own}.`
  const sections = results
    .tables()
    .map(({ measured, header, rows }) =>
      [
        `<h2>${escaped(measured.name)}</h2>`,
        `<p>${escaped(measured.shows)}</p>`,
        header.length > 1
          ? `<table>${row(header, 'th')}${rows.map((cells) => row(cells, 'td')).join('')}</table>`
          : '',
        ...notesOf(measured).map((note) => `<p>${escaped(note)}</p>`),
      ].join('\n'),
    )
  return [
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
    `<title>weft bench: ${escaped(names.join(', '))}</title><style>${style}</style>`,
    `<h1>${escaped(names.join(' and '))}</h1>`,
    ...lines.map((line) => `<p>${escaped(line)}</p>`),
    chartOf(results.all, own, own, footnote),
    ...sections,
    '</html>\n',
  ].join('\n')
}
