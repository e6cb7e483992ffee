import { isUtf8 } from 'node:buffer'
import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { ByteReader } from '../../../src/core/update/byte-reader.ts'
import { MalformedUpdateError } from '../../../src/core/update/malformed.ts'
import { encodeVarUints } from '../../../src/core/update/state-vector.ts'
import { skipJson } from '../../../src/core/update/values.ts'

/** A text as an update contains it. Another text follows, which a reader must not read. */
const encoded = (text: Uint8Array): Uint8Array =>
  Buffer.concat([encodeVarUints(text.length), text, Buffer.from('1", null]}')])

/** Returns whether `read` accepts a text, and reads exactly its bytes. */
function accepts(text: Uint8Array, read: (reader: ByteReader) => unknown): boolean {
  const bytes = encoded(text)
  const reader = new ByteReader(bytes)
  try {
    read(reader)
  } catch (error) {
    if (error instanceof MalformedUpdateError) return false
    throw error
  }
  const left = bytes.length - text.length - encodeVarUints(text.length).length
  // An assertion would take longer than all of the rest, for hundreds of thousands of texts.
  if (reader.left !== left) expect.fail(`leaves ${reader.left} bytes instead of ${left}`)
  return true
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('JSON texts', () => {
  const expectAsParsed = (text: string): void =>
    expect(accepts(Buffer.from(text), skipJson), JSON.stringify(text)).toBe(isJson(text))

  it.each([
    '',
    ' ',
    'true',
    'false',
    'null',
    'tru',
    'truex',
    'nul',
    'undefined',
    'NaN',
    ' null ',
    '\uFEFFnull',
    '0',
    '-0',
    '-',
    '01',
    '1.',
    '.5',
    '1.5',
    '1e',
    '1e5',
    '1E+5',
    '1e-05',
    '+1',
    '0x1',
    '1 1',
    '-1.5e300',
    '""',
    '"',
    '"a',
    '"a"b',
    '"\\n"',
    '"\\x"',
    '"\\u00e9"',
    '"\\u00g9"',
    '"\\u00e"',
    '"\\',
    '"\t"',
    '"\u007f"',
    '[]',
    '[',
    ']',
    '[1]',
    '[1,]',
    '[,]',
    '[1 2]',
    '[1,2]',
    '[ 1 , 2 ]',
    '[]]',
    '[{}]',
    '[[]',
    '{}',
    '{',
    '{"a"}',
    '{"a":}',
    '{"a":1}',
    '{"a":1,}',
    '{a:1}',
    '{"a":1 "b":2}',
    '{ "a" : [ { } ] }',
    '{"é":"😀"}',
  ])('[UPD-40] accepts %j if JSON.parse accepts it', expectAsParsed)

  it('[UPD-40] accepts the same texts as JSON.parse, for changed JSON of any form', () => {
    const symbols = '{}[]:,"\\ \n\t0123456789-+.eEutrfalsn\u0001é'.split('')
    const change = fc.record({ at: fc.nat(), deleted: fc.nat(2), symbol: fc.constantFrom('', ...symbols) })
    const property = fc.property(fc.json(), fc.array(change, { maxLength: 3 }), (json, changes) => {
      let text = json
      for (const { at, deleted, symbol } of changes) {
        const start = at % (text.length + 1)
        text = text.slice(0, start) + symbol + text.slice(start + deleted)
      }
      expectAsParsed(text.toWellFormed())
    })
    fc.assert(property, { numRuns: 2_000 })
  })
})

it('[UPD-40] creates neither strings nor values for short texts', () => {
  const native = [vi.spyOn(JSON, 'parse'), vi.spyOn(Buffer.prototype, 'toString')]
  const texts = ['{"href":"é"}', '1', '[true]'].map((text) => encoded(Buffer.from(text)))
  for (const text of texts) skipJson(new ByteReader(text))
  expect(native.map(({ mock }) => mock.calls.length)).toEqual([0, 0])
  vi.restoreAllMocks()
})

describe('short texts', () => {
  const lengthOf = (text: Uint8Array): number => new ByteReader(encoded(text)).skipString()
  const expectAsNative = (text: Uint8Array): void => {
    const isAccepted = accepts(text, (reader) => reader.skipString())
    if (isAccepted !== isUtf8(text))
      expect.fail(`accepts ${Buffer.from(text).toString('hex')}: ${isAccepted}`)
    if (isAccepted && lengthOf(text) !== Buffer.from(text).toString().length)
      expect.fail(`counts ${lengthOf(text)} units in ${Buffer.from(text).toString('hex')}`)
  }

  it('[UPD-40] accepts each character of UTF-8, and no other bytes', () => {
    for (let lead = 0; lead < 256; lead++)
      for (let second = 0; second < 256; second++)
        for (const rest of [[], [0x80], [0xbf, 0x80], [0x7f], [0x80, 0xc0]])
          expectAsNative(Uint8Array.of(lead, second, ...rest))
  })

  it('[UPD-40] counts the UTF-16 units of a text of any length', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) =>
        expectAsNative(Buffer.from(text)),
      ),
    )
    fc.assert(fc.property(fc.uint8Array({ maxLength: 6 }), expectAsNative))
  })
})
