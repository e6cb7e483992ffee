import { progress, round, table, thousands } from '../support/report.ts'

/** Description of a value that is measured at each size. */
export interface Figure {
  readonly label: string
  readonly digits: number
  /** `unit`: the table shows the value divided by the size. `all`: the table shows the whole value. */
  readonly of: 'unit' | 'all'
}

export interface Curve {
  readonly title: string
  readonly unit: string
  readonly figures: readonly Figure[]
  readonly sizes: readonly number[]
  /** Measures one size. Returns one value for each figure; the values are for the whole size. */
  measure(size: number): Promise<readonly number[]>
}

interface Step {
  readonly size: number
  readonly values: readonly number[]
}

/**
 * Returns the exponent with which a figure has grown since the previous step, as a power of the size. An
 * exponent of 1 means linear growth, and 0 means no growth.
 */
function powerOf(figure: number, step: Step, before: Step | undefined): string {
  if (before === undefined) return ''
  const grown = (step.values[figure] as number) / (before.values[figure] as number)
  return round(Math.log(grown) / Math.log(step.size / before.size), 1)
}

function shown({ digits, of }: Figure, value: number, size: number): string {
  const each = of === 'unit' ? value / size : value
  return digits === 0 ? thousands(each) : round(each, digits)
}

/** Measures all sizes, the smallest first, and prints one row for each size. */
export async function draw(curve: Curve): Promise<void> {
  const { title, unit, figures, sizes } = curve
  const bar = progress(title)
  const steps: Step[] = []
  for (const [index, size] of sizes.entries()) {
    bar.at(index / sizes.length)
    steps.push({ size, values: await curve.measure(size) })
  }
  bar.end()
  const rows = steps.map((step, at) => [
    thousands(step.size),
    ...figures.flatMap((figure, index) => [
      shown(figure, step.values[index] as number, step.size),
      powerOf(index, step, steps[at - 1]),
    ]),
  ])
  console.log(`\n${title}`)
  table([unit, ...figures.flatMap(({ label }) => [label, 'power'])], rows)
}
