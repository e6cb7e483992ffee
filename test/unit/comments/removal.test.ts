import { afterEach, beforeEach, expect, it } from 'vitest'
import { removeListed } from '../../../src/capabilities/comments/comment-removal.ts'
import { type CommentModule, createCommentModule } from '../../../src/capabilities/comments/index.ts'
import { createLog } from '../../../src/core/base/log.ts'
import { organizationPart } from '../../../src/core/directory/organizations/organization-keys.ts'
import { EventRecorder } from '../../../src/core/events/event-recorder.ts'
import { ann, bob, say } from '../../support/data/comments.ts'
import { type OpenDirectory, openDirectory, scopeOf, tenant } from '../../support/data/directory.ts'
import { turnsDuring } from '../../support/time/clock.ts'

const scope = scopeOf(tenant, 'acme')
const acting = { scope, documentId: 'd1', actionUser: ann }
const on = { ...acting, annotationId: 'a' }
const content = { anchor: null, status: 'open', priority: null, assignedTo: null, suggestion: null } as const

const annotation = { annotationId: 'a', ...content, location: { id: 'l' }, comments: [say('c')] }

let directory: OpenDirectory
let comments: CommentModule
beforeEach(async () => {
  directory = await openDirectory()
  const { store, engine, clock, organizations, memory } = directory
  await organizations.ensure(scope)
  await directory.documents.add(scope, [{ documentId: 'd1' }, { documentId: 'd2' }], { createFolder: false })
  const events = new EventRecorder(clock, () => false)
  const log = createLog('silent')
  comments = createCommentModule({ store, organizations, events, memory, engine, clock, log })
})
afterEach(() => directory.close())

const changes: Readonly<Record<string, () => Promise<unknown>>> = {
  'a comment is added': () => comments.comments.add(on, [say('later', 'x', bob)]),
  'a reaction is added': () =>
    comments.reactions.add({ ...on, commentId: 'c' }, [{ reactionId: 'r', reaction: '!', user: bob }]),
  'it is assigned': () => comments.annotations.update(acting, [{ annotationId: 'a', assignedTo: bob }]),
  'it is moved': () => comments.annotations.update(acting, [{ annotationId: 'a', location: { id: 'l2' } }]),
  'it is deleted': () => comments.annotations.delete(acting, ['a']),
}

it.each(Object.keys(changes))(
  '[COMM-20] removes an annotation completely even if %s during the removal',
  async (name) => {
    await comments.annotations.add(acting, [annotation])
    let attempts = 0
    const list = { kind: 'document', documentId: 'd1' } as const
    await removeListed(directory.store, scope, list, async () => {}, {
      forget: async () => {},
      beforehand: async () => {
        attempts += 1
        // Runs between the read and the write of the removal.
        if (attempts === 1) await changes[name]?.()
        return 'done'
      },
    })
    const left = await directory.engine.kv.scan(organizationPart(scope), { limit: 1_000 })
    expect(left.map(({ key }) => key).filter(([kind = '']) => kind.startsWith('annotation'))).toEqual([])
  },
)

const leavings: Readonly<Record<string, () => Promise<unknown>>> = {
  'it is moved to another location': () =>
    comments.annotations.update(acting, [{ annotationId: 'a', location: { id: 'l2' } }]),
  'it is deleted, and one of another document gets its id': async () => {
    await comments.annotations.delete(acting, ['a'])
    await comments.annotations.add({ ...acting, documentId: 'd2' }, [annotation])
  },
}

it.each(Object.keys(leavings))(
  '[COMM-16] keeps an annotation that left the location while the location was being deleted: %s',
  async (name) => {
    await comments.annotations.add(acting, [annotation])
    const { kv } = directory.engine
    const scan = kv.scan.bind(kv)
    let isLeft = false
    kv.scan = async (part, range) => {
      const entries = await scan(part, range)
      if (isLeft || range.prefix?.[0] !== 'annotationsIn') return entries
      // Runs between the read of the list and the removal of its entries.
      isLeft = true
      await leavings[name]?.()
      return entries
    }
    await comments.locations.clear(scope, { documentId: 'd1', locationId: 'l' })
    const found = await Promise.all(
      ['d1', 'd2'].map((documentId) => comments.annotations.find(scope, { documentId }, ['a'])),
    )
    expect(found.flat()).toMatchObject([{ record: { annotationId: 'a' }, commentCount: 1 }])
  },
)

it('[COMM-16] removes a location with many annotations in commits of limited size, and handles other events in between', async () => {
  const said = [say('c')]
  for (let at = 0; at < 1_000; at += 500) {
    const some = Array.from({ length: 500 }, (_, index) => `a${at + index}`)
    const added = some.map((annotationId) => ({
      annotationId,
      ...content,
      location: { id: 'l' },
      comments: said,
    }))
    await comments.annotations.add(acting, added)
  }
  let largest = 0
  const { kv } = directory.engine
  const commit = kv.commit.bind(kv)
  kv.commit = (part, given) => {
    largest = Math.max(largest, (given.dels?.length ?? 0) + (given.puts?.length ?? 0))
    return commit(part, given)
  }
  const turns = await turnsDuring(() =>
    comments.locations.clear(scope, { documentId: 'd1', locationId: 'l' }),
  )
  expect(turns).toBeGreaterThan(50)
  expect(largest).toBeLessThan(100)
  const left = await kv.scan(organizationPart(scope), { limit: 1_000 })
  const names = left.flatMap(({ key }) => key).filter((segment) => /^a\d+$/.test(segment))
  expect(names).toEqual([])
}, 30_000)
