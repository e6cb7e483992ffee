import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { Judgment } from '../../../src/capabilities/decisions/judgment-keys.ts'
import { memoryLimits } from '../../../src/capabilities/decisions/limits.ts'
import { syncedEditor } from '../../support/clients/clients.ts'
import { type ActivityRow, ann, bob, commentsOf, say } from '../../support/data/comments.ts'
import { errorOf, type PeopleServer, startPeopleServer } from '../../support/servers/acme-server.ts'
import { dataOf } from '../../support/servers/server.ts'

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

it('[COMM-13] when a user accepts or rejects a suggestion, stores one judgment with the first comment of the suggestion and with this user', async () => {
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
  ])
})

it('[COMM-13] stores no judgment for a suggestion without a comment, and truncates a long comment in the judgment', async () => {
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

it('[COMM-15] when a backend replaces the text, keeps an anchor at its word', async () => {
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

it('[COMM-16] deletes the annotations of a location and the activities of these annotations, and nothing else', async () => {
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
  // An activity of another document with the same target id.
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

it('[COMM-16] when the annotations of a location are deleted, also deletes activities of annotations that were deleted from it earlier', async () => {
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
  await clear({ organizationId: 'before-16', location })
  const targets = (await happened()).map((each) => each.split(' ')[1])
  expect(new Set(targets)).toEqual(new Set(['again', 'moved', 'elsewhere']))
  await clear({ organizationId: 'before-16', location: { id: 'page 2' } })
  expect(await happened()).toEqual([])
})

it('[COMM-16] when the data of a location is deleted, keeps other activities whose target has the same id as a deleted annotation', async () => {
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
  await expect.poll(async () => (await activities()).length).toBe(5)
  editor.close()
  await clear({ organizationId: 'names-16', location })
  expect(await get()).toEqual([])
  expect(await activities()).toEqual(['crdt.editor_edit main', 'crdt.editor_edit main', 'document.add d1'])
})

it('[COMM-22] if a call states no organization, deletes the data of the location only if exactly one organization has the document', async () => {
  const { add, call, get } = await organization('one-22')
  const location = { id: 'page' }
  await server.post('/v2/organizations/documents/add', {
    organizationId: 'one-22',
    documents: [{ documentId: 'only' }],
  })
  await call('add', { documentId: 'only', annotations: [{ annotationId: 'a', location }] })
  for (const unknown of [
    { documentId: 'only', location: { id: 'none' } },
    { documentId: 'none', location },
  ])
    expect((await clear(unknown)).body.result).toMatchObject({ data: null })
  expect(await call('get', { documentId: 'only' })).toHaveLength(1)
  expect((await clear({ documentId: 'only', location })).status).toBe(200)
  expect(await call('get', { documentId: 'only' })).toEqual([])
  // With several organizations, nothing is deleted in any of them.
  await add({ annotationId: 'b', location })
  const other = await organization('two-22')
  await other.add({ annotationId: 'b', location })
  const answer = await clear({ location })
  expect(errorOf(answer)).toEqual(['FAILED_PRECONDITION'])
  expect(answer.body.error?.details).toMatchObject({
    code: 'location/ambiguous-document',
    organizationIds: expect.arrayContaining(['one-22', 'two-22']),
  })
  for (const each of [{ get }, other]) expect(await each.get()).toHaveLength(1)
  expect((await clear({ location, organizationId: 'one-22' })).status).toBe(200)
  expect([await get(), await other.get()]).toMatchObject([[], [{ annotationId: 'b' }]])
})

it('[COMM-23] stores the location of an annotation in its activities, and deletes these activities when the data of the location is deleted', async () => {
  const { add, call, activities } = await organization('located-23')
  const at = { organizationId: 'located-23', documentId: 'd1' }
  const location = { id: 'page', locationName: 'Page', width: 7 }
  await add({ annotationId: 'a', location, comments: [say('c')] }, { annotationId: 'elsewhere' })
  await call('update', { annotations: [{ annotationId: 'a', location: { id: 'page 2' } }] })
  const recording = { featureType: 'recorder', actionType: 'recorder.done', actionUser: ann }
  dataOf(
    await server.post('/v2/activities/add', {
      ...at,
      activities: [
        ...Array.from({ length: 300 }, (_, index) => ({
          ...recording,
          id: `r${index}`,
          location: { id: 'page' },
        })),
        { ...recording, id: 'other', location: { id: 'page 2' } },
        { ...recording, id: 'none' },
      ],
    }),
  )
  const locations = async () =>
    (
      dataOf(await server.post('/v2/activities/get', { ...at, targetEntityId: 'a' })) as {
        location?: object
      }[]
    ).map((each) => each.location)
  const page = { id: 'page', locationName: 'Page' }
  expect(await locations()).toEqual([{ id: 'page 2' }, page, page])
  expect((await clear({ ...at, location: { id: 'page' } })).status).toBe(200)
  expect(await locations()).toEqual([{ id: 'page 2' }])
  const left = (
    dataOf(await server.post('/v2/activities/get', { ...at, featureTypes: ['recorder'] })) as { id: string }[]
  )
    .map(({ id }) => id)
    .toSorted()
  expect(left).toEqual(['none', 'other'])
  expect((await activities()).length).toBeGreaterThan(0)
})

it('[COMM-24] when a comment is deleted, alone or with its annotation, location or document, removes its text from all judgments', async () => {
  const { call, update, stored } = await organization('forgotten-24')
  const at = { organizationId: 'forgotten-24' }
  const ids = ['comment', 'annotation', 'location', 'document', 'kept']
  const words = (id: string) => `unmistakable-${id}`
  await server.post('/v2/organizations/documents/add', { ...at, documents: [{ documentId: 'doc' }] })
  for (const annotationId of ids) {
    const documentId = annotationId === 'document' ? 'doc' : 'd1'
    const location = { id: annotationId }
    const given = {
      annotationId,
      location,
      suggestion: {},
      comments: [say('c', words(annotationId)), say('d')],
    }
    await call('add', { documentId, annotations: [given] })
    for (const decision of ['accept', 'reject', 'accept'])
      await call('update', { documentId, annotations: [{ annotationId, suggestion: { [decision]: true } }] })
  }
  expect(await judgments(at.organizationId)).toHaveLength(15)
  await call('comments/delete', { annotationId: 'comment', commentIds: ['c'] })
  await call('delete', { annotationIds: ['annotation'] })
  await clear({ ...at, location: { id: 'location' } })
  await server.post('/v2/organizations/documents/delete', { ...at, documentIds: ['doc'] })
  const left = await judgments(at.organizationId)
  expect(left.map(({ query }) => query)).toEqual(Array.from({ length: 3 }, () => words('kept')))
  expect(JSON.stringify(await stored())).not.toContain('judgedComments,annotation')
  // Judgments continue with the next comment.
  await update('comment', { suggestion: { reject: true } })
  expect((await judgments(at.organizationId)).map(({ query }) => query)).toContain('text of d')
})

it('[COMM-17] when credentials in the body differ from the headers, rejects the call with UNAUTHENTICATED, and changes nothing', async () => {
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
