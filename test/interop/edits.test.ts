// @vitest-environment dom
import { beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { ApiError } from '../../src/core/base/errors.ts'
import type { EditRequest } from '../../src/core/content/edit/check-edits.ts'
import { checkChange } from '../../src/core/content/root-change.ts'
import { Random } from '../support/data/random-doc.ts'
import { seed } from '../support/data/seed.ts'
import { times } from '../support/time/full-run.ts'
import { type EditCase, EditCases, vocabularies } from './edit-cases.ts'
import { judges } from './judges.ts'
import { joinedLines } from './shown-lines.ts'
import type { Judge } from './third-party-editor.ts'

/** Returns a replica that has only the updates of the other one, as on a server. */
function replica(doc: Y.Doc): Y.Doc {
  const copy = new Y.Doc()
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(doc))
  return copy
}

/** Bindings do some of their work in timers with little or no delay. */
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5))

/** Each takes some hundredths of a second. */
const sequences = times(25, 80)

describe.each(Object.keys(vocabularies))('%s', (name) => {
  const vocabulary = vocabularies[name] as (typeof vocabularies)[string]
  const judge = judges[name] as Judge
  let samples: readonly Y.Doc[]
  let bare: Y.Doc

  beforeAll(async () => {
    const [article, note, empty] = await Promise.all(judge.contents.map(written))
    samples = [article, note] as Y.Doc[]
    bare = empty as Y.Doc
  })

  /** Writes a content into the editor. Returns its document. */
  async function written(content: unknown): Promise<Y.Doc> {
    const doc = new Y.Doc()
    const seat = judge.open(doc)
    await settled()
    seat.write(content)
    await settled()
    seat.close()
    return doc
  }

  /** Opens the editor on a copy of a document. Returns what it shows and the bytes that it writes. */
  async function opened(doc: Y.Doc): Promise<{ lines: readonly string[]; bytes: number }> {
    const copy = replica(doc)
    let bytes = 0
    copy.on('update', (update: Uint8Array) => {
      bytes += update.length
    })
    const seat = judge.open(copy)
    await settled()
    const lines = joinedLines(JSON.parse(JSON.stringify(seat.shown())))
    seat.close()
    return { lines, bytes }
  }

  /** Applies an edit as the server does. Returns null if the document or the schema does not permit it. */
  function edited(doc: Y.Doc, edit: EditRequest, schema: string | null): Y.Doc | null {
    const copy = replica(doc)
    const named = schema === null ? {} : { schema: { name: schema, spec: null } }
    try {
      checkChange({ edits: [edit], contentKey: judge.contentKey, ...named }).apply(copy)
      return copy
    } catch (error) {
      if (error instanceof ApiError) return null
      throw error
    }
  }

  it(`[EDIT-80] [EDIT-81] opens the result of any edits without a change, and shows the edited text (seed ${seed})`, async () => {
    const random = new Random(seed)
    let applied = 0
    for (let sequence = 0; sequence < sequences; sequence += 1) {
      const cases = new EditCases(random, judge, vocabulary, samples)
      const schema = random.below(2) === 0 ? vocabulary.schema : null
      const edits: EditRequest[] = []
      let doc = replica(random.pick([...samples, bare]))
      let { lines } = await opened(doc)
      for (let count = 1 + random.below(4); count > 0; count -= 1) {
        const { edit, effect } = cases.next(doc)
        const result = edited(doc, edit, schema)
        if (result === null) continue
        edits.push(edit)
        applied += 1
        const after = await opened(result)
        const report = JSON.stringify({ sequence, schema, edits, before: lines, after: after.lines })
        expect(after.bytes, report).toBe(0)
        expect(isAsExpected(effect, lines, after.lines), report).toBe(true)
        doc = result
        lines = after.lines
      }
    }
    expect(applied).toBeGreaterThan(sequences / 2)
  })
})

/** Returns whether the lines that an editor shows are those that an edit must produce. */
function isAsExpected(
  effect: EditCase['effect'],
  before: readonly string[],
  after: readonly string[],
): boolean {
  if (effect.is === 'none') return equal(before, after)
  if (effect.is === 'start') return equal(visible((effect.text + before.join('\n')).split('\n')), after)
  if (effect.is === 'lines') return isSplice(effect, before, after)
  const { quote, becomes } = effect
  const at = before.findIndex((line) => line.includes(quote))
  const line = before[at]?.replace(quote, () => becomes) ?? ''
  return equal(visible([...before.slice(0, at), ...line.split('\n'), ...before.slice(at + 1)]), after)
}

const visible = (lines: readonly string[]): string[] => lines.filter((line) => line.trim() !== '')

const equal = (a: readonly string[], b: readonly string[]): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Returns whether `after` has new lines at one place, instead of some adjacent lines or of none. */
function isSplice(
  { lines, replaces }: Extract<EditCase['effect'], { is: 'lines' }>,
  before: readonly string[],
  after: readonly string[],
): boolean {
  const added = visible(lines)
  const removed = before.length + added.length - after.length
  if (removed < 0 || (removed > 0 && !replaces)) return false
  return before.some((_, at) => isSpliceAt(at)) || isSpliceAt(before.length)

  function isSpliceAt(at: number): boolean {
    return equal([...before.slice(0, at), ...added, ...before.slice(at + removed)], after)
  }
}
