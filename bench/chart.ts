/**
 * Draws the first figure of each scenario as bars on a logarithmic scale. The servers are next to each other,
 * each with its ratio to the relay.
 *
 *   npm run bench -- sync --json=DIR
 *   node --import tsx bench/chart.ts DIR/sync.json FILE.svg
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { type BarGroup, barChart, short } from '../src/cli/bench/bar-chart.ts'
import type { Figure } from '../src/cli/bench/scenario.ts'
import { median } from './support/report.ts'

interface Measured {
  readonly name: string
  readonly figures: Readonly<Record<string, Figure>>
  readonly runs: Readonly<Record<string, readonly Readonly<Record<string, number | null>>[]>>
}

const [from, to] = process.argv.slice(2)
if (from === undefined || to === undefined) throw new Error('give a file of figures and one for the picture')
const { results } = JSON.parse(readFileSync(from, 'utf8')) as { results: readonly Measured[] }

const names = [...new Set(results.flatMap(({ runs }) => Object.keys(runs)))]
/** Color of the bars of Weft. */
const ownColor = '#2f7de1'
const colors = ['#8b95a5', '#b3bbc7', '#d9822b', '#a05bb5', '#3c9a6b']
const others = names.filter((name) => name !== 'weft')
const colorOf = (name: string): string =>
  name === 'weft' ? ownColor : (colors[others.indexOf(name) % colors.length] as string)

/**
 * Returns the median of the first figure for each server. If JSON has null for a value, the value is left
 * out, because it was not measured.
 */
function valuesOf({ figures, runs }: Measured): readonly (readonly [string, number])[] {
  const [key = ''] = Object.keys(figures)
  return Object.entries(runs)
    .map(([name, all]) => [name, median(all.map((run) => run[key] ?? Number.NaN))] as const)
    .filter(([, value]) => Number.isFinite(value))
}

function groupOf(measured: Measured): BarGroup {
  const values = valuesOf(measured)
  const [figure] = Object.values(measured.figures)
  const relay = values.find(([name]) => name === 'relay')?.[1]
  const bars = values.map(([name, value]) => {
    const ratio = relay === undefined || relay === 0 || name === 'relay' ? '' : ` · ${short(value / relay)}×`
    const bar = { label: name, value, shown: short(value) + ratio, color: colorOf(name) }
    return name === 'weft' ? { ...bar, isHighlighted: true } : bar
  })
  return { title: measured.name, note: `${figure?.label}, ${figure?.better} is better`, bars }
}

const groups = results.map(groupOf).filter(({ bars }) => bars.length > 0)
const footnote = 'Logarithmic scales, one each. ×: of the relay, which stores nothing.'
writeFileSync(to, barChart(groups, 'Weft beside relays and other servers', footnote))
