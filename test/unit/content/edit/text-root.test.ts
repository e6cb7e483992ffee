import { expect, test } from 'vitest'
import * as Y from 'yjs'
import type { Edit } from '../../../../src/core/content/edit/edit.ts'
import { deltaIn, key, loaded, textOf, unitsOf, updatesOf } from '../support.ts'
import {
  applyEdits,
  attribute,
  attributes,
  block,
  candidatesOf,
  heading,
  insert,
  mark,
  quote,
  rejectionOf,
  remove,
  replace,
  textAt,
} from './edit-support.ts'

function docOf(...delta: (string | [string | object, object])[]): Y.Doc {
  const author = new Y.Doc()
  author.clientID = 1
  author
    .getText(key)
    .applyDelta(
      delta.map((piece) =>
        typeof piece === 'string' ? { insert: piece } : { insert: piece[0], attributes: piece[1] },
      ),
    )
  return loaded(author)
}

const apply = (doc: Y.Doc, ...edits: Edit[]) => applyEdits(doc, 'text', key, ...edits)
const rejected = (doc: Y.Doc, edit: Edit) => rejectionOf(doc, 'text', key, edit)

/** The text with the insertions of the server in brackets. */
const written = (doc: Y.Doc): string =>
  unitsOf(doc)
    .map(({ id, value }) => (id.startsWith('2:') ? `[${value}]` : value))
    .join('')
    .replaceAll('][', '')

const quill = (): Y.Doc =>
  docOf(
    'Plan',
    ['\n', { header: 1 }],
    'one\ntwo\nRisks',
    ['\n', { header: 2 }],
    'three\nEnd',
    ['\n', { header: 1 }],
    'four\n',
  )

test('[EDIT-20] matches a quote across formatting, white space and Unicode forms', () => {
  const doc = docOf(
    'The ',
    ['quick', { bold: true }],
    '  brown\n fox, cafe\u0301 ',
    [{ image: 'x' }, {}],
    'now',
  )
  expect(apply(doc, replace(quote('quick brown fox, caf\u00e9 now'), 'dog')).place).toEqual({
    quote: 'quick  brown\n fox, cafe\u0301 now',
    before: 'The ',
  })
  expect(written(doc)).toBe('The [dog]')
})

test('[EDIT-20] matches no quote that ends inside a grapheme cluster', () => {
  const doc = docOf('a 👩‍👩‍👧 b q\u0301')
  expect(rejected(doc, remove(quote('👩'))).code).toBe('crdt/target-not-found')
  expect(rejected(doc, remove(quote('q'))).code).toBe('crdt/target-not-found')
  apply(doc, remove(quote(' 👩‍👩‍👧')))
  expect(textOf(doc)).toBe('a b q\u0301')
})

test('[EDIT-21] chooses an occurrence by its context or its number', () => {
  const text = 'the cat, a cat and my cat'
  const edited = (more: object): string => {
    const doc = docOf(text)
    apply(doc, replace(quote('cat', more), 'dog'))
    return textOf(doc)
  }
  expect(edited({ before: 'a ' })).toBe('the cat, a dog and my cat')
  expect(edited({ before: 'a' })).toBe('the cat, a dog and my cat')
  expect(edited({ after: 'and' })).toBe('the cat, a dog and my cat')
  expect(edited({ before: 'my ', after: '' })).toBe('the cat, a cat and my dog')
  expect(edited({ occurrence: 1 })).toBe('the dog, a cat and my cat')
  expect(edited({ occurrence: 3 })).toBe('the cat, a cat and my dog')
})

test('[EDIT-4] rejects a missing or ambiguous quote with the places that are similar', () => {
  const doc = docOf('the quick brown fox jumps\nover the lazy dog\nthe slow fox')
  const missing = rejected(doc, remove(quote('the quick red fox')))
  expect(missing.message).toBe(
    'edits[0]: the document does not contain the text "the quick red fox"; send one of details.candidates, or read the document again',
  )
  expect(candidatesOf(missing)[0]).toBe('the quick')
  const ambiguous = rejected(doc, remove(quote('the')))
  expect(ambiguous.status).toBe('FAILED_PRECONDITION')
  expect(ambiguous.message).toContain('3 times; send before, after or occurrence')
  expect(ambiguous.details?.candidates).toEqual([
    { quote: 'the', after: ' quick brown fox jumps' },
    { quote: 'the', before: 'over ', after: ' lazy dog' },
    { quote: 'the', after: ' slow fox' },
  ])
  expect(rejected(doc, remove(quote('fox', { before: 'red ' }))).message).toContain('but not with this text')
  expect(rejected(doc, remove(quote('fox', { occurrence: 3 }))).message).toContain('"fox" 3 times')
  expect(rejected(docOf('aaa'), remove(quote('aa'))).code).toBe('crdt/target-ambiguous')
})

test('[EDIT-4] finds and rejects quotes in a megabyte of one character', () => {
  const doc = docOf('a'.repeat(1_000_000))
  expect(rejected(doc, remove(quote('a'))).code).toBe('crdt/target-ambiguous')
  expect(rejected(doc, remove(quote(`b${'a'.repeat(500_000)}`))).code).toBe('crdt/target-not-found')
  expect(rejected(doc, remove(quote('a', { before: 'a'.repeat(400_000) }))).code).toBe(
    'crdt/target-ambiguous',
  )
  expect(apply(doc, remove(quote('a', { occurrence: 999_999 }))).deletions).toBe(1)
  expect(apply(doc, remove(quote('a'.repeat(600_000), { occurrence: 1 }))).deletions).toBe(600_000)
})

test('[EDIT-22] finds a heading, and inserts after it at the end of its section', () => {
  const edited = (edit: Edit): string => {
    const doc = quill()
    apply(doc, edit)
    return written(doc)
  }
  expect(edited(insert({ at: 'after', target: heading('Plan') }, 'new'))).toBe(
    'Plan\none\ntwo\nRisks\nthree\n[new\n]End\nfour\n',
  )
  expect(edited(insert({ at: 'into', target: heading(' Risks ') }, 'x\ny\n'))).toBe(
    'Plan\none\ntwo\nRisks\nthree\n[x\ny\n]End\nfour\n',
  )
  expect(edited(insert({ at: 'into', target: heading('End') }, 'new'))).toBe(
    'Plan\none\ntwo\nRisks\nthree\nEnd\nfour\n[new\n]',
  )
  expect(edited(insert({ at: 'before', target: heading('Risks') }, 'new'))).toBe(
    'Plan\none\ntwo\n[new\n]Risks\nthree\nEnd\nfour\n',
  )
  expect(edited(replace(heading('Risks'), 'Risk'))).toBe('Plan\none\ntwo\nRisk\nthree\nEnd\nfour\n')
  const missing = rejected(quill(), remove(heading('Plans')))
  expect(candidatesOf(missing)).toEqual(['Plan', 'Risks', 'End'])
})

test('[EDIT-23] finds a line by its index and by an attribute', () => {
  const doc = quill()
  apply(doc, insert({ at: 'into', target: block(1) }, '!'), insert({ at: 'after', target: block(1) }, 'new'))
  apply(doc, remove(block(3)), replace(attribute('header', 2), 'Risk'))
  expect(written(doc)).toBe('Plan\none[!]\n[new\n]Risk\nthree\nEnd\nfour\n')
  expect(rejected(doc, remove(block(99))).message).toBe(
    'edits[0]: the document has 7 blocks, but no block 99; read the document again',
  )
  expect(rejected(doc, remove(attribute('header', 1))).code).toBe('crdt/target-ambiguous')
  expect(candidatesOf(rejected(doc, remove(attribute('header', 3))))).toEqual(['Plan', 'Risk', 'End'])
})

test('[EDIT-24] finds an anchor where its text is now, and rejects it when the text was deleted', () => {
  const doc = docOf('one two three')
  const position = (index: number): Uint8Array =>
    Y.encodeRelativePosition(
      Y.createRelativePositionFromTypeIndex(doc.share.get(key) as Y.AbstractType<unknown>, index),
    )
  const anchor = { is: 'anchor', start: position(4), end: position(7) } as const
  apply(doc, insert({ at: 'start' }, 'zero '), replace(anchor, '2'))
  expect(textOf(doc)).toBe('zero one 2 three')
  apply(doc, remove(quote('2')))
  expect(rejected(doc, replace(anchor, 'x')).message).toBe(
    'edits[0]: the text of the anchor was deleted; send one of details.candidates, or read the document again',
  )
})

test('[EDIT-30] keeps the characters that the quote and the new text have in common', () => {
  const doc = docOf('I like the ', ['quick brown', { bold: true }], ' fox and the dog')
  expect(apply(doc, replace(quote('the quick brown fox'), 'the quick red fox'))).toEqual({
    place: { quote: 'the quick brown fox', before: 'I like ', after: ' and the dog' },
    insertions: 3,
    deletions: 5,
    changed: true,
  })
  expect(written(doc)).toBe('I like the quick [red] fox and the dog')
  expect(deltaIn(doc)[1]).toEqual({ insert: 'quick red', attributes: { bold: true } })
})

test('[EDIT-30] keeps the white space that the quote and the new text have in common', () => {
  const doc = docOf('one  two\nthree four')
  apply(doc, replace(quote('one two three'), 'One two and three'))
  expect(textOf(doc)).toBe('One  two\nand three four')
  apply(doc, replace(quote('One  two'), 'One two'))
  expect(textOf(doc)).toBe('One two\nand three four')
})

test('[EDIT-5] writes nothing when the document already has the result', () => {
  const doc = docOf('a ', ['bold', { bold: true }], ' c', ['\n', { header: 1 }])
  const edits = [
    replace(quote('bold c'), 'bold c'),
    mark(quote('bold'), 'bold', true),
    mark(quote('bold c'), 'link', null),
    attributes(block(0), { header: 1, list: null }),
    insert({ at: 'end' }, ''),
    insert({ at: 'before', target: block(0) }, ''),
    textAt(2, 4, 'bold'),
    textAt(1, 0, ''),
  ]
  for (const edit of edits) {
    let outcome = null as ReturnType<typeof apply> | null
    expect(updatesOf(doc, () => (outcome = apply(doc, edit)))).toEqual([])
    expect(outcome).toMatchObject({ changed: false, insertions: 0, deletions: 0 })
  }
})

test('[EDIT-31] inserts text before, after and into a target, and at the ends', () => {
  const doc = docOf('one ', ['two', { bold: true }], ' three')
  apply(
    doc,
    insert({ at: 'before', target: quote('two') }, 'a '),
    insert({ at: 'after', target: quote('two') }, ' b'),
    insert({ at: 'into', target: quote('three') }, '!'),
    insert({ at: 'start' }, '<'),
    insert({ at: 'end' }, '>'),
    insert({ at: 'after', target: block(0) }, 'last\r\nline'),
  )
  expect(written(doc)).toBe('[<]one [a ]two[ b] three[!>\nlast\nline]')
})

test('[EDIT-32] removes a quote over several lines, and a whole line', () => {
  const doc = quill()
  expect(apply(doc, remove(quote('ne two Ri'))).deletions).toBe(9)
  expect(written(doc)).toBe('Plan\nosks\nthree\nEnd\nfour\n')
  apply(doc, remove(heading('Plan')), remove(block(3)))
  expect(deltaIn(doc)).toEqual([
    { insert: 'osks' },
    { insert: '\n', attributes: { header: 2 } },
    { insert: 'three\nEnd' },
    { insert: '\n', attributes: { header: 1 } },
  ])
})

test('[EDIT-33] sets and removes one format of a quote, except on its line breaks', () => {
  const doc = docOf('one ', ['two', { italic: true }], '\nthree')
  apply(doc, mark(quote('two three'), 'bold', true), mark(quote('two'), 'italic', null))
  apply(doc, mark(quote('one'), 'comment', { id: 'c1' }))
  expect(deltaIn(doc)).toEqual([
    { insert: 'one', attributes: { comment: { id: 'c1' } } },
    { insert: ' ' },
    { insert: 'two', attributes: { bold: true } },
    { insert: '\n' },
    { insert: 'three', attributes: { bold: true } },
  ])
  expect(written(doc)).toBe('one two\nthree')
})

test('[EDIT-34] sets attributes of a line, and completes the last line', () => {
  const doc = docOf('one', ['\n', { header: 1, align: 'center' }], 'two')
  apply(doc, attributes(quote('one'), { header: 2, list: 'bullet' }), attributes(block(1), { header: 3 }))
  expect(deltaIn(doc)).toEqual([
    { insert: 'one' },
    { insert: '\n', attributes: { header: 2, align: 'center', list: 'bullet' } },
    { insert: 'two' },
    { insert: '\n', attributes: { header: 3 } },
  ])
})

test('[EDIT-35] deletes and inserts at a position that counts embeds', () => {
  const doc = docOf('ab', [{ image: 'x' }, {}], 'cd')
  apply(doc, textAt(3, 1, 'X'), textAt(2, 1, 'Y'), textAt(0, 0, '!'))
  expect(written(doc)).toBe('[!]ab[YX]d')
  expect(rejected(doc, textAt(5, 2, '')).message).toBe(
    'edits[0]: the text has 6 positions, but the edit ends at position 7; read the document again',
  )
  expect(rejected(docOf('😀'), textAt(1, 0, 'x')).code).toBe('crdt/target-not-found')
})

test('[EDIT-8] rejects edits that a text does not support', () => {
  const doc = docOf('one')
  expect(rejected(doc, { is: 'patch', operations: [] }).code).toBe('crdt/edit-not-supported')
  expect(rejected(doc, remove({ is: 'path', path: ['a'] })).code).toBe('crdt/edit-not-supported')
  const value: Edit = { is: 'replace', target: quote('one'), content: { format: 'value', value: 1 } }
  expect(rejected(doc, value).code).toBe('crdt/edit-not-supported')
})
