import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operationList } from '../../../src/capabilities/list.ts'
import type { Schema } from '../../../src/core/base/schema.ts'
import { exampleOf } from '../../../src/rest/openapi/examples.ts'
import { callWithKey } from '../../support/data/idempotency.ts'
import { type ExampleServer, startExampleServer } from '../../support/data/openapi-example-data.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let example: ExampleServer
let server: TestServer
let lenient: TestServer
beforeAll(async () => {
  example = await startExampleServer()
  server = example.server
  lenient = await startTestServer({ unknownMembers: 'ignore' })
  for (const { post } of [server, lenient])
    dataOf(await post('/v2/organizations/add', { organizations: [{ organizationId: 'acme' }] }))
})
afterAll(async () => {
  await server?.stop()
  await lenient?.stop()
})

const ignoredIn = ({ headers }: { readonly headers: Headers }): string | null => headers.get('x-weft-ignored')

/** Doubles the second letter of a name. */
const misspelled = (name: string): string => `${name.slice(0, 2)}${name[1]}${name.slice(2)}`

/** The JSON pointers of all members, given or not, of objects with listed members in a request. */
function* membersIn(schema: Schema, value: unknown, at: string): Generator<string> {
  if (schema.type === undefined) {
    for (const branch of schema.anyOf ?? []) yield* membersIn(branch, value, at)
  } else if (schema.type === 'array') {
    if (Array.isArray(value) && value.length > 0) yield* membersIn(schema.items, value[0], `${at}/0`)
  } else if (schema.type === 'object' && schema.additionalProperties === undefined) {
    if (typeof value !== 'object' || value === null) return
    for (const [name, member] of Object.entries(schema.properties ?? {})) {
      yield `${at}/${name}`
      yield* membersIn(member, Reflect.get(value, name), `${at}/${name}`)
    }
  }
}

/** The request with one more member, whose name misspells that of the pointer. */
function withMisspelled(data: object, pointer: string): object {
  const [name = '', ...above] = pointer.slice(1).split('/').toReversed()
  // Examples share objects, and `structuredClone` would keep that.
  const changed: unknown = JSON.parse(JSON.stringify(data))
  const target = above
    .toReversed()
    .reduce<unknown>((value, key) => Reflect.get(value as object, key), changed)
  Reflect.set(target as object, misspelled(name), 'x')
  return changed as object
}

/** Returns the message of a call, which must be INVALID_ARGUMENT, with the credentials of the operation. */
async function refusalOf(path: string, data: unknown): Promise<string | undefined> {
  const { status, text } = await callWithKey(example, path, data, {})
  const { error } = JSON.parse(text) as { error?: { status: string; message: string } }
  expect([path, status, error?.status]).toEqual([path, 400, 'INVALID_ARGUMENT'])
  return error?.message
}

it('[API-21] in every operation, rejects a misspelled member, and suggests the correct name', async () => {
  let checked = 0
  for (const { path, request } of operationList) {
    const data = exampleOf(request, 'request') as object
    for (const pointer of new Set(membersIn(request, data, ''))) {
      const name = pointer.slice(pointer.lastIndexOf('/') + 1)
      if (name.length < 3) continue
      const wrong = `/data${pointer.slice(0, -name.length)}${misspelled(name)}`
      expect(await refusalOf(path, withMisspelled(data, pointer))).toSatisfy((message: string) =>
        message.startsWith(`${wrong} is unknown (did you mean ${name}?)`),
      )
      checked += 1
    }
  }
  expect(checked).toBeGreaterThan(400)
})

it('[API-21] takes the beginning of one name for this name', async () => {
  const data = { userId: 'ada', userProperties: { name: 'Ada', email: 'ada@example.com' }, expiresIn: 60 }
  const { body } = await server.post('/v2/auth/generate_token', data)
  expect(body.error?.message).toBe('/data/expiresIn is unknown (did you mean expiresInSeconds?)')
})

it('[API-21] rejects a misspelled member even if the server ignores unknown members', async () => {
  for (const name of ['organisations', 'ORGANIZATIONS', 'organizations_', 'oragnizations']) {
    const answer = await lenient.post('/v2/organizations/add', { [name]: [] })
    expect(answer.body.error?.message).toBe(`/data/${name} is unknown (did you mean organizations?)`)
  }
})

it('[API-25] rejects an unknown member in every operation that writes and in generate_token', async () => {
  const strict = operationList.filter(
    ({ effect, path }) => effect !== 'reads' || path === '/v2/auth/generate_token',
  )
  expect(strict.length).toBeGreaterThan(60)
  for (const { path } of strict)
    expect(await refusalOf(path, { zzzzzzzz: 1 })).toBe('/data/zzzzzzzz is unknown; remove it')
})

describe('an operation that writes', () => {
  it('[API-25] lists each unknown member once, at any depth', async () => {
    const item = { zzzzzz: 1 }
    const answer = await server.post('/v2/commentannotations/add', {
      organizationId: 'acme',
      documentId: 'd',
      actionUser: { userId: 'ann' },
      annotations: [item, { ...item, sttaus: 'open' }],
      'a/b~': 1,
    })
    expect(answer.body.error?.details?.issues).toEqual([
      { path: '/data/annotations/0/zzzzzz', message: 'is unknown; remove it' },
      { path: '/data/annotations/1/sttaus', message: 'is unknown (did you mean status?)' },
      { path: '/data/a~1b~0', message: 'is unknown; remove it' },
    ])
  })

  it('[API-25] accepts any member in an object whose members the caller chooses', async () => {
    const free = { naem: 1, userId: 2, constructor: { deep: [{}] }, '': null }
    const organizations = [{ organizationId: 'free', metadata: free }]
    const added = await server.post('/v2/organizations/add', { organizations })
    expect([added.status, ignoredIn(added)]).toEqual([200, null])
    const annotation = { location: { id: 'p', locationNmae: 'x' }, suggestion: { content: free } }
    const annotated = await server.post('/v2/commentannotations/add', {
      organizationId: 'free',
      documentId: 'd',
      createDocument: true,
      actionUser: { userId: 'ann' },
      annotations: [annotation],
    })
    expect(annotated.status).toBe(200)
  })

  it('[API-25] rejects query parameters, and members of the body beside `data`', async () => {
    const headers = {
      'content-type': 'application/json',
      'x-service-api-key': server.credentials.apiKey,
      'x-service-auth-token': server.credentials.authToken,
    }
    const editor = { organizationId: 'acme', documentId: 'd', editorId: 'e', type: 'text', data: 'x' }
    const send = async (query: string, more: object) => {
      const body = JSON.stringify({ data: editor, ...more })
      const answer = await fetch(`${server.url}/v2/crdt/update${query}`, { method: 'POST', headers, body })
      return ((await answer.json()) as { error: { message: string } }).error.message
    }
    expect(await send('', { dryRun: true })).toBe('/dryRun is unknown (did you mean /data/dryRun?)')
    expect(await send('', { ifVersoin: '1.1' })).toBe('/ifVersoin is unknown (did you mean /data/ifVersion?)')
    expect(await send('', { zzzzzz: 1 })).toBe('/zzzzzz is unknown; remove it')
    expect(await send('?dry_run=true', {})).toBe('?dry_run is unknown (did you mean /data/dryRun?)')
    expect(await send('?zzzzzz', {})).toBe('?zzzzzz is unknown; remove it')
  })
})

describe('an operation that reads', () => {
  it('[API-26] ignores unknown members, and lists them in the header x-weft-ignored', async () => {
    const answer = await server.post('/v2/organizations/get?traced=1', {
      pageSize: 10,
      zzzzzz: { pageSize: 1 },
      'Gr\u00f6\u00dfe, \r\n\ud800/': 1,
    })
    expect(answer.status).toBe(200)
    expect(ignoredIn(answer)).toBe('?traced, /data/zzzzzz, /data/Gr%C3%B6%C3%9Fe%2C%20%0D%0A%EF%BF%BD~1')
    expect(ignoredIn(await server.post('/v2/organizations/get', {}))).toBeNull()
  })

  it('[API-26] lists as many ignored members as fit into the header x-weft-ignored', async () => {
    const names = Array.from({ length: 900 }, (_, index) => [`${'long'.repeat(100)}${index}`, 1])
    const answer = await server.post('/v2/organizations/get', Object.fromEntries(names))
    const header = ignoredIn(answer) ?? ''
    expect(header.length).toBeLessThan(1_520)
    expect(header).toMatch(/^\/data\/(long){5}%E2%80%A6, .*, and \d+ more$/)
  })

  it('[API-26] lets pages of other origins read the header x-weft-ignored', async () => {
    const origin = 'https://example.com'
    await server.post('/v2/workspace/domains/add', { domains: [origin] })
    const answer = await server.post('/v2/organizations/get', { zzzzzz: 1 }, { origin })
    expect(answer.headers.get('access-control-expose-headers')).toContain('x-weft-ignored')
  })
})

it('[API-26] with unknownMembers `ignore`, also ignores and lists unknown members in an operation that writes', async () => {
  const folders = [
    { folderId: 'one', color: 'red' },
    { folderId: 'two', color: 'blue' },
  ]
  const path = '/v1/organizations/folders'
  const answer = await lenient.post(`${path}/add`, { organizationId: 'acme', folders, source: 'crm' })
  expect([answer.status, ignoredIn(answer)]).toEqual([200, '/data/folders/0/color, /data/source'])
  expect(dataOf(await lenient.post(`${path}/get`, { organizationId: 'acme' }))).toHaveLength(2)
})

describe('hostile bodies', () => {
  const many = (count: number): object =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`organizatoin${index}`, 1]))

  it.each(['/v2/organizations/get', '/v2/organizations/add'])(
    '[API-27] %s rejects a call with 100,000 unknown members',
    async (path) => {
      const data = many(100_000)
      const { status, body } = await server.post(path, data)
      expect([status, body.error?.status]).toEqual([400, 'INVALID_ARGUMENT'])
      expect(body.error?.details?.issues?.length ?? 0).toBeLessThanOrEqual(50)
    },
  )

  it('[API-27] if many items have the same unknown members, reports each of these members once', async () => {
    const items = Array.from({ length: 100_000 }, () => ({ zzzzzz: 1, yyyyyy: 2 }))
    const { body } = await server.post('/v2/organizations/add', { organizations: items })
    expect(body.error?.details?.issues).toEqual([
      { path: '/data/organizations/0/zzzzzz', message: 'is unknown; remove it' },
      { path: '/data/organizations/0/yyyyyy', message: 'is unknown; remove it' },
    ])
  })

  it('[API-27] does not repeat a long name in a response', async () => {
    const name = 'n'.repeat(1_000_000)
    const { body } = await server.post('/v2/organizations/add', { [name]: 1 })
    expect(body.error?.message).toBe(`/data/${'n'.repeat(20)}… is unknown; remove it`)
  })
})
