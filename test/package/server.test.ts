import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import {
  createServer as createHttp,
  request as httpRequest,
  type RequestListener,
  type Server,
} from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import express from 'express'
import fastify from 'fastify'
import { afterEach, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { backupOnline, readTokenFile } from '../../src/capabilities/backups/storage/backup.ts'
import { createServer, dataOf, type ServerOptions, type WeftServer } from '../../src/server/library/index.ts'
import { syncedEditor } from '../support/clients/clients.ts'

const ends: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function open(options: ServerOptions = {}): Promise<WeftServer> {
  const server = await createServer({ engine: 'memory', log: false, shutdownSeconds: 2, ...options })
  ends.push(() => server.close())
  return server
}

/** Calls an operation at a URL with the credentials of a server. Returns the response body. */
async function post(url: string, { credentials }: WeftServer, path: string, data: object): Promise<unknown> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-api-key': credentials.apiKey,
      'x-service-auth-token': credentials.authToken,
    },
    body: JSON.stringify({ data }),
  })
  return response.json()
}

const editor = { organizationId: 'acme', documentId: 'plan', editorId: 'main' }
const hello = { ...editor, type: 'text', data: 'hello', upsert: true }

async function tokenOf(url: string, server: WeftServer, userId: string, more: object = {}): Promise<string> {
  const answer = await post(url, server, '/v2/auth/generate_token', {
    userId,
    userProperties: { name: userId, email: '', ...more },
  })
  return (answer as { result: { data: { token: string } } }).result.data.token
}

async function httpServer(connect: (http: Server) => void): Promise<string> {
  const http = createHttp()
  connect(http)
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  ends.push(async () => {
    http.closeAllConnections()
    await new Promise((resolve) => http.close(resolve))
  })
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`
}

it('[PKG-1] opens servers of one process, each with its own data, and keeps the data of a directory', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'weft-package-'))
  ends.push(() => rm(dataDir, { recursive: true }))
  const one = await open({ engine: 'level', dataDir })
  const two = await open()
  const [first, second] = await Promise.all(
    [one, two].map((server) => server.listen({ port: 0, host: '127.0.0.1' })),
  )
  expect([one.url, two.url]).toEqual([first?.url, second?.url])
  await post(first?.url ?? '', one, '/v2/crdt/update', hello)
  expect(await post(second?.url ?? '', two, '/v2/crdt/get', editor)).toMatchObject({
    error: { status: 'NOT_FOUND' },
  })
  const { credentials } = one
  await one.close()
  const again = await open({ engine: 'level', dataDir })
  expect(again.credentials).toEqual(credentials)
  const { url } = await again.listen({ port: 0, host: '127.0.0.1' })
  expect(await post(url, again, '/v2/crdt/get', editor)).toMatchObject({
    result: { data: [{ data: 'hello' }] },
  })
})

it('[PKG-1] reads neither the environment nor a configuration file', async () => {
  process.env.WEFT_ENGINE = 'invalid'
  ends.push(async () => void delete process.env.WEFT_ENGINE)
  expect((await open()).url).toBeNull()
})

it('[PKG-2] serves REST and websockets below a path of the HTTP server of a program, and leaves it other paths', async () => {
  const weft = await open({ basePath: '/collab' })
  const url = await httpServer((http) => {
    http.on('request', (request, response) => {
      if (request.url?.startsWith('/collab')) weft.handle(request, response)
      else response.end('own page')
    })
    http.on('upgrade', (request, socket, head) => {
      const { url: whole } = request
      if (weft.handleUpgrade(request, socket, head)) return
      expect(request.url).toBe(whole)
      socket.end('HTTP/1.1 418 own upgrade\r\n\r\n')
    })
  })
  const whole = await httpServer((http) => http.on('request', weft.handle))
  for (const path of ['/healthz', '/console', '/v2/crdt/get', '/collaboration/healthz'])
    expect([path, (await fetch(whole + path)).status]).toEqual([path, 404])
  expect((await fetch(`${whole}/collab/healthz`)).status).toBe(200)
  expect(await (await fetch(`${url}/`)).text()).toBe('own page')
  expect(await post(`${url}/collab`, weft, '/v2/crdt/update', hello)).toMatchObject({
    result: { status: 'success' },
  })
  const token = await tokenOf(`${url}/collab`, weft, 'ada', { isAdmin: true })
  const ada = await syncedEditor(`${url.replace('http', 'ws')}/collab`, 'acme/plan/main', token)
  ends.push(async () => ada.provider.destroy())
  expect(ada.doc.getText('content').toString()).toBe('hello')
  ada.doc.getText('content').insert(5, ' world')
  await expect
    .poll(() => post(`${url}/collab`, weft, '/v2/crdt/get', editor))
    .toMatchObject({ result: { data: [{ data: 'hello world' }] } })
  for (const path of [
    '/other',
    '/collaboration/sync/acme/plan/main',
    '/sync/acme/plan/main',
    '/collab/other',
  ]) {
    const socket = new WebSocket(url.replace('http', 'ws') + path)
    const [status] = await new Promise<[number | undefined]>((resolve) => {
      socket.on('error', () => {})
      socket.on('unexpected-response', (_, response) => resolve([response.statusCode]))
    })
    expect([path, status]).toEqual([path, 418])
  }
})

it.each([
  ['4', createRequire(import.meta.url)('express-4') as typeof express],
  ['5', express],
])('[PKG-35] serves two servers below paths of an application of Express %s', async (_version, host) => {
  const [one, two] = [await open({ basePath: '/one' }), await open({ basePath: '/deep/two' })]
  const app = host()
  const keptLocals: unknown[] = []
  app.use((_request, response, next) => {
    response.locals.user = 'ada'
    response.on('finish', () => keptLocals.push(response.locals.user))
    next()
  })
  app.get('/', (_request, response) => void response.send('own page'))
  app.use('/one', one.router)
  app.use('/deep', host.Router().use('/two', two.router))
  app.use((_request, response) => void response.status(418).send('own error'))
  const url = await httpServer((http) => {
    http.on('request', app)
    http.on('upgrade', (request, socket, head) => one.handleUpgrade(request, socket, head))
  })
  const proxy = await httpServer((http) => http.on('request', stripping('/behind/proxy', url)))
  for (const at of [url, `${proxy}/behind/proxy`]) {
    expect(await post(`${at}/one`, one, '/v2/crdt/update', hello)).toMatchObject({
      result: { status: 'success' },
    })
    expect(await post(`${at}/deep/two`, two, '/v2/crdt/get', editor)).toMatchObject({
      error: { status: 'NOT_FOUND' },
    })
    const answers = async (path: string): Promise<unknown> => {
      const response = await fetch(at + path)
      const text = await response.text()
      return text.startsWith('{"error"') ? [response.status, 'envelope'] : text.slice(0, 15)
    }
    expect(await answers('/')).toBe('own page')
    expect(await answers('/oneself')).toBe('own error')
    expect(await answers('/one?any')).toBe('{"name":"weft",')
    expect(await answers('/deep/two/healthz')).toBe('{"status":"ok"}')
    expect(await answers('/one/unknown')).toEqual([404, 'envelope'])
    expect(await answers('/deep/two/v2/crdt/get')).toEqual([405, 'envelope'])
    expect(await answers('/one/%zz')).toEqual([400, 'envelope'])
  }
  expect(new Set(keptLocals)).toEqual(new Set(['ada']))
  const token = await tokenOf(`${url}/one`, one, 'ada', { isAdmin: true })
  const ada = await syncedEditor(`${url.replace('http', 'ws')}/one`, 'acme/plan/main', token)
  ends.push(async () => ada.provider.destroy())
  expect(ada.doc.getText('content').toString()).toBe('hello')
})

/** Returns the listener of a proxy that removes a path in front of the URL. */
function stripping(prefix: string, target: string): RequestListener {
  return (request, response) => {
    const { method, headers, url = '' } = request
    const forwarded = httpRequest(target + url.slice(prefix.length), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers)
      answer.pipe(response)
    })
    request.pipe(forwarded)
  }
}

it('[PKG-35] serves requests of Fastify below a path', async () => {
  const weft = await open({ basePath: '/collab' })
  const app = fastify()
  ends.push(() => app.close())
  // Fastify must not read bodies.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _body, done) => done(null))
  app.all('/collab/*', (request, reply) => {
    reply.hijack()
    weft.handle(request.raw, reply.raw)
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  expect(await post(`${url}/collab`, weft, '/v2/crdt/update', hello)).toMatchObject({
    result: { status: 'success' },
  })
  expect((await fetch(`${url}/collab/unknown`)).status).toBe(404)
})

it('[PKG-3] rejects options as the command line does', async () => {
  const problem = (options: object) =>
    createServer(options).then(
      () => 'none',
      (error: Error) => `${error.name}: ${error.message}`,
    )
  expect(await problem({ port: 70_000 })).toBe(
    'ConfigError: the option "port" is "70000"; expected a whole number from 0 to 65535',
  )
  expect(await problem({ prot: 1 })).toBe('ConfigError: unknown option "prot" (did you mean port?)')
  expect(await problem({ jwtSecret: 'short' })).toBe(
    'ConfigError: the option "jwtSecret" has a value that cannot be used; expected at least 32 bytes',
  )
  expect(await problem({ auth: 'none', host: '0.0.0.0' })).toContain('expected a loopback address')
  expect(await problem({ callsPerKey: { perSecond: 5 } })).toContain(
    'the option "callsPerKey" is "perSecond=5"',
  )
  expect(await problem({ basePath: 'weft/' })).toContain('expected a path such as "/weft"')
  expect(await problem({ load: 5 })).toContain('expected a function, or an object with "run"')
  expect(await problem({ load: { run: () => null, timeoutMs: 1 } })).toBe(
    'ConfigError: the option "load.timeoutMs" is 1; expected a whole number from 100 to 30000',
  )
})

it('[PKG-32] a running server below a path can be backed up', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'weft-package-'))
  ends.push(() => rm(folder, { recursive: true, maxRetries: 20 }))
  const adminToken = 'a'.repeat(32)
  const weft = await open({ basePath: '/collab', engine: 'level', dataDir: join(folder, 'data'), adminToken })
  const url = await httpServer((http) => http.on('request', weft.handle))
  const tokenFile = join(folder, 'token')
  await writeFile(tokenFile, adminToken)
  for (const address of [`${url}/collab`, `${url}/collab/`]) {
    let bytes = 0
    for await (const chunk of backupOnline(address, () => readTokenFile(tokenFile))) bytes += chunk.length
    expect(bytes).toBeGreaterThan(1_000)
  }
})

it('[PKG-3] accepts options in the forms of their types', async () => {
  await open({
    callsPerKey: { perSecond: 5, burst: 10 },
    callsPerAddress: 0,
    webhookAllowlist: ['hooks.internal', '10.1.0.0/16'],
    jwtClaims: { userId: 'uid' },
    bootstrap: {
      second: {
        workspaceId: 'ws-2',
        workspaceAuthToken: 'a'.repeat(32),
        apiKey: 'key-2',
        authToken: 'b'.repeat(32),
      },
    },
    createOnConnect: false,
    publicUrl: null,
  })
})

it('[PKG-4] asks the functions of a program for roles and content, and sends it changed content', async () => {
  const [asked, stored]: [object[], { documentId: string; content: unknown }[]] = [[], []]
  const weft = await open({
    authorize: (request) => {
      asked.push(request)
      if (request.user.userId === 'eve') throw new Error('no decision')
      return { role: request.user.userId === 'ada' ? 'editor' : 'viewer' }
    },
    load: {
      run: async ({ documentId }) =>
        documentId === 'old' ? { type: 'text', data: 'from the database' } : { notFound: true },
      timeoutMs: 1_000,
    },
    store: { run: (request) => stored.push(request), format: 'text', minSeconds: 1 },
  })
  const { url } = await weft.listen({ port: 0, host: '127.0.0.1' })
  const wsUrl = url.replace('http', 'ws')
  const ada = await syncedEditor(wsUrl, 'acme/old/main', await tokenOf(url, weft, 'ada'))
  ends.push(async () => ada.provider.destroy())
  expect(ada.doc.getText('content').toString()).toBe('from the database')
  expect(asked).toContainEqual({
    callback: 'authorize',
    apiKey: weft.credentials.apiKey,
    organizationId: 'acme',
    documentId: 'old',
    editorId: 'main',
    user: { userId: 'ada', name: expect.any(String) as string, email: expect.any(String) as string },
    agent: null,
  })
  ada.doc.getText('content').insert(0, 'changed ')
  await expect
    .poll(() => stored)
    .toContainEqual(
      expect.objectContaining({
        documentId: 'old',
        contentFormat: 'text',
        content: 'changed from the database',
      }),
    )
  const rejected = new WebSocket(`${wsUrl}/sync/acme/old/main?token=${await tokenOf(url, weft, 'eve')}`)
  const closed = new Promise((resolve) => rejected.on('close', resolve))
  expect(await closed).toBe(1013)
})

it('[PKG-5] calls listeners with the events of webhooks until they are removed', async () => {
  const errors: unknown[] = []
  const note = () => {}
  const weft = await open({
    log: {
      debug: note,
      info: note,
      warn: note,
      error: (fields, message) => errors.push([fields.event, message]),
    },
  })
  const { url } = await weft.listen({ port: 0, host: '127.0.0.1' })
  const events: unknown[] = []
  weft.on('document.create', async () => {
    throw new Error('broken listener')
  })
  const remove = weft.on('document.create', (event) => events.push(event))
  await post(url, weft, '/v2/crdt/update', hello)
  await expect.poll(() => events).toHaveLength(1)
  expect(events).toEqual([
    {
      event: 'document.create',
      actionType: 'document.create',
      source: 'document',
      data: {
        documentId: 'plan',
        actionUser: { userId: weft.credentials.apiKey },
        metadata: { apiKey: weft.credentials.apiKey, organizationId: 'acme', documentId: 'plan' },
      },
      webhookId: expect.stringMatching(/^evt_/) as string,
      timestamp: expect.any(Number) as number,
    },
  ])
  expect(errors).toEqual([['listener.failed', 'a listener of events failed']])
  remove()
  const others: unknown[] = []
  weft.on('document.create', (event) => others.push(event))
  await post(url, weft, '/v2/crdt/update', { ...hello, documentId: 'second' })
  await expect.poll(() => others).toHaveLength(1)
  expect(events).toHaveLength(1)
})

it('[PKG-9] runs operations in the process, as REST does', async () => {
  const weft = await open({ audit: 'all', callsPerAddress: { perSecond: 50, burst: 50 } })
  const { crdt, organizations, workspace } = weft.api
  expect(await crdt.get(editor)).toMatchObject({
    ok: false,
    error: { code: 'organization/not-found', status: 'NOT_FOUND' },
  })
  const added = await crdt.update({ ...editor, type: 'text', data: 'hello', upsert: true })
  expect(added).toMatchObject({ ok: true, message: 'Content updated.', data: { changed: true } })
  const read = dataOf(await crdt.get(editor))
  expect(read).toMatchObject([{ data: 'hello' }])
  const invalid = await crdt.update({ ...editor, type: 'text', data: 5 })
  expect(invalid).toMatchObject({ ok: false, error: { code: 'crdt/invalid-content' } })
  const misspelled = await crdt.get({ ...editor, editorID: 'main' } as typeof editor)
  expect(misspelled).toMatchObject({
    ok: false,
    error: { code: 'request/unknown-member', details: { issues: [{ path: '/data/editorID' }] } },
  })
  const once = {
    organizationId: 'acme',
    documentId: 'plan',
    editorId: 'main',
    type: 'text',
    data: 'again',
  } as const
  const results = [
    await crdt.update(once, { idempotencyKey: 'one' }),
    await crdt.update({ ...editor, type: 'text', data: 'between' }),
    await crdt.update(once, { idempotencyKey: 'one' }),
  ]
  expect(results[2]).toEqual(results[0])
  expect(dataOf(await crdt.get(editor))).toMatchObject([{ data: 'between' }])
  expect(await crdt.get(editor, { signal: AbortSignal.abort() })).toMatchObject({
    error: { code: 'client/aborted' },
  })
  expect((await workspace.get({})).ok).toBe(true)
  const { url } = await weft.listen({ port: 0, host: '127.0.0.1' })
  expect(await post(url, weft, '/v2/crdt/get', editor)).toMatchObject({
    result: { data: [{ data: 'between' }] },
  })
  const records = JSON.stringify(await workspace.audit.get({}))
  expect(records).toContain('in-process')
  const many = await Promise.all(
    Array.from({ length: 100 }, () => organizations.get({ organizationIds: ['acme'] })),
  )
  expect(many.filter(({ ok }) => !ok)[0]).toMatchObject({
    error: { status: 'RESOURCE_EXHAUSTED', retryAfterSeconds: 1 },
  })
  await weft.close()
  // The calls above have used up the rate.
  await expect.poll(() => crdt.get(editor)).toMatchObject({ ok: false, error: { code: 'server/not-ready' } })
})

it('[PKG-7] passes the log to a program, or writes none', async () => {
  const entries: [string, string][] = []
  const method = (level: string) => (_: unknown, message: string) => void entries.push([level, message])
  const log = { debug: method('debug'), info: method('info'), warn: method('warn'), error: method('error') }
  const weft = await open({ log, logLevel: 'debug' })
  const { url } = await weft.listen({ port: 0, host: '127.0.0.1' })
  await fetch(`${url}/healthz`)
  await expect.poll(() => entries).toContainEqual(['debug', 'request'])
})

it('[PKG-8] answers a request whose body other code has read', async () => {
  const reasons: unknown[] = []
  const note = () => {}
  const weft = await open({
    log: { debug: note, info: note, warn: note, error: ({ err }) => reasons.push(err) },
  })
  const url = await httpServer((http) =>
    http.on('request', (request, response) => {
      request.resume()
      request.on('end', () => setImmediate(() => weft.handle(request, response)))
    }),
  )
  expect(await post(url, weft, '/v2/crdt/update', hello)).toMatchObject({ error: { status: 'INTERNAL' } })
  expect(reasons).toMatchObject([
    { message: expect.stringContaining('put Weft before parsers of bodies') as string },
  ])
})
