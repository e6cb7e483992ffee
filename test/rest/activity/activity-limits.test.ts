import { afterEach, beforeEach, expect, it } from 'vitest'
import { type OpenDirectory, openDirectory, scopeOf, tenant } from '../../support/data/directory.ts'

const scope = scopeOf(tenant, 'acme')

let directory: OpenDirectory
beforeEach(async () => {
  directory = await openDirectory()
  await directory.organizations.ensure(scope)
  await directory.documents.add(scope, [{ documentId: 'd1' }], { createFolder: false })
})
afterEach(() => directory.close())

const activity = (id: string, changes: Record<string, unknown>) => ({
  id,
  featureType: 'comment' as const,
  actionType: 'comment.add',
  actionUser: { userId: 'ann' },
  changes,
})

it('[ACT-10] when few activities match, ends a page early, and continues the list on the next page', async () => {
  // Half of each kind: neither index alone shows that no activity is of both kinds.
  const count = 5_000
  for (let from = 0; from < count; from += 500) {
    const batch = Array.from({ length: 500 }, (_, index) => {
      const number = from + index
      const both = number === 0
      return {
        id: `${number}`,
        featureType: 'comment' as const,
        actionType: number % 2 === 0 ? 'even' : 'odd',
        actionUser: { userId: number % 2 === 1 || both ? 'ann' : 'bob' },
      }
    })
    await directory.activities.add(scope, 'd1', batch)
    directory.clock.advance(1)
  }
  const query = { userId: 'ann', actionTypes: ['even'] }
  const pages: number[] = []
  for (let after: string | null | undefined; after !== null; ) {
    const { items, next } = await directory.activities.list(scope, query, { order: 'desc', after, limit: 10 })
    pages.push(items.length)
    after = next
  }
  expect(pages).toEqual([0, 1])
})

it('[ACT-10] when activities are large, ends a page early, and continues the list on the next page', async () => {
  const ids = Array.from({ length: 900 }, (_, index) => `large-${index}`)
  for (let from = 0; from < ids.length; from += 450) {
    const batch = ids.slice(from, from + 450).map((id) => activity(id, { text: 'x'.repeat(16_000) }))
    await directory.activities.add(scope, 'd1', batch)
    directory.clock.advance(1)
  }
  for (const query of [{}, { userId: 'ann' }]) {
    const seen: string[] = []
    for (let after: string | null | undefined; after !== null; ) {
      const range = { order: 'asc', after, limit: 1_000 } as const
      const { items, next } = await directory.activities.list(scope, query, range)
      expect(Buffer.byteLength(JSON.stringify(items))).toBeLessThan(9_000_000)
      seen.push(...items.map(({ id }) => id))
      after = next
    }
    expect(seen.filter((id) => id.startsWith('large'))).toEqual(ids)
  }
})

it('[DATA-10] when the activities of a call name more than 2,000 users, rejects only the activity that exceeds the limit', async () => {
  const users = Array.from({ length: 100 }, (_, index) => ({ userId: `u${index}` }))
  const many = Array.from({ length: 21 }, (_, index) => activity(`n${index}`, { users }))
  const results = await directory.activities.add(scope, 'd1', [...many, activity('none', {})])
  const refused = Object.values(results).filter(({ success }) => !success)
  expect(refused).toMatchObject([{ id: 'n20', message: expect.stringContaining('2000 users') }])
})
