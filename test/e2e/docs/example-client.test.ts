import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Weft, WeftError } from '../../../examples/client/client.ts'
import { operationList } from '../../../src/api/operation-list.ts'
import { exampleEnvironment, exampleFolder, installExample } from '../../support/servers/examples.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'
import { itLong } from '../../support/time/full-run.ts'

const run = promisify(execFile)
const folder = exampleFolder('client')
const root = join(folder, '..', '..')

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server?.stop())

it('[EXB-10] the typed client has a type for every operation, and no other types', async () => {
  const text = await readFile(join(folder, 'schema.d.ts'), 'utf8')
  const named = [...text.matchAll(/^\t"(\/[^"]+)": \{$/gm)].map((match) => match[1])
  expect(named.sort()).toEqual(operationList.map(({ path }) => path).sort())
})

itLong(
  '[EXB-10] the generated types of the client are current; otherwise run `npm run generate` in examples/client',
  async () => {
    await installExample('client')
    const env = exampleEnvironment(server)
    const { stdout } = await run(process.execPath, ['generate.js', '--check'], { cwd: folder, env })
    expect(stdout).toContain('up to date')
  },
)

it('[EXB-11] the typed client rejects a wrong path, member or type at compile time, and its example compiles', async () => {
  // TypeScript reports an expected error in wrong.ts that does not occur.
  await run(join(root, 'node_modules', '.bin', 'tsc'), ['-p', folder])
})

itLong('[EXB-12] the example program of the typed client runs to its end', async () => {
  const args = ['--import', 'tsx', join(folder, 'story.ts')]
  const { stdout } = await run(process.execPath, args, { cwd: root, env: exampleEnvironment(server) })
  expect(stdout.trim().split('\n')).toHaveLength(4)
})

it('[EXB-12] the typed client returns the data of a call; for a rejected call, it throws status, message and details', async () => {
  const { apiKey, authToken } = server.credentials
  const credentials = { 'x-service-api-key': apiKey, 'x-service-auth-token': authToken }
  const weft = new Weft({ url: server.url, credentials })
  const place = { organizationId: 'acme', documentId: 'plan', editorId: 'main' }
  await weft.call('/v2/crdt/add', { ...place, type: 'text', data: 'Hello' })
  expect((await weft.call('/v2/crdt/get', place)).map(({ data }) => data)).toEqual(['Hello'])
  const missing = weft.call('/v2/crdt/get', { ...place, documentId: 'none' })
  await expect(missing).rejects.toMatchObject({ status: 'NOT_FOUND' })
  const wrong = weft.call('/v2/crdt/get', { organizationId: '', documentId: '' })
  const error = await wrong.catch((each: unknown) => each)
  expect(error).toBeInstanceOf(WeftError)
  expect(error).toMatchObject({
    status: 'INVALID_ARGUMENT',
    details: { issues: [{ path: '/data/organizationId' }, {}] },
  })
})

/** A server that answers each request with the next of `turns`. */
async function answering(...turns: readonly (readonly [code: number, body: object, after?: string])[]) {
  const keys: (string | string[] | undefined)[] = []
  const waits: number[] = []
  const scripted = createServer((request: IncomingMessage, response) => {
    const turn = turns[keys.length]
    keys.push(request.headers['idempotency-key'])
    if (turn === undefined) {
      request.socket.destroy()
      return
    }
    const [code, body, after] = turn
    response.writeHead(code, after === undefined ? {} : { 'retry-after': after }).end(JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(scripted, 'listening')
  const { port } = scripted.address() as AddressInfo
  const wait = async (ms: number) => void waits.push(ms)
  const weft = new Weft({ url: `http://127.0.0.1:${port}`, credentials: {}, wait, tries: 4 })
  const answer = await weft
    .call('/v2/organizations/delete', { organizationIds: ['acme'] })
    .catch((error: unknown) => error)
  scripted.closeAllConnections()
  scripted.close()
  return { answer, keys, waits }
}

const failure = (status: string) => ({ error: { status, message: 'not now' } })
const done = { result: { status: 'success', message: '', data: { acme: {} } } }

it('[EXB-13] the typed client retries a call only after a rate limit, a restart or a lost response, with the same idempotency key', async () => {
  const limited = [429, failure('RESOURCE_EXHAUSTED'), '3'] as const
  const stopping = [503, failure('UNAVAILABLE')] as const
  const tried = await answering(limited, stopping, [200, done])
  expect(tried).toMatchObject({ answer: { acme: {} }, waits: [3000, 400] })
  expect(new Set(tried.keys).size).toBe(1)
  expect(tried.keys[0]).toMatch(/^[\w-]{36}$/)

  const lost = await answering()
  expect(lost.answer).toMatchObject({ message: expect.stringContaining('no valid response') as string })
  expect(lost.keys).toHaveLength(4)

  for (const status of ['ABORTED', 'RESOURCE_EXHAUSTED', 'INTERNAL']) {
    const { answer, keys } = await answering([status === 'RESOURCE_EXHAUSTED' ? 429 : 409, failure(status)])
    expect(answer).toMatchObject({ status })
    expect(keys).toHaveLength(1)
  }
})
