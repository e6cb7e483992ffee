import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { contentStreamDescription } from '../../../src/capabilities/streams/api/stream-schema.ts'
import { describedPaths } from '../../../src/server/described-paths.ts'
import { randomSessionId } from '../../support/clients/http-session.ts'
import { type SchemaCheck, schemaCheckOf } from '../../support/data/openapi-validator.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly description: string
  readonly required?: boolean
  readonly schema: {
    readonly enum?: readonly string[]
    readonly maxLength?: number
    readonly minimum?: number
    readonly maximum?: number
    readonly pattern?: string
    readonly items?: object
  }
}

interface Content {
  readonly schema: object
  readonly examples: Readonly<Record<string, { readonly value: unknown }>>
}

interface Described {
  readonly tags: readonly string[]
  readonly parameters: readonly Parameter[]
  readonly responses: Readonly<Record<string, { readonly content: Readonly<Record<string, Content>> }>>
}

interface Document {
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
}

const documentPath = '/sync-http/{organizationId}/{documentId}/{editorId}'
const feedPath = '/v2/feed/stream'
const contentPath = '/v2/crdt/stream'
const targets = describedPaths.flatMap(({ path, methods }) =>
  Object.keys(methods).map((method) => ({ path, method })),
)

let server: TestServer
let document: Document
let check: SchemaCheck
let keyHeaders: Readonly<Record<string, string>>
let userHeaders: Readonly<Record<string, string>>
beforeAll(async () => {
  server = await startTestServer()
  dataOf(await server.post('/v2/workspace/feed/update', { enabled: true }))
  document = (await (await fetch(`${server.url}/openapi.json`)).json()) as Document
  check = schemaCheckOf(document)
  const { apiKey, authToken } = server.credentials
  keyHeaders = { 'x-service-api-key': apiKey, 'x-service-auth-token': authToken }
  userHeaders = { authorization: `Bearer ${await server.token('ada')}` }
})
afterAll(() => server?.stop())

const open: AbortController[] = []
afterEach(() => {
  for (const each of open.splice(0)) each.abort()
})

const describedAt = (path: string, method: string): Described => document.paths[path]?.[method] as Described

const problem = ({ schema }: Content, value: unknown): unknown => check(schema, value)

type Values = Readonly<Record<string, string>>

/** Sends a request with a value of each required parameter. Checks that the response is a described one. */
async function send(
  { path, method }: (typeof targets)[number],
  given: Values = {},
  { body = '', headers = {} }: { readonly body?: BodyInit; readonly headers?: Values } = {},
): Promise<Response> {
  const { parameters, responses } = describedAt(path, method)
  const values: Values = { session: randomSessionId(), dialect: 'hocuspocus', ...given }
  const url = new URL(server.url + path.replaceAll(/\{(\w+)\}/g, (_, name: string) => given[name] ?? name))
  for (const parameter of parameters)
    if (parameter.in === 'query' && (parameter.required || parameter.name in given))
      url.searchParams.set(parameter.name, values[parameter.name] ?? '')
  const abort = new AbortController()
  open.push(abort)
  const isLines = path === contentPath
  const response = await fetch(url, {
    method: method.toUpperCase(),
    headers: {
      ...(isLines || path === feedPath ? keyHeaders : userHeaders),
      ...(isLines && { 'content-type': 'application/x-ndjson' }),
      ...headers,
    },
    signal: abort.signal,
    ...(method === 'post' && { body }),
  })
  const { content } = responses[response.status] ?? {}
  const type = response.headers.get('content-type')?.replace(/;.*/, '') ?? ''
  expect({ status: response.status, types: Object.keys(content ?? {}) }).toMatchObject({ types: [type] })
  expect(response.headers.get('x-request-id')).toBeTruthy()
  if (type === 'application/json')
    expect(problem(content?.[type] as Content, await response.clone().json())).toBeNull()
  return response
}

describe.each(targets)('$method $path', (target) => {
  const described = (): Described => describedAt(target.path, target.method)

  it('[OPS-4] has a tag and valid examples', () => {
    const { tags, parameters, responses } = described()
    expect(document.tags.map(({ name }) => name)).toEqual(expect.arrayContaining([...tags]))
    for (const { description } of parameters) expect(description).toMatch(/\.$/)
    for (const { content } of Object.values(responses))
      for (const each of Object.values(content))
        for (const { value } of Object.values(each.examples)) expect(problem(each, value)).toBeNull()
  })

  it('[OPS-4] accepts the described values of each parameter, and rejects others', async () => {
    const isNew = target.method === 'get' || target.path === feedPath
    const rejectedStatus = 400
    const opening = contentStreamDescription.methods.post?.lines?.example
    const body = target.path === contentPath ? `${JSON.stringify(opening)}\n` : ''
    expect((await send(target, {}, { body })).status).toBe(isNew ? 200 : 404)
    for (const { name, in: place, schema } of described().parameters) {
      if (place === 'path') continue
      const { enum: values, items, minimum, maximum, maxLength, pattern } = schema
      const accepted = [minimum, maximum].filter((each) => each !== undefined).map(String)
      for (const value of [...accepted, ...(values ?? [])])
        expect({ name, value, status: (await send(target, { [name]: value })).status }).not.toMatchObject({
          status: rejectedStatus,
        })
      const rejected = [
        ...(minimum === undefined ? [] : [String(minimum - 1), 'x']),
        ...(maximum === undefined ? [] : [String(maximum + 1)]),
        ...(pattern === undefined ? [] : ['x']),
        // Flags with other values are off.
        ...((values === undefined && items === undefined) || values?.includes('1') || name === 'dialect'
          ? []
          : ['other']),
        ...(maxLength === undefined || place === 'header' ? [] : ['x'.repeat(maxLength + 1)]),
      ]
      for (const value of rejected)
        expect({ name, value, status: (await send(target, { [name]: value })).status }).toMatchObject({
          status: name === 'documentIds' ? 200 : rejectedStatus,
        })
    }
  })
})

it('[OPS-4] describes the responses of a session over HTTP', async () => {
  const [get, post] = ['get', 'post'].map((method) => ({ path: documentPath, method })) as [
    (typeof targets)[number],
    (typeof targets)[number],
  ]
  const session = randomSessionId()
  const stream = await send(get, { session })
  expect(new TextDecoder().decode((await stream.body?.getReader().read())?.value)).toMatch(
    /^event: open\ndata: \{\}\n\n/,
  )
  expect(await (await send(post, { session })).json()).toEqual({ received: 0 })
  const gap = await send(post, { session, number: '3' }, { body: new Uint8Array([1, 0]) })
  expect([gap.status, await gap.json()]).toMatchObject([409, { received: 0 }])
  const other = { authorization: `Bearer ${await server.token('bob')}` }
  expect((await send(post, { session }, { headers: other })).status).toBe(403)
  const malformed = await send(post, { session, number: '1' }, { body: new Uint8Array([9, 0]) })
  expect(malformed.status).toBe(400)
  // The malformed body has ended the session.
  const next = randomSessionId()
  await send(get, { session: next })
  const large = await send(post, { session: next, number: '1' }, { body: Buffer.alloc(20_000_000, 1) })
  expect(large.status).toBe(413)
})

it('[OPS-4] describes the errors of the stream of the change feed', async () => {
  const target = { path: feedPath, method: 'get' }
  const wrong = { 'x-service-auth-token': 'wrong' }
  expect((await send(target, {}, { headers: wrong })).status).toBe(401)
  expect((await send(target, { cursor: 'unknown' })).status).toBe(400)
  dataOf(await server.post('/v2/workspace/feed/update', { enabled: false }))
  expect((await send(target)).status).toBe(400)
})
