import * as fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  answerTextQuery,
  findHeadings,
  firstPage,
  sectionOf,
  type TextPageQuery,
} from '../../../src/core/content/text-query.ts'

const titles = (text: string): readonly string[] =>
  findHeadings(text).map(({ level, title }) => `${level} ${title}`)

describe('sections of Markdown', () => {
  it('[MCP-22] finds headings as a reader sees them, and none in fenced code', () => {
    expect(
      titles(
        '# One\n\ntext\n\n## *Two* `x` \\# y ##\n\n```\n# code\n```\n\n~~~~\n~~~\n# code\n~~~~\n### Three',
      ),
    ).toEqual(['1 One', '2 Two x # y', '3 Three'])
    expect(titles('#no\n    # code\n####### seven\n#\n')).toEqual(['1 '])
  })

  it('[MCP-22] ends a section at the next heading of the same or a higher level', () => {
    const text = '# A\na\n## B\nb\n### C\nc\n## D\nd\n'
    const headings = findHeadings(text)
    const sections = headings.map((heading) => {
      const { start, end } = sectionOf(text, headings, heading)
      return text.slice(start, end)
    })
    expect(sections).toEqual([text, '## B\nb\n### C\nc\n', '### C\nc\n', '## D\nd\n'])
  })

  it('[MCP-22] joins the pages of any text to the whole text, without splitting a character', () => {
    const piece = fc.constantFrom('a', '😀', '\n', 'word ', '# Heading\n', 'é', '\u{1F468}\u200D\u{1F469}')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 300 }), fc.integer({ min: 2, max: 50 }), (pieces, max) => {
        const text = pieces.join('')
        const pages: string[] = []
        for (let start = 0; start < text.length; ) {
          const page = firstPage(text, { start, end: text.length }, max)
          pages.push(text.slice(page.start, page.end))
          expect(page.end).toBeGreaterThan(start)
          start = page.end
        }
        expect(pages.join('')).toBe(text)
        expect(pages.every((page) => page.length <= max && page.isWellFormed())).toBe(true)
      }),
    )
  })
})

it('[MCP-43] finds a heading among headings of thousands of marks, and never sorts their marks', () => {
  // Two marks whose canonical order is the opposite one: NFC sorts them in quadratic time.
  const marks = '\u0301\u0323'.repeat(990)
  const data = `${`# a${marks}\n`.repeat(500)}# Cafe\u0301\n\nTea.\n`
  const response = Buffer.from(JSON.stringify({ result: { data: [{ data, version: '1.1' }] } }))
  const query: TextPageQuery = {
    is: 'page',
    heading: 'Caf\u00e9',
    occurrence: null,
    at: null,
    charactersMax: 1_000,
    headingsMax: 10,
    headingCharactersMax: 100,
  }
  const normalize = vi.spyOn(String.prototype, 'normalize')
  onTestFinished(() => normalize.mockRestore())
  const answered = answerTextQuery(response, query, data.length)
  const normalized = normalize.mock.contexts.map(String)
  expect(normalized.length).toBeGreaterThan(0)
  expect(normalized.filter((text) => /\p{M}{200}/u.test(text))).toHaveLength(0)
  expect(answered).toMatchObject({ answer: { text: expect.stringContaining('Tea.') as string } })
  expect(answerTextQuery(response, query, data.length - 1)).toBe('too long')
})
