import { afterEach, beforeEach, expect, it } from 'vitest'
import { contentOf, eventually, message, typed } from '../../support/clients/clients.ts'
import { HttpSession } from '../../support/clients/http-session.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
let token: string

beforeEach(async () => {
  server = await startTestServer()
  token = await server.token('ada')
})
afterEach(() => server.stop())

const sessionOf = (documentId = 'doc', by = token): HttpSession =>
  new HttpSession(`${server.url}/sync-http/acme/${documentId}/main`, by)
const vector = message([0, 0], Uint8Array.of(0))
const update = (bytes: Uint8Array): Uint8Array => message([0, 2], bytes)

it('[TRANS-1] carries the messages of a session: a stream for the client, posts from the client', async () => {
  const [writer, reader] = [sessionOf(), sessionOf()]
  const [toWriter, toReader] = [await writer.stream(), await reader.stream()]
  await eventually(() => toReader.messages().length > 0 && toWriter.messages().length > 0)
  expect(toReader.events[0]).toEqual({ event: 'open', id: null, data: '{}' })
  expect(await writer.post([update(typed('hello', 1))])).toEqual({ status: 200, body: { received: 1 } })
  await eventually(() => toReader.messages().some(({ bytes }) => bytes[0] === 0 && bytes[1] === 2))
  const updates = toReader.messages().filter(({ bytes }) => bytes[0] === 0 && bytes[1] === 2)
  expect(contentOf(updates.map(({ bytes }) => bytes.subarray(3)))).toBe('hello')
  expect(toReader.messages().map(({ id }) => id)).toEqual(toReader.messages().map((_, at) => at + 1))
  await reader.post([vector])
  await eventually(() => toReader.messages().some(({ bytes }) => bytes[0] === 0 && bytes[1] === 1))
  toReader.cut()
  toWriter.cut()
})
