/**
 * Computes how many nodes and databases a Weft cluster needs for a number of connections and documents.
 * Measures the costs of updates, cursors, open documents, connects and REST calls, calculates the needs, and writes
 * `bench/capacity.md`.
 *
 *   node --import tsx bench/capacity.ts [--smoke]     `--smoke` prints the sheet and writes nothing
 */
import { writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { fsyncMs } from '../src/cli/bench/measure.ts'
import { measure } from './capacity/inputs.ts'
import { sheetOf } from './capacity/sheet.ts'
import { noStores } from './cluster/stores.ts'

const smoke = process.argv.includes('--smoke')
const file = join(import.meta.dirname, 'capacity.md')
const size = smoke
  ? {
      appending: { documents: 100, inFlight: 32, seconds: 0.5 },
      rooms: 20,
      documents: 200,
      roomsCompared: 20,
      units: { idle: 12, edited: 5, perSecond: 20, calls: 20, seconds: 0.5 },
      rounds: 1,
    }
  : {
      appending: { documents: 1_000, inFlight: 256, seconds: 5 },
      rooms: 2_000,
      documents: 10_000,
      roomsCompared: 1_000,
      units: { idle: 900, edited: 300, perSecond: 120, calls: 600, seconds: 14 },
      rounds: 1,
    }

if (noStores === null) {
  const disk = fsyncMs()
  const inputs = await measure(size)
  const date = new Date().toISOString().slice(0, 10)
  const sheet = sheetOf(inputs, { size, date, fsyncMs: disk.p50, load: loadavg()[1] ?? Number.NaN })
  if (smoke) console.log(sheet)
  else writeFileSync(file, sheet)
  console.log(smoke ? 'that was too little to go by' : `written to ${file}`)
  console.log(`fsync on this machine: p50 ${disk.p50.toFixed(2)} ms, p99 ${disk.p99.toFixed(2)} ms`)
} else console.log(`there is no cluster to be measured: ${noStores}`)
process.exit()
