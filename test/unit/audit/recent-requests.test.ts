import { expect, it } from 'vitest'
import { RecentRequests, type RequestNote } from '../../../src/core/audit/recent-requests.ts'
import { systemClock } from '../../../src/core/base/clock.ts'
import type { Tenant } from '../../../src/core/model/address.ts'

const tenant = (apiKey: string) => ({ workspaceId: 'ws', apiKey })
const note = (target: string, outcome = 'success'): RequestNote => ({
  kind: 'rest',
  target,
  outcome,
  clientAddress: '127.0.0.1',
})
async function* twoWorkspaces() {
  yield* ['one', 'two']
}
const requests = (owner: Tenant | null = null): RecentRequests => {
  const tenants = { tenantOf: async () => owner, workspaceIds: () => twoWorkspaces() }
  return new RecentRequests(tenants, systemClock, tenant('a'))
}
const query = { onlyRejected: false, kind: null } as const
const range = { after: undefined, limit: 1_000 }

it('[AUDIT-15] keeps the latest 100 accepted and the latest 100 rejected entries of an API key', async () => {
  const recent = requests()
  for (let index = 0; index < 150; index++) {
    recent.note(tenant('a'), note(`/good/${index}`))
    recent.note(tenant('a'), note(`/bad/${index}`, 'NOT_FOUND'))
  }
  const { items } = await recent.list(tenant('a'), query, range)
  const targets = new Set(items.map(({ target }) => target))
  expect(items).toHaveLength(200)
  expect([targets.has('/good/50'), targets.has('/good/49')]).toEqual([true, false])
  expect([targets.has('/bad/50'), targets.has('/bad/49')]).toEqual([true, false])
})

it('[AUDIT-15] keeps an entry that occurs repeatedly, with its number of repetitions, while newer entries replace the others', async () => {
  const recent = requests()
  for (let index = 0; index < 300; index++) {
    recent.note(tenant('a'), note('/same', 'NOT_FOUND'))
    recent.note(tenant('a'), note(`/bad/${index}`, 'NOT_FOUND'))
  }
  const { items } = await recent.list(tenant('a'), query, range)
  expect(items).toHaveLength(100)
  expect(items.find(({ target }) => target === '/same')?.times).toBe(300)
})

it('[AUDIT-15] keeps the rejected calls of an API key while a stranger sends many calls with its id', async () => {
  const recent = requests(tenant('a'))
  recent.note(tenant('a'), note('/own', 'NOT_FOUND'))
  for (let index = 0; index < 300; index++)
    recent.note({ apiKey: 'a', workspaceId: null }, note(`/strange/${index}`, 'UNAUTHENTICATED'))
  const { items } = await recent.list(tenant('a'), query, range)
  expect(items).toHaveLength(101)
  expect(items.at(-1)?.target).toBe('/own')
})

it('[AUDIT-15] keeps at most 5,000 entries, and drops entries of the API key that was inactive for the longest time', async () => {
  const recent = requests()
  const countOf = async (key: string) => (await recent.list(tenant(key), query, range)).items.length
  for (let key = 0; key < 60; key++) {
    recent.note(tenant('first'), note('/first'))
    for (let index = 0; index < 100; index++) recent.note(tenant(`key-${key}`), note(`/good/${index}`))
  }
  let total = await countOf('first')
  for (let key = 0; key < 60; key++) total += await countOf(`key-${key}`)
  expect(total).toBeLessThanOrEqual(5_000)
  expect(total).toBeGreaterThan(4_800)
  expect([await countOf('first'), await countOf('key-0'), await countOf('key-59')]).toEqual([1, 0, 100])
})
