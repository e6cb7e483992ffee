import type { Usage } from './cpu.ts'
import { median, round, thousands } from './measure.ts'
import type { Figure, Outcome, Scenario } from './scenario.ts'

/** Share of a core. If the load generator uses more, it may have been slower than the server. */
const generatorMax = 0.7

/** One run of a scenario with a server. */
interface MeasuredRun {
  /** Values that were measured. Null: the server could not do it. */
  readonly figures: Readonly<Record<string, number | null>>
  readonly usage: Usage
  /** True if the load generator was the limit, so that the figures do not count. */
  readonly isVoid: boolean
}

/** All runs of a scenario, as in the JSON of the report. */
export interface Measured {
  readonly key: string
  readonly name: string
  readonly shows: string
  readonly figures: Readonly<Record<string, Figure>>
  readonly runs: Readonly<Record<string, readonly MeasuredRun[]>>
  /** Why a server has no figures, by the name of the server. */
  readonly failures: Readonly<Record<string, string>>
  /** By the name of a server, the requirement of the scenario that it does not meet. */
  readonly lacks: Readonly<Record<string, string>>
}

/** Collects the results of all runs. */
export class BenchResults {
  readonly #names: readonly string[]
  readonly #scenarios = new Map<
    Scenario,
    { runs: Record<string, MeasuredRun[]>; failures: Record<string, string>; lacks: Record<string, string> }
  >()

  /** @param names names of the servers; the others are compared with the first one */
  constructor(names: readonly string[]) {
    this.#names = names
  }

  add(scenario: Scenario, name: string, { figures, usage }: Outcome): void {
    // A value that is not a number, such as a quantile of nothing, was not measured.
    const values = Object.entries(figures).filter(
      (entry): entry is [string, number | null] => entry[1] === null || Number.isFinite(entry[1]),
    )
    const runs = this.#of(scenario).runs
    runs[name] = [
      ...(runs[name] ?? []),
      { figures: Object.fromEntries(values), usage, isVoid: usage.generator > generatorMax },
    ]
  }

  fail(scenario: Scenario, name: string, reason: string): void {
    this.#of(scenario).failures[name] ??= reason
  }

  skip(scenario: Scenario, name: string, lack: string): void {
    this.#of(scenario).lacks[name] = lack
  }

  get hasFailures(): boolean {
    return this.all.some(({ failures }) => Object.keys(failures).length > 0)
  }

  get all(): readonly Measured[] {
    return [...this.#scenarios].map(([{ key, name, shows, figures }, measured]) => ({
      key,
      name,
      shows,
      figures,
      ...measured,
    }))
  }

  /** Returns one table for each scenario. A row contains the medians of one server. */
  tables(): readonly {
    readonly measured: Measured
    readonly header: readonly string[]
    readonly rows: readonly (readonly string[])[]
  }[] {
    return this.all.map((measured) => {
      const first = this.#names[0] ?? ''
      const keys = Object.keys(measured.figures).filter((key) => isKnown(measured, key))
      const header = ['', ...keys.flatMap((key) => this.#headOf(measured.figures[key] as Figure, first))]
      const rows = this.#names
        .filter((name) => name in measured.runs || name in measured.failures)
        .map((name) => [name, ...keys.flatMap((key) => this.#cellsOf(measured, key, name, first))])
      return { measured, header, rows }
    })
  }

  /** Returns all medians as one Markdown table. It has one row for each figure, and one column for each server. */
  markdown(): string {
    const rows = this.all.flatMap((measured) =>
      Object.entries(measured.figures).map(([key, { label }]) => [
        `${measured.name}: ${label}`,
        ...this.#names.map((name) => textOf(measured, key, name)),
      ]),
    )
    const header = ['', ...this.#names]
    return [header, header.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
  }

  #headOf({ label }: Figure, first: string): readonly string[] {
    return this.#names.length > 1 ? [label, `÷ ${first}`] : [label]
  }

  #cellsOf(measured: Measured, key: string, name: string, first: string): readonly string[] {
    if (this.#names.length === 1) return [textOf(measured, key, name)]
    const [value, base] = [medianOf(measured, key, name), medianOf(measured, key, first)]
    const hasRatio = name !== first && typeof value === 'number' && typeof base === 'number' && base !== 0
    return [textOf(measured, key, name), hasRatio ? round(value / base) : '']
  }

  #of(scenario: Scenario) {
    const found = this.#scenarios.get(scenario) ?? { runs: {}, failures: {}, lacks: {} }
    this.#scenarios.set(scenario, found)
    return found
  }
}

/** Returns the values of a figure in all runs that count. */
function valuesOf({ runs }: Measured, key: string, name: string): readonly (number | null)[] {
  return (runs[name] ?? [])
    .filter(({ isVoid }) => !isVoid)
    .map(({ figures }) => figures[key])
    .filter((value) => value !== undefined)
}

/** Returns the median of the runs that count; null if the server could not do it, undefined if no run counts. */
export function medianOf(measured: Measured, key: string, name: string): number | null | undefined {
  const values = valuesOf(measured, key, name)
  if (values.length === 0) return undefined
  const numbers = values.filter((value) => value !== null)
  return numbers.length < values.length ? null : median(numbers)
}

/** Returns whether a figure has a value, or a reason why it has none. The CPU time of a server elsewhere has neither. */
const isKnown = (measured: Measured, key: string): boolean =>
  Object.keys(measured.failures).length > 0 ||
  Object.values(measured.runs).some((runs) => runs.some(({ figures, isVoid }) => isVoid || key in figures))

/** Returns a median with the smallest and the largest value, or the reason why there is none. */
function textOf(measured: Measured, key: string, name: string): string {
  const figure = measured.figures[key] as Figure
  const value = medianOf(measured, key, name)
  if (name in measured.failures) return 'failed'
  if (value === null) return 'no'
  if (value === undefined) return whyEmpty(measured.runs[name] ?? [])
  const values = valuesOf(measured, key, name).map((each) => each ?? 0)
  const spread = `${shown(Math.min(...values), figure)}–${shown(Math.max(...values), figure)}`
  return values.length === 1 ? shown(value, figure) : `${shown(value, figure)} (${spread})`
}

function whyEmpty(runs: readonly MeasuredRun[]): string {
  const shares = runs.filter(({ isVoid }) => isVoid).map(({ usage }) => usage.generator)
  return shares.length === 0 ? '–' : `void: generator ${round(median(shares) * 100, 0)} %`
}

const shown = (value: number, { digits }: Figure): string =>
  digits === 0 ? thousands(value) : round(value, digits)

/** Returns the lines of a table with aligned columns. */
export function aligned(header: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const all = [header, ...rows]
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  return all.map((row) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd(),
  )
}
