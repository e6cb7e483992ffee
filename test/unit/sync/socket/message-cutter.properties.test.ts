import type { Writable } from 'node:stream'
import { array, assert, boolean, constantFrom, integer, oneof, property, record } from 'fast-check'
import { expect, it } from 'vitest'
import * as ws from 'ws'
import { MessageCutter } from '../../../../src/core/sync/socket/message-cutter.ts'
import { times } from '../../../support/time/full-run.ts'

const messageBytesMax = 20_000

/** The parser of frames of `ws`, which its type declarations lack. */
const Receiver = Reflect.get(ws, 'Receiver') as new (options: object) => Writable

/** A message as a client sends it: its frames, with a ping before each frame if `hasPings`. */
interface Sent {
  readonly frames: readonly number[]
  readonly hasPings: boolean
}

/** Returns a frame as bytes. The payload is a sequence that shows its offset in the message. */
function frameOf(payload: Buffer, first: number): Buffer {
  const mask = Buffer.from([1, 2, 3, 4])
  const length = payload.length
  const size =
    length < 126
      ? Buffer.from([0x80 | length])
      : length < 65_536
        ? Buffer.from([0x80 | 126, length >> 8, length & 0xff])
        : Buffer.from([0x80 | 127, 0, 0, 0, 0, 0, length >> 16, (length >> 8) & 0xff, length & 0xff])
  const masked = payload.map((byte, index) => byte ^ (mask[index % 4] as number))
  return Buffer.concat([Buffer.from([first]), size, mask, masked])
}

const payloadOf = (bytes: number, seed: number): Buffer =>
  Buffer.from(Array.from({ length: bytes }, (_, index) => (index * 7 + seed) & 0xff))

function bytesOf({ frames, hasPings }: Sent, seed: number): Buffer {
  const whole = payloadOf(
    frames.reduce((sum, length) => sum + length, 0),
    seed,
  )
  let at = 0
  const parts = frames.map((length, index) => {
    const isLast = index === frames.length - 1
    const first = (isLast ? 0x80 : 0) | (index === 0 ? 2 : 0)
    const frame = frameOf(whole.subarray(at, at + length), first)
    at += length
    return hasPings ? Buffer.concat([frameOf(Buffer.from('p'), 0x89), frame]) : frame
  })
  return Buffer.concat(parts)
}

const messages = array(
  record({
    frames: array(
      oneof(integer({ min: 0, max: 300 }), constantFrom(125, 9_000, 9_001, 20_000, 20_001, 70_000)),
      {
        minLength: 1,
        maxLength: 4,
      },
    ),
    hasPings: boolean(),
  }),
  { minLength: 1, maxLength: 6 },
)

it('[DIA-41] passes whole messages to the parser of ws, and of a message that is too large only its start, however the bytes are split', () => {
  assert(
    property(messages, array(integer({ min: 1, max: 30_000 }), { minLength: 1 }), (all, cuts) => {
      const cutter = new MessageCutter(messageBytesMax)
      const received: { readonly data: Buffer; readonly cutBytes: number | null }[] = []
      let pings = 0
      const receiver = new Receiver({ isServer: true, maxPayload: messageBytesMax })
      receiver.on('message', (data: Buffer) => received.push({ data, cutBytes: cutter.nextCutBytes() }))
      receiver.on('ping', () => {
        pings += 1
      })
      const bytes = Buffer.concat(all.map(bytesOf))
      for (let at = 0, turn = 0; at < bytes.length; turn++) {
        const next = Math.min(bytes.length, at + (cuts[turn % cuts.length] as number))
        for (const part of cutter.pass(bytes.subarray(at, next))) receiver.write(part)
        at = next
      }
      expect(pings).toBe(all.reduce((sum, { frames, hasPings }) => sum + (hasPings ? frames.length : 0), 0))
      expect(received).toHaveLength(all.length)
      for (const [index, { frames }] of all.entries()) {
        const length = frames.reduce((sum, each) => sum + each, 0)
        const { data, cutBytes } = received[index] as (typeof received)[number]
        expect(cutBytes).toBe(length > messageBytesMax ? length : null)
        if (cutBytes === null) expect(data.length).toBe(length)
        else expect(data.length).toBeLessThanOrEqual(messageBytesMax)
        expect(data.equals(payloadOf(length, index).subarray(0, data.length))).toBe(true)
        expect(data.length).toBeGreaterThanOrEqual(Math.min(frames[0] as number, 9_000))
      }
    }),
    { numRuns: times(50, 2_000) },
  )
})
