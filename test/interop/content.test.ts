// @vitest-environment dom
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { readRootAs } from '../../src/core/content/read-document.ts'
import { replaceContent } from '../../src/core/content/replace.ts'
import { times } from '../support/time/full-run.ts'
import { judges } from './judges.ts'
import type { Judge } from './third-party-editor.ts'

/** Returns a replica that has only the updates of the other one, as on a server. */
function replica(doc: Y.Doc): Y.Doc {
  const copy = new Y.Doc()
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(doc))
  return copy
}

/** Bindings do some of their work in timers with little or no delay. */
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20))

/**
 * Writes content into the editor with a new document. Returns the document and the content that the editor
 * shows.
 */
async function written(judge: Judge, content: unknown): Promise<{ doc: Y.Doc; shown: unknown }> {
  const doc = new Y.Doc()
  const seat = judge.open(doc)
  await settled()
  seat.write(content)
  await settled()
  const shown = plain(seat.shown())
  seat.close()
  return { doc, shown }
}

/** The shown content as JSON, because editors keep an unset value as undefined or null. */
const plain = (shown: unknown): unknown => JSON.parse(JSON.stringify(shown))

/** Collects updates that a document creates itself, not the ones that it receives. */
function ownUpdates(doc: Y.Doc): Uint8Array[] {
  const updates: Uint8Array[] = []
  doc.on('updateV2', (update: Uint8Array, origin: unknown) => origin !== 'remote' && updates.push(update))
  return updates
}

/** Each takes a tenth of a second. */
const arrangements = times(4, 10)

const pairs = times(
  [
    [0, 1],
    [2, 0],
  ],
  [
    [0, 1],
    [1, 0],
    [0, 2],
    [2, 0],
    [2, 1],
  ],
)

describe.each(Object.entries(judges))('%s', (_name, judge) => {
  const read = (doc: Y.Doc): unknown => readRootAs(doc, judge.type, judge.contentKey).data

  it('[EDITOR-1] writes no byte when a client reads content and writes it back', async () => {
    for (const content of judge.contents) {
      const doc = replica((await written(judge, content)).doc)
      const updates = ownUpdates(doc)
      const { type, contentKey } = judge
      expect(replaceContent(doc, { type, contentKey, data: read(doc) })).toMatchObject({ changed: false })
      expect(updates).toEqual([])
    }
  })

  /**
   * Opens a live editor on `before`, applies `change` to a replica, and returns what the editor shows then.
   */
  async function live(
    before: Y.Doc,
    change: (server: Y.Doc) => void,
  ): Promise<{ doc: Y.Doc; shown: unknown }> {
    const [server, doc] = [replica(before), replica(before)]
    const seat = judge.open(doc)
    await settled()
    const corrections = ownUpdates(doc)
    server.on('update', (update: Uint8Array) => Y.applyUpdate(doc, update, 'remote'))
    change(server)
    await settled()
    const shown = plain(seat.shown())
    seat.close()
    expect(corrections).toEqual([])
    return { doc, shown }
  }

  const replacement = (target: Y.Doc) => (server: Y.Doc) => {
    const { type, contentKey } = judge
    replaceContent(server, { type, contentKey, data: read(target) })
  }

  async function showsReplaced(from: unknown, to: unknown): Promise<void> {
    const before = await written(judge, from)
    const target = await written(judge, to)
    const after = await live(before.doc, replacement(target.doc))
    expect(after.shown).toEqual(target.shown)
    expect(read(after.doc)).toEqual(read(target.doc))
  }

  it.each(pairs)(
    '[EDITOR-2] when content %i is replaced by %i, the editor shows the new content, and corrects nothing in it',
    (from, to) => showsReplaced(judge.contents[from], judge.contents[to]),
  )

  it('[EDITOR-2] when any arrangement of parts replaces another one, the editor shows the new arrangement', async () => {
    const some = fc
      .array(fc.constantFrom(...judge.parts), { minLength: 1, maxLength: 8 })
      .map((parts) => judge.madeOf(parts))
    await fc.assert(fc.asyncProperty(some, some, showsReplaced), { numRuns: arrangements })
  })

  it.each([0, 1, 2])(
    '[EDITOR-2] when content %i is written into an empty document, the editor shows the same as if a user had written it',
    async (to) => {
      const { doc } = await written(judge, judge.contents[to])
      const person = await live(new Y.Doc(), (server) => Y.applyUpdate(server, Y.encodeStateAsUpdate(doc)))
      const after = await live(new Y.Doc(), replacement(doc))
      expect(after.shown).toEqual(person.shown)
      expect(read(after.doc)).toEqual(read(doc))
    },
  )
})
