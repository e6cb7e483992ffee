import { afterAll, beforeAll, expect, it } from 'vitest'
import type * as Y from 'yjs'
import { eventually, RawClient } from '../../support/clients/clients.ts'
import { frame, isAbout, ping, pong, tokenFrame } from '../../support/clients/hocuspocus-frames.ts'
import {
  type HocuspocusVersion,
  hocuspocusProvider,
  hocuspocusSocket,
} from '../../support/clients/protocol-clients.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer

beforeAll(async () => {
  server = await startTestServer()
})

afterAll(() => server.stop())

const textOf = ({ document }: { document: Y.Doc }): Y.Text => document.getText('content')
const versions: readonly HocuspocusVersion[] = [2, 3, 4]

it('[DIA-42] versions 2 to 4: saves the edits of a provider that replaces one that a page destroyed before the websocket opened', async () => {
  const token = await server.token('ada')
  const opened = versions.map((version) => {
    const socket = hocuspocusSocket(server, version)
    const name = `acme/strict-${version}/main`
    const options = { version, socket }
    // The server closes a websocket without documents after some time, so another document is open.
    const other = hocuspocusProvider(server, `acme/other-${version}/main`, token, options)
    // React's strict mode mounts, unmounts and mounts each component.
    hocuspocusProvider(server, name, token, options).destroy()
    const provider = hocuspocusProvider(server, name, token, options)
    return { socket, provider, other, name }
  })
  await eventually(
    () => opened.every(({ provider }) => provider.isSynced),
    () => opened.map(({ name, provider }) => [name, provider.isSynced]),
  )
  for (const { provider } of opened) textOf(provider).insert(0, 'kept')
  await eventually(
    () => opened.every(({ provider }) => provider.isSynced && !provider.hasUnsyncedChanges),
    () => opened.map(({ name, provider }) => [name, provider.isSynced, provider.unsyncedChanges]),
  )
  for (const { name } of opened) {
    const documentId = name.split('/')[1]
    const { body } = await server.post('/v2/crdt/get', { organizationId: 'acme', documentId })
    expect(JSON.stringify(body)).toContain('kept')
  }
  for (const { socket, provider, other } of opened) {
    provider.destroy()
    other.destroy()
    socket.destroy()
  }
})

const name = 'acme/left/main'
const isIn = ({ received }: RawClient, document = name): boolean =>
  received.some((bytes) => isAbout(bytes, document, 2, 2))

async function left(): Promise<RawClient> {
  const client = await RawClient.connect(`${server.wsUrl}/hocuspocus`)
  client.send(tokenFrame(name, await server.token('ada')))
  client.send(tokenFrame('acme/other/main', await server.token('ada')))
  await eventually(() => isIn(client) && isIn(client, 'acme/other/main'))
  client.send(frame(name, 7))
  return client
}

it('[DIA-42] closes the websocket with 1012 when a client writes into a document that it has left', async () => {
  const client = await left()
  // The update has no structs and no deletions.
  client.send(frame(name, 0, 2, 2, 0, 0))
  expect(await client.closed).toMatchObject({ code: 1012 })
})

it('[DIA-42] keeps the websocket of a client that leaves a document and opens it again', async () => {
  const client = await left()
  client.received.length = 0
  client.send(tokenFrame(name, await server.token('ada')))
  client.send(frame(name, 0, 2, 2, 0, 0))
  client.send(ping)
  await eventually(() => isIn(client) && client.received.some((bytes) => Buffer.from(bytes).equals(pong)))
  expect(client.socket.readyState).toBe(client.socket.OPEN)
  client.end()
})
