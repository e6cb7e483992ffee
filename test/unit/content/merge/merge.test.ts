import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { EditRequest } from '../../../../src/core/content/edit/check-edits.ts'
import { readRootAs } from '../../../../src/core/content/read-document.ts'
import type { RootChange } from '../../../../src/core/content/root-change.ts'
import { rejectionIn } from '../edit/merge-support.ts'
import { array, key, map, mergeThree, text, xml } from './merge-support.ts'

const budget = 'Budget: 100 EUR. We ship on Monday.'
const theirs = 'Budget: 250 EUR. We ship on Tuesday.'
const mine = 'Budget: 170 EUR. We ship on Friday.'

describe('texts', () => {
  it('[MERGE-2] keeps one side of a number and of a word that both sides have changed', () => {
    for (const [policy, content, kept] of [
      ['report', mine, 'mine'],
      ['keepTheirs', theirs, 'theirs'],
      ['keepMine', mine, 'mine'],
    ] as const) {
      const merged = mergeThree(text(budget), text(theirs), text(mine), policy)
      expect(merged.data).toBe(content)
      expect(merged.overlaps).toEqual([
        { path: '', base: '100', theirs: '250', mine: '170', kept },
        { path: '', base: 'Monday', theirs: 'Tuesday', mine: 'Friday', kept },
      ])
      expect(merged.changed).toBe(kept === 'mine')
    }
  })

  it('[MERGE-1] keeps changes of different words', () => {
    const merged = mergeThree(text('one two three'), text('one TWO three four'), text('ONE two three'))
    expect(merged).toMatchObject({ data: 'ONE TWO three four', changed: true, overlaps: [] })
  })

  it('[MERGE-9] keeps both of two different insertions at the same place, also words that both have', () => {
    const [short, long] = ['one two ', 'one two three ']
    const of = (inserted: string) => text(`Start. ${inserted}End.`)
    for (const [theirs, mine] of [
      [short, long],
      [long, short],
    ] as const) {
      const merged = mergeThree(of(''), of(theirs), of(mine))
      expect([`Start. ${short}${long}End.`, `Start. ${long}${short}End.`]).toContain(merged.data)
      expect(merged.overlaps).toEqual([])
    }
  })

  it('[MERGE-2] keeps one copy of a change that both sides have made', () => {
    expect(mergeThree(text(budget), text(theirs), text(theirs))).toMatchObject({
      data: theirs,
      changed: false,
      overlaps: [],
    })
    expect(mergeThree(text('a'), text('a and b'), text('a and b'))).toMatchObject({
      data: 'a and b',
      changed: false,
    })
  })

  it('[MERGE-1] keeps changes at both ends of a long text without spaces', () => {
    for (const unit of ['👩‍👩‍👧', '漢字東京', 'a.', '+']) {
      const long = unit.repeat(2_000)
      const merged = mergeThree(text(long), text(`(1) ${long}`), text(`${long} (2)`))
      expect(merged).toMatchObject({ data: `(1) ${long} (2)`, changed: true, overlaps: [] })
      const both = mergeThree(text(`1${long}`), text(`2${long}`), text(`3${long} 4`), 'keepTheirs')
      expect(both).toMatchObject({ data: `2${long} 4`, changed: true })
      expect(both.overlaps).toHaveLength(1)
    }
  })

  it('[MERGE-1] keeps appended text of both sides', () => {
    const merged = mergeThree(text('a\n'), text('a\nb\n'), text('a\nc\n'))
    expect(['a\nb\nc\n', 'a\nc\nb\n']).toContain(merged.data)
    expect(merged.overlaps).toEqual([])
  })

  it('[MERGE-2] reports a sentence that one side has deleted and the other one has edited', () => {
    const base = 'Intro. We ship on Monday with all parts. End.'
    const without = 'Intro. End.'
    const edited = 'Intro. We ship on Tuesday with all parts. End.'
    expect(mergeThree(text(base), text(without), text(edited), 'keepTheirs').data).toBe(without)
    expect(mergeThree(text(base), text(without), text(edited), 'keepMine').data).toBe(edited)
    expect(mergeThree(text(base), text(edited), text(without), 'keepTheirs').data).toBe(edited)
    expect(mergeThree(text(base), text(edited), text(without), 'keepMine').data).toBe(without)
    expect(mergeThree(text(base), text(edited), text(without)).overlaps).toHaveLength(1)
  })
})

describe('plain values', () => {
  const listIn = (data: unknown) => (Array.isArray(data) ? data : (data as { list: unknown[] }).list)

  it('[MERGE-5] merges members of nested objects', () => {
    const base = { b: { x: 1, y: 1 } }
    for (let run = 0; run < 20; run++)
      expect(mergeThree(map(base), map({ b: { x: 1, y: 2 } }), map({ b: { x: 2, y: 1 } }))).toMatchObject({
        data: { b: { x: 2, y: 2 } },
        changed: true,
        overlaps: [],
      })
  })

  it('[MERGE-4] reports a value that both sides have changed', () => {
    const merged = mergeThree(map({ a: { n: 1 } }), map({ a: { n: 2 } }), map({ a: { n: 3 } }), 'keepTheirs')
    expect(merged).toMatchObject({
      data: { a: { n: 2 } },
      changed: false,
      overlaps: [{ path: '/a/n', base: 1, theirs: 2, mine: 3, kept: 'theirs' }],
    })
  })

  it('[MERGE-5] merges lists of records by their ids', () => {
    const base = {
      l: [
        { id: 1, n: 'a', m: 1 },
        { id: 2, n: 'b', m: 1 },
        { id: 3, n: 'c', m: 1 },
      ],
    }
    const left = {
      l: [
        { id: 1, n: 'A', m: 1 },
        { id: 2, n: 'b', m: 1 },
        { id: 3, n: 'c', m: 1 },
        { id: 4, n: 'd', m: 1 },
      ],
    }
    const right = {
      l: [
        { id: 1, n: 'a', m: 2 },
        { id: 3, n: 'C', m: 1 },
        { id: 5, n: 'e', m: 1 },
      ],
    }
    expect(mergeThree(map(base), map(left), map(right))).toMatchObject({
      data: {
        l: [
          { id: 1, n: 'A', m: 2 },
          { id: 3, n: 'C', m: 1 },
          { id: 4, n: 'd', m: 1 },
          { id: 5, n: 'e', m: 1 },
        ],
      },
      overlaps: [],
    })
  })

  it('[MERGE-5] keeps added and removed keys, and appended items', () => {
    const merged = mergeThree(
      map({ s: { a: 1, b: 2 }, l: [1] }),
      map({ s: { a: 1, b: 2, c: 3 }, l: [1, 2] }),
      map({ s: { a: 1 }, l: [1, 3], k: true }),
    )
    expect(merged).toMatchObject({ data: { s: { a: 1, c: 3 }, l: [1, 2, 3], k: true }, overlaps: [] })
  })

  it('[MERGE-5] merges records in an array', () => {
    const merged = mergeThree(
      array([
        { id: 1, x: 1, y: 1 },
        { id: 2, x: 1 },
      ]),
      array([{ id: 1, x: 1, y: 2 }, { id: 2, x: 1 }, { id: 3 }]),
      array([{ id: 1, x: 2, y: 1 }, { id: 2, x: 5 }, { id: 4 }]),
    )
    expect(merged.overlaps).toEqual([])
    expect((merged.data as unknown[]).slice(0, 2)).toEqual([
      { id: 1, x: 2, y: 2 },
      { id: 2, x: 5 },
    ])
    expect(merged.data).toHaveLength(4)
  })

  it('[MERGE-5] merges moved items by their ids', () => {
    const records = (...list: readonly (number | object)[]) =>
      list.map((item) => (typeof item === 'number' ? { id: item } : item))
    const [one, two] = [
      { id: 1, n: 1 },
      { id: 2, n: 1 },
    ]
    for (const [base, theirs, mine, merged] of [
      [records(1, 2, 3, 4), records(3, 2, 4), records(2, 3, 4), records(3, 2, 4)],
      [records(1, 2, 3), records(1, 3, 2), records({ id: 3, n: 1 }, 1, 2), records({ id: 3, n: 1 }, 1, 2)],
      [records(1, 2, 3), records(1, 3), records(2, 1, 3), records(1, 3)],
      [records(1, 2, 3), records(one, 2, 3), records(2, 3, 1), records(2, 3, one)],
      [records(1, 2, 3), records(2, 3, 1), records(one, 2, 3), records(2, 3, one)],
      [records(1, 2, 3), records(1, 3, 2, 4), records(1, two, 5, 3), records(1, 5, 3, two, 4)],
    ] as const)
      for (const of of [array, (list: unknown) => map({ list })]) {
        const { data, overlaps } = mergeThree(of(base), of(theirs), of(mine))
        if (merged.length < 5) expect(listIn(data)).toEqual(merged)
        else expect(new Set(listIn(data))).toEqual(new Set(merged))
        expect(overlaps).toEqual([])
      }
  })

  it('[MERGE-2] keeps one side of an item that one side has deleted and the other one has moved and changed', () => {
    const [base, theirs, mine] = [[{ id: 1 }, { id: 2 }], [{ id: 2 }], [{ id: 2 }, { id: 1, n: 1 }]]
    for (const of of [array, (list: unknown) => map({ list })])
      for (const [policy, kept] of [
        ['keepTheirs', theirs],
        ['keepMine', mine],
      ] as const) {
        const merged = mergeThree(of(base), of(theirs), of(mine), policy)
        expect(listIn(merged.data)).toEqual(kept)
        expect(merged.overlaps).toHaveLength(1)
      }
  })

  it('[MERGE-2] keeps one side of a list of values without ids in which both sides move the same value', () => {
    const merged = mergeThree(map({ l: [1, 2, 3, 4] }), map({ l: [3, 2, 4] }), map({ l: [2, 3, 4] }))
    expect((merged.data as { l: number[] }).l.toSorted()).toEqual([2, 3, 4])
  })
})

describe('XML', () => {
  it('[MERGE-2] keeps one side of words in the text of an element, and merges attributes', () => {
    const merged = mergeThree(
      xml(`<paragraph a="1" b="1">${budget}</paragraph>`),
      xml(`<paragraph a="2" b="1">${theirs}</paragraph>`),
      xml(`<paragraph a="1" b="2">${mine}</paragraph>`),
    )
    expect(merged.data).toBe(`<paragraph a="2" b="2">${mine}</paragraph>`)
    expect(merged.overlaps.map(({ path }) => path)).toEqual(['/0/0', '/0/0'])
  })

  it('[MERGE-2] reports an element that one side has deleted and the other one has edited', () => {
    const base =
      '<paragraph>One.</paragraph><paragraph>We ship on Monday.</paragraph><paragraph>Three.</paragraph>'
    const without = '<paragraph>One.</paragraph><paragraph>Three.</paragraph>'
    const edited = base.replace('Monday', 'Tuesday')
    for (const [left, right] of [
      [without, edited],
      [edited, without],
    ] as const) {
      expect(mergeThree(xml(base), xml(left), xml(right), 'keepTheirs')).toMatchObject({
        data: left,
        changed: false,
      })
      expect(mergeThree(xml(base), xml(left), xml(right), 'keepMine')).toMatchObject({
        data: right,
        changed: true,
      })
      expect(mergeThree(xml(base), xml(left), xml(right)).overlaps).toHaveLength(1)
    }
  })
})

describe('elements from which each side has deleted a part of the content', () => {
  const cell = (content: string) => `<table><tableRow><tableCell>${content}</tableCell></tableRow></table>`
  const [a, b] = ['<paragraph>a</paragraph>', '<paragraph>b</paragraph>']
  const items = [a, b].map((content) => `<listItem>${content}</listItem>`) as [string, string]

  it('[MERGE-12] are removed when they have no content any more', () => {
    const row = (content: string) => `<tableRow>${content}</tableRow>`
    const cells = [a, b].map((content) => `<tableCell>${content}</tableCell>`) as [string, string]
    for (const [around, parts] of [
      [(content: string) => `<bulletList>${content}</bulletList>`, items],
      [(content: string) => `<blockquote><bulletList>${content}</bulletList></blockquote>`, items],
      [(content: string) => `<table>${row(content)}${row(content)}</table>`, cells],
      [(content: string) => `<section>${content}</section>`, [a, b]],
    ] as const) {
      const of = (content: string) => xml(`<paragraph>x</paragraph>${around(content)}`)
      const merged = mergeThree(of(parts.join('')), of(parts[0]), of(parts[1]))
      expect(merged).toMatchObject({ data: '<paragraph>x</paragraph>', changed: true, overlaps: [] })
    }
  })

  it('[MERGE-12] stay if they are text blocks, or if a side had emptied them itself', () => {
    const images = ['<image src="a"/>', '<image src="b"/>'] as const
    for (const [base, theirs, mine, merged] of [
      ['<paragraph>one two</paragraph>', '<paragraph>one </paragraph>', '<paragraph>two</paragraph>', null],
      [
        `<paragraph>${images.join('')}</paragraph>`,
        `<paragraph>${images[0]}</paragraph>`,
        `<paragraph>${images[1]}</paragraph>`,
        null,
      ],
      [
        `<bulletList>${items.join('')}</bulletList>`,
        '<bulletList/>',
        `<bulletList>${items[0]}</bulletList>`,
        '<bulletList/>',
      ],
    ] as const)
      expect(mergeThree(xml(base), xml(theirs), xml(mine)).data).toBe(merged ?? '<paragraph/>')
  })

  it('[MERGE-12] leave the only block of Lexical', () => {
    const of = (...blocks: string[]) => ({
      type: 'xmltext' as const,
      contentKey: key,
      data: {
        delta: blocks.map((insert) => ({
          text: { attributes: { __type: 'paragraph' }, delta: [{ insert }] },
        })),
      },
    })
    const merged = mergeThree(of('a', 'b'), of('a'), of('b'))
    expect(merged).toMatchObject({ data: of('b').data, overlaps: [{ path: '', kept: 'mine' }] })
  })

  it('[MERGE-12] have one complete side if they must stay and need a block', () => {
    const group = (content: string) => `<blockGroup>${content}</blockGroup>`
    for (const [around, path] of [
      [cell, '/0/0/0'],
      [group, '/0'],
      [(content: string) => group(`<blockContainer><quote>${content}</quote></blockContainer>`), '/0/0/0'],
      [(content: string) => cell(`<blockquote>${content}</blockquote>`), '/0/0/0/0'],
    ] as const)
      for (const [policy, kept] of [
        ['report', b],
        ['keepTheirs', a],
      ] as const) {
        const merged = mergeThree(xml(around(a + b)), xml(around(a)), xml(around(b)), policy)
        expect(merged).toMatchObject({
          data: around(kept),
          overlaps: [{ path, base: a + b, theirs: a, mine: b }],
        })
      }
  })
})

describe('content with an attached schema', () => {
  it('[FMT-191] may keep a node of others that the schema lacks, also if the change has deleted it', () => {
    const schema = { name: 'tiptap', spec: null, isAttached: true } as const
    const of = (end: string, poll: string) => xml(`<paragraph>a ${end}</paragraph>${poll}`)
    const theirs = of('b', '<poll>yes or no</poll>')
    const mine = { ...of('c', ''), schema }
    const merged = mergeThree(of('b', '<poll>yes</poll>'), theirs, mine, 'keepTheirs')
    expect(merged.data).toBe('<paragraph>a c</paragraph><poll>yes or no</poll>')
    expect(merged.result.warnings).toEqual([expect.stringContaining('"poll"')])
  })
})

describe('edits that only delete what others have replaced', () => {
  const edit = (...edits: EditRequest[]): RootChange => ({ contentKey: key, edits, merged: true })
  const paragraph = '<paragraph>one</paragraph>'
  const cases: [base: RootChange, theirs: RootChange, mine: EditRequest, deleted: unknown][] = [
    [map({ n: 1, m: 1 }), map({ n: 2, m: 1 }), { patch: [{ op: 'remove', path: '/n' }] }, { m: 1 }],
    [map({ a: { n: 1 } }), map({ a: [2] }), { patch: [{ op: 'remove', path: '/a' }] }, {}],
    [array(['a', 'b', 'c']), array(['a', 'B', 'c']), { remove: { target: { path: '/1' } } }, ['a', 'c']],
    [text('a cat here'), text('a dog here'), { remove: { target: 'cat' } }, 'a  here'],
    [
      xml('<paragraph a="1">one</paragraph>'),
      xml('<paragraph a="2">one</paragraph>'),
      { attributes: { target: { block: 0 }, set: { a: null } } },
      paragraph,
    ],
    [
      xml(`${paragraph}<paragraph>two</paragraph>`),
      xml(`${paragraph}<heading level="1">two</heading>`),
      { remove: { target: { block: 1 } } },
      paragraph,
    ],
    [
      xml('<paragraph>a cat here</paragraph>'),
      xml('<heading level="1">a cat here</heading>'),
      { remove: { target: 'cat ' } },
      '<paragraph>a here</paragraph>',
    ],
  ]

  it.each(cases)('[MERGE-2] [MERGE-3] keep one side, as an overlap (%#)', (base, theirs, mine, deleted) => {
    const { data } = mergeThree(base, theirs, base)
    expect(mergeThree(base, theirs, edit(mine))).toMatchObject({
      data,
      changed: false,
      overlaps: [{ kept: 'theirs' }],
      result: { edits: [{ changed: false, deletions: 0 }] },
    })
    expect(rejectionIn(() => mergeThree(base, theirs, edit(mine), 'fail')).code).toBe('crdt/overlap')
    expect(mergeThree(base, theirs, edit(mine), 'keepMine')).toMatchObject({
      data: deleted,
      changed: true,
      overlaps: [{ kept: 'mine' }],
      result: { edits: [{ changed: true }] },
    })
  })

  it('[EDIT-71] write nothing if others have already made the same deletions, or all edits of the request', () => {
    const remove: EditRequest = { remove: { target: 'cat ' } }
    const replace: EditRequest = { replace: { find: 'two', with: 'three' } }
    for (const [theirs, edits] of [
      ['a one two', [remove]],
      ['a one three', [remove, replace]],
      ['a one three!', [remove, replace]],
    ] as const)
      for (const policy of ['report', 'fail', 'keepMine'] as const)
        expect(mergeThree(text('a cat one two'), text(theirs), edit(...edits), policy)).toMatchObject({
          data: theirs,
          changed: false,
          overlaps: [],
        })
  })
})

describe('formatting', () => {
  const delta = (data: unknown) => ({ type: 'delta', data, contentKey: key }) as const

  it('[MERGE-2] stays on text that one side has deleted, if the other side is kept', () => {
    const base = [
      { insert: 'We ' },
      { insert: 'ship on Monday', attributes: { bold: true } },
      { insert: '.' },
    ]
    const edited = [
      { insert: 'We ' },
      { insert: 'ship on Tuesday', attributes: { bold: true } },
      { insert: '.' },
    ]
    const without = [{ insert: 'We wait.' }]
    for (const [theirs, mine] of [
      [without, edited],
      [edited, without],
    ] as const)
      for (const policy of ['keepTheirs', 'keepMine'] as const) {
        const merged = mergeThree(delta(base), delta(theirs), delta(mine), policy)
        expect(readRootAs(merged.doc, 'delta', key).data).toEqual(policy === 'keepTheirs' ? theirs : mine)
        expect(merged.changed).toBe(policy === 'keepMine')
      }
  })

  it('[MERGE-2] has the value of one side, if both sides have formatted the same text', () => {
    const formatted = (attributes: object, other: object = {}) =>
      delta([
        { insert: 'We ship', attributes },
        { insert: ' on Monday.', ...(Object.keys(other).length > 0 && { attributes: other }) },
      ])
    for (const policy of ['keepTheirs', 'keepMine'] as const) {
      const merged = mergeThree(
        formatted({ color: 'red' }),
        formatted({ color: 'blue', bold: true }),
        formatted({ color: 'green', italic: true }, { underline: true }),
        policy,
      )
      const isTheirs = policy === 'keepTheirs'
      const attributes = { bold: true, color: isTheirs ? 'blue' : 'green', italic: true }
      expect(readRootAs(merged.doc, 'delta', key).data).toEqual([
        { insert: 'We ship', attributes },
        { insert: ' on Monday.', attributes: { underline: true } },
      ])
      expect(merged.overlaps).toEqual([
        {
          path: '',
          base: { color: 'red' },
          theirs: { color: 'blue' },
          mine: { color: 'green' },
          kept: isTheirs ? 'theirs' : 'mine',
        },
      ])
    }
  })
})

describe('subdocuments', () => {
  it('[MERGE-9] keeps an insertion next to a subdocument that another client has inserted', () => {
    const theirs = (doc: Y.Doc): void => doc.getArray(key).insert(1, [new Y.Doc({ guid: 'page' })])
    const merged = mergeThree(array([1]), theirs, array([1, 2]))
    expect(merged.data).toHaveLength(3)
    expect(merged.data).toEqual(expect.arrayContaining([1, 2, { subdocument: 'page' }]))
    expect(merged.overlaps).toEqual([])
  })

  it('[MERGE-2] keeps one side of an entry that one side has set to a subdocument', () => {
    const theirs = (doc: Y.Doc): void => void doc.getMap(key).set('page', new Y.Doc({ guid: 'page' }))
    for (const kept of ['theirs', 'mine'] as const) {
      const policy = kept === 'mine' ? 'keepMine' : 'keepTheirs'
      const merged = mergeThree(map({ page: 1 }), theirs, map({ page: 2 }), policy)
      const sides = { theirs: { subdocument: 'page' }, mine: 2 }
      expect(merged.data).toEqual({ page: sides[kept] })
      expect(merged.overlaps).toEqual([{ path: '/page', base: 1, ...sides, kept }])
    }
  })
})
