import { setImmediate as nextTurn } from 'node:timers/promises'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { createLog } from '../../../../src/core/base/log.ts'
import { VisitRecorder } from '../../../../src/core/directory/documents/visit-recorder.ts'
import { keys } from '../../../../src/core/directory/organizations/organization-keys.ts'
import { OrganizationStore } from '../../../../src/core/directory/organizations/organization-store.ts'
import { EventRecorder } from '../../../../src/core/events/event-recorder.ts'
import { openRecorded } from '../../../support/stores/recorded-engine.ts'
import { document, Page, World } from '../presence/simulated-cluster.ts'

const nodeCount = 3
const awayMs = 10_000
const runs = process.env.WEFT_TEST_LONG === '1' ? 250 : 60

type Step =
  | { readonly kind: 'connect'; readonly page: number; readonly node: number }
  | { readonly kind: 'disconnect' | 'endOld'; readonly page: number }
  | { readonly kind: 'pass'; readonly ms: number }

const page = fc.nat({ max: 2 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('connect' as const), page, node: fc.nat({ max: nodeCount - 1 }) }),
  fc.record({ kind: fc.constantFrom('disconnect' as const, 'endOld' as const), page }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(1, 60, 9_990, 10_000, 20_000) }),
)
const weather = fc.array(fc.array(fc.constantFrom(0, 1, 90, 700), { maxLength: 2 }), {
  minLength: 1,
  maxLength: 20,
})

/** Nodes with a bad network until `calm`, and the events of visits. */
async function start(conditions: readonly (readonly number[])[]) {
  const { engine: store, told } = await openRecorded()
  const run = { isCalm: false, messages: 0 }
  const visitEvents: VisitRecorder[] = []
  const world = await World.of(
    nodeCount,
    () => (run.isCalm ? [0] : (conditions[run.messages++ % conditions.length] ?? [0])),
    {
      store,
      visits: ({ engine }, clock) => {
        const events = new EventRecorder(clock, () => true)
        const organizations = new OrganizationStore(engine, events)
        const log = createLog('silent')
        const each = new VisitRecorder(engine, { store: organizations, events, clock, log, awayMs })
        visitEvents.push(each)
        return each.visits
      },
    },
  )
  const organizations = new OrganizationStore(store, new EventRecorder(world.clock, () => true))
  const now = world.clock.now()
  const dates = { createdAt: now, lastUpdated: now }
  await organizations.carryOut(document, async (transaction) =>
    transaction.put(keys.organization, {
      organizationId: 'acme',
      organizationName: '',
      metadata: {},
      ...dates,
    }),
  )
  for (const each of visitEvents) each.start()
  return { world, run, told, visitEvents }
}

/** A commit takes several ticks of the event loop. */
async function pass(world: World, ms: number): Promise<void> {
  await world.pass(ms)
  for (let turn = 0; turn < 5; turn++) await nextTurn()
}

it('[CP-13] alternately records joins and leaves of a user on several nodes, and the last record matches the presence of the user', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 30, size: 'medium' }),
      weather,
      async (steps, conditions) => {
        const { world, run, told, visitEvents } = await start(conditions)
        const pages = ['ada', 'bob', 'ada'].map((userId, index) => new Page(userId, index + 1))
        for (const each of steps) {
          if (each.kind === 'pass') await pass(world, each.ms)
          else {
            const actor = pages[each.page] as Page
            if (each.kind === 'connect') actor.connect(world.node(each.node))
            else actor[each.kind]()
            await pass(world, 1)
          }
        }
        run.isCalm = true
        for (const each of pages) each.endOld()
        for (let round = 0; round < 4; round++) await pass(world, awayMs)
        for (const userId of ['ada', 'bob']) {
          const kinds = told()
            .filter(({ actionUser }) => actionUser.userId === userId)
            .map(({ type }) => type)
          const alternating = kinds.map((_, index) => (index % 2 === 0 ? 'presence.join' : 'presence.leave'))
          expect(kinds).toEqual(alternating)
          const isHere = pages.some((each) => each.userId === userId && each.isConnected)
          expect(kinds.length % 2 === 1).toBe(isHere)
        }
        for (const each of pages) each.destroy()
        for (const each of visitEvents) await each.stop()
        await world.end()
      },
    ),
    { numRuns: runs },
  )
}, 600_000)
