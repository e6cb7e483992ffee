import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import * as Y from 'yjs'
import { replaceContent } from '../../../src/core/content/replace.ts'
import { times } from '../../support/time/full-run.ts'

export const key = 'content'

/** Pieces of text that often cause errors: every plane, joined emoji, marks, halves of pairs, line breaks. */
const pieces = [
  'a|b| |\n|the |fox|.|\r\n|ß|Zoë|e\u0301|ก็|漢|字|한|\u1112\u1161\u11ab',
  '😀|👩‍👩‍👧|👍🏽|🇩🇪|🇫🇷|𝒳|𠀀|\u{e0001}|\u{f0000}|\u{10ffff}|\u{10000}',
  '\u0301|\u200d|\ufe0f|\u0000|\ufffd|\ufeff|\u2028',
].flatMap((list) => list.split('|'))

export const wellFormed = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.array(fc.constantFrom(...pieces), { maxLength: 25 }).map((parts) => parts.join('')),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 25 }) },
)

/**
 * Without surrogate pairs, for authors that edit at any place: Yjs itself overwrites a pair that an author
 * cuts.
 */
export const basicPlane = wellFormed.map((text) => text.replace(/[\u{10000}-\u{10ffff}]/gu, 'x'))

/** Includes unpaired halves of surrogate pairs. */
export const anyText = fc
  .array(fc.oneof(wellFormed, fc.constantFrom('\ud800', '\udfff')), { maxLength: 3 })
  .map((parts) => parts.join(''))

/** One step of an author: text (bold, in a color or plain), an embed, a deletion, or formatting. */
export type Step =
  | { readonly do: 'insert'; readonly at: number; readonly text: string; readonly attributes: object }
  | { readonly do: 'embed'; readonly at: number }
  | { readonly do: 'delete' | 'format'; readonly at: number; readonly length: number }

const at = fc.nat(60)
const attributes = fc.constantFrom(
  {},
  { bold: true },
  { color: 'red' },
  { bold: true, comment: { id: 'c1' } },
)

export const steps = (text: fc.Arbitrary<string>): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.record({ do: fc.constant('insert' as const), at, text, attributes }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('embed' as const), at }) },
      {
        weight: 1,
        arbitrary: fc.record({
          do: fc.constantFrom('delete' as const, 'format' as const),
          at,
          length: fc.nat(9),
        }),
      },
    ),
    { maxLength: 7 },
  )

/** The document after the steps, on the replica of an author. */
export function authored(made: readonly Step[], clientId = 1): Y.Doc {
  const doc = new Y.Doc()
  doc.clientID = clientId
  for (const step of made) take(doc.getText(key), step)
  return doc
}

export function take(text: Y.Text, step: Step): void {
  const position = Math.min(step.at, text.length)
  if (step.do === 'insert') text.insert(position, step.text, { ...step.attributes })
  else if (step.do === 'embed') text.insertEmbed(position, { image: 'x' })
  else {
    const length = Math.min(step.length, text.length - position)
    if (length > 0 && step.do === 'delete') text.delete(position, length)
    if (length > 0 && step.do === 'format') text.format(position, length, { bold: true })
  }
}

/** Another replica with the same content, in the form of the server: with untyped roots. */
export function loaded(doc: Y.Doc, clientId = 2): Y.Doc {
  const copy = new Y.Doc()
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(doc))
  copy.clientID = clientId
  return copy
}

export function docWith(text: string): Y.Doc {
  return loaded(authored([{ do: 'insert', at: 0, text, attributes: {} }]))
}

export const replaceText = (doc: Y.Doc, data: string) =>
  replaceContent(doc, { type: 'text', contentKey: key, data })

/** The updates that the document sends during `act`. */
export function updatesOf(doc: Y.Doc, act: () => void): Uint8Array[] {
  const updates: Uint8Array[] = []
  const listen = (update: Uint8Array): unknown => updates.push(update)
  doc.on('update', listen)
  act()
  doc.off('update', listen)
  return updates
}

export interface Unit {
  readonly id: string
  readonly value: string
  readonly attributes: string
}

/** Every live position of the text: its id, value and formatting. The value of an embed is empty. */
export function unitsOf(doc: Y.Doc, contentKey = key): Unit[] {
  const units: Unit[] = []
  const current: Record<string, unknown> = {}
  for (let item = doc.get(contentKey)._start; item !== null; item = item.right) {
    if (item.deleted) continue
    const { content, id } = item
    if (content instanceof Y.ContentFormat) {
      if (content.value === null) delete current[content.key]
      else current[content.key] = content.value
    } else {
      const attributes = JSON.stringify(Object.entries(current).sort(([a], [b]) => (a < b ? -1 : 1)))
      const values = content instanceof Y.ContentString ? content.str.split('') : ['']
      for (const [n, value] of values.entries())
        units.push({ id: `${id.client}:${id.clock + n}`, value, attributes })
    }
  }
  return units
}

export const textOf = (doc: Y.Doc): string => loaded(doc).getText(key).toJSON()

/** The formatted content, with adjacent stretches of equal attributes joined. */
export function deltaIn(doc: Y.Doc): unknown[] {
  const joined: { insert: unknown; attributes?: object }[] = []
  for (const part of loaded(doc).getText(key).toDelta() as typeof joined) {
    const last = joined.at(-1)
    const same = last !== undefined && isDeepStrictEqual(last.attributes, part.attributes)
    if (same && typeof last.insert === 'string' && typeof part.insert === 'string') last.insert += part.insert
    else joined.push({ ...part })
  }
  return joined
}

/** fast-check prints the seeds of failing runs. `WEFT_TEST_LONG=1` makes the search long. */
export const runs = { numRuns: times(150, 400) }
