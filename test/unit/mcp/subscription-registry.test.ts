import { afterEach, beforeEach, expect, it } from 'vitest'
import { prepareChange } from '../../../src/content/root-change.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { openMemoryEngine } from '../../../src/engine/memory/engine.ts'
import { createLog } from '../../../src/log.ts'
import { mcpLimits } from '../../../src/mcp/mcp-limits.ts'
import { SubscriptionRegistry } from '../../../src/mcp/subscription-registry.ts'
import { createMetrics } from '../../../src/metrics.ts'
import { close } from '../../../src/model/close.ts'
import { RoomRegistry } from '../../../src/rooms/room/room-registry.ts'
import { noEdits, noRecords, noVisits } from '../../support/data/rooms.ts'
import { roomyAccounts } from '../../support/servers/memory.ts'
import { HeldClock } from '../../support/time/clock.ts'

const address = {
  workspaceId: 'workspace',
  apiKey: 'key',
  organizationId: 'acme',
  documentId: 'report',
  editorId: 'main',
}
const uri = 'weft://acme/report/main'

let clock: HeldClock
let engine: Engine
let rooms: RoomRegistry
let subscriptions: SubscriptionRegistry
let changed: number
/** The checks of rights that wait for their result. */
let checks: { readonly resolve: (until: number | null) => void; readonly reject: (error: Error) => void }[]

beforeEach(async () => {
  clock = new HeldClock()
  engine = await openMemoryEngine({ clock })
  rooms = new RoomRegistry(
    engine,
    {
      documentBytesMax: 2 ** 26,
      heldBytesMax: 2 ** 20,
      awarenessWindowMs: 50,
      compactAfterUpdates: 50,
      keepVersionsMs: 0,
      idleMs: 2 ** 40,
      restMs: 2 ** 40,
      documentsPerWorkspaceMax: 0,
      computeThreads: 0,
      threadJobMs: 60_000,
    },
    {
      clock,
      metrics: createMetrics(),
      logger: createLog('silent'),
      memory: roomyAccounts(),
      records: noRecords,
      edits: noEdits,
      visits: noVisits,
      overspent: () => {},
    },
  )
  changed = 0
  checks = []
  subscriptions = new SubscriptionRegistry({
    rooms,
    clock,
    metrics: createMetrics(),
    changed: () => {
      changed += 1
      return true
    },
    readableUntil: () => new Promise((resolve, reject) => checks.push({ resolve, reject })),
  })
  await subscriptions.add(uri, address, Number.POSITIVE_INFINITY)
})

afterEach(async () => {
  subscriptions.end()
  await rooms.closeAll(close('serviceRestart', 'the test is over'))
  await engine.close()
})

/** Changes the document, and waits until the notification is due. */
async function change(data: string): Promise<void> {
  const prepared = prepareChange({ type: 'text', contentKey: 'content', data }, 1e6)
  await rooms.use(address, (room) => room.replacing.change('zoe', prepared, { expects: 'either' }))
  clock.advance(mcpLimits.notificationMs)
}

/** Waits until the callbacks of settled promises have run. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

it('[MCP-32] checks the rights again if they change during a check', async () => {
  subscriptions.noteRightsChanged()
  await change('one')
  expect([checks.length, changed]).toEqual([1, 0])
  subscriptions.noteRightsChanged()
  checks[0]?.resolve(Number.POSITIVE_INFINITY)
  await settled()
  expect([checks.length, changed]).toEqual([2, 0])
  checks[1]?.resolve(null)
  await settled()
  expect([subscriptions.has(uri), changed]).toEqual([false, 1])
  await change('two')
  expect(changed).toBe(1)
})

it('[MCP-32] sends nothing while a check runs, and checks again after one that fails', async () => {
  subscriptions.noteRightsChanged()
  await change('one')
  await change('two')
  subscriptions.flush()
  expect([checks.length, changed]).toEqual([1, 0])
  checks[0]?.reject(new Error('the store is not available'))
  await settled()
  expect([subscriptions.has(uri), changed]).toEqual([true, 0])
  subscriptions.flush()
  expect(checks).toHaveLength(2)
  checks[1]?.resolve(Number.POSITIVE_INFINITY)
  await settled()
  expect([subscriptions.has(uri), changed]).toEqual([true, 1])
})

it('[MCP-76] checks again after a check that fails, also without another change', async () => {
  subscriptions.noteRightsChanged()
  await change('one')
  for (const [count, seconds] of [
    [2, 5],
    [3, 5],
  ] as const) {
    checks.at(-1)?.reject(new Error('the store is not available'))
    await settled()
    clock.advance(seconds * 1_000 - 1)
    expect(checks).toHaveLength(count - 1)
    clock.advance(1)
    expect(checks).toHaveLength(count)
  }
  checks[2]?.resolve(Number.POSITIVE_INFINITY)
  await settled()
  expect([subscriptions.has(uri), changed]).toEqual([true, 1])
  clock.advance(60_000)
  expect(checks).toHaveLength(3)
})

it('[MCP-76] checks nothing after the subscription has ended during a check that fails', async () => {
  subscriptions.noteRightsChanged()
  await change('one')
  subscriptions.delete(uri)
  checks[0]?.reject(new Error('the store is not available'))
  await settled()
  clock.advance(60_000)
  expect([checks.length, changed]).toEqual([1, 0])
})
