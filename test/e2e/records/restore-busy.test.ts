import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCli } from '../../support/servers/cli.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-restore-busy-'))
const dataDir = join(root, 'data')
const adminToken = 'an-admin-token-of-the-test'
const organizationId = 'acme'
const documentIds = ['one', 'two', 'three']
let server: TestServer
/** Decides for each request whether the load balancer in front of the server rejects it. */
let isRejected: (path: string) => boolean = () => false

/** A load balancer that rejects calls as Weft does not: without `Retry-After` and without JSON. */
const balancer = createServer((request, response) => {
  void (async () => {
    const { url: path = '', headers } = request
    const body = await text(request)
    if (isRejected(path)) {
      response.writeHead(503).end('no server is available')
      return
    }
    const names = ['content-type', 'x-service-api-key', 'x-service-auth-token', 'idempotency-key']
    const given = names.flatMap((name) =>
      headers[name] === undefined ? [] : [[name, String(headers[name])]],
    )
    const answer = await fetch(server.url + path, {
      method: 'POST',
      headers: given as [string, string][],
      body,
    })
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  })()
})

const write = async (data: string): Promise<void> => {
  for (const documentId of documentIds) {
    const query = { organizationId, documentId, editorId: 'main', type: 'text', data, upsert: true }
    dataOf(await server.post('/v2/crdt/update', query))
  }
}

const read = async (): Promise<readonly string[]> =>
  Promise.all(
    documentIds.map(async (documentId) => {
      const query = { organizationId, documentId, editorId: 'main', format: 'text' }
      return (dataOf(await server.post('/v2/crdt/get', query)) as [{ data: string }])[0].data
    }),
  )

async function restore(url: string, ...args: readonly string[]) {
  const all = ['restore', 'file', '--to', url, '--data-dir', 'data', ...args]
  const { code, out, err } = await runCli(all, root)
  return { code, err, out }
}

beforeAll(async () => {
  writeFileSync(join(root, 'token'), adminToken)
  await new Promise<void>((resolve) => balancer.listen(0, '127.0.0.1', resolve))
  server = await startTestServer({ engine: 'level', dataDir, adminToken })
  await write('old')
  const backup = ['backup', server.url, 'file', '--token-file', 'token']
  expect(await runCli(backup, root)).toMatchObject({ code: 0 })
}, 60_000)

afterAll(async () => {
  balancer.close()
  await server.stop()
  rmSync(root, { recursive: true, force: true, maxRetries: 20 })
})

it('[BKP-82] repeats calls that a server or a load balancer rejects for a time, and reports that it waits', async () => {
  const url = `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`
  await write('new')
  let rejections = 0
  isRejected = (path) => path === '/v2/crdt/apply' && rejections++ < 2
  const balanced = await restore(url, '--organization', organizationId)
  expect([balanced.code, await read()]).toEqual([0, ['old', 'old', 'old']])
  expect(balanced.err).toContain(`weft: ${url} is busy: HTTP 503; the call is repeated for at most 300 s\n`)
  expect(rejections).toBeGreaterThan(2)

  isRejected = (path) => path === '/v2/crdt/apply'
  await write('newer')
  const bounded = await restore(url, '--organization', organizationId, '--wait', '1')
  expect([bounded.code, await read()]).toEqual([1, ['newer', 'newer', 'newer']])
  expect(bounded.out).toMatch(/^acme\/one: failed: .*HTTP status 503/m)
  expect(bounded.out).toMatch(/0 changed, 0 same, 3 failed/)

  await server.stop()
  server = await startTestServer({
    engine: 'level',
    dataDir,
    adminToken,
    callsPerKey: { perSecond: 1, burst: 2 },
  })
  const limited = await restore(server.url, '--document', 'acme/one')
  expect([limited.code, limited.err]).toEqual([
    0,
    expect.stringContaining(`${server.url} is busy: HTTP 429, Retry-After 1;`),
  ])
  expect(limited.out).toMatch(/1 changed, 0 same, 0 failed/)
})
