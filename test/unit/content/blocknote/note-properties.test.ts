import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseMarkdown } from '../../../../src/core/content/markdown/parse-markdown.ts'
import { checkAgainstSchema, schemaOf } from '../../../../src/core/content/schemas/content-schema.ts'
import { seed } from '../../../support/data/seed.ts'
import { times } from '../../../support/time/full-run.ts'
import { updatesOf } from '../support.ts'
import { identities, xmlOf } from '../xml-support.ts'
import { idsIn, noteKey, noteOf, notes, readNote, type TextFormat, writeNote } from './note-support.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const added =
  /<blockContainer id="[0-9a-f-]{36}"><paragraph [^>]*>new paragraph<\/paragraph><\/blockContainer>/
const emptyStart = /^<blockContainer id="b0"><paragraph[^>]*><\/paragraph>/
const numRuns = times(60, 300)

describe.each<TextFormat>(['markdown', 'html'])(
  `%s of random documents of BlockNote, seed ${seed}`,
  (format) => {
    it('[FMT-102] writes nothing when the result of a read is written back', () => {
      fc.assert(
        fc.property(notes(true), (data) => {
          const doc = noteOf(data)
          const text = readNote(doc, format)
          expect(updatesOf(doc, () => writeNote(doc, text, format))).toEqual([])
        }),
        { numRuns, seed },
      )
    })

    it('[FMT-103] stores new content in the form of BlockNote, with one id for each block', () => {
      fc.assert(
        fc.property(notes(false), notes(false), (data, other) => {
          const doc = noteOf(data)
          const before = new Set(idsIn(doc))
          writeNote(doc, readNote(noteOf(other), format), format)
          const ids = idsIn(doc)
          expect(new Set(ids).size).toBe(ids.length)
          for (const id of ids) expect(before.has(id) || uuid.test(id), id).toBe(true)
          checkAgainstSchema(doc, noteKey, schemaOf({ name: 'blocknote', spec: null }), 'blocknote')
          const text = readNote(doc, format)
          writeNote(doc, `${text}\n`, format)
          expect(readNote(doc, format)).toBe(text)
        }),
        { numRuns, seed },
      )
    })
  },
)

describe(`Edits of random documents of BlockNote, seed ${seed}`, () => {
  it('[FMT-104] changes no other block when a paragraph is inserted anywhere', () => {
    fc.assert(
      fc.property(notes(true), fc.nat(), (data, number) => {
        const doc = noteOf(data)
        const text = readNote(doc)
        const { starts } = parseMarkdown(text)
        if (starts.length === 0) return
        const [before, stored] = [xmlOf(doc, noteKey), identities(doc, noteKey)]
        // A paragraph at the start fills the empty paragraph there.
        if (number % starts.length === 0 && emptyStart.test(data)) return
        const lines = text.split('\n')
        lines.splice(starts[number % starts.length] as number, 0, 'new paragraph', '')
        const updates = updatesOf(doc, () => writeNote(doc, lines.join('\n')))
        expect(xmlOf(doc, noteKey).replace(added, '')).toBe(before)
        const after = identities(doc, noteKey)
        for (const [id, name] of stored) expect(after.get(id)).toBe(name)
        expect(updates.length).toBe(1)
      }),
      { numRuns, seed },
    )
  })

  it('[FMT-104] deletes only the blocks that are deleted in the text', () => {
    fc.assert(
      fc.property(notes(true), fc.nat(), (data, number) => {
        const doc = noteOf(data)
        const text = readNote(doc)
        const { starts } = parseMarkdown(text)
        if (starts.length < 2) return
        const at = number % starts.length
        const lines = text.split('\n')
        const removed = lines.splice(
          starts[at] as number,
          (starts[at + 1] ?? lines.length) - (starts[at] as number),
        )
        const ids = idsIn(doc)
        // Empty paragraphs, which Markdown does not show, may go with the block before them.
        const shown = ids.filter(
          (id) => !new RegExp(`id="${id}"><paragraph[^>]*/>`).test(xmlOf(doc, noteKey)),
        )
        writeNote(doc, lines.join('\n'))
        const kept = idsIn(doc)
        expect(ids).toEqual(expect.arrayContaining(kept))
        const deleted = shown.filter((id) => !kept.includes(id))
        expect(deleted.length).toBeLessThanOrEqual(removed.length)
      }),
      { numRuns, seed },
    )
  })
})
