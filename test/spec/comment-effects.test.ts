import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { Judgment } from '../../src/memory/judgment-keys.ts'
import { memoryLimits } from '../../src/memory/limits.ts'
import { syncedEditor } from '../support/clients.ts'
import { type ActivityRow, ann, bob, commentsOf, say } from '../support/comments.ts'
import { errorOf, type PeopleServer, startPeopleServer } from '../support/people.ts'
import { dataOf } from '../support/server.ts'

let server: PeopleServer
beforeAll(async () => {
  server = await startPeopleServer()
})
afterAll(() => server.stop())

const organization = (organizationId: string) => commentsOf(server, organizationId)
const judgments = async (organizationId: string): Promise<readonly Judgment[]> =>
  dataOf(await server.post('/v2/memory/judgments/query', { organizationId })) as Judgment[]

const locationPath = '/v1/organizations/documents/locations/data/delete'
const clear = (data: object, headers: Record<string, string> = {}) => {
  const { apiKey, authToken } = server.credentials
  return server.post(locationPath, { apiKey, authToken, documentId: 'd1', ...data }, headers)
}

it('[COMM-13] a decided suggestion is one judgment of the first comment, by who decided', async () => {
  const { add, call, update } = await organization('judged-13')
  await add({ annotationId: 'a', suggestion: {}, comments: [say('c1', 'Use the shorter word'), say('c2')] })
  const now = server.clock.now()
  const accept = { suggestion: { accept: true } }
  for (let again = 0; again < 3; again++) await update('a', accept, { actionUser: bob })
  const first = {
    query: 'Use the shorter word',
    decision: 'approve',
    reason: '',
    reviewerId: 'bob',
    organizationId: 'judged-13',
    documentId: 'd1',
    judgedAt: now,
  }
  expect(await judgments('judged-13')).toEqual([{ ...first, judgmentId: expect.any(String) }])
  await call('comments/delete', { annotationId: 'a', commentIds: ['c1'] })
  const at = server.clock.now()
  const many = Array.from({ length: 5 }, () => update('a', { suggestion: { reject: true } }))
  expect((await Promise.all(many)).filter(({ a }) => a?.message === 'updated')).toHaveLength(1)
  expect(await judgments('judged-13')).toMatchObject([
    { query: 'text of c2', decision: 'reject', reviewerId: 'ann', judgedAt: at },
    first,
  ])
})

it('[COMM-13] a suggestion without a comment is no judgment, one with a long comment a cut one', async () => {
  const { add, update } = await organization('judged-cut-13')
  const long = `${'x'.repeat(memoryLimits.queryCharacters - 1)}😀`
  await add(
    { annotationId: 'mute', suggestion: {} },
    { annotationId: 'long', suggestion: {}, comments: [say('c', long)] },
  )
  for (const id of ['mute', 'long']) await update(id, { suggestion: { reject: true } })
  const [found, ...others] = await judgments('judged-cut-13')
  expect(others).toEqual([])
  expect(found?.query.isWellFormed()).toBe(true)
  expect(found?.query.slice(0, -1)).toBe(long.slice(0, memoryLimits.queryCharacters - 1))
})

it('[COMM-15] an anchor stays at its word while a backend replaces the text', async () => {
  const { add, one } = await organization('anchor-15')
  const at = { organizationId: 'anchor-15', documentId: 'd1', editorId: 'main', type: 'text' }
  const text = 'The quick brown fox jumps over the lazy dog.'
  dataOf(await server.post('/v2/crdt/add', { ...at, data: text }))
  const editor = await syncedEditor(server.wsUrl, 'anchor-15/d1/main', await server.token('ann'))
  try {
    const encoded = (index: number) =>
      Buffer.from(
        Y.encodeRelativePosition(Y.createRelativePositionFromTypeIndex(editor.text, index)),
      ).toString('base64')
    const start = text.indexOf('lazy')
    const anchor = {
      editorId: 'main',
      contentKey: 'content',
      position: encoded(start),
      positionEnd: encoded(start + 4),
    }
    await add({ annotationId: 'a', anchor, comments: [say('c', 'Is it?')] })
    const next = 'A much longer beginning: the quick red fox jumps over a very lazy dog, twice.'
    dataOf(await server.post('/v2/crdt/update', { ...at, data: next }))
    await new Promise<void>((resolve) => {
      const look = () => editor.text.toString() === next && resolve()
      editor.text.observe(look)
      look()
    })
    const answered = (await one('a')).anchor as unknown as typeof anchor
    const indexes = [answered.position, answered.positionEnd].map((position) => {
      const relative = Y.decodeRelativePosition(Buffer.from(position, 'base64'))
      return Y.createAbsolutePositionFromRelativePosition(relative, editor.doc)?.index
    })
    expect(next.slice(...(indexes as [number, number]))).toBe('lazy')
  } finally {
    editor.close()
  }
})

it('[COMM-16] deleting a location takes its annotations and their activities, and nothing else', async () => {
  const { add, call, get, stored, activities, happened } = await organization('location-16')
  const going = Array.from({ length: 120 }, (_, index) => ({
    annotationId: `go${index}`,
    location: { id: 'page' },
    comments: [say('c')],
  }))
  await add(...going)
  await add(
    { annotationId: 'elsewhere', location: { id: 'page 2' }, comments: [say('c')] },
    { annotationId: 'nowhere' },
  )
  await call('add', { documentId: 'd2', annotations: [{ annotationId: 'other', location: { id: 'page' } }] })
  const on = { annotationId: 'go0', commentId: 'c', actionUser: bob }
  await call('comments/reactions/add', { ...on, reactions: [{ reaction: '!' }] })
  // Of another document, and on a thing of the same name.
  const foreign = {
    id: 'foreign',
    featureType: 'custom',
    actionType: 'x',
    actionUser: ann,
    targetEntityId: 'go0',
  }
  const inOther = { organizationId: 'location-16', documentId: 'd2', activities: [foreign] }
  dataOf(await server.post('/v2/activities/add', inOther))
  const answer = await clear({
    organizationId: 'location-16',
    location: { id: 'page', locationName: 'Page' },
  })
  expect(answer.body.result).toMatchObject({ status: 'success', data: null })
  expect((await get()).map(({ annotationId }) => annotationId).toSorted()).toEqual(['elsewhere', 'nowhere'])
  expect(await call('get', { documentId: 'd2' })).toMatchObject([{ annotationId: 'other' }])
  expect((await stored()).flat().filter((segment) => segment.startsWith('go'))).toEqual([])
  expect(await happened()).toEqual([
    'comment_annotation.add elsewhere',
    'comment.add elsewhere',
    'comment_annotation.add nowhere',
  ])
  expect((await activities()).length).toBe(3)
  const left = await server.post('/v2/activities/get', {
    organizationId: 'location-16',
    targetEntityId: 'go0',
  })
  expect(dataOf(left)).toMatchObject([{ id: 'foreign' }])
})

it('[COMM-16] the activities of what was deleted at a location before go with it', async () => {
  const { add, call, happened } = await organization('before-16')
  const location = { id: 'page' }
  const comments = [say('c', 'what nobody should read any more')]
  await add(...['gone', 'again', 'moved'].map((annotationId) => ({ annotationId, location, comments })), {
    annotationId: 'elsewhere',
    location: { id: 'page 2' },
    comments,
  })
  await call('update', { annotations: [{ annotationId: 'moved', location: { id: 'page 2' } }] })
  await call('delete', { annotationIds: ['gone', 'again', 'moved', 'elsewhere'] })
  await add({ annotationId: 'again', location: { id: 'page 2' } })
  for (const data of [{ organizationId: 'before-16' }, {}]) {
    await clear({ location, ...data })
    const targets = (await happened()).map((each) => each.split(' ')[1])
    expect(new Set(targets)).toEqual(new Set(['again', 'moved', 'elsewhere']))
  }
  // In whatever organization it was.
  await clear({ location: { id: 'page 2' } })
  expect(await happened()).toEqual([])
})

it('[COMM-16] what bears the name of an annotation by chance keeps its activities', async () => {
  const { add, get } = await organization('names-16')
  const at = { organizationId: 'names-16', documentId: 'd1' }
  const location = { id: 'page' }
  await add({ annotationId: 'd1', location }, { annotationId: 'main', location })
  dataOf(await server.post('/v2/crdt/add', { ...at, editorId: 'main', type: 'text', data: 'text' }))
  const editor = await syncedEditor(server.wsUrl, 'names-16/d1/main', await server.token('ann'))
  editor.text.insert(0, 'an edit ')
  const activities = async () =>
    (dataOf(await server.post('/v2/activities/get', at)) as ActivityRow[])
      .map(({ actionType, targetEntityId }) => `${actionType} ${targetEntityId}`)
      .toSorted()
  await expect.poll(activities).toContain('crdt.editor_edit main')
  editor.close()
  await clear({ organizationId: 'names-16', location })
  expect(await get()).toEqual([])
  expect(await activities()).toEqual(['crdt.editor_edit main', 'document.add d1'])
})

it('[COMM-16] without an organization the location is deleted in all of them; what is not there is a success', async () => {
  const [one, two] = [await organization('everywhere-16-1'), await organization('everywhere-16-2')]
  const location = { id: 'only here' }
  for (const { add } of [one, two])
    await add({ annotationId: 'a', location, comments: [say('c')] }, { annotationId: 'b' })
  for (const unknown of [{ location: { id: 'none' } }, { documentId: 'none' }, { organizationId: 'none' }])
    expect((await clear({ location, ...unknown })).body.result).toMatchObject({ data: null })
  expect(await one.get()).toHaveLength(2)
  await clear({ location })
  for (const { get } of [one, two]) expect(await get()).toMatchObject([{ annotationId: 'b' }])
})

it('[COMM-17] credentials in the body that are not those of the headers are UNAUTHENTICATED, and change nothing', async () => {
  const { add, get } = await organization('credentials-17')
  const { apiKey, authToken } = server.credentials
  await add({ annotationId: 'a', location: { id: 'page' } })
  const at = { organizationId: 'credentials-17', location: { id: 'page' } }
  for (const wrong of [
    { apiKey: 'other' },
    { authToken: 'other' },
    { apiKey: '', authToken: '' },
    { apiKey: authToken, authToken: apiKey },
  ])
    expect(errorOf(await clear({ ...at, ...wrong }))).toEqual(['UNAUTHENTICATED'])
  for (const name of ['apiKey', 'authToken', 'documentId', 'location'])
    expect(errorOf(await clear({ ...at, [name]: undefined }))).toEqual(['INVALID_ARGUMENT', `/data/${name}`])
  expect(errorOf(await clear(at, { 'x-service-auth-token': 'other' }))).toEqual(['UNAUTHENTICATED'])
  expect(await get()).toHaveLength(1)
  expect((await clear(at)).status).toBe(200)
  expect(await get()).toEqual([])
})
