import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { eventually, syncedEditor } from '../../support/clients/clients.ts'
import { Receiver } from '../../support/clients/delivery-receiver.ts'
import { childrenOf, type OpenSocket, socketsOf } from '../../support/clients/sockets.ts'
import { type ServerProcess, startProcess } from '../../support/servers/process.ts'

const teller = pathToFileURL(
  join(import.meta.dirname, '../..', 'support', 'faults', 'connection-recorder.mjs'),
)
const documents = ['one', 'two', 'three', 'four']

let data: string
let server: ServerProcess
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'weft-outbound-'))
  server = await startProcess(data, {
    NODE_OPTIONS: `--import=${teller.href}`,
    CONNECTIONS_FILE: join(data, 'connections'),
    WEFT_CALLS_PER_KEY: '0',
    WEFT_WEBHOOK_ALLOWLIST: '127.0.0.1',
  })
})
afterEach(async () => {
  await server?.end('SIGKILL')
  await rm(data, { recursive: true, force: true, maxRetries: 20 })
})

const begun = (): string =>
  existsSync(join(data, 'connections')) ? readFileSync(join(data, 'connections'), 'utf8') : ''
const ownPort = (): number => Number(new URL(server.url).port)
const foreign = (): readonly OpenSocket[] =>
  socketsOf(server.child.pid ?? 0).filter(
    ({ protocol, localPort }) => !protocol.startsWith('tcp') || localPort !== ownPort(),
  )

/** Clients type, a backend replaces and adds content, and every page is requested. `look` runs in between. */
async function load(look: () => void): Promise<void> {
  const token = await server.token()
  const editors = await Promise.all(
    documents.map((document) => syncedEditor(server.wsUrl, `acme/${document}/main`, token)),
  )
  for (let round = 0; round < 10; round++) {
    for (const { text } of editors) text.insert(0, `round ${round} `)
    await Promise.all(documents.map((document) => callsOn(document, round)))
    look()
  }
  for (const page of ['/metrics', '/docs', '/openapi.json', '/version', '/readyz'])
    await (await fetch(server.url + page)).text()
  look()
  for (const editor of editors) editor.close()
}

async function callsOn(documentId: string, round: number): Promise<void> {
  const place = { organizationId: 'acme', documentId }
  const content = { ...place, editorId: 'other', type: 'text', data: `${round} `.repeat(100), upsert: true }
  expect((await server.post('/v2/crdt/update', content)).status).toBe(200)
  await server.post('/v2/presence/add', { ...place, users: [{ userId: `guest-${round}` }] })
}

it('[OPS-42] under load, opens no connection to other hosts, resolves no name and starts no process', async () => {
  let seen = 0
  await load(() => {
    expect(foreign()).toEqual([])
    expect(childrenOf(server.child.pid ?? 0)).toEqual([])
    seen = Math.max(seen, socketsOf(server.child.pid ?? 0).length)
  })
  expect(seen).toBeGreaterThan(documents.length)
  expect(begun()).toBe('')
})

it('[OPS-42] connects to configured hosts and to no other host', async () => {
  const receiver = await new Receiver(() => {}).start()
  const webhook = '/v2/workspace/advancedwebhook'
  const url = `http://127.0.0.1:${receiver.port}/`
  await server.post(`${webhook}config/update`, { isEnabled: true })
  await server.post(`${webhook}/endpoints/create`, { url, uid: 'hook' })
  await server.post(`${webhook}/endpoints/test`, { endpointId: 'hook' })
  await eventually(() => receiver.connections > 0)
  expect(new Set(foreign().map(({ remotePort }) => remotePort))).toEqual(new Set([receiver.port]))
  expect(new Set(begun().trim().split('\n'))).toEqual(new Set(['tcp']))
  receiver.stop()
})
