/**
 * Tests the promises under load: kills, power losses, many rooms, hostile frames, readers that stop,
 * reconnect storms, noise, hostile tenants, proxies. Prints one line per step and a table at the end. Exits with 1 if
 * a promise was broken.
 *
 *   npm run test:soak                       all, at most 40 minutes on 2 idle cores
 *   npm run test:soak -- kills rooms        the named steps
 *   npm run test:soak -- hostile:largeDelta one attack of a hostile tenant
 *   npm run test:soak -- --except=a,b       all steps except a and b
 *   npm run test:soak -- --long             more of each
 *   npm run test:soak -- --smoke            just long enough to prove that they run
 */
import { cpus } from 'node:os'
import { round } from '../../bench/support/report.ts'
import { fsyncMs } from '../../src/cli/bench/measure.ts'
import { errorMessage } from '../../src/core/base/errors.ts'
import { type Outcome, type Size, type Step, steps } from './steps.ts'

/** A step with a part of it, such as `hostile:largeDelta`. */
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const names = wanted.map((each) => each.split(':')[0] ?? '')
/** The steps that do not run. */
const excepted = process.argv.flatMap((argument) => /^--except=(.+)$/.exec(argument)?.[1]?.split(',') ?? [])
const unknown = [...names, ...excepted].filter((name) => steps[name] === undefined)
if (unknown.length > 0) {
  console.error(`no such step: ${unknown.join(', ')}; there are ${Object.keys(steps).join(', ')}`)
  process.exit(2)
}

function sizeOf(flags: readonly string[]): Size {
  if (flags.includes('--smoke')) return 'smoke'
  return flags.includes('--long') ? 'long' : 'full'
}

const size = sizeOf(process.argv)
const outcomes: Outcome[] = []
const start = performance.now()
for (const [name, step] of Object.entries(steps))
  if ((names.length === 0 || names.includes(name)) && !excepted.includes(name)) await run(name, step)

async function run(name: string, step: Step): Promise<void> {
  const began = performance.now()
  console.log(`${name} …`)
  const say = (line: string): void => console.log(`  ${line}`)
  const parts = wanted.flatMap((each) => (each.startsWith(`${name}:`) ? each.split(':').slice(1) : []))
  const found = await step(size, say, parts).catch((error: unknown) => failed(name, error))
  outcomes.push(...found)
  const seconds = round((performance.now() - began) / 1000, 0)
  for (const { kept, result } of found) console.log(`  ${kept ? 'kept' : 'NOT KEPT'}: ${result}`)
  console.log(`  ${seconds} s`)
}

/** The other steps still run. */
function failed(name: string, error: unknown): readonly Outcome[] {
  console.error(error)
  return [{ promise: name, done: name, result: `ended with ${errorMessage(error)}`, kept: false }]
}

const minutes = round((performance.now() - start) / 60_000, 1)
console.log(`\n${minutes} minutes, ${cpus().length} cores, fsync p50 ${round(fsyncMs().p50)} ms\n`)
console.log('| promise | done | result |\n|---|---|---|')
for (const { promise, done, result, kept } of outcomes)
  console.log(`| ${promise} | ${done} | ${kept ? '' : '**not kept:** '}${result} |`)
process.exit(outcomes.every(({ kept }) => kept) ? 0 : 1)
