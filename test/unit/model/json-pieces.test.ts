import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  EncodedJson,
  encodeJson,
  jsonPieces,
  jsonTextUpTo,
  smallJsonText,
} from '../../../src/core/model/json-pieces.ts'

const textOf = ({ parts }: EncodedJson): string => Buffer.concat(parts).toString()
const unlimited = Number.MAX_SAFE_INTEGER

/** Values with everything that `JSON.stringify` treats specially, and some long strings. */
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.string({ unit: 'binary' }),
    fc.constantFrom(undefined, null, Number.NaN, -0, 1e21, true, () => 0, new Date(0)),
    fc.tuple(fc.constantFrom('a', '😀', '\ud800', '"\\', 'é'), fc.nat(200_000)).map(([c, n]) => c.repeat(n)),
    fc.double(),
    fc.array(tie('value'), { maxLength: 8 }),
    fc.dictionary(fc.string(), tie('value'), { maxKeys: 8 }),
    fc.record({ toJSON: fc.constant(() => ['x']) }),
  ),
})).value

describe('JSON in pieces', () => {
  it('[CRDT-36] encodes every value to the same text as JSON.stringify', () => {
    fc.assert(
      fc.property(fc.array(values, { maxLength: 6 }), (value) => {
        const expected = JSON.stringify(value)
        expect(textOf(encodeJson(value, unlimited)) === expected).toBe(true)
        expect(jsonTextUpTo(value, unlimited) === expected).toBe(true)
        expect([expected, null].includes(smallJsonText(value))).toBe(true)
        if (expected.length > 2) expect(jsonTextUpTo(value, expected.length - 1)).toBe(null)
      }),
    )
  })

  it('[CRDT-36] each piece has a limited size, for any length of strings, width of arrays and depth of objects', () => {
    const deep = Array.from({ length: 60 }).reduce<object>((inner) => ({ inner, x: 'y'.repeat(9_000) }), {})
    const wide = Array.from({ length: 200_000 }, (_, index) => ({ index, text: `${index}` }))
    const record = Object.fromEntries(wide.map(({ index }) => [`key ${index}`, index]))
    for (const value of [deep, wide, record, 'z'.repeat(2_000_000), wide.map(() => 1)]) {
      const pieces = [...jsonPieces(value)] as string[]
      expect(pieces.join('') === JSON.stringify(value)).toBe(true)
      expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(300_000)
    }
  })

  it('[CRDT-36] encodes a small response in one step, but no large one, and none with parts that are already encoded', () => {
    const page = {
      result: {
        data: [
          { id: 'a', metadata: { tags: ['x'] } },
          { id: 'b', metadata: {} },
        ],
      },
    }
    expect(smallJsonText(page)).toBe(JSON.stringify(page))
    expect(smallJsonText({ ...page, text: 'x'.repeat(70_000) })).toBe(null)
    expect(smallJsonText({ data: new EncodedJson('json', [Buffer.from('1')]) })).toBe(null)
  })

  it('[CRDT-36] inserts parts that are already encoded, as JSON or as base64', () => {
    const bytes = Buffer.from(Array.from({ length: 100_001 }, (_, index) => index % 256))
    const parts = [bytes.subarray(0, 50_000), bytes.subarray(50_000)]
    const value = {
      a: new EncodedJson('base64', parts),
      b: [new EncodedJson('json', [Buffer.from('{"c":1}')])],
    }
    const expected = JSON.stringify({ a: bytes.toString('base64'), b: [{ c: 1 }] })
    expect(textOf(encodeJson(value, unlimited))).toBe(expected)
    expect(textOf(encodeJson(new EncodedJson('base64', []), unlimited))).toBe('""')
  })

  it('[CRDT-37] rejects a value above the size limit without encoding all its repeated parts', () => {
    const large = 'x'.repeat(1_000_000)
    const value = Array.from({ length: 1_000_000 }, () => ({ large }))
    expect(() => encodeJson(value, 5_000_000)).toThrow('larger than 5000000 bytes')
    expect(textOf(encodeJson(['ab'], 6))).toBe('["ab"]')
    expect(() => encodeJson(['ab'], 5)).toThrow('larger than 5 bytes')
  })
})
