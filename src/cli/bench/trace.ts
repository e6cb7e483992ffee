import { existsSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

export type EditStep = readonly [position: number, deleted: number, inserted: string]

export interface EditTrace {
  readonly source: string
  readonly patches: readonly EditStep[]
  readonly endContent: string
}

export interface TraceFile {
  readonly kind?: 'concurrent'
  readonly endContent: string
  readonly numAgents: number
  readonly txns: readonly {
    readonly agent: number
    /** Indexes of the transactions that the author had received directly before this one. */
    readonly parents: readonly number[]
    readonly patches: readonly EditStep[]
  }[]
}

/** Reads a session in the form of `josephg/editing-traces`. Returns null without a file. */
export const readTraceFile = (path: string | undefined): TraceFile | null =>
  path === undefined || !existsSync(path)
    ? null
    : (JSON.parse(gunzipSync(readFileSync(path)).toString()) as TraceFile)

/**
 * Returns a recorded writing session. If its file does not exist, returns a generated session.
 * @param file path of a sequential trace
 */
export function readTrace(keystrokes: number, file?: string): EditTrace {
  const trace = readTraceFile(file)
  if (trace === null || trace.kind === 'concurrent') return generatedTrace(keystrokes)
  const patches = trace.txns.flatMap((txn) => txn.patches).slice(0, keystrokes)
  return { source: 'a recorded writing session', patches, endContent: contentOf(patches) }
}

/** Returns a generator of numbers that are the same in each run. */
export function randomFrom(start: number): (below: number) => number {
  let seed = start
  return (below) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
}

/**
 * Generates a session: stretches of typing at different places, in which one of ten keystrokes is a deletion.
 * The session is the same in each run.
 */
function generatedTrace(keystrokes: number): EditTrace {
  const random = randomFrom(42)
  let [length, position] = [0, 0]
  const patches: EditStep[] = []
  for (let index = 0; index < keystrokes; index++) {
    if (random(200) === 0) position = random(length + 1)
    const deletes = position > 0 && random(10) === 0
    patches.push(deletes ? [position - 1, 1, ''] : [position, 0, 'etaoin shrdlu'.charAt(random(13))])
    length += deletes ? -1 : 1
    position += deletes ? -1 : 1
  }
  return { source: 'a generated session (no recorded one found)', patches, endContent: contentOf(patches) }
}

function contentOf(patches: readonly EditStep[]): string {
  let text = ''
  for (const [position, deleted, inserted] of patches) {
    text = text.slice(0, position) + inserted + text.slice(position + deleted)
  }
  return text
}
