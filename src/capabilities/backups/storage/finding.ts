import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { errorMessage, OperatorError } from '../../../core/base/errors.ts'
import { nodeProblem } from '../../../core/config/node-version.ts'

/** Result of one check. `help` is the remedy; '' if there is nothing to do. */
export interface Finding {
  readonly name: string
  readonly verdict: 'ok' | 'warn' | 'fail'
  readonly found: string
  readonly help: string
}

export type Judged = Omit<Finding, 'name'>

export const ok = (found: string): Judged => ({ verdict: 'ok', found, help: '' })
export const warning = (found: string, help: string): Judged => ({ verdict: 'warn', found, help })
export const fail = (found: string, help: string): Judged => ({ verdict: 'fail', found, help })

export const MB = 2 ** 20

/** Runs a check. An error of the check is a failure. */
export async function judge(check: () => Promise<Judged> | Judged): Promise<Judged> {
  try {
    return await check()
  } catch (error) {
    const hint = error instanceof OperatorError ? error.hint : null
    return fail(errorMessage(error), hint ?? 'correct this first')
  }
}

export function nodeVersion(): Judged {
  const { node } = process.versions
  const problem = nodeProblem(node)
  return problem === null ? ok(`v${node}`) : fail(problem, 'install a newer Node')
}

/** Returns the data directory if it exists; otherwise the nearest existing directory above it. */
export async function existingDirectory(directory: string): Promise<string> {
  const found = await stat(directory).catch(() => null)
  return found !== null || directory === join(directory, '..')
    ? directory
    : existingDirectory(join(directory, '..'))
}
