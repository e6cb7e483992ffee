/**
 * Measures how the work grows with the number of open rooms, with the size of a document, and with the length
 * of its log.
 *
 *   node --import tsx bench/growth.ts [--smoke]
 */

import { fsyncMs } from '../src/cli/bench/measure.ts'
import type { LoadSize } from '../src/cli/bench/scenario.ts'
import { draw } from './growth/curve.ts'
import { documents } from './growth/documents.ts'
import { logs } from './growth/logs.ts'
import { rooms } from './growth/rooms.ts'
import { round } from './support/report.ts'

const smoke = process.argv.includes('--smoke')
const scale: LoadSize = { size: smoke ? 'smoke' : 'full' }
console.log(
  'power: of the size, to which a figure of all units has grown since the row above; 1 is linear, 0 none',
)
await draw(rooms(smoke ? [10, 20] : [10, 100, 1_000, 10_000], scale))
await draw(documents(smoke ? [1] : [1, 2, 5, 10], smoke ? 10 : 200, scale))
await draw(logs(smoke ? [1, 1_000] : [1, 100, 10_000, 100_000, 1_000_000]))
console.log(`fsync on this machine: p50 ${round(fsyncMs().p50)} ms`)
process.exit(0)
