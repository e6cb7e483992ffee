import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createBoundary, enclose, showHidden } from '../../../src/mcp/document-data.ts'
import { findHeadings, firstPage, sectionOf } from '../../../src/mcp/sections.ts'

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

describe('data of documents', () => {
  it('[MCP-40] encloses text with a boundary that is different each time', () => {
    const boundaries = new Set(Array.from({ length: 1_000 }, createBoundary))
    expect(boundaries.size).toBe(1_000)
    const lines = enclose('b0', { id: 'x', text: 'one\ntwo' }).split('\n')
    expect(lines).toEqual([
      '----- begin document data b0 -----',
      '{"id":"x"}',
      'one',
      'two',
      '----- end document data b0 -----',
    ])
  })

  it('[MCP-41] shows characters that a reader cannot see, and keeps joiners of emoji and scripts', () => {
    expect(showHidden('a\u0000b\u001b[31mc\u202ed\u{E0041}e\u2066f\u009b')).toBe(
      'a\\u{0}b\\u{1b}[31mc\\u{202e}d\\u{e0041}e\\u{2066}f\\u{9b}',
    )
    const kept = 'tab\tline\nfamily 👨‍👩‍👧 نمی‌خواهمé'
    expect(showHidden(kept)).toBe(kept)
    expect(showHidden('one\r\ntwo')).toBe('one\ntwo')
  })
})
