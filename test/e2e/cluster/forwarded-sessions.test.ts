import { afterEach, expect, it } from 'vitest'
import { eventually, message, typed } from '../../support/clients/clients.ts'
import { HttpSession } from '../../support/clients/http-session.ts'
import { documentOf, forwardedBy, pathOf, textAt } from '../../support/servers/document-owners.ts'
import { startCluster, type TestCluster } from '../../support/servers/in-process-cluster.ts'
import type { TestServer } from '../../support/servers/server.ts'

let cluster: TestCluster
afterEach(() => cluster.stop())

const server = (index: number): TestServer => cluster.servers[index] as TestServer

it('[FW-7] passes the requests of a session over HTTP to its node from all nodes', async () => {
  cluster = await startCluster(3)
  const ids = documentOf(cluster, 2)
  const token = await server(0).token('ada')
  const at = (index: number, id?: string): HttpSession =>
    new HttpSession(`${server(index).url}/sync-http/${pathOf(ids)}`, token, id === undefined ? {} : { id })
  const session = at(0)
  const stream = await session.stream()
  await eventually(() => stream.messages().length > 0)
  expect(await session.post([message([0, 2], typed('over HTTP', 1))])).toMatchObject({
    status: 200,
  })
  expect(await textAt(server(1), ids)).toBe('over HTTP')
  const elsewhere = at(1, session.id)
  elsewhere.next = session.next
  expect(await elsewhere.post([message([0, 2], typed('again ', 2))])).toMatchObject({
    status: 200,
  })
  expect((await textAt(server(1), ids)).length).toBe(15)
  stream.cut()
  const last = stream.messages().at(-1)?.id ?? 0
  const poll = await elsewhere.poll(last, 1)
  expect(poll.closed()).toBeUndefined()
  expect(await forwardedBy(server(0), 'session')).toBe(2)
  expect(await forwardedBy(server(1), 'session')).toBe(2)
  expect(await at(1).post([Buffer.from([0, 0, 1, 0])])).toMatchObject({
    status: 404,
    body: { error: { details: { code: 'transport/unknown-session' } } },
  })
})

it('[FW-7] continues a session at another node when the node that forwards it stops', async () => {
  cluster = await startCluster(3)
  const ids = documentOf(cluster, 2)
  const token = await server(0).token('ada')
  const urlAt = (index: number): string => `${server(index).url}/sync-http/${pathOf(ids)}`
  const session = new HttpSession(urlAt(0), token)
  const stream = await session.stream()
  await eventually(() => stream.messages().length > 0)
  await server(0).server.close()
  await stream.ended
  expect(stream.closed()).toBeUndefined()
  const elsewhere = new HttpSession(urlAt(1), token, { id: session.id })
  const next = await elsewhere.stream({ position: stream.messages().at(-1)?.id ?? 0 })
  expect(await elsewhere.post([message([0, 2], typed('goes on', 1))])).toMatchObject({ status: 200 })
  expect(await textAt(server(2), ids)).toBe('goes on')
  next.cut()
})
