import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  type AnnotationRow,
  ann,
  atStart,
  bob,
  type CommentRow,
  commentsOf,
  pagesOf,
  say,
  successes,
} from '../../support/data/comments.ts'
import { errorOf, oddIds, type PeopleServer, startPeopleServer } from '../../support/servers/acme-server.ts'

let server: PeopleServer
beforeAll(async () => {
  server = await startPeopleServer()
})
afterAll(() => server.stop())

const organization = (organizationId: string) => commentsOf(server, organizationId)
const idsOf = (rows: readonly AnnotationRow[]): string[] => rows.map(({ annotationId }) => annotationId)
const commentIdsOf = (rows: readonly CommentRow[]): string[] => rows.map(({ commentId }) => commentId)

it('[COMM-1] returns an annotation as it was added, with its comments', async () => {
  const { add, call, one, get } = await organization('add-1')
  const given = {
    annotationId: 'a',
    location: { id: 'page-1', locationName: 'Page 1', zoom: 2, deep: { list: [null] } },
    anchor: { editorId: 'main', contentKey: 'content', position: atStart, positionEnd: atStart },
    status: 'resolved',
    priority: 'high',
    assignedTo: bob,
    suggestion: { content: { replaceBy: 'x' } },
  }
  const now = server.clock.now()
  const results = await add({ ...given, comments: [say('c1'), say('c2')] })
  expect(results).toEqual({ a: { success: true, id: 'a', message: 'added' } })
  const times = { createdAt: now, lastUpdated: now }
  expect(await one('a')).toEqual({
    ...given,
    anchorPlace: null,
    documentId: 'd1',
    suggestion: { status: 'pending', content: { replaceBy: 'x' } },
    comments: [
      { ...say('c1'), reactions: [], ...times },
      { ...say('c2'), reactions: [], ...times },
    ],
    commentCount: 2,
    createdBy: ann,
    ...times,
  })
  const [made = ''] = Object.keys(await add({ comments: [{ from: bob, text: 'x' }] }))
  expect(await one(made)).toMatchObject({
    location: null,
    anchor: null,
    status: 'open',
    priority: null,
    assignedTo: null,
    suggestion: null,
    commentCount: 1,
  })
  await call('add', {
    location: { id: 'all' },
    annotations: [{ annotationId: 'own', location: { id: 'own' } }, { annotationId: 'none' }],
  })
  expect((await get({ annotationIds: ['own', 'none'] })).map(({ location }) => location?.id)).toEqual([
    'own',
    'all',
  ])
})

it('[COMM-2] adds only one of many concurrent annotations with one id, and changes nothing if the id is already in use', async () => {
  const { add, one, call, stored, happened } = await organization('used-2')
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      add({ annotationId: 'a', priority: `${index}`, comments: [say('c')] }),
    ),
  )
  const winners = answers.flatMap(({ a }, index) => (a?.success ? [index] : []))
  expect(winners).toHaveLength(1)
  const first = await one('a')
  expect(first.priority).toBe(`${winners[0]}`)
  expect(successes(await call('add', { documentId: 'd2', annotations: [{ annotationId: 'a' }] }))).toEqual({
    a: false,
  })
  expect(successes(await add({ annotationId: 'c', comments: [say('x'), say('x')] }))).toEqual({ c: false })
  expect(successes(await call('comments/add', { annotationId: 'a', comments: [say('c', 'other')] }))).toEqual(
    { c: false },
  )
  const adding = Array.from({ length: 20 }, () =>
    call('comments/add', { annotationId: 'a', comments: [say('d')] }),
  )
  expect((await Promise.all(adding)).filter(({ d }) => d?.success)).toHaveLength(1)
  expect(await one('a')).toMatchObject({ ...first, comments: [...first.comments, say('d')], commentCount: 2 })
  // Annotation, thread, document list and one user reference; for each comment its record, its order and a
  // user reference.
  expect(await stored()).toHaveLength(4 + 2 * 3)
  expect(await happened()).toEqual(['comment_annotation.add a', 'comment.add a', 'comment.add a'])
})

it('[COMM-3] changes the given members of an annotation, and records an event for each member whose value changes', async () => {
  const { add, update, one, activities } = await organization('update-3')
  await add({ annotationId: 'a', suggestion: {}, priority: 'low', assignedTo: ann, comments: [say('c')] })
  const before = await one('a')
  server.clock.advance(10)
  const change = {
    status: 'resolved',
    priority: null,
    assignedTo: bob,
    location: { id: 'l' },
    suggestion: { accept: true },
  }
  const by = { actionUser: bob }
  const now = server.clock.now()
  expect((await update('a', change, by)).a?.message).toBe('updated')
  expect((await update('a', change, by)).a?.message).toBe('unchanged')
  expect(await one('a')).toEqual({
    ...before,
    status: 'resolved',
    priority: null,
    assignedTo: bob,
    location: { id: 'l' },
    suggestion: { status: 'accepted', content: null },
    lastUpdated: now,
  })
  const told = (await activities()).slice(2)
  expect(
    told.every(({ actionUser, targetEntityId }) => actionUser.userId === 'bob' && targetEntityId === 'a'),
  ).toBe(true)
  expect(told.map(({ actionType, changes }) => [actionType, changes])).toEqual([
    ['comment_annotation.status_change', { status: { from: 'open', to: 'resolved' } }],
    ['comment_annotation.priority_change', { priority: { from: 'low', to: null } }],
    ['comment_annotation.assign', { assignedTo: { from: ann, to: bob } }],
    ['comment_annotation.suggestion_accept', { suggestion: { from: 'pending', to: 'accepted' } }],
    ['comment_annotation.update', { location: { to: 'l' } }],
  ])
  expect(told[0]).toMatchObject({
    displayMessageTemplate: '{{actionUser}} set a thread to {{to}}',
    displayMessageTemplateData: { actionUser: bob, from: 'open', to: 'resolved' },
  })
  await update('a', { suggestion: { reject: true }, assignedTo: null })
  await update('a', { suggestion: { content: [1] } })
  expect((await one('a')).suggestion).toEqual({ status: 'pending', content: [1] })
  expect((await activities()).slice(7).map(({ actionType }) => actionType)).toEqual([
    'comment_annotation.assign',
    'comment_annotation.suggestion_reject',
    'comment_annotation.update',
  ])
  await add({ annotationId: 'plain' })
  expect(successes(await update('plain', { suggestion: { accept: true }, status: 'resolved' }))).toEqual({
    plain: false,
  })
  expect((await one('plain')).status).toBe('open')
  expect(successes(await update('none', {}))).toEqual({ none: false })
  expect(successes(await update('a', { status: 'open' }, { documentId: 'd2' }))).toEqual({ a: false })
})

it('[COMM-4] adds, changes, deletes and lists comments, and records an event for each change', async () => {
  const { add, call, comments, one, activities, stored } = await organization('comments-4')
  await add({ annotationId: 'a' }, { annotationId: 'b', comments: [say('c1')] })
  const on = { annotationId: 'a' }
  const added = server.clock.now()
  await call('comments/add', { ...on, comments: [say('c1'), say('c2', 'two', bob)] })
  const changes = [
    { commentId: 'c1', text: 'new' },
    { commentId: 'c2', text: 'two' },
    { commentId: 'c9', text: 'x' },
  ]
  const updated = await call('comments/update', { ...on, actionUser: bob, comments: changes })
  expect([updated.c1?.message, updated.c2?.message, updated.c9?.success]).toEqual([
    'updated',
    'unchanged',
    false,
  ])
  const rows = [
    { ...say('c1', 'new'), reactions: [], createdAt: added, lastUpdated: added + 1 },
    { ...say('c2', 'two', bob), reactions: [], createdAt: added, lastUpdated: added },
  ]
  expect(await comments('a')).toEqual(rows)
  expect(await comments('a', { commentIds: ['c2', 'none', 'c1'] })).toEqual(rows.toReversed())
  expect(successes(await call('comments/delete', { ...on, commentIds: ['c1', 'c9'] }))).toEqual({
    c1: true,
    c9: false,
  })
  expect(await one('a')).toMatchObject({ comments: [rows[1]], commentCount: 1 })
  expect(commentIdsOf(await comments('b'))).toEqual(['c1'])
  const told = (await activities()).slice(3)
  expect(
    told.map(({ actionType, changes: told, targetEntityId }) => [actionType, told, targetEntityId]),
  ).toEqual([
    ['comment.add', { commentId: 'c1' }, 'a'],
    ['comment.add', { commentId: 'c2', text: { from: null, to: 'two' } }, 'a'],
    ['comment.update', { commentId: 'c1' }, 'a'],
    ['comment.delete', undefined, 'a'],
  ])
  expect((await stored()).filter((key) => key.includes('c1') && key.includes('a'))).toEqual([])
})

it('[COMM-5] stores at most one reaction to a comment for each user and kind of reaction', async () => {
  const { add, call, comments, activities } = await organization('reactions-5')
  await add({ annotationId: 'a', comments: [say('c')] })
  const on = { annotationId: 'a', commentId: 'c' }
  const react = (...reactions: object[]) =>
    call('comments/reactions/add', { ...on, actionUser: bob, reactions })
  const at = server.clock.now()
  const results = await react(
    { reactionId: 'r1', reaction: '👍' },
    { reactionId: 'r2', reaction: '👍' },
    { reactionId: 'r3', reaction: '👍', user: ann },
  )
  expect(successes(results)).toEqual({ r1: true, r2: false, r3: true })
  expect(successes(await react({ reactionId: 'r1', reaction: '🎉' }))).toEqual({ r1: false })
  const [row] = await comments('a')
  expect(row?.reactions).toEqual([
    { reactionId: 'r1', reaction: '👍', user: bob, createdAt: at },
    { reactionId: 'r3', reaction: '👍', user: ann, createdAt: at },
  ])
  const gone = await call('comments/reactions/delete', { ...on, reactionIds: ['r1', 'none'] })
  expect(successes(gone)).toEqual({ r1: true, none: false })
  expect((await comments('a'))[0]?.reactions).toMatchObject([{ reactionId: 'r3' }])
  const told = (await activities()).slice(2)
  expect(told.map(({ featureType, actionType, changes }) => [featureType, actionType, changes])).toEqual([
    ['reaction', 'comment.reaction_add', { commentId: 'c', reaction: { from: null, to: '👍' } }],
    ['reaction', 'comment.reaction_add', { commentId: 'c', reaction: { from: null, to: '👍' } }],
    ['reaction', 'comment.reaction_delete', { commentId: 'c', reaction: { from: '👍', to: null } }],
  ])
})

it('[COMM-6] deletes an annotation with all its comments, however many there are, and records one activity', async () => {
  const { add, call, get, stored, happened, comments } = await organization('delete-6')
  await add({ annotationId: 'long' }, { annotationId: 'stays', comments: [say('c')] })
  for (let at = 0; at < 900; at += 450) {
    const many = Array.from({ length: 450 }, (_, index) => say(`c${at + index}`))
    await call('comments/add', { annotationId: 'long', comments: many })
  }
  const page = await pagesOf<CommentRow>((more) =>
    server.post('/v2/commentannotations/comments/get', {
      organizationId: 'delete-6',
      documentId: 'd1',
      annotationId: 'long',
      pageSize: 400,
      ...more,
    }),
  )
  expect(page.map(({ length }) => length)).toEqual([400, 400, 100])
  expect(commentIdsOf(page.flat())).toEqual(Array.from({ length: 900 }, (_, index) => `c${index}`))
  expect(await comments('long', { commentIds: ['c899'] })).toHaveLength(1)
  const results = await call('delete', { annotationIds: ['long', 'none'] })
  expect(successes(results)).toEqual({ long: true, none: false })
  expect(idsOf(await get())).toEqual(['stays'])
  expect((await stored()).filter((key) => key.includes('long'))).toEqual([])
  expect((await happened()).filter((each) => each.includes('delete'))).toEqual([
    'comment_annotation.delete long',
  ])
  expect(successes(await call('delete', { documentId: 'd2', annotationIds: ['stays'] }))).toEqual({
    stays: false,
  })
})

it('[COMM-7] lists the annotations that match any combination of location, status, user and ids, in both orders', async () => {
  const { add, call, get, update } = await organization('get-7')
  await add(
    { annotationId: 'a', location: { id: 'l1' } },
    { annotationId: 'b', location: { id: 'l2' }, comments: [say('c', 'x', bob)] },
  )
  server.clock.advance(1)
  await call('add', {
    actionUser: { userId: 'eve' },
    annotations: [
      { annotationId: 'c', status: 'resolved', location: { id: 'l1' } },
      { annotationId: 'd', assignedTo: bob },
    ],
  })
  await call('add', { documentId: 'd2', annotations: [{ annotationId: 'other', location: { id: 'l1' } }] })
  const ids = async (data: object = {}) => idsOf(await get(data))
  expect(await ids()).toEqual(['d', 'c', 'b', 'a'])
  expect(await ids({ order: 'asc' })).toEqual(['a', 'b', 'c', 'd'])
  expect(await ids({ locationIds: ['l1'] })).toEqual(['c', 'a'])
  expect(await ids({ locationIds: ['l1', 'l2', 'l3'], order: 'asc' })).toEqual(['a', 'b', 'c'])
  expect(await ids({ statuses: ['resolved'] })).toEqual(['c'])
  expect(await ids({ statuses: ['open'], locationIds: ['l1'] })).toEqual(['a'])
  expect(await ids({ userId: 'ann' })).toEqual(['b', 'a'])
  expect(await ids({ userId: 'bob' })).toEqual(['d', 'b'])
  expect(await ids({ annotationIds: ['d', 'none', 'a', 'other', 'd'] })).toEqual(['d', 'a'])
  expect(await ids({ annotationIds: ['d', 'a'], userId: 'bob' })).toEqual(['d'])
  const on = { annotationId: 'a', actionUser: bob }
  await call('comments/add', { ...on, comments: [say('c1')] })
  await call('comments/reactions/add', {
    ...on,
    commentId: 'c1',
    reactions: [{ reactionId: 'r', reaction: '!' }],
  })
  await update('d', { assignedTo: null })
  await update('b', { location: { id: 'l1' } })
  expect(await ids({ userId: 'bob' })).toEqual(['b', 'a'])
  expect(await ids({ locationIds: ['l1'] })).toEqual(['c', 'b', 'a'])
  expect(await ids({ locationIds: ['l2'] })).toEqual([])
  await call('comments/reactions/delete', { ...on, commentId: 'c1', reactionIds: ['r'] })
  expect(await ids({ userId: 'bob' })).toEqual(['b'])
})

it.each(['asc', 'desc'] as const)(
  '[COMM-8] lists each remaining annotation once in pages while other annotations are added and deleted (%s)',
  async (order) => {
    const { add, post, call } = await organization(`pages-8-${order}`)
    const [stay, go]: [string[], string[]] = [[], []]
    for (let index = 0; index < 60; index++) {
      if (index % 3 === 0) server.clock.advance(1)
      await post('add', { annotations: [{ annotationId: `a${index}`, location: { id: `l${index % 2}` } }] })
      ;(index % 4 === 3 ? go : stay).push(`a${index}`)
    }
    const between = async () => {
      await add({ location: { id: 'l0' } })
      const gone = go.pop()
      if (gone !== undefined) await call('delete', { annotationIds: [gone] })
    }
    for (const filter of [{}, { locationIds: ['l0', 'l1'] }]) {
      const pages = await pagesOf<AnnotationRow>(
        (more) => post('get', { order, pageSize: 7, ...filter, ...more }),
        between,
      )
      const seen = idsOf(pages.flat())
      expect(new Set(seen).size).toBe(seen.length)
      expect(stay.filter((id) => !seen.includes(id))).toEqual([])
      const times = pages.flat().map(({ createdAt }) => createdAt)
      expect(order === 'asc' ? times : times.toReversed()).toEqual(times.toSorted((a, b) => a - b))
    }
    const { pageToken } = (await post('get', { order, pageSize: 1 })).body.result as unknown as {
      pageToken: string
    }
    for (const other of [
      { userId: 'ann' },
      { locationIds: ['l0'] },
      { documentId: 'd2' },
      { statuses: ['open'] },
    ])
      expect(errorOf(await post('get', { order, pageToken, ...other }))).toEqual(['INVALID_ARGUMENT'])
  },
)

it('[API-50] accepts every well-formed id for an annotation, a comment, a reaction, a user and a location', async () => {
  const { add, call, get, stored } = await organization('odd-11')
  for (const id of oddIds) {
    const user = { userId: id }
    const annotation = {
      annotationId: id,
      location: { id },
      assignedTo: user,
      comments: [say(id, 'x', user)],
    }
    expect(successes(await add(annotation))).toEqual(Object.fromEntries([[id, true]]))
    await call('comments/reactions/add', {
      annotationId: id,
      commentId: id,
      actionUser: user,
      reactions: [{ reactionId: id, reaction: id.slice(0, 3) }],
    })
    for (const filter of [{ locationIds: [id] }, { userId: id }, { annotationIds: [id] }])
      expect(await get(filter)).toMatchObject([
        { annotationId: id, comments: [{ commentId: id, reactions: [{ reactionId: id }] }] },
      ])
  }
  expect(idsOf(await get())).toHaveLength(oddIds.length)
  await call('delete', { annotationIds: oddIds })
  expect(await stored()).toEqual([])
})

it('[COMM-12] deletes the annotations of a document when the document or its organization is deleted', async () => {
  const { add, call, stored, scope } = await organization('gone-12')
  const rich = { location: { id: 'l' }, assignedTo: bob, comments: [say('c')] }
  await add(...Array.from({ length: 230 }, (_, index) => ({ annotationId: `a${index}`, ...rich })))
  await call('add', { documentId: 'd2', annotations: [{ annotationId: 'stays' }] })
  await server.call('/v2/organizations/documents/delete', { organizationId: 'gone-12', documentIds: ['d1'] })
  expect((await stored()).filter((key) => !key.includes('stays'))).toEqual([])
  expect(await stored()).toHaveLength(4)
  await server.call('/v2/organizations/delete', { organizationIds: ['gone-12'] })
  expect(await server.directory.store.read(scope).scan({ limit: 10 })).toEqual([])
})
