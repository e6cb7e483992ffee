/** A bar with its label. */
interface Bar {
  readonly label: string
  readonly value: number
  /** Text that is printed to the right of the bar. */
  readonly shown: string
  readonly color: string
  /** True if the label is printed in bold. */
  readonly isHighlighted?: boolean
}

/** Bars that have the same scale. */
export interface BarGroup {
  readonly title: string
  readonly note: string
  readonly bars: readonly Bar[]
}

const width = 860
const left = 200
const barWidth = 440
const [barHeight, barGap, titleHeight, groupGap] = [15, 3, 40, 20]
const top = 24

const style = `
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .title, .own { font-weight: 600 }
  .note { fill: #6e7781 }
  @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .note { fill: #8b949e } }`

export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

const text = (x: number, y: number, content: string, kind = '', anchor = 'start'): string =>
  `<text x="${x.toFixed(0)}" y="${y}" text-anchor="${anchor}" class="${kind}">${escaped(content)}</text>`

/** Formats a number with three significant digits. */
export const short = (value: number): string =>
  value >= 1000
    ? Math.round(value).toLocaleString('en-US')
    : value === 0
      ? '0'
      : String(Number(value.toPrecision(3)))

/** Renders groups of bars as SVG. Each group has a separate logarithmic scale. */
export function barChart(groups: readonly BarGroup[], label: string, footnote: string): string {
  const parts: string[] = []
  let y = top
  for (const group of groups) {
    parts.push(...drawn(group, y))
    y += titleHeight + group.bars.length * (barHeight + barGap) + groupGap
  }
  parts.push(text(8, y + 4, footnote, 'note'))
  const size = `viewBox="0 0 ${width} ${y + 20}" width="${width}" height="${y + 20}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="${escaped(label)}"><style>${style}\n</style>\n${parts.join('\n')}\n</svg>\n`
}

function drawn({ title, note, bars }: BarGroup, start: number): readonly string[] {
  const lengthOf = scaleOf(bars.map(({ value }) => value))
  const lines = bars.flatMap(({ label, value, shown, color, isHighlighted }, index) => {
    const y = start + titleHeight + index * (barHeight + barGap)
    const length = Math.max(1, lengthOf(value))
    const kind = isHighlighted === true ? 'own' : ''
    return [
      text(left - 8, y + barHeight - 3, label, kind, 'end'),
      `<rect x="${left}" y="${y}" width="${length.toFixed(1)}" height="${barHeight}" rx="2" fill="${color}"/>`,
      text(left + length + 6, y + barHeight - 3, shown, kind),
    ]
  })
  return [text(8, start + 14, title, 'title'), text(8, start + 30, note, 'note'), ...lines]
}

/**
 * Returns a function that converts a value to the length of its bar. The scale starts at a power of ten that
 * is smaller than the smallest value, so that every bar is visible.
 */
function scaleOf(values: readonly number[]): (value: number) => number {
  const positive = values.filter((value) => value > 0)
  const low = Math.floor(Math.log10(Math.min(...positive)) - 0.3)
  const high = Math.ceil(Math.log10(Math.max(...positive)))
  return (value) => (value <= 0 ? 1 : ((Math.log10(value) - low) / Math.max(1, high - low)) * barWidth)
}
