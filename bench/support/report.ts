import { writeFileSync } from 'node:fs'
import { median, quantile, round, sum, thousands } from '../../src/cli/bench/measure.ts'
import { aligned } from '../../src/cli/bench/results.ts'

export { median, quantile, round, sum, thousands }

/** Returns a progress bar for the terminal. If the output is a file, the bar prints nothing. */
export function progress(label: string): { at(share: number): void; end(): void } {
  const width = 30
  let shown = -1
  return {
    at(share) {
      const filled = Math.floor(Math.min(1, share) * width)
      if (!process.stderr.isTTY || filled === shown) return
      shown = filled
      process.stderr.write(`\r${label} [${'#'.repeat(filled)}${'-'.repeat(width - filled)}]`)
    },
    end() {
      if (process.stderr.isTTY) process.stderr.write(`\r${' '.repeat(label.length + width + 4)}\r`)
    },
  }
}

const tables: { readonly header: readonly string[]; readonly rows: readonly (readonly string[])[] }[] = []
const jsonFile = process.argv.find((argument) => argument.startsWith('--json='))?.slice('--json='.length)

/** Prints a table with aligned columns. With `--json=FILE`, also writes all tables so far to the file. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): void {
  tables.push({ header, rows })
  if (jsonFile !== undefined) writeFileSync(jsonFile, `${JSON.stringify({ tables }, null, 1)}\n`)
  for (const line of aligned(header, rows)) console.log(line)
}

export const mean = (values: readonly number[]): number => sum(values) / values.length

export const percent = (share: number, digits = 2): string => `${round(share * 100, digits)} %`
