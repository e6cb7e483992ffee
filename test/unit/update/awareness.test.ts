import * as fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { Awareness, applyAwarenessUpdate, encodeAwarenessUpdate } from 'y-protocols/awareness'
import * as Y from 'yjs'
import {
  entriesMax,
  messageEntriesMax,
  messageLengthMax,
  readAwareness,
  stateBytesMax,
  writeAwareness,
  writeAwarenessMessages,
} from '../../../src/core/update/awareness.ts'
import { MalformedMessageError } from '../../../src/core/update/malformed.ts'
import { bytesOf, varString, varUint } from '../../support/faults/crafted-updates.ts'

const made: Awareness[] = []
function awareness(clientId: number): Awareness {
  const doc = new Y.Doc()
  doc.clientID = clientId
  const fresh = new Awareness(doc)
  made.push(fresh)
  return fresh
}
afterEach(() => {
  for (const each of made.splice(0)) each.destroy()
})

const entry = (clientId: number, clock: number, text: string): number[] => [
  ...varUint(clientId),
  ...varUint(clock),
  ...varString(text),
]
const message = (...entries: readonly number[][]): Uint8Array => bytesOf(varUint(entries.length), ...entries)
const states = (bytes: Uint8Array) => readAwareness(bytes).map(({ state }) => state)

const clientId = fc.maxSafeNat()
const state = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 5 })

describe('awareness', () => {
  it('[UPD-16] reads awareness messages that y-protocols writes', () => {
    fc.assert(
      fc.property(clientId, state, (id, shown) => {
        const client = awareness(id)
        client.setLocalState(shown)
        const clock = client.meta.get(id)?.clock
        const [read, ...more] = readAwareness(encodeAwarenessUpdate(client, [id]))
        expect(more).toEqual([])
        expect({ ...read, state: JSON.stringify(read?.state) }).toEqual({
          clientId: id,
          clock,
          state: JSON.stringify(shown),
        })
      }),
    )
  })

  it('[UPD-16] reads null for a client that leaves', () => {
    const client = awareness(5)
    client.setLocalState({ user: 'u' })
    client.setLocalState(null)
    expect(readAwareness(encodeAwarenessUpdate(client, [5]))).toEqual([
      { clientId: 5, clock: 2, state: null },
    ])
  })

  it('[UPD-16] writes awareness messages that y-protocols applies, and can read them again', () => {
    const ids = fc.uniqueArray(clientId, { maxLength: 5 })
    fc.assert(
      fc.property(ids, state, fc.integer({ min: 1, max: 2 ** 31 - 2 }), (clientIds, shown, clock) => {
        const text = JSON.stringify(shown)
        const written = writeAwareness(clientIds.map((each) => ({ clientId: each, clock, text })))
        const reader = awareness(-1)
        applyAwarenessUpdate(reader, written, 'test')
        for (const each of clientIds) expect(JSON.stringify(reader.states.get(each))).toBe(text)
        expect(readAwareness(written).map((each) => [each.clientId, each.clock])).toEqual(
          clientIds.map((each) => [each, clock]),
        )
      }),
    )
  })

  it('[AWA-6] drops states that are not JSON objects or exceed the maximum size or depth, and keeps the other states', () => {
    const bad = [
      JSON.stringify({ text: 'x'.repeat(stateBytesMax) }),
      `{"a":${'['.repeat(50_000)}`,
      `{"a":${'['.repeat(32)}${']'.repeat(32)}}`,
      '[]',
      '"text"',
      '1',
      'true',
      '{',
      '',
    ]
    for (const text of bad) {
      expect(states(message(entry(1, 1, text), entry(2, 1, '{"ok":1}')))).toEqual([{ ok: 1 }])
    }
    const deepest = `{"a":${'['.repeat(31)}${']'.repeat(31)}}`
    expect(states(message(entry(1, 1, deepest)))).toHaveLength(1)
  })

  it('[AWA-6] drops states with a clock of more than 31 bits', () => {
    expect(states(message(entry(1, 2 ** 31, '{}'), entry(2, 2 ** 32 - 1, '{}'), entry(3, 7, '{}')))).toEqual([
      {},
    ])
  })

  it('[AWA-6] reads the key __proto__ like any other key', () => {
    const [read] = states(message(entry(1, 1, '{"__proto__":{"admin":true},"constructor":1}')))
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype)
    expect(Object.keys(read ?? {})).toEqual(['__proto__', 'constructor'])
    expect(({} as Record<string, unknown>).admin).toBeUndefined()
  })

  it('[UPD-18] rejects a message with malformed framing', () => {
    const whole = message(entry(1, 1, '{"a":"é"}'), entry(300, 70_000, 'null'))
    expect(readAwareness(whole)).toHaveLength(2)
    for (let length = 0; length < whole.length; length++) {
      expect(() => readAwareness(whole.subarray(0, length))).toThrow(MalformedMessageError)
    }
    expect(() => readAwareness(bytesOf([...whole], 0))).toThrow('follows')
    expect(() => readAwareness(bytesOf(1, 1, 1, 2, 0xc3, 0x28))).toThrow(MalformedMessageError)
    expect(() => readAwareness(message(entry(2 ** 53, 1, '{}')))).toThrow('more than 53 bits')
  })

  it('[UPD-20] reads at most 1,000 relevant states of a message', () => {
    const many = message(...Array.from({ length: 3_000 }, (_, id) => entry(id, 1, '{}')))
    expect(readAwareness(many)).toHaveLength(entriesMax)
    expect(readAwareness(many, (id) => id > 2_990).map((each) => each.clientId)).toEqual([
      2_991, 2_992, 2_993, 2_994, 2_995, 2_996, 2_997, 2_998, 2_999,
    ])
    expect(readAwareness(many, () => false)).toEqual([])
    const cut = many.subarray(0, many.length - 1)
    expect(() => readAwareness(cut, () => false)).toThrow(MalformedMessageError)
  })

  it('[UPD-21] writes many or long states in several messages, in order and without losing any', () => {
    const length = fc.integer({ min: 0, max: 16_000 })
    fc.assert(
      fc.property(fc.array(length, { maxLength: 100 }), fc.nat({ max: 1_500 }), (lengths, short) => {
        const texts = [...lengths.map((each) => `{"a":"${'x'.repeat(each)}"}`), ...Array(short).fill('{}')]
        const entries = texts.map((text: string, id) => ({ clientId: id, clock: 1, text }))
        const messages = writeAwarenessMessages(entries).map((bytes) => readAwareness(bytes))
        expect(messages.flat().map((each) => each.clientId)).toEqual(entries.map((each) => each.clientId))
        for (const each of messages) {
          expect(each.length).toBeGreaterThan(0)
          expect(each.length).toBeLessThanOrEqual(messageEntriesMax)
          if (each.length > 1)
            expect(
              each.reduce((sum, { state }) => sum + JSON.stringify(state).length, 0),
            ).toBeLessThanOrEqual(messageLengthMax)
        }
      }),
    )
  })

  it('[UPD-18] either reads or rejects arbitrary bytes, and throws no other error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          readAwareness(bytes)
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedMessageError)
        }
      }),
      { numRuns: 2_000 },
    )
  })
})
