import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { samplesOf } from '../../support/data/docs-samples.ts'
import { type Answer, dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

const editor = {
  organizationId: 'acme',
  documentId: 'minutes',
  editorId: 'main',
  contentKey: 'default',
}

let folder: string
let weft: TestServer
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weft-agent-'))
  const program = samplesOf('src/docs/agents.md').find(({ note }) => note === 'agent.mjs')
  writeFileSync(join(folder, 'agent.mjs'), program?.text ?? '')
  weft = await startTestServer()
})
afterAll(async () => {
  await weft?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const write = async (xml: string): Promise<void> => {
  dataOf(await weft.post('/v2/crdt/update', { ...editor, type: 'xml', data: xml, upsert: true }))
}
const read = async (): Promise<unknown> => {
  const [{ data }] = dataOf(await weft.post('/v2/crdt/get', { ...editor, format: 'xml' })) as [
    { data: unknown },
  ]
  return data
}
const present = async (): Promise<unknown> =>
  dataOf(await weft.post('/v2/presence/get', { organizationId: 'acme', documentId: 'minutes' }))

interface Front {
  readonly url: string
  readonly server: Server
}

type Intervention = (
  path: string,
  response: ServerResponse,
  passOn: () => Promise<Answer>,
) => Promise<void> | void

/**
 * Starts a server in front of Weft.
 * @param before called with each path before the call is passed on; it may end the response itself
 */
async function startFront(before: Intervention): Promise<Front> {
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [path, body] = [request.url ?? '', await text(request)]
    const key = { 'idempotency-key': String(request.headers['idempotency-key']) }
    const passOn = () => weft.post(path, (JSON.parse(body) as { data: unknown }).data, key)
    await before(path, response, passOn)
    if (response.writableEnded) return
    const { status, body: answer } = await passOn()
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  }
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

/** Runs the agent of the chapter. Resolves with its output and exit code. */
async function runAgent(before: Intervention): Promise<{ out: string; code: number }> {
  const { url, server } = await startFront(before)
  const { apiKey, authToken } = weft.credentials
  const environment = { PATH: process.env.PATH, WEFT_URL: url, KEY: apiKey, TOKEN: authToken }
  try {
    return await new Promise((resolve) => {
      execFile(
        process.execPath,
        ['agent.mjs', 'acme/minutes/main'],
        { cwd: folder, env: environment },
        (error, out, err) => resolve({ out: out + err, code: error === null ? 0 : Number(error.code) }),
      )
    })
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const limited = JSON.stringify({ error: { status: 'RESOURCE_EXHAUSTED', message: 'too many calls' } })

it('[GUIDE-11] the agent waits when a limit is exceeded, and keeps what a user types meanwhile', async () => {
  await write('<paragraph>Bring teh plan.</paragraph>')
  const seen = new Set<string>()
  let shown: unknown
  const { out, code } = await runAgent(async (path, response) => {
    const isFirst = !seen.has(path)
    seen.add(path)
    if (!isFirst) return
    if (path === '/v2/crdt/get') response.writeHead(429, { 'retry-after': '1' }).end(limited)
    if (path === '/v2/crdt/edit') {
      shown = await present()
      await write('<paragraph>Bring teh plan. And teh coffee.</paragraph>')
    }
  })
  expect({ out, code }).toEqual({
    out: 'crdt/get: RESOURCE_EXHAUSTED; retrying in 1 s\nchanged: 1 inserted, 1 deleted\n',
    code: 0,
  })
  expect(shown).toMatchObject([{ userId: 'agent', name: 'Proofreader', status: 'thinking' }])
  expect(await read()).toBe('<paragraph>Bring the plan. And teh coffee.</paragraph>')
  expect(await present()).toEqual([])
})

it('[GUIDE-11] the agent reads the document again when a user has deleted the target of its edit', async () => {
  await write('<paragraph>Plan</paragraph><paragraph>See you monday.</paragraph>')
  let edits = 0
  const { out, code } = await runAgent(async (path) => {
    if (path !== '/v2/crdt/edit') return
    edits++
    // The dry run is the first call.
    if (edits === 2) await write('<paragraph>Plan</paragraph>')
  })
  expect({ out, code }).toEqual({
    out: 'crdt/target-not-found; reading again\nnothing to change\n',
    code: 0,
  })
  expect(await read()).toBe('<paragraph>Plan</paragraph>')
})

it('[GUIDE-11] when a write of the agent gets no response, the agent repeats it, and the server makes the change only once', async () => {
  await write('<paragraph>See you monday, not last monday.</paragraph>')
  let edits = 0
  const { out, code } = await runAgent(async (path, response, passOn) => {
    if (path !== '/v2/crdt/edit') return
    edits++
    // The dry run is the first call. The server makes the second call, and its response is lost.
    if (edits !== 2) return
    await passOn()
    response.destroy()
    response.end()
  })
  expect({ out, code }).toEqual({
    out: 'crdt/edit: no response; retrying in 2 s\nchanged: 1 inserted, 1 deleted\n',
    code: 0,
  })
  expect(await read()).toBe('<paragraph>See you Monday, not last monday.</paragraph>')
})

it('[GUIDE-11] the agent ends with the error message when a repeated call would also fail', async () => {
  const { out, code } = await runAgent((path, response) => {
    if (path === '/v2/crdt/get')
      response
        .writeHead(404)
        .end(JSON.stringify({ error: { status: 'NOT_FOUND', message: 'no such document' } }))
  })
  expect({ out, code }).toEqual({ out: 'failed: no such document\n', code: 1 })
  expect(await present()).toEqual([])
})
