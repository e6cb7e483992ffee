import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import type { Member } from '../../../../src/core/rooms/updates/change.ts'
import { clockMax } from '../../../../src/core/update/byte-reader.ts'
import { HeldClock } from '../../../support/time/clock.ts'
import { document, query, Server, windowMs } from './stock-clients.ts'

const asItIs = (bytes: Uint8Array): Uint8Array => bytes

/** A member that sends no answers, and the frames that it has received. */
function silentMember(server: Server, userId: string, answersRemoval = true) {
  const frames: Uint8Array[] = []
  const member: Member = {
    encoder: { update: asItIs, awareness: asItIs, awarenessQuery: query, answersRemoval },
    user: { id: userId, name: userId, email: '' },
    deliver: () => {},
    deliverAwareness: (frame, own) => void (own || frames.push(frame)),
    requestMissing: () => {},
    end: () => {},
  }
  server.members.add(member)
  server.board.join(member)
  const leave = (): void => {
    server.members.delete(member)
    server.board.leave(member)
  }
  return { member, frames, leave }
}

it.each([true, false])(
  '[AWA-25] at most once a second, requests new states from a connection that repeats old states (client answers its removal: %s)',
  (answersRemoval) => {
    const clock = new HeldClock()
    const server = new Server(clock)
    const ids = Array.from({ length: 100 }, (_, index) => index + 1)
    const entries = ids.map((clientId) => ({ clientId, clock: 5, state: { cursor: 1 } }))
    for (const entry of entries) {
      const { member, leave } = silentMember(server, 'ada')
      server.board.receive(member, [entry])
      leave()
    }
    clock.advance(windowMs)
    const { member, frames } = silentMember(server, 'ada', answersRemoval)
    const framesOfOne = answersRemoval ? 1 : 2
    for (let message = 0; message < 10; message++) server.board.receive(member, entries)
    expect(frames).toHaveLength(framesOfOne)
    clock.advance(1_000)
    server.board.receive(member, entries)
    expect(frames).toHaveLength(2 * framesOfOne)
    server.end()
  },
)

it('[AWA-9] does not give a client id back to a connection whose clock is near the maximum', () => {
  const server = new Server(new HeldClock())
  const first = silentMember(server, 'ada')
  server.board.receive(first.member, [{ clientId: 7, clock: 5, state: { cursor: 1 } }])
  first.leave()
  const second = silentMember(server, 'ada')
  server.board.receive(second.member, [{ clientId: 7, clock: clockMax - 1, state: { cursor: 2 } }])
  expect(server.board.all()).toEqual([])
  server.board.receive(second.member, [{ clientId: 7, clock: 6, state: { cursor: 3 } }])
  expect(server.board.all()).toHaveLength(1)
  server.end()
})

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

it('[AWA-26] when clients do not answer, keeps no texts of their earlier states in memory', () => {
  const clock = new HeldClock()
  const server = new Server(clock)
  const userIds = Array.from({ length: 50 }, (_, index) => `user-${index}`)
  for (const [index, userId] of userIds.entries()) {
    const { member } = silentMember(server, userId)
    const note = `${index}`.repeat(15_000 / `${index}`.length)
    server.board.receive(member, [{ clientId: index + 1, clock: 1, state: { note } }])
    server.members.delete(member)
  }
  const presence = server.presence.presenceOf(document)
  const change = (status: string): void => {
    presence.update(userIds.map((userId) => ({ userId, status })))
    clock.advance(windowMs)
  }
  const usedBytes = (): number => {
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  change('first')
  const before = usedBytes()
  for (let count = 0; count < 32; count++) change(`status ${count}`)
  expect(usedBytes() - before).toBeLessThan(8e6)
  server.end()
})
