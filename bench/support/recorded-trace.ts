import { join } from 'node:path'
import { type EditTrace, readTrace } from '../../src/cli/bench/trace.ts'

/** File with the recorded writing session of a paper. It is not in the repository. */
export const recordedFile = join(
  import.meta.dirname,
  '..',
  '..',
  '..',
  'shared',
  'data',
  'editing-trace.json.gz',
)

export const recordedTrace = (keystrokes: number): EditTrace => readTrace(keystrokes, recordedFile)
