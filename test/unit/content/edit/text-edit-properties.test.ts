import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import type { Edit, EditTarget } from '../../../../src/content/edit/edit.ts'
import { ApiError } from '../../../../src/errors.ts'
import { seed } from '../../../support/data/seed.ts'
import { times } from '../../../support/time/full-run.ts'
import { key, loaded, steps, textOf, unitsOf, updatesOf, wellFormed } from '../support.ts'
import { docOf, richKey } from '../xml-support.ts'
import { applyEdits, insert, mark, quote, remove, replace } from './edit-support.ts'

const settings = { numRuns: times(100, 2_000), seed }

/** The effect of an edit on a string. */
type Change = 'replace' | 'remove' | 'before' | 'after' | 'mark'

const editOf = (change: Change, target: EditTarget, text: string): Edit => {
  if (change === 'replace') return replace(target, text)
  if (change === 'remove') return remove(target)
  return change === 'mark' ? mark(target, 'bold', true) : insert({ at: change, target }, text)
}

const edited = (change: Change, text: string, start: number, end: number, inserted: string): string => {
  const [before, found, after] = [text.slice(0, start), text.slice(start, end), text.slice(end)]
  if (change === 'replace') return before + inserted + after
  if (change === 'remove') return before + after
  if (change === 'mark') return text
  return change === 'before' ? before + inserted + found + after : before + found + inserted + after
}

const changes = fc.constantFrom<Change>('replace', 'remove', 'before', 'after', 'mark')
const words = fc
  .array(fc.constantFrom('one', 'two', 'three', 'four', '漢', 'é'), { minLength: 1, maxLength: 4 })
  .map((found) => found.join(' '))

const inOneLine = (text: string): string => text.replaceAll('\n', ' ')

/** Returns the offsets of a quote in a text; null if it is missing or ambiguous. */
function offsetsOf(text: string, wanted: string): readonly [number, number] | null {
  const start = text.indexOf(wanted)
  return start === -1 || text.indexOf(wanted, start + 1) !== -1 ? null : [start, start + wanted.length]
}

test(`[EDIT-1] changes a text like a string and keeps everything outside the quote, also while a client types (seed ${seed})`, () => {
  fc.assert(
    fc.property(
      fc.array(words, { minLength: 1, maxLength: 8 }).map((lines) => lines.join('\n')),
      words,
      changes,
      words,
      fc.nat(60),
      steps(wellFormed),
      (text, wanted, change, inserted, typedAt, formatting) => {
        const author = new Y.Doc()
        author.clientID = 1
        author.getText(key).insert(0, text)
        for (const step of formatting) {
          const length = 'length' in step ? Math.min(step.length, text.length - step.at) : 0
          if (step.do === 'format' && length > 0) author.getText(key).format(step.at, length, { bold: true })
        }
        const server = loaded(author)
        const client = loaded(author, 3)
        const before = unitsOf(server)
        const normal = inOneLine(text)
        const offsets = offsetsOf(normal, wanted)
        const edit = editOf(change, quote(wanted), inserted)
        const typed = updatesOf(client, () => client.getText(key).insert(Math.min(typedAt, text.length), '#'))
        if (offsets === null) {
          expect(() => applyEdits(server, 'text', key, edit)).toThrow(ApiError)
          return
        }
        const updates = updatesOf(server, () => applyEdits(server, 'text', key, edit))
        expect(inOneLine(textOf(server))).toBe(edited(change, normal, ...offsets, inserted))
        expect(updates.length).toBeLessThanOrEqual(1)
        const after = new Map(unitsOf(server).map((unit) => [unit.id, unit]))
        for (const [index, unit] of before.entries()) {
          const isOutside = index < offsets[0] || index >= offsets[1]
          if (isOutside || !(change === 'replace' || change === 'remove' || change === 'mark'))
            expect(after.get(unit.id)).toEqual(unit)
        }
        for (const update of updates) Y.applyUpdate(client, update)
        for (const update of typed) Y.applyUpdate(server, update)
        expect(textOf(client)).toBe(textOf(server))
        expect(inOneLine(textOf(server)).replace('#', '')).toBe(edited(change, normal, ...offsets, inserted))
      },
    ),
    settings,
  )
})

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

const stringOf = (text: Y.XmlText): string =>
  (text.toDelta() as { insert: string }[]).map((part) => part.insert).join('')

/** The texts of the blocks. A hard break is a line feed. */
const blocksOf = (doc: Y.Doc): string[] =>
  loaded(doc)
    .getXmlFragment(richKey)
    .toArray()
    .map((block) =>
      (block as Y.XmlElement)
        .toArray()
        .map((child) => (child instanceof Y.XmlText ? stringOf(child) : '\n'))
        .join(''),
    )

test(`[EDIT-1] changes the text of one block of XML and keeps all positions outside the quote (seed ${seed})`, () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.array(fc.tuple(words, fc.constantFrom('', 'bold', 'italic', '\n')), {
          minLength: 1,
          maxLength: 4,
        }),
        {
          minLength: 1,
          maxLength: 5,
        },
      ),
      words,
      changes,
      words,
      (paragraphs, wanted, change, inserted) => {
        const xml = paragraphs.map((parts) => {
          const inside = parts.map(([text, form]) => {
            if (form === '\n') return `${escaped(text)}<hardBreak/>`
            return form === '' ? `${escaped(text)} ` : `<${form}>${escaped(text)}</${form}> `
          })
          return `<paragraph>${inside.join('')}</paragraph>`
        })
        const doc = docOf(xml.join(''), richKey)
        const before = blocksOf(doc)
        const normal = before.map(inOneLine)
        const matches = normal.flatMap((text, block) => {
          const offsets = offsetsOf(text, wanted)
          return text.includes(wanted) ? [{ block, offsets }] : []
        })
        const [match] = matches
        const edit = editOf(change, quote(wanted), inserted)
        if (matches.length !== 1 || match === undefined || match.offsets === null) {
          expect(() => applyEdits(doc, 'xml', richKey, edit)).toThrow(ApiError)
          return
        }
        const { block, offsets } = match
        const [start, end] = offsets
        const positions = positionsOf(doc, block, [start, end])
        applyEdits(doc, 'xml', richKey, edit)
        const expected = normal.with(block, edited(change, normal[block] as string, start, end, inserted))
        expect(blocksOf(doc).map(inOneLine)).toEqual(expected)
        for (const { position, character, type } of positions) {
          const found = Y.createAbsolutePositionFromRelativePosition(position, doc)
          expect(found?.type).toBe(type)
          expect(stringOf(type)[found?.index ?? -1]).toBe(character)
        }
      },
    ),
    settings,
  )
})

/** Relative positions of all characters of a document, except those of a range of one block. */
function positionsOf(
  doc: Y.Doc,
  block: number,
  [start, end]: readonly [number, number],
): { position: Y.RelativePosition; character: string; type: Y.XmlText }[] {
  const found: { position: Y.RelativePosition; character: string; type: Y.XmlText }[] = []
  for (const [index, element] of doc.getXmlFragment(richKey).toArray().entries()) {
    let offset = 0
    for (const child of (element as Y.XmlElement).toArray()) {
      if (!(child instanceof Y.XmlText)) {
        offset += 1
        continue
      }
      const text = stringOf(child)
      for (let at = 0; at < text.length; at++, offset++) {
        if (index === block && offset >= start && offset < end) continue
        const position = Y.createRelativePositionFromTypeIndex(child, at)
        found.push({ position, character: text[at] as string, type: child })
      }
    }
  }
  return found
}
