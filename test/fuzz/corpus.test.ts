import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { operationList } from '../../src/capabilities/list.ts'
import { RawClient, typed } from '../support/clients/clients.ts'
import { sendAndEnd } from '../support/clients/raw-websocket.ts'
import { type ExampleServer, makeWorld, startExampleServer } from '../support/data/openapi-example-data.ts'
import { corpus, joined } from '../support/faults/corpus.ts'
import type { Envelope } from '../support/servers/server.ts'

let example: ExampleServer
let token: string
let neighbor: RawClient
beforeAll(async () => {
  example = await startExampleServer()
  token = await example.server.token('ada')
  neighbor = await RawClient.connect(urlOf('neighbor'))
  neighbor.sendUpdate(typed('still here', 1))
})
afterAll(async () => {
  neighbor?.end()
  await example?.server.stop()
})

const urlOf = (document: string): string =>
  `${example.server.wsUrl}/sync/corpus/${encodeURIComponent(document)}/main?token=${token}`

/** Returns the document as a new client gets it; it must be readable. */
async function shownOf(document: string): Promise<Y.Doc> {
  const client = await RawClient.connect(urlOf(document))
  await client.roundTrip()
  client.end()
  const doc = new Y.Doc()
  for (const update of client.offers()) Y.applyUpdate(doc, update)
  Y.encodeStateAsUpdate(doc)
  return doc
}

/** Returns null if the server has answered all messages, else the close code. */
async function endOf(client: RawClient): Promise<number | null> {
  const answered = client.roundTrip().then(() => null)
  return Promise.race([answered, client.closed.then(({ code }) => code)])
}

describe('frames', () => {
  it.each(corpus('frames').map((each) => [each.name, each] as const))('[FUZZ-5] %s', async (name, given) => {
    const [hostile, witness] = [await RawClient.connect(urlOf(name)), await RawClient.connect(urlOf(name))]
    witness.sendUpdate(typed('before', 77))
    await witness.roundTrip()
    for (const frame of given.frames) hostile.send(Buffer.from(frame, 'hex'))
    expect(await endOf(hostile)).toBe(given.ends)
    hostile.end()
    witness.end()
    const shown = await shownOf(name)
    expect(shown.getText('content').toString()).toContain('before')
    expect(shown.store.pendingStructs).toBeNull()
    await neighbor.roundTrip()
  })
})

describe('bodies', () => {
  it.each(corpus('rest').map((each) => [each.name, each] as const))('[FUZZ-5] %s', async (_name, given) => {
    const { server, credentials } = example
    await makeWorld(server, given.path)
    const operation = operationList.find(({ path }) => path === given.path)
    expect(operation).toBeDefined()
    const headers = {
      'content-type': 'application/json',
      'x-service-api-key': credentials.apiKey as string,
      'x-service-auth-token': credentials.authToken as string,
      'x-service-workspace-id': credentials.workspaceId as string,
      'x-service-workspace-auth-token': credentials.workspaceAuthToken as string,
      'x-service-admin-token': credentials.adminToken as string,
    }
    const answer = await fetch(server.url + given.path, { method: 'POST', headers, body: joined(given.body) })
    const body = (await answer.json()) as Envelope
    expect([answer.status, body.error?.message]).toEqual([given.code, body.error?.message])
    expect(Object.keys(body)).toEqual([given.code === 200 ? 'result' : 'error'])
    await neighbor.roundTrip()
  })
})

describe('bytes', () => {
  it.each(corpus('http').map((each) => [each.name, each] as const))('[FUZZ-5] %s', async (_name, given) => {
    const { port } = example.server
    const answer = await sendAndEnd(port, Buffer.from(joined(given.bytes), 'latin1')).catch(() => null)
    expect(answer?.status ?? 0).toBe(given.code)
    await neighbor.roundTrip()
  })
})

it('[FUZZ-5] has a unique name for each case of the corpus', () => {
  const names = [...corpus('frames'), ...corpus('rest'), ...corpus('http')].map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
})
