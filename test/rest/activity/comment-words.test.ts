import { afterAll, beforeAll, expect, it } from 'vitest'
import { atStart, bob, commentsOf, say } from '../../support/data/comments.ts'
import { type PeopleServer, startPeopleServer } from '../../support/servers/acme-server.ts'
import { dataOf } from '../../support/servers/server.ts'

let server: PeopleServer
beforeAll(async () => {
  server = await startPeopleServer()
})
afterAll(() => server.stop())

/** Everything that REST returns of the comments, activities and judgments of an organization. */
const shown = async (organizationId: string): Promise<string> => {
  const paths = ['commentannotations/get', 'activities/get', 'memory/judgments/query', 'notifications/get']
  const answers = await Promise.all(
    paths.map((path) =>
      server.post(`/v2/${path}`, {
        organizationId,
        ...(path.startsWith('comment') && { documentId: 'd1' }),
        ...(path.startsWith('notifications') && { userId: 'ann' }),
      }),
    ),
  )
  return JSON.stringify(answers.map(dataOf))
}

it('[COMM-25] when a comment changes, removes its former text from activities and judgments', async () => {
  const organizationId = 'words-25'
  const { add, call, update, activities, stored } = await commentsOf(server, organizationId)
  await add({ annotationId: 'a', suggestion: {}, comments: [say('c', 'embarrassing'), say('other', 'kept')] })
  await update('a', { suggestion: { accept: true } })
  expect(await shown(organizationId)).toContain('"query":"embarrassing"')
  const change = (text: string) =>
    call('comments/update', { annotationId: 'a', actionUser: bob, comments: [{ commentId: 'c', text }] })
  for (const text of ['unwise', 'harmless']) await change(text)
  const now = await shown(organizationId)
  for (const word of ['embarrassing', 'unwise']) expect(now).not.toContain(word)
  const said = (await activities()).filter(({ actionType }) => /^comment\.(add|update)$/.test(actionType))
  expect(
    said.map(({ actionType, changes, displayMessageTemplate, displayMessageTemplateData }) => [
      actionType,
      changes,
      displayMessageTemplate,
      displayMessageTemplateData.to,
    ]),
  ).toEqual([
    ['comment.add', { commentId: 'c' }, '{{actionUser}} commented', undefined],
    [
      'comment.add',
      { commentId: 'other', text: { from: null, to: 'kept' } },
      '{{actionUser}} commented: {{to}}',
      'kept',
    ],
    ['comment.update', { commentId: 'c' }, '{{actionUser}} changed a comment', undefined],
    [
      'comment.update',
      { commentId: 'c', text: { to: 'harmless' } },
      '{{actionUser}} changed a comment: {{to}}',
      'harmless',
    ],
  ])
  await call('comments/delete', { annotationId: 'a', commentIds: ['c'] })
  expect(await shown(organizationId)).not.toContain('harmless')
  expect(await shown(organizationId)).toContain('kept')
  await call('delete', { annotationIds: ['a'] })
  expect(await shown(organizationId)).not.toContain('kept')
  expect((await activities()).map(({ actionType }) => actionType)).toEqual([
    'comment_annotation.add',
    'comment.add',
    'comment.add',
    'comment_annotation.suggestion_accept',
    'comment.update',
    'comment.update',
    'comment.delete',
    'comment_annotation.delete',
  ])
  expect((await stored()).filter(([kind]) => kind !== 'annotationTies')).toEqual([])
})

it('[COMM-25] when an annotation with many comments is deleted, removes the text of all its comments', async () => {
  const organizationId = 'words-many-25'
  const { add, call } = await commentsOf(server, organizationId)
  const many = Array.from({ length: 450 }, (_, index) => say(`c${index}`, `secret ${index}`))
  await add({ annotationId: 'a', comments: many })
  await call('delete', { annotationIds: ['a'] })
  expect(await shown(organizationId)).not.toContain('secret')
})

it('[COMM-26] resolves an anchor without a contentKey to the only root of its editor, or to `content` if there is not exactly one root', async () => {
  const { add, one, update } = await commentsOf(server, 'anchors-26')
  const at = { organizationId: 'anchors-26', documentId: 'd1', type: 'text', data: 'x' }
  const long = 'r'.repeat(2_000)
  const roots = { one: ['default'], two: ['default', 'notes'], odd: [''], long: [long] }
  for (const [editorId, contentKeys] of Object.entries(roots))
    for (const contentKey of contentKeys)
      dataOf(
        await server.post('/v2/crdt/update', { ...at, editorId, contentKey, upsert: true, newRoot: true }),
      )
  const anchor = (editorId: string, more: object = {}) => ({ editorId, position: atStart, ...more })
  await add(...[...Object.keys(roots), 'none'].map((id) => ({ annotationId: id, anchor: anchor(id) })), {
    annotationId: 'given',
    anchor: anchor('one', { contentKey: long }),
  })
  const keyOf = async (id: string) => (await one(id)).anchor as { contentKey?: string } | null
  const expected = { one: 'default', two: 'content', odd: '', long, none: 'content', given: long }
  for (const [id, contentKey] of Object.entries(expected))
    expect(await keyOf(id)).toEqual(anchor(id === 'given' ? 'one' : id, { contentKey }))
  await update('given', { anchor: anchor('one') })
  expect(await keyOf('given')).toEqual(anchor('one', { contentKey: 'default' }))
})

it('[ACT-28] records an activity when the content of an editor is deleted, with the user `api` if the call specifies no user', async () => {
  const { scope } = await commentsOf(server, 'deleted-28')
  const at = { organizationId: scope.organizationId, documentId: 'd1' }
  for (const editorId of ['one', 'two', 'three'])
    dataOf(await server.post('/v2/crdt/add', { ...at, editorId, type: 'text', data: 'x' }))
  const call = async (more: object) => dataOf(await server.post('/v2/crdt/delete', { ...at, ...more }))
  expect(await call({ editorIds: ['one', 'none'], userId: 'ann' })).toEqual({ success: true })
  expect(await call({ editorIds: ['one'] })).toEqual({ success: false })
  server.clock.advance(1)
  expect(await call({})).toEqual({ success: true })
  const listed = dataOf(
    await server.post('/v2/activities/get', { ...at, order: 'asc', actionTypes: ['crdt.editor_delete'] }),
  ) as readonly { actionUser: { userId: string }; targetEntityId: string; featureType: string }[]
  expect(
    listed
      .map(({ actionUser, targetEntityId, featureType }) => [actionUser.userId, targetEntityId, featureType])
      .sort(),
  ).toEqual([
    ['ann', 'one', 'crdt'],
    ['api', 'three', 'crdt'],
    ['api', 'two', 'crdt'],
  ])
})
