import { spawnSync } from 'node:child_process'
import { measured } from '../measure.ts'
import { replacers } from '../replacers.ts'
import { round } from '../report.ts'
import { xmlReplacers } from '../xml-replacers.ts'
import type { HeavyCase } from './case.ts'

/**
 * Measures the library for the type of the case, in ms; null if there is no library. The time in which the
 * target is converted to the model of the library does not count.
 */
export function libraryRun({ type, before, data }: HeavyCase): number | null {
  if (typeof data !== 'string') return null
  const doc = before()
  if (type === 'xml') {
    const replace = xmlReplacers.find(({ name }) => name.startsWith('y-prosemirror'))?.prepare(data)
    return replace === undefined ? null : measured(doc, () => replace(doc)).milliseconds
  }
  const replacer = replacers.find(({ name }) => name === 'fast-diff')
  return replacer === undefined ? null : measured(doc, () => replacer.replace(doc, data)).milliseconds
}

/**
 * Returns how long a library needs for a case, as text. The library runs in a separate process, which is
 * killed after `seconds`, including its start. The process runs `script` with `flags` and `--library`, and
 * prints the time in ms.
 */
export function libraryTime(
  { type, name }: HeavyCase,
  script: string,
  flags: readonly string[],
  seconds: number,
): string {
  if (type !== 'text' && type !== 'xml') return ''
  const { stdout, status } = spawnSync(
    process.execPath,
    ['--import', 'tsx', script, `${type} ${name}`, '--library', ...flags],
    { timeout: seconds * 1_000, encoding: 'utf8' },
  )
  return status === 0 ? round(Number(stdout), 0) : `not in ${seconds} s`
}
