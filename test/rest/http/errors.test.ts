import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { operationList } from '../../../src/capabilities/list.ts'
import { type ErrorCode, errorCodes } from '../../../src/core/base/error-codes.ts'
import { httpCodes } from '../../../src/core/base/errors.ts'
import type { Config } from '../../../src/core/config/config.ts'
import { errorExamples } from '../../../src/docs/error-examples.ts'
import { RawClient } from '../../support/clients/clients.ts'
import { type Answer, startTestServer, type TestServer } from '../../support/servers/server.ts'

const root = join(import.meta.dirname, '../../..')
const codes = Object.keys(errorCodes) as ErrorCode[]
const chapter = readFileSync(join(root, 'src', 'docs', 'errors.md'), 'utf8')
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !/error-(codes|examples)\.ts$/.test(name))
  .map((name) => readFileSync(join(root, 'src', name), 'utf8'))
  .join('\n')

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server?.stop())

async function send(path: string, body: string, headers: Readonly<Record<string, string>> = {}) {
  const { apiKey, authToken } = server.credentials
  const own = {
    'content-type': 'application/json',
    'x-service-api-key': apiKey,
    'x-service-auth-token': authToken,
    ...headers,
  }
  const present = Object.entries(own).filter(([, value]) => value !== '')
  const response = await fetch(server.url + path, { method: 'POST', body, headers: present })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Answer['body'],
  }
}

const codeOf = ({ body }: Answer): unknown => body.error?.details?.code

it('[ERR-1] answers each error with its code, and with the status and HTTP code that the table of error codes lists for it', async () => {
  const at = { organizationId: 'acme', documentId: 'd', editorId: 'main' }
  const text = { ...at, type: 'text', data: 'one', upsert: true }
  expect((await server.post('/v2/crdt/update', text)).status).toBe(200)
  const calls: Readonly<Record<string, () => Promise<Answer>>> = {
    'request/unknown-path': () => server.post('/v2/nothing', {}),
    'request/content-type': () => send('/v2/crdt/get', '{}', { 'content-type': 'text/plain' }),
    'request/invalid-json': () => send('/v2/crdt/get', '{"data"'),
    'request/invalid-member': () => server.post('/v2/crdt/get', {}),
    'request/too-deep': () => send('/v2/crdt/get', '['.repeat(5000)),
    'request/too-many-values': () => send('/v2/crdt/get', `{"data":[${'{},'.repeat(750_000)}0]}`),
    'request/body-too-large': () => send('/v2/crdt/get', ' '.repeat(17_000_000)),
    'auth/missing-credentials': () => server.post('/v2/crdt/get', at, { 'x-service-api-key': '' }),
    'auth/invalid-credentials': () => server.post('/v2/crdt/get', at, { 'x-service-auth-token': 'wrong' }),
    'auth/origin-not-allowed': async () => {
      await server.post('/v2/workspace/domains/add', { domains: ['good.example'] })
      return server.post('/v2/crdt/get', at, { origin: 'https://evil.example' })
    },
    'auth/admin-token-unset': () => server.post('/v2/workspace/create', { ownerEmail: 'a@b.example' }),
    'crdt/content-exists': () => server.post('/v2/crdt/add', { ...at, type: 'text', data: 'two' }),
    'crdt/root-kind-mismatch': () => server.post('/v2/crdt/update', { ...at, type: 'array', data: [] }),
    'crdt/invalid-content': () => server.post('/v2/crdt/update', { ...at, type: 'text', data: 1 }),
    'crdt/version-conflict': () => server.post('/v2/crdt/update', { ...text, ifVersion: '9.9' }),
    'crdt/base-version-too-old': () => server.post('/v2/crdt/update', { ...text, baseVersion: '9.9' }),
    'crdt/malformed-update': () => server.post('/v2/crdt/apply', { ...at, update: '////' }),
    'webhook/never-configured': () =>
      server.post('/v2/workspace/advancedwebhook/endpoints/create', { url: 'https://hooks.example' }),
    'folder/root': () =>
      server.post('/v2/organizations/folders/delete', { organizationId: 'acme', folderId: 'root' }),
  }
  for (const [code, make] of Object.entries(calls)) {
    const answer = await make()
    const { status, ...cause } = errorCodes[code as ErrorCode]
    const httpCode = 'httpCode' in cause ? cause.httpCode : httpCodes[status]
    expect([codeOf(answer), answer.status, answer.body.error?.status]).toEqual([code, httpCode, status])
    expect(answer.body.error?.message, code).toMatch(remedies)
  }
})

/** Text that follows a problem in a message: the expected input, or the remedy. */
const remedies = /[;:] |\bmust\b|\bat most\b|\bneeds?\b|\bcan only\b|is required/

it('[ERR-2] lists each error code in the chapter on errors: HTTP code, meaning and a link to its page', async () => {
  const page = await (await fetch(`${server.url}/docs/errors`)).text()
  for (const code of codes) {
    const { status, meaning, ...cause } = errorCodes[code]
    const httpCode = 'httpCode' in cause ? cause.httpCode : httpCodes[status]
    expect(chapter).toContain(
      `[${code}](http://localhost:8787/docs/errors/${code}) (${httpCode}): ${meaning}\n`,
    )
    expect(page).toContain(`<a href="/docs/errors/${code}">`)
  }
})

const plain = (html: string): string =>
  html
    .replaceAll(/<\/?code>/g, '`')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')

const pageOf = (code: string): Promise<Response> =>
  fetch(`${server.url}/docs/errors/${code}`, { headers: { accept: 'text/html' } })

it('[ERR-7] serves a page for each error code: status, HTTP code, meaning, remedy, and examples of details', async () => {
  for (const code of codes) {
    const { status, meaning, remedy, ...cause } = errorCodes[code]
    const httpCode = 'httpCode' in cause ? cause.httpCode : httpCodes[status]
    const response = await pageOf(code)
    expect([code, response.status, response.headers.get('content-type')]).toEqual([
      code,
      200,
      'text/html; charset=utf-8',
    ])
    const html = await response.text()
    expect(html).toContain(`<h1>${code}</h1>`)
    expect(html).toContain('href="/docs/errors"')
    const text = plain(html)
    expect(text).toContain(`\`${status}\`, HTTP ${httpCode}. ${meaning}\n`)
    expect(text).toContain(`Remedy: ${remedy.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')}\n`)
    const [, example] = /<pre[^>]*>([\s\S]*?)<\/pre>/.exec(html) ?? []
    expect([code, example !== undefined]).toEqual([code, code in errorExamples])
    if (example === undefined) continue
    const failure = { message: expect.any(String), details: { code } }
    const item = errorExamples[code]?.item
    expect(JSON.parse(plain(example).replaceAll(/^`|`$/g, ''))).toMatchObject(
      item === undefined
        ? { error: { status, ...failure } }
        : { result: { data: { [item]: { success: false, ...failure } } } },
    )
  }
})

it.each(['crdt/nothing', 'crdt', 'a/b/c', '%3Cb%3E/x'])(
  '[ERR-7] answers 404 for the page of the unknown error code %s, and names the list of codes',
  async (code) => {
    const response = await pageOf(code)
    expect(response.status).toBe(404)
    const { error } = (await response.json()) as Answer['body']
    expect(error).toMatchObject({
      message: expect.stringContaining('/docs/errors'),
      details: { code: 'request/unknown-path' },
    })
  },
)

it('[ERR-7] has only example messages that match a message in the sources', () => {
  const lines = sources.split('\n').filter((line) => !/^\s*(\/\/|\/?\*)/.test(line))
  const literals = lines.flatMap((line) =>
    [...line.matchAll(/'([^']*)'|`([^`]*)`/g)].map(([, quoted, template]) => quoted ?? template ?? ''),
  )
  const starts = literals
    .filter((literal) => literal.replaceAll(/\$\{[^}]*(?:\}|$)/g, '').length >= 10)
    .map((literal) =>
      literal.split(/\$\{[^}]*(?:\}|$)/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')),
    )
    .map((parts) => new RegExp(`^${parts.join('.+')}`))
  const messages = Object.values(errorExamples).map(({ message }) => message)
  const issues = (message: string): string => message.replace(/^\/[\w/]+ /, '')
  expect(messages.filter((message) => !starts.some((start) => start.test(issues(message))))).toEqual([])
})

it('[ERR-2] mentions only existing operations in the remedies of error codes', () => {
  const paths = operationList.map(({ path }) => path as string)
  const named = codes.flatMap((code) => errorCodes[code].remedy.match(/\/v\d\/[\w/]+/g) ?? [])
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter((path) => !paths.includes(path))).toEqual([])
})

it('[ERR-3] has no unused error code', () => {
  const used = (code: string): boolean =>
    sources.includes(`'${code}'`) ||
    (/^(organization|folder|document)\/not-found$/.test(code) && sources.includes(`\`\${type}/not-found\``))
  expect(codes.filter((code) => !used(code))).toEqual([])
})

it('[ERR-4] states the expected input or the remedy in each error message', () => {
  const made = [
    ...sources.matchAll(
      /(?:ApiError|\binvalid|super)\(\s*['`][\w${}-]+\/[\w-]+['`],\s*('[^']*'|`[^`]*`)(?=,|\))/g,
    ),
  ].map(([, message = '']) => message)
  expect(made.length).toBeGreaterThan(70)
  // In other messages, the issues of a schema have their path before the message.
  const others = made.filter((message) => !message.includes('{path} '))
  expect(others.filter((message) => !remedies.test(message))).toEqual([])
})

it('[ERR-5] returns different errors for an unknown organization, an unknown document and missing content', async () => {
  const { post } = server
  await post('/v2/organizations/add', { organizations: [{ organizationId: 'there' }] })
  await post('/v2/organizations/documents/add', { organizationId: 'there', documents: [{ documentId: 'd' }] })
  const places = {
    'organization/not-found': { organizationId: 'typo', documentId: 'd', editorId: 'main' },
    'document/not-found': { organizationId: 'there', documentId: 'typo', editorId: 'main' },
    'crdt/no-content': { organizationId: 'there', documentId: 'd', editorId: 'typo' },
  }
  const calls = {
    update: { type: 'text', data: 'x' },
    apply: { update: 'AAA=' },
    get: {},
    'versions/list': {},
  }
  for (const [path, data] of Object.entries(calls)) {
    const messages = new Set<string | undefined>()
    for (const [code, place] of Object.entries(places)) {
      const answer = await post(`/v2/crdt/${path}`, { ...place, ...data })
      expect([path, answer.status, codeOf(answer)]).toEqual([path, 404, code])
      messages.add(answer.body.error?.message)
    }
    expect(messages.size).toBe(3)
  }
  const missing = await post('/v2/crdt/update', { ...places['crdt/no-content'], ...calls.update })
  expect(missing.body.error?.message).toContain('upsert')
})

it.each([
  ['{"data": {"a": 1,}}', 1, 18, 'a name in double quotes'],
  ['{\n  "data": {\n    "a": 1\n    "b": 2\n  }\n}', 4, 5, 'expected ","'],
  ["{'data': {}}", 1, 2, 'a name in double quotes'],
  ['{"data": {"a": tru}}', 1, 16, 'a value'],
  ['{"data": "\u{1f600}" "secret"}', 1, 14, 'expected ","'],
  ['{"data": "two\nlines"}', 1, 14, 'line break'],
  ['{"data": "C:\\path"}', 1, 13, 'escape'],
  ['{"data": "secret', 1, 10, 'does not end'],
  ['{"data": {"a": [1, 2', 1, 21, 'the text ends'],
  ['{"data": {}} secret', 1, 14, 'after the end'],
  ['', 1, 1, 'the text ends'],
  ['{"data": [1}', 1, 12, 'expected ","'],
  ['{"data": 01}', 1, 11, 'expected ","'],
])(
  '[ERR-6] states line and column of invalid JSON, and repeats no part of the body: %j',
  async (body, line, column, problem) => {
    const answer = await send('/v2/crdt/get', body)
    expect(answer.body.error).toMatchObject({
      status: 'INVALID_ARGUMENT',
      message: expect.stringContaining(`the body is not JSON at ${line}:${column}: `),
      details: { code: 'request/invalid-json', line, column },
    })
    expect(answer.body.error?.message).toContain(problem)
    expect(JSON.stringify(answer.body)).not.toContain('secret')
  },
)

type Limited = readonly [limit: string, Partial<Config>, call: (weft: TestServer) => Promise<Answer>]

const place = { organizationId: 'acme', documentId: 'd', editorId: 'main' }
const addLong = (weft: TestServer): Promise<Answer> =>
  weft.post('/v2/crdt/add', { ...place, type: 'text', data: 'x'.repeat(3_000) })
const twice = async (weft: TestServer, path: string, headers = {}): Promise<Answer> => {
  await weft.post(path, {}, headers)
  return weft.post(path, {}, headers)
}
const limited: readonly Limited[] = [
  ['callsPerKey', { callsPerKey: { perSecond: 1, burst: 1 } }, (weft) => twice(weft, '/v2/users/get')],
  [
    'callsPerAddress',
    { callsPerAddress: { perSecond: 1, burst: 1 } },
    (weft) => twice(weft, '/v2/users/get'),
  ],
  [
    'bodyBytesPerKey',
    { bodyBytesPerKey: { perSecond: 1_000, burst: 1_000 } },
    (weft) => addLong(weft).then(() => addLong(weft)),
  ],
  [
    'maxStoredBytesPerWorkspace',
    { maxStoredBytesPerWorkspace: 1_000 },
    async (weft) => {
      await addLong(weft)
      return weft.post('/v2/organizations/add', { organizations: [{ organizationId: 'more' }] })
    },
  ],
  [
    'maxDocumentsPerWorkspace',
    { maxDocumentsPerWorkspace: 1 },
    async (weft) => {
      const client = await RawClient.connect(
        `${weft.wsUrl}/sync/acme/open/main?token=${await weft.token('ada')}`,
      )
      await client.roundTrip()
      try {
        return await addLong(weft)
      } finally {
        client.end()
      }
    },
  ],
]

it.each(limited)(
  '[ERR-8] when a call exceeds the limit %s, states a remedy and the option that raises the limit',
  async (limit, overrides, call) => {
    const weft = await startTestServer(overrides)
    try {
      const { error } = (await call(weft)).body
      expect(error).toMatchObject({
        status: 'RESOURCE_EXHAUSTED',
        details: { code: 'limit/exceeded', limit },
      })
      expect(error?.message).toMatch(/[;:] (try again|retry|call|close|delete|send|request|ask|leave|name)\b/)
      const variable = `WEFT_${limit.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`
      expect(error?.message).toContain(`have the operator raise ${variable}`)
    } finally {
      await weft.stop()
    }
  },
)

it('[ERR-8] creates `limit/exceeded` errors in one function, which requires a remedy', () => {
  const made = sources.match(/ApiError\(\s*'limit\/exceeded'.*/g) ?? []
  expect(made).toHaveLength(1)
  expect(sources).toMatch(/const message = `\$\{named\}; \$\{remedy\}/)
})
