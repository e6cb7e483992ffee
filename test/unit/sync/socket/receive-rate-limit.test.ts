import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { pieceCostBytes as header, type PausableReader } from '../../../../src/core/quota/tick-shares.ts'
import { ReceiveRateLimit } from '../../../../src/core/sync/socket/receive-rate-limit.ts'
import { HeldClock } from '../../../support/time/clock.ts'

class Socket implements PausableReader {
  readonly workspaceId = 'ws'
  reading = true
  pauseReading(): void {
    this.reading = false
  }
  resumeReading(): void {
    this.reading = true
  }
}

function setUp(perSecond: number, burst: number) {
  const clock = new HeldClock()
  const exceeded: string[] = []
  const inflow = new ReceiveRateLimit({ perSecond, burst }, clock, (who) => void exceeded.push(who))
  return { clock, exceeded, inflow }
}

it('[LIM-5] in any period, reads at most the bytes that burst and rate allow, plus one message per socket', () => {
  const messages = fc.array(
    fc.record({
      from: fc.integer({ min: 0, max: 3 }),
      bytes: fc.integer({ min: 0, max: 3000 }),
      pauseMs: fc.integer({ min: 0, max: 40 }),
    }),
    { maxLength: 300 },
  )
  fc.assert(
    fc.property(fc.integer({ min: 1000, max: 50_000 }), messages, (perSecond, all) => {
      const burst = 5000
      const { clock, inflow } = setUp(perSecond, burst)
      const sockets = Array.from({ length: 4 }, () => new Socket())
      const meters = sockets.map(() => inflow.enter('acme'))
      const start = clock.now()
      let read = 0
      for (const { from, bytes, pauseMs } of all) {
        clock.advance(pauseMs)
        if (!sockets[from]?.reading) continue
        meters[from]?.count(bytes, sockets[from])
        read += bytes + header
        const allowed = burst + ((clock.now() - start) * perSecond) / 1000
        expect(read).toBeLessThanOrEqual(allowed + 4 * (3000 + header))
      }
      // No socket stays paused.
      for (let waits = 0; waits < 40; waits += 1) clock.advance(1000)
      expect(sockets.every(({ reading }) => reading)).toBe(true)
    }),
    { numRuns: 100 },
  )
})

it('[LIM-5] when a workspace exceeds its rate, pauses no socket of another workspace', () => {
  const { exceeded, inflow } = setUp(1000, 1000)
  const [busy, calm] = [new Socket(), new Socket()]
  inflow.enter('busy').count(5000, busy)
  inflow.enter('calm').count(100, calm)
  expect([busy.reading, calm.reading]).toEqual([false, true])
  expect(exceeded).toEqual(['busy'])
})

it('[LIM-5] gives a client that reconnects no new burst until enough time has passed', () => {
  const { clock, inflow } = setUp(1000, 1000)
  const first = new Socket()
  const meter = inflow.enter('acme')
  meter.count(3000, first)
  inflow.leave(meter, first)
  const again = new Socket()
  const second = inflow.enter('acme')
  second.count(1, again)
  expect(again.reading).toBe(false)
  inflow.leave(second, again)
  for (let waits = 0; waits < 10; waits += 1) clock.advance(1000)
  const rested = new Socket()
  inflow.enter('acme').count(700, rested)
  expect(rested.reading).toBe(true)
})

it('[LIM-5] without a rate, pauses no socket', () => {
  const { inflow } = setUp(0, 1)
  const socket = new Socket()
  const meter = inflow.enter('acme')
  for (let message = 0; message < 100; message += 1) meter.count(1e9, socket)
  expect(socket.reading).toBe(true)
  inflow.leave(meter, socket)
})
