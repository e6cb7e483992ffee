import { setImmediate as nextTurn } from 'node:timers/promises'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { createLog } from '../../../../src/core/base/log.ts'
import { VisitRecorder } from '../../../../src/core/directory/documents/visit-recorder.ts'
import { keys } from '../../../../src/core/directory/organizations/organization-keys.ts'
import { OrganizationStore } from '../../../../src/core/directory/organizations/organization-store.ts'
import { EventRecorder } from '../../../../src/core/events/event-recorder.ts'
import { sharedNodes } from '../../../support/servers/simulated-network.ts'
import { openRecorded } from '../../../support/stores/recorded-engine.ts'
import { HeldClock } from '../../../support/time/clock.ts'
import { Client, document, Server } from '../awareness/stock-clients.ts'

const nodeCount = 3
const awayMs = 10_000
const runs = process.env.WEFT_TEST_LONG === '1' ? 250 : 60

type Step =
  | { readonly kind: 'come'; readonly client: number; readonly node: number }
  | { readonly kind: 'lose' | 'notice'; readonly client: number }
  | { readonly kind: 'pass'; readonly ms: number }

const client = fc.nat({ max: 2 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('come' as const), client, node: fc.nat({ max: nodeCount - 1 }) }),
  fc.record({ kind: fc.constantFrom('lose' as const, 'notice' as const), client }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(1, 60, 9_990, 10_000, 20_000) }),
)
const conditionsOfNetwork = fc.array(fc.array(fc.constantFrom(0, 1, 90, 700), { maxLength: 2 }), {
  minLength: 1,
  maxLength: 20,
})

/** Nodes with a bad network until `calm`, and the events of visits. */
async function start(conditions: readonly (readonly number[])[]) {
  const { engine: store, told } = await openRecorded()
  const run = { isCalm: false, messages: 0 }
  const clock = new HeldClock()
  const weather = (): readonly number[] =>
    run.isCalm ? [0] : (conditions[run.messages++ % conditions.length] ?? [0])
  const nodes = await sharedNodes(nodeCount, { clock, weather, store })
  const recorders = nodes.map(({ engine }) => {
    const events = new EventRecorder(clock, () => true)
    const organizations = new OrganizationStore(engine, events)
    const log = createLog('silent')
    return new VisitRecorder(engine, { store: organizations, events, clock, log, awayMs })
  })
  const servers = recorders.map(({ visits }) => new Server(clock, visits))
  const organizations = new OrganizationStore(store, new EventRecorder(clock, () => true))
  const now = clock.now()
  const dates = { createdAt: now, lastUpdated: now }
  await organizations.carryOut(document, async (transaction) =>
    transaction.put(keys.organization, {
      organizationId: 'acme',
      organizationName: '',
      metadata: {},
      ...dates,
    }),
  )
  for (const each of recorders) each.start()
  const stop = async (): Promise<void> => {
    for (const each of recorders) await each.stop()
    for (const server of servers) server.end()
    for (const { engine } of nodes) await engine.close()
  }
  return { clock, run, told, servers, stop }
}

/** A commit takes several ticks of the event loop. */
async function pass(clock: HeldClock, ms: number): Promise<void> {
  clock.advance(ms)
  for (let turn = 0; turn < 5; turn++) await nextTurn()
}

it('[CP-13] alternately records joins and leaves of a user on several nodes, and the last record matches the presence of the user', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 30, size: 'medium' }),
      conditionsOfNetwork,
      async (steps, conditions) => {
        const { clock, run, told, servers, stop } = await start(conditions)
        const clients = ['ada', 'bob', 'ada'].map((userId, index) => new Client(index + 1, true, userId))
        for (const each of steps) {
          if (each.kind === 'pass') await pass(clock, each.ms)
          else {
            const actor = clients[each.client] as Client
            if (each.kind === 'come') actor.come(servers[each.node] as Server)
            else actor[each.kind]()
            await pass(clock, 1)
          }
        }
        run.isCalm = true
        for (const each of clients) each.notice()
        for (let round = 0; round < 4; round++) await pass(clock, awayMs)
        for (const userId of ['ada', 'bob']) {
          const kinds = told()
            .filter(({ actionUser }) => actionUser.userId === userId)
            .map(({ type }) => type)
          const alternating = kinds.map((_, index) => (index % 2 === 0 ? 'presence.join' : 'presence.leave'))
          expect(kinds).toEqual(alternating)
          const isHere = clients.some((each) => each.userId === userId && each.isConnected)
          expect(kinds.length % 2 === 1).toBe(isHere)
        }
        for (const { awareness } of clients) awareness.destroy()
        await stop()
      },
    ),
    { numRuns: runs },
  )
}, 600_000)
