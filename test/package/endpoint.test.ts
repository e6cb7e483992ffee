import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  type CommentThreadPage,
  createClient,
  createEndpoint,
  type EndpointDocument,
  type EndpointOptions,
  type EndpointUser,
} from '../../src/client/rest/index.ts'
import { createServer, dataOf, type WeftServer } from '../../src/server/library/index.ts'
import { eventually } from '../support/clients/clients.ts'
import { openProvider, recorded, settled, textOf } from '../support/clients/provider.ts'
import { times } from '../support/time/full-run.ts'

let server: WeftServer
let url: string

beforeAll(async () => {
  server = await createServer({ engine: 'memory', log: false, shutdownSeconds: 2 })
  ;({ url } = await server.listen({ port: 0, host: '127.0.0.1' }))
})
afterAll(() => server?.close())

const users: Readonly<Record<string, EndpointUser>> = {
  ada: { userId: 'ada', name: 'Ada', email: 'ada@example.com', role: 'editor' },
  grace: { userId: 'grace', name: 'Grace', role: 'suggester' },
  vera: { userId: 'vera', name: 'Vera', role: 'viewer' },
  carl: { userId: 'carl', name: 'Carl', role: 'viewer', canComment: true },
  mute: { userId: 'mute', name: 'Mute', role: 'editor', canComment: false },
}

const document: EndpointDocument = { organizationId: 'acme', documentId: 'plan', editorId: 'main' }
let documents = 0
/** Creates a document of its own for a test. */
async function newDocument(): Promise<EndpointDocument> {
  const created = { ...document, documentId: `plan-${++documents}` }
  dataOf(await server.api.crdt.add({ ...created, type: 'text', data: 'Open from nine to five.' }))
  return created
}

/** An endpoint of an application whose sessions are names in a header. It records its faults. */
function application(options: Partial<EndpointOptions> = {}) {
  const faults: unknown[] = []
  const asked: EndpointDocument[] = []
  const endpoint = createEndpoint({
    api: server.api,
    authorize: (request, document) => {
      asked.push(document)
      return users[request.headers.get('x-user') ?? ''] ?? null
    },
    onError: (error) => faults.push(error),
    ...options,
  })
  /** Sends a body, and returns the HTTP status and the JSON of the response. */
  async function send(user: string, path: string, body: unknown, headers: Record<string, string> = {}) {
    const response = await endpoint(
      new Request(`https://app.example.com/weft/${path}`, {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        headers: { 'content-type': 'application/json', 'x-user': user, ...headers },
      }),
    )
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: JSON.parse(text) as Answer }
  }
  /** Returns the data of a successful response. */
  async function call<Data>(user: string, path: string, body: object): Promise<Data> {
    const { status, json } = await send(user, path, body)
    expect([path, status, json.error]).toEqual([path, 200, undefined])
    return json.result?.data as Data
  }
  return { endpoint, faults, asked, send, call }
}

interface Answer {
  readonly token?: string
  readonly result?: { readonly status: string; readonly data: unknown; readonly pageToken?: string }
  readonly error?: {
    readonly status: string
    readonly message: string
    readonly details: { readonly code: string }
  }
}

interface AddedComment {
  readonly annotationId: string
  readonly commentId: string
}

/** Returns the code of an error response together with its HTTP status. */
const problemOf = ({ status, json }: { status: number; json: Answer }) => [status, json.error?.details.code]

const threadsOf = async (
  call: ReturnType<typeof application>['call'],
  document: EndpointDocument,
  user = 'ada',
) => (await call<CommentThreadPage>(user, 'comments/get', document)).threads

it('[END-1] returns a token with which the provider opens the document, with the user and the role of the application', async () => {
  const document = await newDocument()
  const { send, asked } = application()
  const open = (user: string) =>
    openProvider({
      url,
      ...document,
      getToken: async () => (await send(user, 'token', document)).json.token ?? '',
    })
  const [ada, vera] = [open('ada'), open('vera')]
  try {
    await settled(ada)
    textOf(ada).insert(0, 'Hours: ')
    await settled(ada)
    await eventually(() => textOf(vera).toString().startsWith('Hours: '))
    expect([ada.role, ada.canWrite, vera.role, vera.canWrite]).toEqual(['editor', true, 'viewer', false])
    await eventually(() => ada.users().length === 2)
    expect(ada.users().map(({ id, name }) => [id, name])).toEqual([
      ['ada', 'Ada'],
      ['vera', 'Vera'],
    ])
    expect(asked).toContainEqual(document)
  } finally {
    ada.destroy()
    vera.destroy()
  }
})

it('[END-1] returns a token that is valid for this document only, for the given time', async () => {
  const document = await newDocument()
  const { send } = application({ tokenSeconds: 120 })
  const { token = '' } = (await send('grace', 'token', document)).json
  const { expiresAt } = dataOf(await server.api.auth.inspectToken({ token }))
  expect((expiresAt ?? 0) - Date.now()).toBeGreaterThan(100_000)
  expect((expiresAt ?? 0) - Date.now()).toBeLessThanOrEqual(120_000)
  const roleIn = async ({ organizationId, documentId }: EndpointDocument) =>
    dataOf(await server.api.auth.inspectToken({ token, organizationId, documentId })).accessRole
  expect(await roleIn(document)).toBe('suggester')
  expect(await roleIn(await newDocument())).toBe('none')
})

it('[END-2] runs with a client over HTTP', async () => {
  const document = await newDocument()
  const { apiKey, authToken } = server.credentials
  const { send, call } = application({ api: createClient({ url, apiKey, authToken }) })
  expect((await send('ada', 'token', document)).json.token).toMatch(/^eyJ/)
  await call('ada', 'comments/add', { ...document, text: 'Hello.' })
  expect((await threadsOf(call, document)).map(({ comments }) => comments[0]?.text)).toEqual(['Hello.'])
})

it('[END-3] rejects users whom the application denies, before it calls Weft', async () => {
  const { send, faults } = application()
  for (const path of ['token', 'comments/get', 'comments/add', 'comments/delete']) {
    const more = { 'comments/add': { text: 'x' }, 'comments/delete': { annotationId: 'a', commentId: 'c' } }[
      path
    ]
    expect(problemOf(await send('nobody', path, { ...document, ...more }))).toEqual([403, 'endpoint/denied'])
  }
  const { send: undecided } = application({ authorize: () => undefined as never })
  expect(problemOf(await undecided('ada', 'token', document))).toEqual([403, 'endpoint/denied'])
  expect(faults).toEqual([])
})

it('[END-4] does not let a page choose its user, its role or other members', async () => {
  const { send } = application()
  const chosen = {
    userId: 'ada',
    user: users.ada,
    role: 'editor',
    accessRole: 'editor',
    actionUser: { userId: 'ada' },
    from: { userId: 'ada' },
    isAdmin: true,
    permissions: {},
    expiresInSeconds: 172_800,
    annotationId: 'a',
    commentId: 'c',
    constructor: {},
  }
  for (const [name, value] of Object.entries(chosen))
    for (const path of ['token', 'comments/add']) {
      const body = { ...document, ...(path !== 'token' && { text: 'x' }), [name]: value }
      const answer = await send('vera', path, body)
      expect([name, ...problemOf(answer)]).toEqual([name, 400, 'request/unknown-member'])
    }
})

it('[END-4] does not take members from prototypes', async () => {
  const { send } = application()
  const { organizationId, documentId } = document
  const inherited = `{"organizationId":"${organizationId}","documentId":"${documentId}","__proto__":{"editorId":"main"}}`
  expect(problemOf(await send('ada', 'token', inherited))).toEqual([400, 'request/unknown-member'])
  for (const id of ['__proto__', 'constructor', 'toString']) {
    const place = { organizationId: id, documentId: id, editorId: id }
    expect((await send('ada', 'comments/get', place)).json.result?.data).toMatchObject({ threads: [] })
    const target = { annotationId: id, commentId: id, text: 'x' }
    expect(problemOf(await send('ada', 'comments/update', { ...document, ...target }))[0]).toBe(404)
  }
  for (const path of ['__proto__', 'constructor', 'comments/constructor', 'comments/__proto__'])
    expect(problemOf(await send('ada', path, document))).toEqual([404, 'request/unknown-path'])
  expect(({} as { editorId?: string }).editorId).toBeUndefined()
})

it('[END-5] rejects values of authorize that are not valid, without a token, and reports them', async () => {
  const invalid = [
    { userId: 'ada' },
    { userId: 'ada', role: 'admin' },
    { userId: 'ada', role: 'toString' },
    { userId: '', role: 'editor' },
    { userId: 7, role: 'editor' },
    { userId: 'deleted-user', role: 'editor' },
    { userId: 'ada', role: 'editor', canComment: 'yes' },
    { userId: 'ada', role: 'editor', name: 7 },
    'ada',
  ]
  for (const value of invalid) {
    const { send, faults } = application({ authorize: () => value as never })
    const { status, text, json } = await send('ada', 'token', document)
    expect([value, status, json.error?.details.code]).toEqual([value, 500, 'server/internal'])
    expect([faults.length, text.includes('authorize')]).toEqual([1, false])
  }
})

it('[END-5] gives a long name its maximum length, also if it ends within a character', async () => {
  const document = await newDocument()
  const name = `${'x'.repeat(199)}😀`
  const { send, call } = application({ authorize: () => ({ userId: 'long', name, role: 'editor' }) })
  expect((await send('long', 'token', document)).status).toBe(200)
  await call('long', 'comments/add', { ...document, text: 'Hello.' })
  expect((await threadsOf(call, document))[0]?.createdBy.name).toHaveLength(200)
})

it('[END-6] accepts only POST with JSON, so that pages of other sites cannot send a request', async () => {
  const { send, endpoint, asked } = application()
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'application/jsonp',
    '',
  ]
  for (const type of types)
    expect([type, ...problemOf(await send('ada', 'token', document, { 'content-type': type }))]).toEqual([
      type,
      400,
      'request/content-type',
    ])
  const zipped = await send('ada', 'token', document, { 'content-encoding': 'gzip' })
  expect(problemOf(zipped)).toEqual([400, 'request/content-type'])
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']) {
    const response = await endpoint(new Request('https://app.example.com/weft/token', { method }))
    expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'POST'])
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  }
  const charset = { 'content-type': 'application/json; charset=utf-8' }
  expect((await send('ada', 'token', document, charset)).status).toBe(200)
  expect(asked).toHaveLength(1)
})

it('[END-6] rejects bodies that are too large, not JSON or not an object', async () => {
  const { send, endpoint, asked } = application()
  const large = JSON.stringify({ ...document, text: 'x'.repeat(200_000) })
  expect(problemOf(await send('ada', 'comments/add', large))).toEqual([413, 'request/body-too-large'])
  // Without a length, the endpoint stops reading.
  let pulled = 0
  const body = new ReadableStream({
    pull(controller) {
      pulled += 1
      controller.enqueue(new Uint8Array(65_536).fill(32))
    },
  })
  const headers = { 'content-type': 'application/json' }
  // The types of Node 20 do not have `duplex`, which a stream needs.
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', headers, body, duplex: 'half' }
  const endless = new Request('https://app.example.com/token', init)
  expect((await endpoint(endless)).status).toBe(413)
  expect(pulled).toBeLessThan(10)
  for (const text of ['', '{', 'null x', '['.repeat(60_000)])
    expect(problemOf(await send('ada', 'token', text))).toEqual([400, 'request/invalid-json'])
  for (const text of ['null', '[]', '"x"', '7', `${'['.repeat(60_000)}${']'.repeat(60_000)}`])
    expect(problemOf(await send('ada', 'token', text))).toEqual([400, 'request/invalid-member'])
  expect(asked).toEqual([])
})

it('[END-7] accepts the ids that REST accepts, and rejects other ids before authorize', async () => {
  const ids = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 4 }),
    fc.string({ unit: 'grapheme', maxLength: 520 }),
    fc.constantFrom(
      '',
      '.',
      '..',
      'a/b',
      'ä'.repeat(256),
      'ä'.repeat(257),
      'x'.repeat(512),
      'x'.repeat(513),
      '\ud800',
    ),
    fc.jsonValue(),
  )
  const { send, asked } = application()
  await fc.assert(
    fc.asyncProperty(ids, fc.constantFrom('organizationId', 'documentId', 'editorId'), async (id, member) => {
      asked.length = 0
      const place = { ...document, [member]: id }
      const answer = await send('ada', 'token', place)
      const rest = await server.api.crdt.get(place)
      // For REST, null stands for a missing member.
      const isInvalid = id === null || (!rest.ok && rest.error.code === 'request/invalid-member')
      if (isInvalid) expect(problemOf(answer)).toEqual([400, 'request/invalid-member'])
      expect([answer.status, asked]).toEqual(isInvalid ? [400, []] : [200, [place]])
    }),
    { numRuns: times(50, 200) },
  )
})

it('[END-8] adds threads and replies in the name of the user, and returns them to every user', async () => {
  const document = await newDocument()
  const { call } = application()
  const position = 'AAAAAA=='
  const anchor = { contentKey: 'content', position, positionEnd: position }
  const { annotationId, commentId } = await call<AddedComment>('ada', 'comments/add', {
    ...document,
    text: 'Is this right?',
    anchor,
  })
  await call('grace', 'comments/reply', { ...document, annotationId, text: 'Yes.' })
  const data = await call<CommentThreadPage>('vera', 'comments/get', document)
  expect(data).toMatchObject({ canComment: false })
  expect(data.threads).toMatchObject([
    {
      annotationId,
      status: 'open',
      anchor: { contentKey: 'content' },
      commentCount: 2,
      createdBy: { userId: 'ada', name: 'Ada' },
      comments: [
        { commentId, from: { userId: 'ada', name: 'Ada' }, text: 'Is this right?' },
        { from: { userId: 'grace', name: 'Grace' }, text: 'Yes.' },
      ],
    },
  ])
  const { data: stored } = await server.api.commentannotations
    .get(document)
    .then((result) => ({ data: dataOf(result) }))
  expect(stored[0]).toMatchObject({ createdBy: { userId: 'ada' }, anchor: { editorId: 'main' } })
})

it('[END-8] returns all comments of a thread, and only the threads of the editor', async () => {
  const document = await newDocument()
  const { call } = application()
  const { annotationId } = await call<AddedComment>('ada', 'comments/add', { ...document, text: '0' })
  for (let at = 1; at < 60; at++)
    await call('ada', 'comments/reply', { ...document, annotationId, text: `${at}` })
  const [thread] = await threadsOf(call, document)
  expect([thread?.comments.length, thread?.commentCount]).toEqual([50, 60])
  const all = await call<{ text: string }[]>('vera', 'comments/thread', { ...document, annotationId })
  expect(all.map(({ text }) => Number(text))).toEqual([...all.keys()])
  expect(all).toHaveLength(60)
  const anchor = { position: 'AAAAAA==' }
  await call('ada', 'comments/add', { ...document, editorId: 'side', text: 'Side.', anchor })
  expect(await threadsOf(call, document)).toHaveLength(1)
  expect(await threadsOf(call, { ...document, editorId: 'side' })).toHaveLength(2)
})

it('[END-8] returns pages, and filters by status', async () => {
  const document = await newDocument()
  const { send, call } = application()
  const comments = [{ from: { userId: 'api' }, text: 'Hello.' }]
  const annotations = Array.from({ length: 120 }, (_, at) => ({
    annotationId: `${document.documentId}-${at}`,
    comments,
  }))
  dataOf(
    await server.api.commentannotations.add({
      ...document,
      editorId: undefined,
      actionUser: { userId: 'api' },
      annotations,
    } as never),
  )
  const first = (await send('vera', 'comments/get', document)).json.result
  const pageToken = first?.pageToken
  expect(first?.data).toMatchObject({ threads: { length: 100 } })
  const { annotationId } = await call<{ annotationId: string }>('ada', 'comments/add', {
    ...document,
    text: 'New.',
  })
  expect((await threadsOf(call, document))[0]?.annotationId).toBe(annotationId)
  const second = (await send('vera', 'comments/get', { ...document, pageToken })).json.result
  expect(second?.data).toMatchObject({ threads: { length: 20 } })
  expect(second?.pageToken).toBeUndefined()
  await call('ada', 'comments/resolve', {
    ...document,
    annotationId: `${document.documentId}-7`,
    status: 'resolved',
  })
  const resolved = await call<CommentThreadPage>('vera', 'comments/get', { ...document, status: 'resolved' })
  expect(resolved.threads.map(({ annotationId, status }) => [annotationId, status])).toEqual([
    [`${document.documentId}-7`, 'resolved'],
  ])
  // A token of one document selects nothing in another one.
  const other = await newDocument()
  const answer = await send('vera', 'comments/get', { ...other, pageToken })
  expect((answer.json.result?.data as CommentThreadPage | undefined)?.threads ?? []).toEqual([])
})

it('[END-9] lets a user change and delete only own comments', async () => {
  const document = await newDocument()
  const { send, call } = application()
  const ids = await call<AddedComment>('ada', 'comments/add', { ...document, text: 'Mine.' })
  const { annotationId } = ids
  for (const user of ['grace', 'carl']) {
    expect(problemOf(await send(user, 'comments/update', { ...document, ...ids, text: 'Hers.' }))).toEqual([
      403,
      'endpoint/not-author',
    ])
    expect(problemOf(await send(user, 'comments/delete', { ...document, ...ids }))).toEqual([
      403,
      'endpoint/not-author',
    ])
  }
  const reply = await call<AddedComment>('grace', 'comments/reply', {
    ...document,
    annotationId,
    text: 'Reply.',
  })
  await call('ada', 'comments/update', { ...document, ...ids, text: 'Mine still.' })
  await call('grace', 'comments/update', { ...document, ...reply, text: 'Reply, changed.' })
  expect((await threadsOf(call, document))[0]?.comments.map(({ text }) => text)).toEqual([
    'Mine still.',
    'Reply, changed.',
  ])
  await call('ada', 'comments/delete', { ...document, ...ids })
  expect((await threadsOf(call, document))[0]?.comments.map(({ text }) => text)).toEqual(['Reply, changed.'])
  // A thread without comments is not shown.
  await call('grace', 'comments/delete', { ...document, ...reply })
  expect(await threadsOf(call, document)).toEqual([])
  for (const target of [ids, { ...ids, annotationId: 'missing' }])
    expect(problemOf(await send('ada', 'comments/delete', { ...document, ...target }))[0]).toBe(404)
})

it('[END-9] does not reach comments through another document', async () => {
  const [document, other] = [await newDocument(), await newDocument()]
  const { send, call } = application()
  const ids = await call<AddedComment>('ada', 'comments/add', { ...document, text: 'Mine.' })
  const { annotationId } = ids
  const requests = {
    'comments/thread': { annotationId },
    'comments/reply': { annotationId, text: 'x' },
    'comments/resolve': { annotationId, status: 'resolved' },
    'comments/update': { ...ids, text: 'x' },
    'comments/delete': ids,
  }
  for (const [path, members] of Object.entries(requests))
    expect([path, (await send('ada', path, { ...other, ...members })).status]).toEqual([path, 404])
  expect(await threadsOf(call, other)).toEqual([])
  expect(await threadsOf(call, document)).toMatchObject([{ status: 'open', commentCount: 1 }])
})

it('[END-10] lets users write comments by their role, unless the application decides otherwise', async () => {
  const document = await newDocument()
  const { send, call } = application()
  const { annotationId, commentId } = await call<AddedComment>('ada', 'comments/add', {
    ...document,
    text: 'A.',
  })
  for (const user of ['vera', 'mute']) {
    const changes = {
      'comments/add': { text: 'x' },
      'comments/reply': { annotationId, text: 'x' },
      'comments/resolve': { annotationId, status: 'resolved' },
      'comments/update': { annotationId, commentId, text: 'x' },
      'comments/delete': { annotationId, commentId },
    }
    for (const [path, members] of Object.entries(changes))
      expect(problemOf(await send(user, path, { ...document, ...members }))).toEqual([
        403,
        'endpoint/cannot-comment',
      ])
    expect(await threadsOf(call, document, user)).toMatchObject([{ status: 'open', commentCount: 1 }])
  }
  for (const user of ['grace', 'carl'])
    await call(user, 'comments/reply', { ...document, annotationId, text: 'B.' })
  await call('grace', 'comments/resolve', { ...document, annotationId, status: 'resolved' })
  expect(await threadsOf(call, document)).toMatchObject([{ status: 'resolved', commentCount: 3 }])
})

it('[END-11] sends a live message to the pages of the document after each change', async () => {
  const document = await newDocument()
  const { send, call } = application()
  const provider = openProvider({
    url,
    ...document,
    getToken: async () => (await send('vera', 'token', document)).json.token ?? '',
  })
  try {
    await settled(provider)
    const messages = recorded(provider, 'message')
    const ids = await call<AddedComment>('ada', 'comments/add', { ...document, text: 'A.' })
    const { annotationId } = ids
    await call('grace', 'comments/reply', { ...document, annotationId, text: 'B.' })
    await call('ada', 'comments/update', { ...document, ...ids, text: 'C.' })
    await call('ada', 'comments/resolve', { ...document, annotationId, status: 'resolved' })
    await call('ada', 'comments/delete', { ...document, ...ids })
    await call('vera', 'comments/get', document)
    await send('vera', 'comments/reply', { ...document, annotationId, text: 'x' })
    await eventually(() => messages.length >= 5)
    expect(messages).toEqual(Array.from({ length: 5 }, () => [{ event: 'comments.changed', data: null }]))
  } finally {
    provider.destroy()
  }
})

it('[END-12] returns errors of Weft that a user can understand, in the envelope of REST', async () => {
  const document = await newDocument()
  const { send, faults } = application()
  expect(
    (await send('ada', 'comments/get', { ...document, documentId: 'missing' })).json.result?.data,
  ).toEqual({
    threads: [],
    canComment: true,
  })
  const missing = await send('ada', 'comments/add', { ...document, documentId: 'missing', text: 'x' })
  expect(problemOf(missing)).toEqual([404, 'document/not-found'])
  const broken = await send('ada', 'comments/add', { ...document, text: 'x', anchor: { position: '!' } })
  expect(problemOf(broken)).toEqual([400, 'request/invalid-member'])
  const wrong = { status: 'closed', annotationId: '' }
  const answer = await send('ada', 'comments/resolve', { ...document, ...wrong })
  expect(answer.json.error).toMatchObject({
    status: 'INVALID_ARGUMENT',
    details: { code: 'request/invalid-member', issues: [{ path: '/annotationId' }] },
  })
  for (const text of ['', '  ', 'ä'.repeat(8_193), 7, null])
    expect(problemOf(await send('ada', 'comments/add', { ...document, text }))).toEqual([
      400,
      'request/invalid-member',
    ])
  expect((await send('ada', 'comments/add', { ...document, text: '\u0001'.repeat(16_384) })).status).toBe(200)
  expect(faults).toEqual([])
})

it('[END-12] reports faults to the application, and shows the page no cause', async () => {
  const wrongKey = createClient({ url, apiKey: 'wrong-key', authToken: 'secret-token', retries: 0 })
  const absent = createClient({
    url: 'http://127.0.0.1:9',
    apiKey: 'k',
    authToken: 'secret-token',
    retries: 0,
  })
  const failing = { authorize: () => Promise.reject(new Error('secret of the database')) }
  const trials = [
    { options: { api: wrongKey }, expected: [500, 'server/internal'] },
    { options: { api: absent }, expected: [503, 'endpoint/unavailable'] },
    { options: failing, expected: [500, 'server/internal'] },
  ]
  for (const { options, expected } of trials)
    for (const path of ['token', 'comments/get']) {
      const { send, faults } = application(options)
      const answer = await send('ada', path, document)
      expect(problemOf(answer)).toEqual(expected)
      expect(faults).toHaveLength(1)
      expect(answer.text).not.toMatch(/secret|wrong-key|127\.0\.0\.1|authorize/)
    }
})

it('[END-13] returns no credentials, no email addresses and no data of the application', async () => {
  const document = await newDocument()
  const { send } = application()
  const { organizationId, documentId } = document
  const actionUser = { userId: 'boss', name: 'Boss', email: 'boss@example.com' }
  const annotation = {
    annotationId: `${documentId}-private`,
    location: { id: 'page', note: 'private-location' },
    priority: 'private-priority',
    assignedTo: { userId: 'x', email: 'assigned@example.com' },
    comments: [{ from: actionUser, text: 'Hello.' }],
  }
  dataOf(
    await server.api.commentannotations.add({
      organizationId,
      documentId,
      actionUser,
      annotations: [annotation],
    }),
  )
  await send('ada', 'comments/add', { ...document, text: 'Hello.' })
  const responses = [
    await send('vera', 'comments/get', document),
    await send('vera', 'comments/thread', { ...document, annotationId: annotation.annotationId }),
    await send('ada', 'comments/reply', { ...document, annotationId: annotation.annotationId, text: 'x' }),
    await send('ada', 'token', document),
    await send('ada', 'comments/delete', { ...document, annotationId: 'x', commentId: 'y' }),
  ]
  const secrets = Object.values(server.credentials)
  for (const { text, headers } of responses) {
    expect([headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual([
      'no-store',
      'nosniff',
    ])
    expect(text).not.toMatch(/@example\.com|private-/)
    for (const secret of secrets) expect(text).not.toContain(secret)
  }
})

it('[END-14] keeps concurrent requests of several users apart', async () => {
  const places = await Promise.all([newDocument(), newDocument(), newDocument()])
  const { call } = application({
    // The responses of the application come in another order than the requests.
    authorize: async (request) => {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20))
      return users[request.headers.get('x-user') ?? ''] ?? null
    },
  })
  const names = ['ada', 'grace', 'carl']
  await Promise.all(
    places.flatMap((place) =>
      names.flatMap((user) =>
        Array.from({ length: 5 }, () =>
          call(user, 'comments/add', { ...place, text: `${user} in ${place.documentId}` }),
        ),
      ),
    ),
  )
  for (const place of places) {
    const threads = await threadsOf(call, place)
    const texts = threads.map(({ createdBy, comments: [comment] }) => [
      createdBy.userId,
      comment?.from.userId,
      comment?.text,
    ])
    const expected = names.flatMap((user) =>
      Array.from({ length: 5 }, () => [user, user, `${user} in ${place.documentId}`]),
    )
    expect(texts.toSorted()).toEqual(expected.toSorted())
  }
})

it('[END-14] counts concurrent deletions of one comment once', async () => {
  const document = await newDocument()
  const { send, call } = application()
  const ids = await call<AddedComment>('ada', 'comments/add', { ...document, text: 'A.' })
  await call('grace', 'comments/reply', { ...document, annotationId: ids.annotationId, text: 'B.' })
  const answers = await Promise.all(
    [1, 2, 3].map(() => send('ada', 'comments/delete', { ...document, ...ids })),
  )
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404, 404])
  expect((await threadsOf(call, document))[0]).toMatchObject({ commentCount: 1 })
})

it('[END-15] rejects options that are not valid', () => {
  for (const options of [
    { authorize: undefined },
    { tokenSeconds: 59 },
    { tokenSeconds: 172_801 },
    { tokenSeconds: 60.5 },
  ])
    expect(() => application(options as never)).toThrow(TypeError)
})

it('[END-19] executes a change that a page sends again with its key once, and returns the same response', async () => {
  const document = await newDocument()
  const { send, call } = application()
  const twice = async <Data>(path: string, members: object, idempotencyKey: string): Promise<Data> => {
    const body = { ...document, ...members, idempotencyKey }
    // At the same time, and later.
    const found = await Promise.all([1, 2].map(() => call<Data>('ada', path, body)))
    found.push(await call<Data>('ada', path, body))
    expect(found).toEqual([found[0], found[0], found[0]])
    return found[0] as Data
  }
  const { annotationId, commentId } = await twice<AddedComment>('comments/add', { text: 'One.' }, 'key-1')
  const reply = await twice<AddedComment>('comments/reply', { annotationId, text: 'Two.' }, 'key-2')
  expect(reply.annotationId).toBe(annotationId)
  const ids = { annotationId, commentId }
  const update = { ...ids, text: 'Uno.' }
  await twice('comments/update', update, 'key-3')
  await call('ada', 'comments/update', { ...document, ...ids, text: 'Ein.' })
  // The page sends the older change again.
  await call('ada', 'comments/update', { ...document, ...update, idempotencyKey: 'key-3' })
  await twice('comments/resolve', { annotationId, status: 'resolved' }, 'key-4')
  expect(await threadsOf(call, document)).toMatchObject([
    {
      annotationId,
      status: 'resolved',
      comments: [
        { commentId, text: 'Ein.' },
        { commentId: reply.commentId, text: 'Two.' },
      ],
    },
  ])
  const target = { annotationId, commentId: reply.commentId }
  await twice('comments/delete', target, 'key-5')
  expect(await threadsOf(call, document)).toMatchObject([{ commentCount: 1 }])
  const other = await send('ada', 'comments/delete', { ...document, ...target, idempotencyKey: 'key-6' })
  expect(problemOf(other)).toEqual([404, 'comment/not-found'])
  const changed = await send('ada', 'comments/add', { ...document, text: 'Other.', idempotencyKey: 'key-1' })
  expect(problemOf(changed)).toEqual([400, 'idempotency/key-reused'])
})

it('[END-19] keeps the keys of users, of documents and of the application apart', async () => {
  const [document, other] = [await newDocument(), await newDocument()]
  const { call } = application()
  const added = await Promise.all([
    call<AddedComment>('ada', 'comments/add', { ...document, text: 'A.', idempotencyKey: 'same' }),
    call<AddedComment>('grace', 'comments/add', { ...document, text: 'A.', idempotencyKey: 'same' }),
    call<AddedComment>('ada', 'comments/add', { ...other, text: 'A.', idempotencyKey: 'same' }),
  ])
  expect(new Set(added.map(({ annotationId }) => annotationId)).size).toBe(3)
  expect(new Set(added.map(({ commentId }) => commentId)).size).toBe(3)
  const { organizationId, documentId } = document
  const own = { organizationId, documentId, actionUser: { userId: 'app' }, annotations: [{}] }
  dataOf(await server.api.commentannotations.add(own, { idempotencyKey: 'same' }))
})

it('[END-19] counts an item that an earlier call with the key has stored as added', async () => {
  const document = await newDocument()
  // As if the server had lost the record of the first call.
  const comments = {
    ...server.api.commentannotations.comments,
    add: (data: never, options: object) =>
      server.api.commentannotations.comments.add(data, { ...options, idempotencyKey: crypto.randomUUID() }),
  }
  const commentannotations = {
    ...server.api.commentannotations,
    comments,
    add: (data: never, options: object) =>
      server.api.commentannotations.add(data, { ...options, idempotencyKey: crypto.randomUUID() }),
  }
  const { call } = application({ api: { ...server.api, commentannotations } })
  const add = () =>
    call<AddedComment>('ada', 'comments/add', { ...document, text: 'A.', idempotencyKey: 'k' })
  const { annotationId, commentId } = await add()
  expect(await add()).toEqual({ annotationId, commentId })
  const reply = () =>
    call<AddedComment>('ada', 'comments/reply', {
      ...document,
      annotationId,
      text: 'B.',
      idempotencyKey: 'r',
    })
  expect(await reply()).toEqual(await reply())
  expect((await threadsOf(call, document)).map(({ commentCount }) => commentCount)).toEqual([2])
})

it('[END-19] rejects keys that REST rejects', async () => {
  const { send, asked } = application()
  for (const idempotencyKey of ['', 'a b', 'ä', 'x'.repeat(256), 'a\nb', 7, null, {}])
    expect(problemOf(await send('ada', 'comments/add', { ...document, text: 'x', idempotencyKey }))).toEqual([
      400,
      'request/invalid-member',
    ])
  for (const path of ['token', 'comments/get'])
    expect(problemOf(await send('ada', path, { ...document, idempotencyKey: 'key' }))).toEqual([
      400,
      'request/unknown-member',
    ])
  expect(asked).toEqual([])
  const longest = { ...(await newDocument()), text: 'x', idempotencyKey: '~'.repeat(255) }
  expect((await send('ada', 'comments/add', longest)).status).toBe(200)
})
