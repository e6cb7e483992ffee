import { expect, it } from 'vitest'
import { createAudit } from '../../../src/core/audit/audit.ts'
import type { AuditScope } from '../../../src/core/audit/record.ts'
import type { ClaimedId } from '../../../src/core/audit/rejections.ts'
import { createLog } from '../../../src/core/base/log.ts'
import { createTenancy } from '../../../src/core/directory/tenants/tenancy.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { HeldClock } from '../../support/time/clock.ts'

const minuteMs = 60_000

async function open() {
  const [engine, clock] = [await openMemoryEngine(), new HeldClock()]
  const { tenants, workspaces } = createTenancy(engine, clock)
  const log = createLog('silent')
  const { audit, refusals } = createAudit({ kv: engine.kv, tenants, clock, log, keepMs: 1 })
  const owner = { name: 'Ann', email: 'ann@example.com', avatar: '' }
  const { workspace, apiKey } = await workspaces.create({ name: 'w', owner })
  const try_ = (claim: ClaimedId | null, clientAddress = '203.0.113.1') =>
    refusals.note({ door: 'key', outcome: 'UNAUTHENTICATED', clientAddress, claim })
  const recorded = async (place: AuditScope) =>
    (await audit.list(place, {}, { order: 'asc', after: undefined, limit: 100_000 })).items
  return { clock, refusals, workspaceId: workspace.id, apiKey, try_, recorded }
}

it('[AUDIT-5] groups the failures of a minute by the attempted id, and records them in the log of the owner of this id', async () => {
  const { clock, refusals, workspaceId, apiKey, try_, recorded } = await open()
  const since = clock.now()
  for (let time = 0; time < 1_000; time++) try_({ is: 'apiKey', id: apiKey })
  try_({ is: 'apiKey', id: apiKey }, '203.0.113.2')
  clock.advance(minuteMs - 1)
  expect(await recorded(workspaceId)).toEqual([])
  try_({ is: 'workspaceId', id: workspaceId })
  clock.advance(1)
  await refusals.flush()
  const ofKey = { operation: 'authentication.key', actor: 'nobody', apiKey, outcome: 'UNAUTHENTICATED' }
  expect(await recorded(workspaceId)).toMatchObject([
    { ...ofKey, at: since + minuteMs, clientAddress: '203.0.113.1', refusals: { count: 1_000, since } },
    { ...ofKey, clientAddress: '203.0.113.2', refusals: { count: 1, since } },
    { apiKey: null, refusals: { count: 1, since: since + minuteMs - 1 } },
  ])
  expect(await recorded(null)).toEqual([])
})

it('[AUDIT-5] does not store an attempted id if it does not exist', async () => {
  const { refusals, try_, recorded } = await open()
  try_({ is: 'apiKey', id: 'a-secret-in-the-wrong-header' })
  try_({ is: 'apiKey', id: 'another-secret' })
  try_({ is: 'workspaceId', id: 'x'.repeat(100_000) })
  try_(null)
  await refusals.flush()
  const found = await recorded(null)
  expect(found.map((record) => record.refusals?.count)).toEqual([4])
  expect(JSON.stringify(found)).not.toMatch(/secret|xxx/)
})

it('[AUDIT-5] when one client tries many unknown ids, still records the failures for existing ids', async () => {
  const { refusals, workspaceId, apiKey, try_, recorded } = await open()
  for (let at = 0; at < 3_000; at++) try_({ is: 'apiKey', id: `guess-${at}` }, '203.0.113.66')
  try_({ is: 'apiKey', id: apiKey })
  await refusals.flush()
  expect(await recorded(workspaceId)).toMatchObject([
    { apiKey, clientAddress: '203.0.113.1', refusals: { count: 1 } },
  ])
  expect(await recorded(null)).toMatchObject([
    { apiKey: null, clientAddress: '203.0.113.66', refusals: { count: 3_000 } },
  ])
})

it('[AUDIT-5] during a flood from many addresses, writes at most 2,000 records a day and one record a minute', async () => {
  const { clock, refusals, try_, recorded } = await open()
  const minutes = 100
  for (let minute = 0; minute < minutes; minute++) {
    for (let from = 0; from < 500; from++) try_(null, `2001:db8::${minute}:${from}`)
    clock.advance(minuteMs)
    await refusals.flush()
  }
  const found = await recorded(null)
  expect(found.length).toBe(2_000 + minutes)
  expect(found.reduce((sum, record) => sum + (record.refusals?.count ?? 0), 0)).toBe(minutes * 500)
  clock.advance(86_400_000)
  try_(null)
  await refusals.flush()
  expect((await recorded(null)).at(-1)).toMatchObject({
    operation: 'authentication.key',
    refusals: { count: 1 },
  })
})
