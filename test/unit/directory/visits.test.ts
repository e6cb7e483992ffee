import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { createLog } from '../../../src/core/base/log.ts'
import { VisitRecorder, waitingMax } from '../../../src/core/directory/documents/visit-recorder.ts'
import { OrganizationStore } from '../../../src/core/directory/organizations/organization-store.ts'
import { EventRecorder } from '../../../src/core/events/event-recorder.ts'
import { decodeQueuedEvent, eventQueue } from '../../../src/core/events/outbound-event.ts'
import { awayUsersMax, type Visitor, VisitTracker } from '../../../src/core/events/visit-tracker.ts'
import { type Kv, StoreUnavailableError } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { eventually } from '../../support/clients/clients.ts'
import { scopeOf, tenant } from '../../support/data/directory.ts'
import { HeldClock } from '../../support/time/clock.ts'

const awayMs = 10_000
const documentOf = (documentId: string) => ({ ...scopeOf(tenant, 'acme'), documentId })
const visitor = (userId: string): Visitor => ({ user: { userId }, kind: 'user', source: 'socket' })

/** Visits, and the events recorded for them: `document user type at`. */
function noted() {
  const clock = new HeldClock(0)
  const told: string[] = []
  const visits = new VisitTracker(
    clock,
    awayMs,
    () => true,
    ({ type, actionUser }, { document }) =>
      void told.push(`${document.documentId} ${actionUser.userId} ${type} ${clock.now()}`),
  )
  return { clock, told, visits }
}

/** An arrival or departure at a time. */
interface Step {
  readonly after: number
  readonly who: number
}

const step: fc.Arbitrary<Step> = fc.record({
  after: fc.constantFrom(0, 1, 500, awayMs - 1, awayMs, awayMs + 1),
  who: fc.nat({ max: 5 }),
})

it('[PRES-24] when users connect and disconnect in any order, records the same joins and leaves as a simple model', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { clock, told, visits } = noted()
      const there = new Set<number>()
      const wentAt = new Map<number, number>()
      const expected: string[] = []
      const nameOf = (who: number): string => `d${who % 2} u${who >> 1}`
      const pass = (ms: number): void => {
        clock.advance(ms)
        for (const [who, at] of wentAt) {
          if (at + awayMs > clock.now()) continue
          expected.push(`${nameOf(who)} presence.leave`)
          wentAt.delete(who)
        }
      }
      for (const { after, who } of [...steps, { after: 3 * awayMs, who: 0 }]) {
        pass(after)
        const [document, user] = [documentOf(`d${who % 2}`), visitor(`u${who >> 1}`)]
        if (there.delete(who)) {
          visits.left(document, user)
          wentAt.set(who, clock.now())
        } else {
          there.add(who)
          visits.joined(document, user)
          if (!wentAt.delete(who)) expected.push(`${nameOf(who)} presence.join`)
        }
      }
      expect(told.map((each) => each.replace(/ \d+$/, ''))).toEqual(expected)
    }),
    { numRuns: 2_000 },
  )
})

it('[PRES-25] limits the number of leave events that wait, and beyond the limit records the earliest ones immediately', () => {
  const { told, visits } = noted()
  for (let user = 0; user < awayUsersMax; user++) visits.left(documentOf('d'), visitor(`${user}`))
  expect(told).toEqual([])
  visits.left(documentOf('d'), visitor('more'))
  visits.left(documentOf('d'), visitor('another'))
  expect(told).toEqual(['d 0 presence.leave 0', 'd 1 presence.leave 0'])
})

async function storeAway() {
  const engine = await openMemoryEngine()
  const clock = new HeldClock()
  const state = { away: true, commits: 0 }
  const kv: Kv = {
    get: (...call) => engine.kv.get(...call),
    scan: (...call) => engine.kv.scan(...call),
    commit: (...call) => {
      state.commits += 1
      return state.away ? Promise.reject(new StoreUnavailableError('away')) : engine.kv.commit(...call)
    },
  }
  const events = new EventRecorder(clock, () => true)
  const store = new OrganizationStore({ ...engine, kv }, events)
  const log = createLog('silent')
  const visitEvents = new VisitRecorder(engine, { store, events, clock, log, awayMs })
  const told = async (): Promise<string[]> => {
    const jobs = await engine.queue.claim(eventQueue, 20_000, 60_000)
    await Promise.all(jobs.map(({ token }) => engine.queue.done(token)))
    const stored = jobs.map(({ payload }) => decodeQueuedEvent(payload)).toSorted((a, b) => a.at - b.at)
    return stored.map(({ type, actionUser }) => `${actionUser.userId} ${type}`)
  }
  return { engine, clock, state, visitEvents, told }
}

it('[PRES-26] when the store is available again, writes the visit events that occurred during the outage', async () => {
  const { engine, clock, state, visitEvents, told } = await storeAway()
  const { visits } = visitEvents
  visits.joined(documentOf('d'), visitor('ann'))
  await eventually(() => state.commits === 1)
  visits.left(documentOf('d'), visitor('ann'))
  clock.advance(awayMs)
  await eventually(() => state.commits === 2)
  state.away = false
  clock.advance(1_000)
  const all: string[] = []
  await eventually(
    async () => all.push(...(await told())) === 2,
    () => all,
  )
  expect(all.toSorted()).toEqual(['ann presence.join', 'ann presence.leave'])
  await visitEvents.stop()
  await engine.close()
})

it('[PRES-26] keeps at most 10,000 waiting events, and a shutdown does not wait for an unavailable store', async () => {
  const { engine, state, visitEvents, told } = await storeAway()
  for (let user = 0; user < waitingMax + 5; user++)
    visitEvents.visits.joined(documentOf('d'), visitor(`${user}`))
  await visitEvents.stop()
  state.away = false
  expect(await told()).toEqual([])
  await visitEvents.stop()
  const written = await told()
  expect(written).toHaveLength(waitingMax)
  expect(written).not.toContain(`${waitingMax} presence.join`)
  await engine.close()
})
