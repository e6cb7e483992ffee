import { describe, expect, it } from 'vitest'
import type * as Y from 'yjs'
import type { EditRequest } from '../../../../src/core/content/edit/check-edits.ts'
import { docWith, key, loaded, textOf } from '../support.ts'
import { docOf, richKey, xmlOf } from '../xml-support.ts'
import { mergeEdits, rejectionIn } from './merge-support.ts'
import { docOf as jsonDocOf } from './patch-support.ts'

const replaced = (find: string, text: string): EditRequest[] => [{ replace: { find, with: text } }]

/** Two replicas of a document: the base version, and the live document after `change`. */
function since(base: Y.Doc, change: (live: Y.Doc) => void): { base: Y.Doc; live: Y.Doc } {
  const live = loaded(base, 5)
  change(live)
  return { base, live }
}

describe('edits of an older version', () => {
  it('[EDIT-70] rejects an edit whose quoted text was deleted since then, and names the edit', () => {
    const { base, live } = since(docWith('The quick brown fox.'), (doc) => doc.getText(key).delete(4, 6))
    const first: EditRequest = { insert: { at: 'end', content: ' It ran.' } }
    const edits: EditRequest[] = [
      { replace: { find: 'quick', with: 'slow' } },
      { insert: { after: 'quick', content: 'er' } },
      { insert: { before: 'quick', content: 'very ' } },
      { mark: { find: 'quick', name: 'bold', value: true } },
      { replace: { find: 'quick', with: 'The quick red' } },
    ]
    for (const edit of edits) {
      expect(rejectionIn(() => mergeEdits(live, base, key, [first, edit]))).toMatchObject({
        code: 'crdt/target-not-found',
        edit: 1,
        message: expect.stringContaining('edits[1]'),
      })
    }
    expect(textOf(live)).toBe('The brown fox.')
  })

  it('[EDIT-70] rejects an edit of a paragraph whose quoted text was deleted since then', () => {
    const { base, live } = since(docOf('<paragraph>One two.</paragraph>', richKey), (doc) => {
      const paragraph = doc.getXmlFragment(richKey).get(0) as Y.XmlElement
      ;(paragraph.get(0) as Y.XmlText).delete(4, 3)
    })
    const edits = [{ insert: { after: 'two', content: ' and a half' } }]
    expect(rejectionIn(() => mergeEdits(live, base, richKey, edits)).code).toBe('crdt/target-not-found')
    const markdown = [{ replace: { find: 'two', with: '**three**', format: 'markdown' } }]
    expect(rejectionIn(() => mergeEdits(live, base, richKey, markdown)).code).toBe('crdt/target-not-found')
    expect(xmlOf(live, richKey)).toBe('<paragraph>One .</paragraph>')
  })

  it('[EDIT-70] replaces the remainder of a quote of which a part was deleted since then', () => {
    const { base, live } = since(docWith('The quick brown fox.'), (doc) => doc.getText(key).delete(4, 6))
    mergeEdits(live, base, key, replaced('quick brown', 'red'))
    expect(textOf(live)).toBe('The red fox.')
  })

  it('[EDIT-71] writes nothing when another caller wrote the same replacement since then', () => {
    for (const [find, text] of [
      ['brown', 'red'],
      ['brown fox', 'brown red fox'],
      ['quick', 'Quick'],
      ['The quick brown fox.', 'A slow brown fox sleeps.'],
    ] as const) {
      const base = docWith('The quick brown fox.')
      const live = loaded(base, 5)
      expect(mergeEdits(live, base, key, replaced(find, text))).toBe(true)
      live.getText(key).insert(0, 'x')
      expect(mergeEdits(live, base, key, replaced(find, text))).toBe(false)
      expect(textOf(live)).toBe(`x${'The quick brown fox.'.replace(find, text)}`)
    }
  })

  it('[EDIT-71] writes nothing when another caller wrote the same change of a block since then', () => {
    const edits: EditRequest[][] = [
      [{ replace: { find: { block: 0 }, with: 'Other.' } }],
      [{ replace: { find: 'One.', with: '# Title\n\nText', format: 'markdown' } }],
      [{ replace: { find: 'One.', with: 'One, **two**.\n\nThree.', format: 'markdown' } }],
      [{ mark: { find: 'One', name: 'bold', value: {} } }],
      [{ attributes: { target: { block: 0 }, set: { textAlign: 'left' } } }],
    ]
    for (const requests of edits) {
      const base = docOf('<paragraph>One.</paragraph><paragraph>Four.</paragraph>', richKey)
      const live = loaded(base, 5)
      expect(mergeEdits(live, base, richKey, requests)).toBe(true)
      const once = xmlOf(live, richKey)
      expect(mergeEdits(live, base, richKey, requests)).toBe(false)
      expect(xmlOf(live, richKey)).toBe(once)
    }
  })

  it('[EDIT-71] inserts twice when two callers insert the same text', () => {
    const base = docWith('one')
    const live = loaded(base, 5)
    for (let n = 0; n < 2; n++) mergeEdits(live, base, key, [{ insert: { after: 'one', content: '!' } }])
    expect(textOf(live)).toBe('one!!')
  })

  it('[EDIT-71] rejects a request of which the document has only some edits', () => {
    const base = docWith('The quick brown fox.')
    const live = loaded(base, 5)
    mergeEdits(live, base, key, replaced('quick', 'slow'))
    const edits = [...replaced('brown', 'red'), ...replaced('quick', 'slow')]
    expect(rejectionIn(() => mergeEdits(live, base, key, edits))).toMatchObject({
      code: 'crdt/target-not-found',
      edit: 1,
    })
    expect(textOf(live)).toBe('The slow brown fox.')
  })

  it('[EDIT-70] rejects a patch of an element that was deleted since then, and writes an equal patch once', () => {
    for (const storage of ['plain', 'shared'] as const) {
      const base = jsonDocOf(['a', 'b', 'c'], storage)
      const patch = (...patch: object[]): EditRequest[] => [{ patch }]
      const { live } = since(base, (doc) => doc.getArray(key).delete(1, 1))
      for (const edits of [
        patch({ op: 'replace', path: '/1', value: 'x' }),
        patch({ op: 'move', from: '/1', path: '/0' }),
      ])
        expect(rejectionIn(() => mergeEdits(live, base, key, edits)).code).toBe('crdt/target-not-found')
      const twice = loaded(base, 5)
      const edits = patch({ op: 'replace', path: '/1', value: 'x' }, { op: 'move', from: '/2', path: '/0' })
      expect([mergeEdits(twice, base, key, edits), mergeEdits(twice, base, key, edits)]).toEqual([
        true,
        false,
      ])
      expect(twice.getArray(key).toJSON()).toEqual(['c', 'a', 'x'])
    }
  })

  it('[EDIT-71] writes nothing when a map already has the values of a patch', () => {
    const base = jsonDocOf({ a: 1, b: { c: 'old' } }, 'shared')
    const live = loaded(base, 5)
    const patch = [
      { op: 'replace', path: '/a', value: 2 },
      { op: 'replace', path: '/b/c', value: 'new' },
    ]
    expect(mergeEdits(live, base, key, [{ patch }])).toBe(true)
    expect(mergeEdits(live, base, key, [{ patch }])).toBe(false)
    expect(live.getMap(key).toJSON()).toEqual({ a: 2, b: { c: 'new' } })
  })
})
