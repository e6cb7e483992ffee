import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonDepthExceeds } from '../../../src/model/json.ts'

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

describe('depth of JSON text', () => {
  it('[UPD-15] is the depth of the value, whatever strings, escapes and white space it has', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.boolean(), (value, spaced) => {
        const text = JSON.stringify(value, null, spaced ? '\t' : undefined)
        const depth = depthOf(value)
        expect(jsonDepthExceeds(text, depth)).toBe(false)
        if (depth > 0) expect(jsonDepthExceeds(text, depth - 1)).toBe(true)
      }),
    )
  })

  it('[UPD-15] brackets in strings do not count, also behind escaped quotes and backslashes', () => {
    expect(jsonDepthExceeds(JSON.stringify(['[[[["[[\\']), 1)).toBe(false)
    expect(jsonDepthExceeds('{"\\\\":[[0]]}', 2)).toBe(true)
    expect(jsonDepthExceeds('["\\"[[["]', 1)).toBe(false)
  })

  it('[UPD-15] whatever quotes, backslashes and brackets are in strings', () => {
    const odd = fc
      .array(fc.constantFrom('"', '\\', '[', '{', 'x', 'é'), { maxLength: 40 })
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.array(odd), (strings) => {
        expect(jsonDepthExceeds(JSON.stringify(strings), 1)).toBe(false)
        expect(jsonDepthExceeds(JSON.stringify([...strings, [strings]]), 2)).toBe(true)
      }),
    )
  })

  it('[UPD-15] millions of brackets and text that is not JSON get an answer', () => {
    expect(jsonDepthExceeds('['.repeat(5_000_000), 64)).toBe(true)
    expect(jsonDepthExceeds('[]'.repeat(2_000_000), 1)).toBe(false)
    expect(jsonDepthExceeds(`["${'\\\\'.repeat(2_000_000)}${'\\"'.repeat(2_000_000)}[[", [0]]`, 1)).toBe(true)
    for (const text of ['', '"', '"\\', ']]]]', '}', 'undefined'])
      expect(jsonDepthExceeds(text, 0)).toBe(false)
  })
})
