import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorMessage } from '../../src/core/base/errors.ts'
import { Shell } from '../support/servers/shell.ts'
import type { Stopwatch } from '../support/time/stopwatch.ts'

/** The change, in the words of the first column of the guide. */
const change = 'the timeout of a dead client'
const limit = { rule: 'SYNC-16', before: 'deadAfterMs = 35_000', after: 'deadAfterMs = 55_000' }

/** The places that the guide names for a change. */
interface Places {
  readonly code: string
  readonly tests: string
  readonly rules: string
}

function placesOf(guide: string): Places {
  const row = guide.split('\n').find((line) => line.startsWith(`| ${change} |`))
  const [code, tests, rules] = [...(row ?? '').matchAll(/`([^`]+)`/g)].map(([, path]) => path)
  if (code === undefined || tests === undefined || rules === undefined)
    throw new Error(`the guide does not name code, tests and rules of “${change}”`)
  return { code, tests, rules }
}

/** Returns the command that runs the tests of one rule, in the form that the guide shows. */
function testCommand(guide: string, tests: string): string {
  const [, shown] = /`(npm test -- \S+ -t '[^']+')`/.exec(guide) ?? []
  if (shown === undefined) throw new Error('the guide does not show how to run the tests of a rule')
  return shown.replace(/-- \S+ -t '[^']+'/, `-- ${tests} -t '${limit.rule}'`)
}

function replaceIn(file: string, before: string, after: string): void {
  const text = readFileSync(file, 'utf8')
  if (!text.includes(before)) throw new Error(`${file} does not have “${before}”`)
  writeFileSync(file, text.replace(before, after))
}

/**
 * Follows the contributing guide as a new contributor, with nothing else: finds a limit in its table, changes the
 * limit, and sees the test of its rule fail. Prints the time of each step.
 * @param folder a clone whose packages are installed
 * @throws Error if a step fails
 */
export async function contribute(folder: string, watch: Stopwatch): Promise<void> {
  const guide = readFileSync(join(folder, '.github/CONTRIBUTING.md'), 'utf8')
  const { code, tests, rules } = placesOf(guide)
  if (!readFileSync(join(folder, rules), 'utf8').includes(`**${limit.rule}**`))
    throw new Error(`${rules} does not have the rule ${limit.rule}`)

  const command = testCommand(guide, tests)
  await Shell.run(command, folder)
  watch.lap(`the tests pass: ${command}`)

  replaceIn(join(folder, code), limit.before, limit.after)
  const failure = await Shell.run(command, folder).then(
    () => null,
    (error: unknown) => errorMessage(error),
  )
  if (failure === null) throw new Error('the tests pass with the changed limit')
  if (!failure.includes(`[${limit.rule}]`)) throw new Error(`no test of ${limit.rule} has failed: ${failure}`)
  watch.lap(`the test of ${limit.rule} fails with the changed limit`)
}
