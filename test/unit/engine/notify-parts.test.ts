import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  type BusMessage,
  PartReader,
  payloadsOf,
} from '../../../src/cluster/postgres/cluster/notify-parts.ts'

/** Reads payloads, and counts the losses. */
function reader(own = 'reader') {
  const lost = { count: 0 }
  const incoming = new PartReader(own, () => {
    lost.count += 1
  })
  return { lost, read: (payloads: readonly string[]) => payloads.flatMap((each) => incoming.read(each)) }
}

const sent = (messages: readonly BusMessage[], isAfterLoss = false, sender = 'sender') =>
  payloadsOf({ sender, isAfterLoss, messages })
const written = ({ topic, message }: BusMessage) => [topic, Buffer.from(message).toString('base64')]
const ofSize = (topic: string, bytes: number) => sent([{ topic, message: new Uint8Array(bytes) }])

it('[CL-1] reads all messages exactly as they were sent, in payloads that PostgreSQL accepts', () => {
  const message = fc.record({
    topic: fc.string({ unit: 'binary' }),
    message: fc
      .record({ byte: fc.nat({ max: 255 }), length: fc.nat({ max: 9_000 }) })
      .map(({ byte, length }) => new Uint8Array(length).fill(byte)),
  })
  fc.assert(
    fc.property(fc.array(fc.array(message, { maxLength: 3 }), { maxLength: 3 }), (batches) => {
      const { lost, read } = reader()
      for (const messages of batches) {
        const payloads = sent(messages)
        expect(payloads.length).toBeGreaterThan(0)
        expect(new Set(payloads).size).toBe(payloads.length)
        for (const payload of payloads) expect(payload).toMatch(/^[\x20-\x7e]{1,7999}$/)
        expect(read(payloads).map(written)).toEqual(messages.map(written))
      }
      expect(lost.count).toBe(0)
    }),
    { numRuns: 50 },
  )
})

it('[CL-1] ignores the payloads of its own bus, and does not confuse those of others', () => {
  const { lost, read } = reader('own')
  const own = sent([{ topic: 't', message: new Uint8Array(3) }], true, 'own')
  expect(read(own)).toEqual([])
  const [a, b] = ['a', 'b'].map((sender) =>
    sent([{ topic: sender, message: new Uint8Array(9_000) }], false, sender),
  )
  const mixed = (a ?? []).flatMap((payload, index) => [payload, b?.[index] ?? ''])
  expect(read(mixed).map(({ topic }) => topic)).toEqual(['a', 'b'])
  expect(lost.count).toBe(0)
})

it('[CL-19] reports a loss if a part is missing or the sender has lost messages, and delivers only whole messages', () => {
  const all = fc.array(
    fc.record({
      bytes: fc.constantFrom(10, 15_000),
      missing: fc.option(fc.nat({ max: 2 })),
      isAfterLoss: fc.boolean(),
    }),
    { minLength: 1, maxLength: 10 },
  )
  fc.assert(
    fc.property(all, (messages) => {
      const { lost, read } = reader()
      let missed = 0
      for (const [index, { bytes, missing, isAfterLoss }] of messages.entries()) {
        const topic = String(index)
        const payloads = sent([{ topic, message: new Uint8Array(bytes) }], isAfterLoss)
        const arrived = payloads.filter((_, part) => part !== missing)
        const isWhole = arrived.length === payloads.length
        expect(read(arrived).map((each) => each.topic)).toEqual(isWhole ? [topic] : [])
        // The next part shows that the last one is missing.
        read(sent([]))
        // A message that is missing as a whole was not sent, so its sender reports it.
        if (arrived.length > 0 && (isAfterLoss || !isWhole)) missed += 1
        if (missed === 0) expect(lost.count).toBe(0)
        else expect(lost.count).toBeGreaterThanOrEqual(missed)
      }
    }),
  )
})

it('[CL-25] counts payloads of strangers as lost, and reads those of others afterwards', () => {
  const { lost, read } = reader()
  const strange = [
    '',
    'hello',
    'x whole 1/1',
    'x sound 1/1 ',
    'y whole 1/1 AAAA',
    'y whole 2/1 ',
    'y whole 0/0 ',
  ]
  for (const [index, payload] of strange.entries()) {
    expect(read([payload])).toEqual([])
    expect(lost.count).toBeGreaterThan(index)
  }
  expect(read(ofSize('topic', 3))).toHaveLength(1)
})
