import { Duplex, PassThrough } from 'node:stream'
import { array, assert, boolean, constantFrom, integer, oneof, property, tuple } from 'fast-check'
import { expect, it } from 'vitest'
import { close } from '../../../../src/model/close.ts'
import { FrameBoundaries } from '../../../../src/sync/nodes/frame-boundaries.ts'
import { SocketProxy } from '../../../../src/sync/nodes/socket-proxy.ts'
import { eventually } from '../../../support/clients/clients.ts'

const reason = close('serviceRestart', 'the server is restarting')
const closing = Buffer.concat([Buffer.from([0x88, 26, 0x03, 0xf4]), Buffer.from(reason.reason)])

/** A frame with so many bytes in it, as a server sends it, or as a client does. */
function frame(length: number, isMasked: boolean): Buffer {
  const mask = isMasked ? 0x80 : 0
  const payload = Buffer.alloc(length + (isMasked ? 4 : 0), 0x81)
  if (length < 126) return Buffer.concat([Buffer.from([0x82, mask | length]), payload])
  if (length < 65_536) {
    const start = Buffer.from([0x82, mask | 126, 0, 0])
    start.writeUInt16BE(length, 2)
    return Buffer.concat([start, payload])
  }
  const start = Buffer.alloc(10)
  start.set([0x82, mask | 127])
  start.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([start, payload])
}

const lengths = oneof(integer({ min: 0, max: 130 }), constantFrom(125, 126, 65_535, 65_536, 70_000))
const frames = array(tuple(lengths, boolean()), { minLength: 1, maxLength: 6 })

it('[CF-7] the ends of frames are found wherever bytes are cut', () => {
  assert(
    property(frames, array(integer({ min: 1, max: 40_000 }), { minLength: 1 }), (kinds, cuts) => {
      const parts = kinds.map(([length, isMasked]) => frame(length, isMasked))
      const bytes = Buffer.concat(parts)
      const ends = new Set([0])
      for (const [at] of parts.entries()) ends.add(Buffer.concat(parts.slice(0, at + 1)).length)
      const follow = new FrameBoundaries()
      for (let at = 0, turn = 0; at < bytes.length; turn++) {
        const next = Math.min(bytes.length, at + (cuts[turn % cuts.length] as number))
        const chunk = bytes.subarray(at, next)
        if (turn % 2 === 0 || follow.isBetween) follow.pass(chunk)
        else {
          const first = follow.passOne(chunk)
          expect(follow.isBetween).toBe(ends.has(at + first))
          follow.pass(chunk.subarray(first))
        }
        expect(follow.isBetween).toBe(ends.has(next))
        at = next
      }
    }),
    { numRuns: 30 },
  )
})

/** Two ends of one connection. */
function connected(): [Duplex, Duplex] {
  const [there, back] = [new PassThrough(), new PassThrough()]
  const ends: [Duplex, Duplex] = [
    Duplex.from({ readable: there, writable: back }),
    Duplex.from({ readable: back, writable: there }),
  ]
  // That one is cut off is what some of the tests are about.
  for (const end of ends) end.on('error', () => {})
  return ends
}

async function passed(sent: readonly Buffer[], leaveAfter: number): Promise<Buffer> {
  const [[client, clientEnd], [node, nodeEnd]] = [connected(), connected()]
  const passage = new SocketProxy(client, node, () => {})
  const received: Buffer[] = []
  clientEnd.on('data', (chunk: Buffer) => received.push(chunk))
  const ended = new Promise<void>((resolve) => clientEnd.once('end', () => resolve()))
  let bytes = 0
  for (const chunk of sent) {
    nodeEnd.write(chunk)
    bytes += chunk.length
    if (bytes < leaveAfter || bytes - chunk.length >= leaveAfter) continue
    await eventually(() => Buffer.concat(received).length === bytes)
    passage.leave(reason)
  }
  await ended
  for (const each of [clientEnd, nodeEnd]) each.destroy()
  return Buffer.concat(received)
}

it('[CF-7] who is told to go is told so after the frame that is under way, and nothing after it', async () => {
  const [first, second, third] = [frame(10, false), frame(300, false), frame(5, false)]
  const bytes = Buffer.concat([first, second, third])
  const cut = (...at: number[]): Buffer[] =>
    [...at, bytes.length].map((end, index) => bytes.subarray(at[index - 1] ?? 0, end))
  const untilSecond = Buffer.concat([first, second])
  expect(await passed(cut(12), 12)).toEqual(Buffer.concat([first, closing]))
  for (const at of [13, 15, 200, 315])
    expect(await passed(cut(at, 316), at)).toEqual(Buffer.concat([untilSecond, closing]))
})

it('[CF-5] of a client that does not read, and of a node that does not, little is kept', async () => {
  const [[client, clientEnd], [node, nodeEnd]] = [connected(), connected()]
  let ended = 0
  const passage = new SocketProxy(client, node, () => {
    ended += 1
  })
  for (const [from, to] of [
    [nodeEnd, clientEnd],
    [clientEnd, nodeEnd],
  ] as const) {
    let written = 0
    const piece = frame(16_000, false)
    while (written < 400 * piece.length && !from.writableNeedDrain) {
      from.write(piece)
      written += piece.length
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(from.writableNeedDrain).toBe(true)
    expect(written).toBeLessThan(600_000)
    let read = 0
    to.on('data', (chunk: Buffer) => {
      read += chunk.length
    })
    await eventually(() => read === written)
  }
  client.destroy()
  await eventually(() => node.destroyed && ended === 1)
  passage.leave(reason)
})
