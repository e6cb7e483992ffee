import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonDepthExceeds, measureJson } from '../../../src/core/model/json-depth.ts'

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

describe('depth of JSON text', () => {
  it('the depth of JSON text equals the depth of its value, with any strings, escapes and white space', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.boolean(), (value, spaced) => {
        const text = JSON.stringify(value, null, spaced ? '\t' : undefined)
        const depth = depthOf(value)
        expect(jsonDepthExceeds(text, depth)).toBe(false)
        if (depth > 0) expect(jsonDepthExceeds(text, depth - 1)).toBe(true)
      }),
    )
  })

  it('ignores brackets in strings, even after escaped quotes and backslashes', () => {
    expect(jsonDepthExceeds(JSON.stringify(['[[[["[[\\']), 1)).toBe(false)
    expect(jsonDepthExceeds('{"\\\\":[[0]]}', 2)).toBe(true)
    expect(jsonDepthExceeds('["\\"[[["]', 1)).toBe(false)
  })

  it('computes the depth correctly if strings contain any quotes, backslashes and brackets', () => {
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

  it('computes the depth even for millions of brackets and for text that is not JSON', () => {
    expect(jsonDepthExceeds('['.repeat(5_000_000), 64)).toBe(true)
    expect(jsonDepthExceeds('[]'.repeat(2_000_000), 1)).toBe(false)
    expect(jsonDepthExceeds(`["${'\\\\'.repeat(2_000_000)}${'\\"'.repeat(2_000_000)}[[", [0]]`, 1)).toBe(true)
    for (const text of ['', '"', '"\\', ']]]]', '}', 'undefined'])
      expect(jsonDepthExceeds(text, 0)).toBe(false)
  })
})

describe('measureJson', () => {
  it('[LIM-15] measures the memory of parsed values, which can be a multiple of their text', () => {
    const valueBytes = (text: string): number => measureJson(text, 64).valueBytes
    expect(valueBytes(`["${'x'.repeat(1_000)}"]`)).toBeLessThan(1_200)
    expect(valueBytes(`[${'[],'.repeat(1_000)}[]]`)).toBeGreaterThan(48 * 1_000)
    expect(valueBytes(`[${'{"a":1},'.repeat(1_000)}{}]`)).toBeGreaterThan(56 * 1_000)
    expect(valueBytes(`["${'[],'.repeat(1_000)}"]`)).toBeLessThan(3_200)
  })
})
