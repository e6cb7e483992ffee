import { slateNodesToInsertDelta } from '@slate-yjs/core'
import type { Node } from 'slate'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { replaceContent } from '../../../../src/core/content/replace.ts'
import { checkSchema } from '../../../../src/core/content/schemas/check-schema.ts'
import { blocknoteSpec } from '../../../../src/core/content/schemas/presets/blocknote.ts'
import {
  isPresetWord,
  type presetNames,
  presetSchema,
  prosemirrorSpec,
} from '../../../../src/core/content/schemas/presets/presets.ts'
import { tiptapSpec } from '../../../../src/core/content/schemas/presets/tiptap.ts'
import { schemaJson } from '../../../support/data/schema-json.ts'
import { basicSchema } from '../xml-editors.ts'
import { findViolation } from './first-violation.ts'

test.each([tiptapSpec, prosemirrorSpec, blocknoteSpec])(
  '[FMT-84] has a preset within the limits: example %#',
  (spec) => {
    expect(checkSchema(spec)).toBe(spec)
  },
)

test('[FMT-84] has the names, the content and the attributes of ProseMirror in the preset', () => {
  const installed = schemaJson(basicSchema)
  const { contentKey, ...preset } = prosemirrorSpec
  expect(contentKey).toBe('prosemirror')
  expect(preset).toEqual(installed)
})

const find = (type: string, preset: (typeof presetNames)[number], data: unknown): unknown => {
  const doc = new Y.Doc()
  replaceContent(doc, { type, contentKey: 'content', data })
  return findViolation(doc, 'content', presetSchema(preset))
}

test('[FMT-85] checks the formats and the embeds of a delta with the preset of Quill', () => {
  const allowed = [
    { insert: 'a', attributes: { bold: true, color: '#f00', link: '/a' } },
    { insert: '\n', attributes: { header: 2, list: 'ordered', indent: 1 } },
    { insert: { image: '/a.png' }, attributes: { width: '20', alt: 'b' } },
  ]
  expect(find('delta', 'quill', allowed)).toBeNull()
  expect(find('delta', 'quill', [{ insert: 'a', attributes: { strong: true } }])).toEqual({
    path: '/text/@strong',
    problem: 'the schema has no format "strong"',
    allowed: expect.arrayContaining(['bold', 'header']),
  })
  expect(find('delta', 'quill', [{ insert: 'a', attributes: { bold: 'yes' } }])).toMatchObject({
    problem: 'the format "bold" has the type string',
    allowed: ['boolean'],
  })
  expect(find('delta', 'quill', [{ insert: { chart: 'x' } }])).toEqual({
    path: '/text/@chart',
    problem: 'the schema has no embed "chart"',
    allowed: ['formula', 'image', 'video'],
  })
  expect(find('delta', 'quill', [{ insert: { image: 'a', video: 'b' } }])).toMatchObject({
    problem: 'an embed must be an object with one member',
  })
})

test('[FMT-85] checks the types of nodes with the preset of Lexical', () => {
  const paragraph = (...delta: unknown[]): unknown => ({
    delta: [{ text: { attributes: { __type: 'paragraph' }, delta } }],
  })
  expect(
    find(
      'xmltext',
      'lexical',
      paragraph({ map: { __type: 'text' } }, { insert: 'a' }, { map: { __type: 'linebreak' } }),
    ),
  ).toBeNull()
  expect(
    find('xmltext', 'lexical', {
      delta: [{ text: { attributes: { __type: 'h2' }, delta: [{ insert: 'a' }] } }],
    }),
  ).toEqual({
    path: '/root/h2[0]',
    problem: 'the schema has no node "h2"',
    allowed: expect.arrayContaining(['paragraph', 'heading']),
  })
  expect(find('xmltext', 'lexical', paragraph({ map: { __type: 'emoji' } }))).toMatchObject({
    path: '/root/paragraph[0]/emoji[0]',
  })
  expect(find('xmltext', 'lexical', paragraph({ map: {} }))).toMatchObject({
    problem: 'a node needs the attribute "__type"',
  })
  expect(find('xmltext', 'lexical', paragraph({ insert: { image: 'x' } }))).toMatchObject({
    problem: 'the schema does not allow a value of this kind',
  })
})

test('[FMT-85] checks that the preset of Slate has nested texts only', () => {
  const nodes = [
    { type: 'heading-one', children: [{ text: 'Title', bold: true }] },
    { children: [{ text: 'plain' }, { type: 'link', url: '/x', children: [{ text: 'link' }] }] },
  ] as unknown as Node[]
  const doc = new Y.Doc()
  doc.get('content', Y.XmlText).applyDelta(slateNodesToInsertDelta(nodes))
  expect(findViolation(doc, 'content', presetSchema('slate'))).toBeNull()
  const text = { attributes: { type: 7 }, delta: [{ insert: 'a' }] }
  expect(find('xmltext', 'slate', { delta: [{ text }] })).toMatchObject({ path: '/editor/node[0]/@type' })
  expect(find('xmltext', 'slate', { delta: [{ text: { delta: [{ map: { a: 1 } }] } }] })).toMatchObject({
    problem: 'the schema does not allow a value of this kind',
  })
})

test('[FMT-86] knows the names of all presets, and not those of HTML', () => {
  for (const name of ['paragraph', 'bullet_list', 'bulletListItem', 'bold', 'strong'])
    expect(isPresetWord(name)).toBe(true)
  for (const name of ['h2', 'p', 'ul', 'li', 'constructor']) expect(isPresetWord(name)).toBe(false)
})
