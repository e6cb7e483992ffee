import { existsSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import * as Y from 'yjs'

export type EditStep = readonly [position: number, deleted: number, inserted: string]

export interface EditTrace {
  readonly source: string
  readonly patches: readonly EditStep[]
  readonly endContent: string
}

/**
 * Returns a recorded writing session. If its file does not exist, returns a generated session.
 * @param file path of a session in the form of the sequential traces of `josephg/editing-traces`
 */
export function readTrace(keystrokes: number, file?: string): EditTrace {
  if (file === undefined || !existsSync(file)) return generatedTrace(keystrokes)
  const trace = JSON.parse(gunzipSync(readFileSync(file)).toString()) as { txns: { patches: EditStep[] }[] }
  const patches = trace.txns.flatMap((txn) => txn.patches).slice(0, keystrokes)
  return { source: 'a recorded writing session', patches, endContent: contentOf(patches) }
}

/**
 * Generates a session: stretches of typing at different places, in which one of ten keystrokes is a deletion.
 * The session is the same in each run.
 */
function generatedTrace(keystrokes: number): EditTrace {
  let seed = 42
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
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

/** Returns one update for each keystroke of an editor. Each keystroke is one transaction. */
export function updatesOf(patches: readonly EditStep[]): Uint8Array[] {
  const doc = new Y.Doc()
  const text = doc.getText('content')
  const updates: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => updates.push(update))
  for (const [position, deleted, inserted] of patches) {
    doc.transact(() => {
      if (deleted > 0) text.delete(position, deleted)
      if (inserted !== '') text.insert(position, inserted)
    })
  }
  return updates
}
