import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseInPieces } from '../../../src/core/model/parse-in-pieces.ts'

/** Returns the parsed text, and the number of steps; null if the text is not JSON. */
function parsed(text: string): { readonly value: unknown; readonly steps: number } | null {
  try {
    const pieces = parseInPieces(text)
    for (let steps = 1; ; steps += 1) {
      const { done, value } = pieces.next()
      if (done === true) return { value, steps }
    }
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

function expectAsParsed(text: string): void {
  let wanted: unknown
  let isJson = true
  try {
    wanted = JSON.parse(text)
  } catch {
    isJson = false
  }
  const found = parsed(text)
  expect(found !== null, text.slice(0, 80)).toBe(isJson)
  if (isJson) expect(JSON.stringify(found?.value)).toBe(JSON.stringify(wanted))
}

/** Text of a string with more characters than a piece has. */
const long = JSON.stringify('x'.repeat(70_000))

describe('parseInPieces', () => {
  it('[API-70] parses a body with 100,000 names in steps', () => {
    const names = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`name ${index}`, index]))
    const text = JSON.stringify({ data: { names, list: [names], more: 1 } })
    expectAsParsed(text)
    expect(parsed(text)?.steps).toBeGreaterThan(40)
  })

  it.each([
    `[${long}]`,
    ` [ ${long} , 1 ] `,
    `[${long},]`,
    `[,${long}]`,
    `[${long} 1]`,
    `[${long}}`,
    `[${long}`,
    `[${long}]]`,
    `[[${long}],1]`,
    `[1,[${long}]]`,
    `[,[${long}]]`,
    `[[${long}],]`,
    `[[${long}],,1]`,
    `[1 [${long}]]`,
    `[[${long}].5]`,
    `[[${long}][1]]`,
    `[1,[${long}],2,{"a":[${long}]},3]`,
    `1[${long}]`,
    `[${long}]1`,
    `[{]${long}}`,
    `\uFEFF[${long}]`,
    `{"a":{"b":${long}}}`,
    `{"a":1,"b":{"b":${long}},"a":2}`,
    `{"a":1{"b":${long}}}`,
    `{{"b":${long}}}`,
    `{"a",{"b":${long}}}`,
    `{"a":[${long}]`,
    `{"a":[${long}],}`,
    `{"a":[${long}],"b"}`,
    `{"a":[${long}]}`,
    `{"a":"b":[${long}]}`,
    `{a:[${long}]}`,
    `{"2":[${long}],"1":1}`,
    `{"a":[${long}],"a":1}`,
    `{"a":1,"a":[${long}]}`,
    `{"d\\u0061ta":[${long}]}`,
  ])('[API-70] parses %# as JSON.parse does', expectAsParsed)

  it('[API-70] keeps a member __proto__', () => {
    for (const text of [`{"a":${long},"__proto__":1}`, `{"__proto__":[${long}]}`]) {
      const value = parsed(text)?.value as object
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
      expect(Object.hasOwn(value, '__proto__')).toBe(true)
    }
  })

  it('[API-70] parses changed JSON of any form as JSON.parse does', () => {
    const symbols = '{}[]:,"\\ 01x'.split('')
    const change = fc.record({ at: fc.nat(), deleted: fc.nat(1), symbol: fc.constantFrom('', ...symbols) })
    const long = fc
      .json({ maxDepth: 4 })
      .map((json) => json.replace(/[[{"]/, (first) => (first === '"' ? `"${'y'.repeat(70_000)}` : first)))
    const values = fc.array(fc.oneof(fc.json(), long), { minLength: 1, maxLength: 4 })
    const nested = fc
      .tuple(values, values)
      .map(
        ([outer, inner]) =>
          `[${outer.join(',')},{"a":[${inner.join(',')}, ${JSON.stringify('z'.repeat(70_000))}]},1]`,
      )
    const property = fc.property(nested, fc.array(change, { maxLength: 2 }), (json, changes) => {
      let text = json
      for (const { at, deleted, symbol } of changes) {
        // Changes inside a long string would have no effect.
        const places = [...text.matchAll(/[^yz]/g)].map(({ index }) => index)
        const start = places[at % places.length] ?? 0
        text = text.slice(0, start) + symbol + text.slice(start + deleted)
      }
      expectAsParsed(text)
    })
    fc.assert(property, { numRuns: 300 })
  })
})
