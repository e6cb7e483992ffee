/**
 * Runs the tests. Prints the time of each tier and the slowest files.
 *
 *   npm test                          the tiers unit and server, which need nothing but Node
 *   npm test -- FILE…                 the tests whose paths contain one of the texts, of all tiers
 *   npm test -- --tier TIER           one tier, see `support/tiers.ts`; options of Vitest work too
 *   npm run test:all                  all tiers in a short form, with one seed and few repetitions
 *   npm run test:all -- --long        all tiers with many repetitions and a new seed
 *
 * With CI=true, files that fail run again, alone, once. If they pass then, the run passes, and they are listed as
 * unstable.
 */
import { loadavg } from 'node:os'
import { relative } from 'node:path'
import { parseArgs } from 'node:util'
import { parseCLI, startVitest, type TestModule, type Vitest } from 'vitest/node'
import { round } from '../bench/support/report.ts'
import { filesByTier, quickTiers, tierOf, tiers } from './support/tiers.ts'

/** More failing files have a cause in common, so a repetition of each would prove nothing. */
const repeatedMax = 3
const slowestMax = 10

const given = process.argv.slice(2)
const { values, tokens } = parseArgs({
  args: given,
  options: { all: { type: 'boolean' }, long: { type: 'boolean' }, tier: { type: 'string', multiple: true } },
  strict: false,
  tokens: true,
})
const ownPlaces = tokens.flatMap((token) => {
  if (token.kind !== 'option' || !['all', 'long', 'tier'].includes(token.name)) return []
  return token.inlineValue === false ? [token.index, token.index + 1] : [token.index]
})
const { filter, options } = parseCLI(['vitest', 'run', ...given.filter((_, at) => !ownPlaces.includes(at))])
if (values.long) process.env.WEFT_TEST_LONG = '1'

/** Returns paths of the files that run, or texts in their paths; empty means all files. */
function filesOf(): readonly string[] {
  if (values.tier === undefined && (values.all || filter.length > 0)) return filter
  const chosen: readonly unknown[] = values.tier ?? quickTiers
  const files = [...filesByTier()].flatMap(([name, paths]) => (chosen.includes(name) ? paths : []))
  const found = files.filter((file) => filter.length === 0 || filter.some((text) => file.includes(text)))
  if (found.length === 0) throw new Error(`no test file; the tiers are ${tiers.join(', ')}`)
  return found
}

/** A test file that did not pass, and the reasons. */
interface Failure {
  readonly file: string
  readonly reasons: readonly string[]
}

const began = performance.now()

function run(files: readonly string[]): Promise<Vitest> {
  return startVitest('test', [...files], {
    ...options,
    config: 'test/vitest.config.ts',
    run: true,
    watch: false,
  })
}

/** An empty run, in which nothing matches, has not passed. */
const hasPassed = (ended: readonly TestModule[]): boolean =>
  ended.length > 0 && ended.every((each) => each.ok())

function failuresOf(ended: readonly TestModule[]): readonly Failure[] {
  return ended
    .filter((module) => !module.ok())
    .map((module) => ({ file: pathOf(module), reasons: reasonsOf(module) }))
}

function reasonsOf(module: TestModule): readonly string[] {
  const ofTests = [...module.children.allTests('failed')].flatMap((test) =>
    (test.result().errors ?? []).map((error) => `${test.fullName}: ${error.stack ?? error.message}`),
  )
  return [...module.errors().map((error) => error.stack ?? error.message), ...ofTests]
}

const pathOf = (module: TestModule): string => relative(process.cwd(), module.moduleId)

/** Runs the failing files again, each alone. @returns exit code */
async function outcomeOfRepetition(): Promise<number> {
  if (!isRepeatable || failures.length === 0) return 1
  const load = loadavg().map((each) => round(each, 1))
  for (const { file } of failures) {
    const repeated = await run([file])
    const [ended, errors] = [repeated.state.getTestModules(), repeated.state.getUnhandledErrors()]
    await repeated.close()
    if (!hasPassed(ended) || errors.length > 0) {
      console.log(`${file} has failed twice`)
      return 1
    }
  }
  console.log(`\nunstable: ${failures.length} of ${modules.length} files failed, and passed alone`)
  console.log(`load of the machine (1, 5, 15 min): ${load.join(', ')}. The next change must fix the cause.`)
  for (const { file, reasons } of failures) console.log(`\n${file}\n${reasons.join('\n')}`)
  return 0
}

/** Returns the table of the tiers, and the slowest files. Times of a tier are the sum of its files. */
function timesOf(ended: readonly TestModule[]): string {
  const secondsOf = (module: TestModule): number => {
    const { duration, collectDuration, setupDuration, prepareDuration } = module.diagnostic()
    return (duration + collectDuration + setupDuration + prepareDuration) / 1000
  }
  const rows = tiers.flatMap((tier) => {
    const files = ended.filter((module) => tierOf(pathOf(module)) === tier)
    const seconds = files.reduce((sum, file) => sum + secondsOf(file), 0)
    return files.length === 0
      ? []
      : `  ${tier.padEnd(8)}${`${files.length} files`.padStart(10)}${seconds.toFixed(0).padStart(6)} s`
  })
  const slowest = [...ended].sort((one, two) => secondsOf(two) - secondsOf(one)).slice(0, slowestMax)
  const list = slowest.map((file) => `${secondsOf(file).toFixed(1).padStart(8)} s  ${pathOf(file)}`)
  const wall = ((performance.now() - began) / 1000).toFixed(0)
  return `\ntime by tier, on all workers together (${wall} s in all):\n${rows.join('\n')}\n\nslowest files:\n${list.join('\n')}`
}

const first = await run(filesOf())
const modules = first.state.getTestModules()
console.log(timesOf(modules))
const failures = failuresOf(modules)
/** Errors outside of a test, such as in a timer, belong to no file that could run again. */
const isStray = first.state.getUnhandledErrors().length > 0
const isRepeatable = process.env.CI === 'true' && !isStray && failures.length <= repeatedMax
await first.close()
process.exit(hasPassed(modules) && !isStray ? 0 : await outcomeOfRepetition())
