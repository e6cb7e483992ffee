import { expect, it } from 'vitest'
import {
  type AttributedEntry,
  authorStyles,
  type ChangeSetEntry,
  describePoint,
  originInWords,
  timelineOf,
  toLines,
  unitsByAuthor,
} from '../../../src/console/documents/authorship/authors.ts'
import { toDiffParts } from '../../../src/console/documents/diff/diff-part.ts'

const run = (more: Partial<AttributedEntry>): AttributedEntry => ({
  path: [0],
  length: 1,
  userId: 'ann',
  at: null,
  source: null,
  meta: null,
  ...more,
})

it('[CON-75] gives each author one color, authors beyond the colors another line, and unknown authors no color', () => {
  const authors = Array.from({ length: 12 }, (_, index) => `user ${index}`)
  const styles = authorStyles([null, ...authors, 'user 3'])
  expect(styles.get(null)).toEqual({})
  expect(new Set([...styles.values()].map((style) => JSON.stringify(style))).size).toBe(13)
  expect(styles.get('user 8')).toEqual({ ...styles.get('user 0'), borderBottomStyle: 'dotted' })
})

it('[CON-75] puts the texts of a type on one line, an element before its text, and each value on its own line', () => {
  const lines = toLines([
    run({ path: [0], node: 'paragraph' }),
    run({ path: [0, 0, 0], text: 'Hello', length: 5 }),
    run({ path: [0, 0, 5], text: ' you', length: 4, userId: 'bob' }),
    run({ path: [1], node: 'paragraph' }),
    run({ path: [1, 0, 0], text: 'Bye', length: 3 }),
    run({ path: ['title'] }),
  ])
  expect(lines.map(({ label, runs }) => [label, runs.map(({ text, node }) => text ?? node)])).toEqual([
    ['', ['paragraph', 'Hello', ' you']],
    ['', ['paragraph', 'Bye']],
    ['title', [undefined]],
  ])
  expect([...unitsByAuthor(lines.flatMap(({ runs }) => runs))]).toEqual([
    ['ann', 11],
    ['bob', 4],
  ])
})

it('[CON-75] describes the author, the time, the source and the data of a part, without unknown members', () => {
  expect(originInWords(run({ userId: null }))).toBe('unknown author')
  const known = originInWords(run({ at: '2026-01-02T03:04:05.000Z', source: 'rest', meta: { run: 7 } }))
  expect(known).toMatch(/^ann, .*2026.*, written by the REST API, \{"run":7\}$/)
})

it('[CON-77] shows a difference of elements and values in lines', () => {
  const parts = toDiffParts([
    { change: 'none', path: [0], node: 'paragraph' },
    { change: 'none', path: [0, 0, 0], text: 'We ship' },
    { change: 'insert', path: [0, 0, 7], text: ' today' },
    { change: 'delete', path: [1], node: 'rule' },
    { change: 'insert', path: ['size'], values: [2] },
  ])
  expect(parts).toEqual([
    { kind: 'same', text: 'paragraph ' },
    { kind: 'same', text: 'We ship' },
    { kind: 'added', text: ' today' },
    { kind: 'removed', text: '\nrule ' },
    { kind: 'added', text: '\nsize: 2' },
  ])
})

it('[CON-76] orders saved versions and changes by time, and describes them in words', () => {
  const version = (versionId: string, createdAt: string) => ({
    versionId,
    createdAt,
    label: versionId,
    kind: 'manual' as const,
    createdBy: '',
    sizeBytes: 1,
    metadata: {},
    version: '',
    authors: [],
  })
  const change = (changeId: string, lastAt: string | null): ChangeSetEntry => ({
    changeId,
    lastAt,
    firstAt: lastAt,
    userId: 'ann',
    source: 'socket',
    meta: null,
    inserted: 2,
    deleted: 1,
    hunks: [],
    truncated: false,
  })
  const points = timelineOf(
    [version('second', '2026-01-01T00:00:02.000Z'), version('first', '2026-01-01T00:00:00.000Z')],
    [change('unknown', null), change('early', '2026-01-01T00:00:01.000Z')],
  )
  expect(points.map(({ id }) => id)).toEqual(['first', 'unknown', 'early', 'second'])
  expect(points.map(describePoint)).toEqual([
    'saved version: first',
    'ann, 2 inserted, 1 deleted',
    expect.stringMatching(/^ann, .*2026.*, 2 inserted, 1 deleted$/),
    'saved version: second',
  ])
})
