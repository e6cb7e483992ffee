import * as fc from 'fast-check'
import * as encoding from 'lib0/encoding'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { convertedBytesMax, convertV2, convertV2Steps } from '../../../src/core/update/convert-v2.ts'
import { struct } from '../../../src/core/update/item-content.ts'
import { MalformedUpdateError } from '../../../src/core/update/malformed.ts'
import { rangesPerStep } from '../../../src/core/update/outline.ts'
import { readUpdate } from '../../../src/core/update/read-update.ts'
import { Random, randomHistory } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { StockHistory } from '../../support/data/stock-histories.ts'
import { mutate } from '../../support/faults/mutations.ts'
import { times } from '../../support/time/full-run.ts'

it(`[UPD-29] converts updates from the encoding V2 to the bytes that Yjs converts them to (seed ${seed})`, () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e6 }), fc.integer({ min: 1, max: 60 }), (start, steps) => {
      const stock = new StockHistory(Y, new Random(start))
      for (let step = 0; step < steps; step++) stock.step()
      const { updates, doc } = randomHistory(start, steps)
      const half = Y.mergeUpdates(updates.slice(updates.length / 2))
      const all = [Y.encodeStateAsUpdate(doc), half, ...updates, ...stock.messages.map(({ bytes }) => bytes)]
      for (const v1 of all.filter(({ length }) => length > 2)) {
        const v2 = Y.convertUpdateFormatV1ToV2(v1)
        expect(Buffer.from(convertV2(v2))).toEqual(Buffer.from(Y.convertUpdateFormatV2ToV1(v2)))
      }
    }),
    { seed, numRuns: times(40, 2_000) },
  )
})

it(`[UPD-29] rejects mutated updates in the encoding V2 with an error for malformed updates, or converts them in bounded time (seed ${seed})`, () => {
  const random = new Random(seed)
  const { updates } = randomHistory(seed, 200)
  const encoded = updates.map((bytes) => Y.convertUpdateFormatV1ToV2(bytes))
  let converted = 0
  for (let run = 0; run < times(5_000, 200_000); run++) {
    const bytes = mutate(random.pick(encoded), random.pick(encoded), random)
    try {
      readUpdate(convertV2(bytes))
      converted += 1
    } catch (error) {
      expect(error).toBeInstanceOf(MalformedUpdateError)
    }
  }
  expect(converted).toBeGreaterThan(0)
})

/** An update in the encoding V2 with one struct that is repeated, without a byte for each repetition. */
function repeated(count: number, write: (encoder: Y.UpdateEncoderV2) => void): Uint8Array {
  const encoder = new Y.UpdateEncoderV2()
  encoding.writeVarUint(encoder.restEncoder, 1)
  encoding.writeVarUint(encoder.restEncoder, count)
  encoder.writeClient(1)
  encoding.writeVarUint(encoder.restEncoder, 0)
  for (let left = Math.min(count, 100_000); left > 0; left--) write(encoder)
  encoding.writeVarUint(encoder.restEncoder, 0)
  return encoder.toUint8Array()
}

it('[UPD-29] rejects few bytes of the encoding V2 that stand for very many structs or bytes', () => {
  const gc = (encoder: Y.UpdateEncoderV2): void => {
    encoder.writeInfo(0)
    encoder.writeLen(1)
  }
  const many = repeated(2 ** 40, gc)
  expect(many.length).toBeLessThan(100)
  expect(() => convertV2(many)).toThrow(/more than 10\d{4} structs/)
  const key = 'k'.repeat(10_000)
  let isWritten = false
  const long = repeated(100_000, (encoder) => {
    encoder.writeInfo(0x86)
    encoder.writeLeftID(Y.createID(2, 0))
    if (isWritten) encoder.keyClockEncoder.write(0)
    else encoder.writeKey(key)
    isWritten = true
    encoder.writeJSON(true)
  })
  expect(long.length).toBeLessThan(1_000_000)
  expect(() => convertV2(long)).toThrow(`more than ${convertedBytesMax} bytes`)
  const empty = repeated(1, (encoder) => {
    encoder.writeInfo(0x82)
    encoder.writeLeftID(Y.createID(2, 0))
    encoder.writeLen(2 ** 50)
    for (let left = 100_000; left > 0; left--) encoder.writeString('')
  })
  expect(empty.length).toBeLessThan(100)
  expect(() => convertV2(empty)).toThrow(MalformedUpdateError)
  const deep = repeated(1, (encoder) => {
    encoder.writeInfo(0x85)
    encoder.writeLeftID(Y.createID(2, 0))
    for (let left = 100_000; left > 0; left--)
      encoding.writeUint8Array(encoder.restEncoder, Uint8Array.of(117, 1))
  })
  expect(() => convertV2(deep)).toThrow('nested deeper')
})

it('[UPD-41] converts an update of few bytes in steps', () => {
  const bytes = repeated(80_000, (encoder) => {
    encoder.writeInfo(struct.type)
    encoder.writeParentInfo(true)
    encoder.writeString('m')
    encoder.writeTypeRef(1)
  })
  const steps = convertV2Steps(bytes)
  let count = 1
  let step = steps.next()
  for (; step.done !== true; step = steps.next()) count += 1
  expect(count).toBe(Math.ceil(80_000 / rangesPerStep))
  expect(step.value).toEqual(convertV2(bytes))
})
