import { describe, expect, it } from 'vitest'
import { createBoundary, enclose } from '../../../src/capabilities/agents/tool.ts'
import { showHidden } from '../../../src/core/content/text-query.ts'

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
