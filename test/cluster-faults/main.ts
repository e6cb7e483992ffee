/**
 * Tests the promises of a cluster with real servers: a PostgreSQL primary with two synchronous standbys,
 * three Weft processes, and 64 clients that write during faults.
 *
 *   npm run test:cluster                          all
 *   npm run test:cluster -- node-killed rolling   the named steps
 *   npm run test:cluster -- --smoke               shorter, with fewer clients
 *   npm run test:cluster -- upgrade               only an upgrade of nodes from the commit 150 before this one
 *   npm run test:cluster -- upgrade --from REF    only an upgrade of nodes from another commit
 *   npm run test:cluster -- --keep                keep and name the logs of the nodes
 *
 * WEFT_FUZZ_SEED repeats a run. It prints one line per step, and exits with 1 if a promise was broken.
 */
import { parseArgs } from 'node:util'
import { errorMessage } from '../../src/core/base/errors.ts'
import { seed } from '../support/data/seed.ts'
import { type Found, type Size, steps } from './steps.ts'
import { TestCluster } from './support/cluster.ts'
import { upgrade } from './upgrade.ts'

const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    smoke: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    from: { type: 'string' },
  },
})
const isUpgrade = names.length === 1 && names[0] === 'upgrade'
const unknown = names.filter((name) => !Object.hasOwn(steps, name))
if (unknown.length > 0 && !isUpgrade) {
  console.error(
    `no such step: ${unknown.join(', ')}; there are ${Object.keys(steps).join(', ')}, and alone upgrade`,
  )
  process.exit(2)
}

const size: Size = values.smoke ? 'smoke' : 'full'
/** No step takes longer than this. */
const stepMsMax = 240_000

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
if (isUpgrade) process.exit((await run('upgrade', () => upgrade(values.from ?? null, size, seed))) ? 0 : 1)
const began = performance.now()
const cluster = await TestCluster.start('whole')
console.log(`seed ${seed}; all runs after ${((performance.now() - began) / 1000).toFixed(1)} s`)
let failed = 0
for (const [name, step] of Object.entries(steps))
  if (names.length === 0 || names.includes(name))
    failed += (await run(name, () => step({ cluster, size, seed }))) ? 0 : 1
if (values.keep) {
  await cluster.end()
  console.log(`the logs are in ${cluster.directory}`)
} else await cluster.remove()
console.log(`${((performance.now() - began) / 60_000).toFixed(1)} minutes, ${failed} not kept, seed ${seed}`)
process.exit(failed === 0 ? 0 : 1)
