import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { headers, type ServerProcess, startProcess } from '../../support/servers/process.ts'
import { peakBytes, residentBytes } from '../../support/servers/process-memory.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

const MB = 1_048_576

describe('version 1 of documents/get', { timeout: 120_000 }, () => {
  const organizationId = 'acme'
  // Names of 3,000 bytes: the response has about 18 MB.
  const ids = Array.from({ length: 6_000 }, (_, at) => `document-${String(at).padStart(5, '0')}`)
  const nameOf = (id: string): string => `${id} ${'€'.repeat(980)}`
  let data: string
  let server: ServerProcess
  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'weft-listing-'))
    server = await startProcess(data, { NODE_OPTIONS: '--max-old-space-size=512' })
    for (let at = 0; at < ids.length; at += 500) {
      const documents = ids
        .slice(at, at + 500)
        .map((documentId) => ({ documentId, documentName: nameOf(documentId) }))
      const added = await server.post('/v2/organizations/documents/add', {
        organizationId,
        documents,
        createOrganization: true,
      })
      expect(added.status).toBe(200)
    }
  }, 120_000)
  afterAll(async () => {
    await server?.end('SIGTERM')
    await rm(data, { recursive: true, force: true, maxRetries: 20 })
  })

  it('[DOC-20] returns each document once, in the order of the ids, in one response', async () => {
    const response = await fetch(`${server.url}/v1/organizations/documents/get`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ data: { organizationId } }),
    })
    expect(response.headers.get('transfer-encoding')).toBe('chunked')
    const text = await response.text()
    const documents = ids.map((id) => ({
      id,
      documentName: nameOf(id),
      disabled: false,
      accessType: 'public',
    }))
    const expected = { result: { status: 'success', message: 'Documents found.', data: documents } }
    expect(text === JSON.stringify(expected)).toBe(true)
  })

  it('[DOC-20] for each client that does not read, keeps only a limited part of the documents in memory', async () => {
    const body = JSON.stringify({ data: { organizationId } })
    const lines = Object.entries({ ...headers, host: 'x', 'content-length': body.length })
    const request = `POST /v1/organizations/documents/get HTTP/1.1\r\n${lines.map((line) => line.join(': ')).join('\r\n')}\r\n\r\n${body}`
    const before = residentBytes(server.child.pid)
    const sockets = await Promise.all(
      Array.from({ length: 30 }, async (): Promise<Socket> => {
        const socket = connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => {})
        socket.write(request)
        await new Promise<void>((resolve) => {
          socket.once('data', () => {
            socket.pause()
            resolve()
          })
        })
        return socket
      }),
    )
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    // All responses together have 540 MB.
    expect(peakBytes(server.child.pid) - before).toBeLessThan(250 * MB)
    for (const socket of sockets) socket.destroy()
    expect((await server.post('/v1/organizations/documents/get', { organizationId })).status).toBe(200)
  })
})

describe('a page of large records', { timeout: 120_000 }, () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer()
  })
  afterAll(() => server?.stop())

  const metadata = { text: 'x'.repeat(16_000) }
  const ids = Array.from({ length: 600 }, (_, at) => `id-${String(at).padStart(3, '0')}`)
  const organizationId = 'records'

  const listings: Readonly<
    Record<string, () => Promise<readonly [path: string, query: object, id: string]>>
  > = {
    documents: async () => {
      for (let at = 0; at < ids.length; at += 300) {
        const documents = ids.slice(at, at + 300).map((documentId) => ({ documentId, metadata }))
        const request = { organizationId, documents, createOrganization: true }
        dataOf(await server.post('/v2/organizations/documents/add', request))
      }
      return ['/v2/organizations/documents/get', { organizationId }, 'id']
    },
    'documents that are searched': async () => [
      '/v2/organizations/documents/get',
      { organizationId, search: 'id-' },
      'id',
    ],
    users: async () => {
      for (let at = 0; at < ids.length; at += 300) {
        const users = ids.slice(at, at + 300).map((userId) => ({ userId, metadata }))
        dataOf(await server.post('/v2/users/add', { organizationId, users, createOrganization: true }))
      }
      return ['/v2/users/get', { organizationId }, 'userId']
    },
    organizations: async () => {
      for (let at = 0; at < ids.length; at += 300) {
        const organizations = ids.slice(at, at + 300).map((id) => ({ organizationId: id, metadata }))
        dataOf(await server.post('/v2/organizations/add', { organizations }))
      }
      return ['/v2/organizations/get', { search: 'id-' }, 'id']
    },
  }

  it.each(Object.keys(listings))(
    '[LIM-30] ends a page early if its records are large, and lists all %s once over all pages',
    async (name) => {
      const [path, query, id] = (await listings[name]?.()) ?? ['', {}, '']
      const found: unknown[] = []
      let pages = 0
      for (let pageToken: string | undefined; pages === 0 || pageToken !== undefined; ) {
        const answer = await server.post(path, { ...query, ...(pageToken !== undefined && { pageToken }) })
        const records = dataOf(answer) as readonly Record<string, unknown>[]
        expect(JSON.stringify(records).length).toBeLessThan(7 * MB)
        found.push(...records.map((record) => record[id]))
        pageToken = (answer.body.result as { pageToken?: string }).pageToken
        pages += 1
      }
      expect(found).toEqual(ids)
      expect(pages).toBeGreaterThan(1)
      expect(pages).toBeLessThan(10)
    },
  )
})
