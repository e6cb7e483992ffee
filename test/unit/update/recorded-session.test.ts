import { existsSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { readUpdate } from '../../../src/core/update/read-update.ts'
import { advance, isPlain } from '../../../src/core/update/summary.ts'
import { Random } from '../../support/data/random-doc.ts'

const recorded = new URL('../../../../shared/data/editing-trace.json.gz', import.meta.url)
const keystrokesMax = 5_000

/** Position, deleted characters, inserted text. */
type Keystroke = readonly [number, number, string?]

function recordedKeystrokes(): Keystroke[] {
  const trace = JSON.parse(gunzipSync(readFileSync(recorded)).toString()) as
    | Keystroke[]
    | { edits?: Keystroke[]; txns?: { patches: Keystroke[] }[] }
  if (Array.isArray(trace)) return trace
  return trace.edits ?? (trace.txns ?? []).flatMap(({ patches }) => patches)
}

function inventedKeystrokes(): Keystroke[] {
  const random = new Random(1)
  let length = 0
  return Array.from({ length: keystrokesMax }, () => {
    const at = random.below(length + 1)
    const deletes = length > at && random.below(4) === 0
    length += deletes ? -1 : 1
    return deletes ? [at, 1, ''] : [at, 0, random.pick(['e', 't', ' ', 'é'])]
  })
}

describe('a writing session', () => {
  it('[UPD-3] a writing session has only plain updates, and the tracked clocks at its end equal those of the document', () => {
    const keystrokes = existsSync(recorded) ? recordedKeystrokes() : inventedKeystrokes()
    const doc = new Y.Doc()
    const text = doc.getText('text')
    const clocks = new Map<number, number>()
    doc.on('update', (update: Uint8Array) => {
      const summary = readUpdate(update)
      expect(isPlain(summary, clocks)).toBe(true)
      advance(summary, clocks)
    })
    for (const [at, deleted, inserted = ''] of keystrokes.slice(0, keystrokesMax)) {
      doc.transact(() => {
        if (deleted > 0) text.delete(at, deleted)
        if (inserted !== '') text.insert(at, inserted)
      })
    }
    expect(clocks).toEqual(Y.decodeStateVector(Y.encodeStateVector(doc)))
    expect(text.length).toBeGreaterThan(1_000)
  })
})
