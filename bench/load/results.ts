import type { Figure, Scenario } from '../../src/cli/bench/scenario.ts'
import { median, round, table, thousands } from '../support/report.ts'

type Runs = readonly Readonly<Record<string, number>>[]

/** Collects the results of all runs, and prints them. */
export class Results {
  readonly #names: readonly string[]
  readonly #scenarios = new Map<Scenario, Map<string, Runs>>()

  constructor(names: readonly string[]) {
    this.#names = names
  }

  add(scenario: Scenario, name: string, figures: Readonly<Record<string, number>>): void {
    const of = this.#scenarios.get(scenario) ?? new Map<string, Runs>()
    this.#scenarios.set(scenario, of.set(name, [...(of.get(name) ?? []), figures]))
  }

  /**
   * Prints one table for each scenario. A row contains the medians of one contender, each with its ratio to
   * the first contender.
   */
  print(): void {
    for (const [scenario, runs] of this.#scenarios) {
      console.log(`\n${scenario.name}`)
      const figures = Object.entries(scenario.figures)
      const first = this.#names.find((name) => runs.has(name)) ?? ''
      const header = ['', ...figures.flatMap(([, { label }]) => [label, `of ${first}`])]
      const rows = this.#names
        .filter((name) => runs.has(name))
        .map((name) => [
          name,
          ...figures.flatMap(([key, figure]) => {
            const [value, of] = [medianOf(runs.get(name), key), medianOf(runs.get(first), key)]
            return [shown(value, figure), name === first ? '' : round(value / of)]
          }),
        ])
      table(header, rows)
    }
  }

  /**
   * Returns all medians as one Markdown table. It has one row for each figure, and one column for each
   * contender.
   */
  markdown(): string {
    const rows = [...this.#scenarios].flatMap(([{ name, figures }, runs]) =>
      Object.entries(figures).map(([key, figure]) => [
        `${name}: ${figure.label}`,
        ...this.#names.map((each) => (runs.has(each) ? shown(medianOf(runs.get(each), key), figure) : '')),
      ]),
    )
    const header = ['', ...this.#names]
    return [header, header.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
  }

  toJSON(): unknown {
    return [...this.#scenarios].map(([{ name, figures }, runs]) => ({
      name,
      figures,
      runs: Object.fromEntries(runs),
    }))
  }
}

const medianOf = (runs: Runs | undefined, key: string): number =>
  runs === undefined ? Number.NaN : median(runs.map((run) => run[key] ?? Number.NaN))

const shown = (value: number, { digits }: Figure): string =>
  Number.isNaN(value) ? 'no' : digits === 0 ? thousands(value) : round(value, digits)
