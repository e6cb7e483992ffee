/**
 * Draws the first figure of each scenario as bars on a logarithmic scale. The servers are next to each other,
 * each with its ratio to the relay.
 *
 *   npm run bench -- sync --json=DIR
 *   node --import tsx bench/chart.ts DIR/sync.json FILE.svg
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { chartOf } from '../src/cli/bench/html-report.ts'
import type { BenchReport } from '../src/cli/bench/main.ts'

const [from, to] = process.argv.slice(2)
if (from === undefined || to === undefined) throw new Error('give a file of figures and one for the picture')
const { results } = JSON.parse(readFileSync(from, 'utf8')) as BenchReport
const measured = results.filter(({ key }) => key !== 'check')
const footnote = 'Logarithmic scales, one each. ×: of the relay, which stores nothing.'
writeFileSync(to, chartOf(measured, 'weft', 'relay', footnote))
