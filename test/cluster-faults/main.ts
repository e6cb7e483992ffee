/**
 * Tests the promises of a cluster with real servers: a PostgreSQL primary with two synchronous standbys,
 * three Weft processes, and 64 clients that write during faults.
 *
 *   npm run test:cluster                          all
 *   npm run test:cluster -- owner-killed rolling  the named steps
 *   npm run test:cluster -- --smoke               shorter, with fewer clients
 *   npm run test:cluster -- rolling --from DIR    the nodes of another version are the built package in DIR
 *   npm run test:cluster -- --keep                keep and name the logs of the nodes
 *
 * WEFT_FUZZ_SEED repeats a run. It prints one line per step, and exits with 1 if a promise was broken.
 */
import { parseArgs } from 'node:util'
import { errorMessage } from '../../src/core/base/errors.ts'
import { seed } from '../support/data/seed.ts'
import { type Found, type Size, steps } from './steps.ts'
import { TestCluster } from './support/cluster.ts'

const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    smoke: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    from: { type: 'string' },
  },
})
const unknown = names.filter((name) => !Object.hasOwn(steps, name))
if (unknown.length > 0) {
  console.error(`no such step: ${unknown.join(', ')}; there are ${Object.keys(steps).join(', ')}`)
  process.exit(2)
}

const size: Size = values.smoke ? 'smoke' : 'full'
/** No step takes longer than this. */
const stepMsMax = 300_000

async function run(name: string, step: () => Promise<Found>): Promise<boolean> {
  const began = performance.now()
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error(`not done in ${stepMsMax / 1000} s`)), stepMsMax).unref()
  })
  const { kept, line } = await Promise.race([step(), late]).catch((error: unknown) => ({
    kept: false,
    line: errorMessage(error),
  }))
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  console.log(`${kept ? 'kept' : 'NOT KEPT'}: ${name}, ${seconds} s: ${line}`)
  return kept
}

// Each stock client listens for the end of this process.
process.setMaxListeners(0)
const began = performance.now()
const cluster = await TestCluster.start('whole')
console.log(`seed ${seed}; all runs after ${((performance.now() - began) / 1000).toFixed(1)} s`)
let failed = 0
for (const [name, step] of Object.entries(steps))
  if (names.length === 0 || names.includes(name))
    failed += (await run(name, () => step({ cluster, size, seed, from: values.from ?? null }))) ? 0 : 1
if (values.keep) {
  await cluster.end()
  console.log(`the logs are in ${cluster.directory}`)
} else await cluster.remove()
console.log(`${((performance.now() - began) / 60_000).toFixed(1)} minutes, ${failed} not kept, seed ${seed}`)
process.exit(failed === 0 ? 0 : 1)
