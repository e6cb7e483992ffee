import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { decodeFrame, encodeFrame } from '../../../src/cluster/nats/frames.ts'
import { SequenceCounter, SequenceTracker } from '../../../src/cluster/nats/sequence-numbers.ts'
import { subjectToken } from '../../../src/cluster/nats/subjects.ts'

it('[CL-19] notices when a message is missing between two messages of a topic, and reports no other losses', () => {
  const message = fc.record({ topic: fc.constantFrom('a', 'b'), arrives: fc.boolean(), again: fc.boolean() })
  fc.assert(
    fc.property(fc.array(message, { maxLength: 30 }), (messages) => {
      const said = new SequenceCounter()
      const heard = { a: new SequenceTracker(), b: new SequenceTracker() }
      const missed = { a: 0, b: 0 }
      const begun = { a: false, b: false }
      for (const { topic, arrives, again } of messages) {
        const { number, previous } = said.next(topic)
        if (!arrives) {
          missed[topic] += 1
          continue
        }
        const isWhole = missed[topic] === 0 || !begun[topic]
        expect(heard[topic].follows('publisher', number, previous)).toBe(isWhole)
        if (again) expect(heard[topic].follows('publisher', number, previous)).toBe(true)
        begun[topic] = true
        missed[topic] = 0
      }
    }),
  )
})

it('[CL-19] has a separate sequence for each publisher, and restarts the sequence of an evicted publisher', () => {
  const heard = new SequenceTracker()
  expect(heard.follows('a', 5, 3)).toBe(true)
  expect(heard.follows('b', 9, 8)).toBe(true)
  expect(heard.follows('b', 11, 10)).toBe(false)
  for (let index = 0; index < 1000; index++) heard.follows(`other ${index}`, 1, 0)
  expect(heard.follows('a', 9, 8)).toBe(true)
})

it('[CL-19] reports a loss for a topic that its publisher has evicted from its memory', () => {
  const [said, heard] = [new SequenceCounter(), new SequenceTracker()]
  const first = said.next('topic')
  heard.follows('a', first.number, first.previous)
  for (let index = 0; index < 100_000; index++) said.next(`other ${index}`)
  const next = said.next('topic')
  expect(heard.follows('a', next.number, next.previous)).toBe(false)
})

it('[CL-2] maps different topics to different subjects, and no topic to a subject with a special meaning in NATS', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
      expect(subjectToken(a)).toMatch(/^[^\s.*>]{1,200}$/)
      expect(subjectToken(a) === subjectToken(b)).toBe(a === b)
    }),
  )
})

it('[CL-1] reads a frame exactly as it was written, and rejects other bytes', () => {
  const frame = fc.record({
    publisher: fc.uint8Array({ minLength: 16, maxLength: 16 }).map((id) => Buffer.from(id).toString('hex')),
    number: fc.nat({ max: 2 ** 48 - 1 }),
    previous: fc.nat({ max: 2 ** 48 - 1 }),
    message: fc.uint8Array(),
  })
  fc.assert(
    fc.property(frame, fc.nat({ max: 28 }), (given, cut) => {
      const bytes = encodeFrame(given)
      expect(decodeFrame(bytes)).toEqual(given)
      expect(decodeFrame(bytes.subarray(0, cut))).toBeNull()
      bytes[0] = 2
      expect(decodeFrame(bytes)).toBeNull()
    }),
  )
})
