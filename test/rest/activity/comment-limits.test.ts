import { afterAll, beforeAll, expect, it } from 'vitest'
import { commentLimits as limits } from '../../../src/capabilities/comments/limits.ts'
import { atStart, type CommentRow, commentsOf, pagesOf, say, successes } from '../../support/data/comments.ts'
import { type PeopleServer, startPeopleServer } from '../../support/servers/acme-server.ts'

let server: PeopleServer
beforeAll(async () => {
  server = await startPeopleServer()
})
afterAll(() => server.stop())

const organization = (organizationId: string) => commentsOf(server, organizationId)

it('[COMM-9] rejects malformed input, excess items and oversized values, and states the position of the problem', async () => {
  const { add, call, refusal, one } = await organization('refused-9')
  await add({ annotationId: 'a', comments: [say('c')] })
  const large = 'x'.repeat(limits.suggestionBytes)
  const refused = async (annotation: object, place: string) => {
    for (const path of ['add', 'update'])
      expect(await refusal(path, { annotations: [{ annotationId: 'a', ...annotation }] })).toEqual([
        'INVALID_ARGUMENT',
        `/data/annotations/0/${place}`,
      ])
  }
  for (const position of [
    '',
    '!',
    'AAA=',
    'CQAA',
    'AQdjb250ZW50AAAA',
    Buffer.alloc(2_000).toString('base64'),
  ])
    await refused({ anchor: { editorId: 'main', position } }, 'anchor/position')
  await refused({ anchor: { editorId: 'main', position: atStart, positionEnd: 'x' } }, 'anchor/positionEnd')
  await refused({ location: { id: 'l', more: large } }, 'location')
  await refused({ location: {} }, 'location/id')
  await refused({ suggestion: { content: large } }, 'suggestion/content')
  await refused({ status: 'else' }, 'status')
  const both = { annotationId: 'a', suggestion: { accept: true, reject: true } }
  expect((await refusal('update', { annotations: [both] }))[1]).toBe('/data/annotations/0/suggestion')
  for (const text of ['', 'ä'.repeat(limits.textBytes / 2 + 1), 7]) {
    const comments = [say('ok'), { ...say('c'), text }]
    expect((await refusal('add', { annotations: [{ comments }] }))[1]).toBe(
      '/data/annotations/0/comments/1/text',
    )
    for (const [path, comment] of [
      ['comments/add', { ...say('c'), text }],
      ['comments/update', { commentId: 'c', text }],
    ] as const)
      expect((await refusal(path, { annotationId: 'a', comments: [comment] }))[1]).toBe(
        '/data/comments/0/text',
      )
  }
  expect((await refusal('add', { annotations: [{ comments: [{ text: 'x' }] }] }))[1]).toBe(
    '/data/annotations/0/comments/0/from',
  )
  const half = Array.from({ length: limits.commentsInCall / 2 + 1 }, (_, index) => say(`${index}`))
  expect((await refusal('add', { annotations: [{ comments: half }, { comments: half }] }))[1]).toBe(
    '/data/annotations',
  )
  for (const [path, data] of [
    ['add', { annotations: [{}] }],
    ['update', { annotations: [{ annotationId: 'a', status: 'resolved' }] }],
    ['delete', { annotationIds: ['a'] }],
    ['comments/add', { annotationId: 'a', comments: [say('d')] }],
    ['comments/update', { annotationId: 'a', comments: [{ commentId: 'c', text: 'x' }] }],
    ['comments/delete', { annotationId: 'a', commentIds: ['c'] }],
    ['comments/reactions/add', { annotationId: 'a', commentId: 'c', reactions: [{ reaction: '!' }] }],
    ['comments/reactions/delete', { annotationId: 'a', commentId: 'c', reactionIds: ['r'] }],
  ] as const) {
    expect(await refusal(path, { ...data, actionUser: undefined })).toEqual([
      'INVALID_ARGUMENT',
      '/data/actionUser',
    ])
    expect(await refusal(path, { ...data, organizationId: 'none' })).toEqual(['NOT_FOUND'])
    expect(await refusal(path, { ...data, documentId: 'none' })).toEqual(['NOT_FOUND'])
    if ('annotationId' in data)
      expect(await refusal(path, { ...data, documentId: 'd2' })).toEqual(['NOT_FOUND'])
    if ('commentId' in data)
      expect(await refusal(path, { ...data, commentId: 'none' })).toEqual(['NOT_FOUND'])
  }
  expect(await refusal('get', { documentId: 'none' })).toEqual(['NOT_FOUND'])
  expect(await refusal('comments/get', { documentId: 'none', annotationId: 'a' })).toEqual(['NOT_FOUND'])
  expect(await one('a')).toMatchObject({ status: 'open', comments: [say('c')] })
  expect(await call('get', { documentId: 'd2' })).toEqual([])
})

it('[COMM-10] limits the comments of an annotation and the reactions to a comment, and rejects only the items beyond the limit', async () => {
  const { add, call, one } = await organization('limits-10')
  await add({ annotationId: 'a' })
  const many = (count: number, from: number) =>
    Array.from({ length: count }, (_, index) => say(`c${from + index}`))
  await call('comments/add', { annotationId: 'a', comments: many(500, 0) })
  const second = await call('comments/add', { annotationId: 'a', comments: many(500, 499) })
  expect([second.c499?.success, second.c998?.success]).toEqual([false, true])
  const last = await call('comments/add', { annotationId: 'a', comments: many(2, 1_000) })
  expect(successes(last)).toEqual({ c1000: true, c1001: false })
  expect(await one('a')).toMatchObject({ commentCount: limits.comments })
  expect((await one('a')).comments).toHaveLength(limits.commentsShown)
  const reactions = Array.from({ length: limits.reactions }, (_, index) => ({
    reactionId: `r${index}`,
    reaction: `${index}`,
  }))
  const on = { annotationId: 'a', commentId: 'c0' }
  await call('comments/reactions/add', { ...on, reactions })
  const beyond = [{ reactionId: 'more', reaction: 'more' }]
  expect(successes(await call('comments/reactions/add', { ...on, reactions: beyond }))).toEqual({
    more: false,
  })
})

it('[COMM-10] limits the total size of all reactions to a comment', async () => {
  const { add, call, one } = await organization('fat-10')
  await add({ annotationId: 'a', comments: [say('c')] })
  const fat = (index: number) => ({ userId: `${'"'.repeat(500)}${index}`, name: '\u0001'.repeat(200) })
  const reactions = Array.from({ length: 20 }, (_, index) => ({
    reactionId: `r${index}`,
    reaction: '!',
    user: fat(index),
  }))
  const on = { annotationId: 'a', commentId: 'c' }
  const results = Object.values(await call('comments/reactions/add', { ...on, reactions }))
  const accepted = results.findIndex(({ success }) => !success)
  expect(results.slice(accepted).every(({ message }) => message.includes('32768 bytes'))).toBe(true)
  const kept = (await one('a')).comments[0]?.reactions ?? []
  expect(kept).toHaveLength(accepted)
  const bytes = Buffer.byteLength(JSON.stringify(kept))
  expect([bytes <= limits.reactionsBytes, bytes > limits.reactionsBytes - 4_000]).toEqual([true, true])
  // A small reaction still fits.
  const small = [{ reactionId: 'small', reaction: '+' }]
  expect(successes(await call('comments/reactions/add', { ...on, reactions: small }))).toEqual({
    small: true,
  })
})

it('[COMM-4] lists each comment of a long thread once, in pages of limited size', async () => {
  const { add, post } = await organization('long-4')
  await add({ annotationId: 'a' })
  const ids = Array.from({ length: 900 }, (_, index) => `c${index}`)
  const text = 'x'.repeat(limits.textBytes)
  for (let at = 0; at < ids.length; at += 300) {
    const comments = ids.slice(at, at + 300).map((id) => say(id, text))
    await post('comments/add', { annotationId: 'a', comments })
  }
  const pages = await pagesOf<CommentRow>((more) => post('comments/get', { annotationId: 'a', ...more }))
  expect(pages.flat().map(({ commentId }) => commentId)).toEqual(ids)
  expect(pages.length).toBeGreaterThan(1)
  for (const page of pages)
    expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(limits.pageBytes + 100 * 17_000)
})

it('[DATA-10] when the annotations of a call name more than 2,000 users, rejects only the annotation that exceeds the limit', async () => {
  const { add, call } = await organization('names-10')
  const users = Array.from({ length: 100 }, (_, index) => ({ userId: `u${index}` }))
  const annotations = Array.from({ length: 21 }, (_, index) => ({
    annotationId: `n${index}`,
    location: { id: 'l', users },
  }))
  const results = Object.values(
    await call('add', { annotations: [...annotations, { annotationId: 'none' }] }),
  )
  const refused = results.filter(({ success }) => !success)
  expect(refused).toMatchObject([{ id: 'n20', message: expect.stringContaining('2000 users') }])
  await add({ annotationId: 'n20', location: { id: 'l', users } })
  // Unchanged annotations do not count.
  const resolved = annotations.map(({ annotationId }) => ({ annotationId, status: 'resolved' }))
  const updated = Object.values(await call('update', { annotations: resolved }))
  expect(updated.filter(({ success }) => success)).toHaveLength(21)
  const moved = annotations.map((each) => ({ ...each, location: { id: 'l2', users } }))
  expect(successes(await call('update', { annotations: moved }))).toMatchObject({ n19: true, n20: false })
})
