/**
 * Draws the first figure of each scenario as bars: those of the servers beside each other, on a logarithmic scale, with
 * their ratio to the relay.
 *
 *   npm run bench -- sync --json=DIR
 *   node --import tsx bench/chart.ts DIR/sync.json FILE.svg
 */
import { readFileSync, writeFileSync } from 'node:fs'
import type { Figure } from './load/scenario.ts'
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
/** Ours stands out. */
const ownColour = '#2f7de1'
const colours = ['#8b95a5', '#b3bbc7', '#d9822b', '#a05bb5', '#3c9a6b']
const others = names.filter((name) => name !== 'weft')
const colourOf = (name: string): string =>
  name === 'weft' ? ownColour : (colours[others.indexOf(name) % colours.length] as string)

const width = 860
const left = 170
const barWidth = 470
const [barHeight, barGap, titleHeight, groupGap] = [15, 3, 40, 20]
const top = 24

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const text = (x: number, y: number, content: string, kind = '', anchor = 'start'): string =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}" class="${kind}">${escaped(content)}</text>`

/** Three digits that count. */
const short = (value: number): string =>
  value >= 1000
    ? Math.round(value).toLocaleString('en-US')
    : value === 0
      ? '0'
      : String(Number(value.toPrecision(3)))

/** What is not a number has not been measured: JSON has null for it. */
function valuesOf({ figures, runs }: Measured): readonly (readonly [string, number])[] {
  const [key = ''] = Object.keys(figures)
  return Object.entries(runs)
    .map(([name, all]) => [name, median(all.map((run) => run[key] ?? Number.NaN))] as const)
    .filter(([, value]) => Number.isFinite(value))
}

/** From a power of ten below the smallest to one above the largest: a bar of no length says nothing. */
function scaleOf(values: readonly number[]): (value: number) => number {
  const positive = values.filter((value) => value > 0)
  const low = Math.floor(Math.log10(Math.min(...positive)) - 0.3)
  const high = Math.ceil(Math.log10(Math.max(...positive)))
  return (value) => (value <= 0 ? 1 : ((Math.log10(value) - low) / Math.max(1, high - low)) * barWidth)
}

function group(
  measured: Measured,
  start: number,
): { readonly parts: readonly string[]; readonly end: number } {
  const values = valuesOf(measured)
  const [figure] = Object.values(measured.figures)
  const relay = values.find(([name]) => name === 'relay')?.[1]
  const lengthOf = scaleOf(values.map(([, value]) => value))
  const label = `${figure?.label}, ${figure?.better} is better`
  const bars = values.flatMap(([name, value], index) => {
    const y = start + titleHeight + index * (barHeight + barGap)
    const length = Math.max(1, lengthOf(value))
    const ratio = relay === undefined || relay === 0 || name === 'relay' ? '' : ` · ${short(value / relay)}×`
    return [
      text(left - 8, y + barHeight - 3, name, name === 'weft' ? 'own' : '', 'end'),
      `<rect x="${left}" y="${y}" width="${length.toFixed(1)}" height="${barHeight}" rx="2" fill="${colourOf(name)}"/>`,
      text(left + length + 6, y + barHeight - 3, short(value) + ratio, name === 'weft' ? 'own' : ''),
    ]
  })
  const end = start + titleHeight + values.length * (barHeight + barGap) + groupGap
  return {
    parts: [text(8, start + 14, measured.name, 'title'), text(8, start + 30, label, 'note'), ...bars],
    end,
  }
}

const parts: string[] = []
let y = top
for (const measured of results.filter((each) => valuesOf(each).length > 0)) {
  const drawn = group(measured, y)
  parts.push(...drawn.parts)
  y = drawn.end
}
parts.push(text(8, y + 4, 'Logarithmic scales, one each. ×: of the relay, which stores nothing.', 'note'))
const style = `
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .title, .own { font-weight: 600 }
  .note { fill: #6e7781 }
  @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .note { fill: #8b949e } }`
writeFileSync(
  to,
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y + 20}" width="${width}" height="${y + 20}" role="img" aria-label="Weft beside relays and other servers"><style>${style}\n</style>\n${parts.join('\n')}\n</svg>\n`,
)
