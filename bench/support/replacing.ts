import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { endWithThis } from '../../src/cli/bench/ending.ts'
import type { ReplacerOrder, ReplacerRound } from './replacer.ts'

/**
 * Runs `work` while another process replaces the content of a document. Returns the result, and the rounds of the
 * other process. `work` starts after `skipped` rounds: the first one fills the document, so it is not a rewrite.
 */
export async function whileReplacing<T>(
  order: ReplacerOrder,
  work: () => Promise<T>,
  skipped = 1,
): Promise<{ readonly result: T; readonly rounds: readonly ReplacerRound[] }> {
  const rounds: ReplacerRound[] = []
  const child = fork(join(import.meta.dirname, 'replacer.ts'), { execArgv: ['--import', 'tsx'] })
  endWithThis(child)
  child.on('message', (round: ReplacerRound) => rounds.push(round))
  child.send(order)
  while (rounds.length < skipped && child.exitCode === null) await new Promise((r) => setTimeout(r, 10))
  rounds.length = 0
  const result = await work()
  if (child.exitCode !== null) throw new Error('the replacements failed')
  child.send('stop')
  await once(child, 'exit')
  return { result, rounds }
}
