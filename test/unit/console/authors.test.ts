import { expect, it } from 'vitest'
import { authorStyles, originInWords } from '../../../src/console/documents/authorship/authors.ts'
import { toDiffParts } from '../../../src/console/documents/diff/diff-part.ts'

it('[CON-75] gives each author one color, authors beyond the colors another line, and unknown authors no color', () => {
  const authors = Array.from({ length: 12 }, (_, index) => `user ${index}`)
  const styles = authorStyles([null, ...authors, 'user 3'])
  expect(styles.get(null)).toEqual({})
  expect(new Set([...styles.values()].map((style) => JSON.stringify(style))).size).toBe(13)
  expect(styles.get('user 8')).toEqual({ ...styles.get('user 0'), borderBottomStyle: 'dotted' })
})

it('[CON-92] describes the author, the time, the source and the data of a part, without unknown members', () => {
  expect(originInWords({ userId: null, at: null, source: null, meta: null })).toBe('unknown author')
  const known = originInWords({
    userId: 'ann',
    at: '2026-01-02T03:04:05.000Z',
    source: 'rest',
    meta: { run: 7 },
  })
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
