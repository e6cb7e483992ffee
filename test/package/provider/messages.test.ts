import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventually, message, RawClient } from '../../support/clients/clients.ts'
import { shortToken, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

const connect = async (parameters: string, token: string | Promise<string>): Promise<RawClient> =>
  RawClient.connect(`${server.wsUrl}/sync/acme/messages/main?token=${await token}${parameters}`)

const text = (words: string): Uint8Array => new TextEncoder().encode(words)
const roles = (client: RawClient): string[] =>
  client.bodies(112, 1).map((body) => new TextDecoder().decode(body))

it('[PROV-17] sends the role to clients that request it, and to no other client', async () => {
  const client = await connect('&role=1', server.token('ada'))
  const stock = await connect('', server.token('ada'))
  const saving = await connect('&role=1&saved=1', server.token('ada'))
  await eventually(() => [client, stock, saving].every((each) => each.vectors().length > 0))
  expect(roles(client)).toEqual(['editor'])
  expect(roles(saving)).toEqual(['editor'])
  expect(stock.received.filter(([type]) => type === 112)).toEqual([])
  const resources = [
    { type: 'document', id: 'messages', organizationId: 'acme', accessRole: 'viewer' },
  ] as const
  const viewer = await connect('&role=1', server.token('eve', { resources }))
  await eventually(() => viewer.received.some(([type]) => type === 112) || viewer.socket.readyState === 3)
  for (const each of [client, stock, saving, viewer]) each.socket.close()
})

it('[PROV-18] ignores a repeated token, and counts other tokens as connections of the address', async () => {
  const limited = await startTestServer({ connectsPerAddress: { perSecond: 1, burst: 10 } })
  const token = await limited.token('ada')
  const client = await RawClient.connect(`${limited.wsUrl}/sync/acme/limited/main?token=${token}`)
  const newer = await limited.token('ada')
  for (let sent = 0; sent < 100; sent++) {
    client.send(message([113], text(newer)))
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  expect(client.socket.readyState).toBe(client.socket.OPEN)
  for (let sent = 0; client.socket.readyState === client.socket.OPEN && sent < 100; sent++) {
    client.send(message([113], text(await limited.token('ada', { expiresInSeconds: 1_000 + sent }))))
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  expect(await client.closed).toMatchObject({
    code: 1013,
    reason: expect.stringContaining('connectsPerAddress') as string,
  })
  await limited.stop()
})

it('[PROV-18] accepts a newer token of the same user, and closes with 4401 for any other', async () => {
  const client = await connect('&renew=1', shortToken(server, 'ada', 2))
  client.send(message([113], text(await server.token('ada'))))
  const other = await connect('&renew=1', shortToken(server, 'ada', 2))
  other.send(message([113], text(await server.token('grace'))))
  expect(await other.closed).toMatchObject({ code: 4401, reason: 'the new token belongs to another user' })
  const bad = await connect('', shortToken(server, 'ada', 2))
  bad.send(message([113], text('no token')))
  expect(await bad.closed).toMatchObject({ code: 4401 })
  const long = await connect('', server.token('ada'))
  long.send(message([113], text('x'.repeat(20_000))))
  expect(await long.closed).toMatchObject({ code: 4400 })
  const short = await connect('', server.token('ada'))
  short.send(Uint8Array.of(113))
  expect(await short.closed).toMatchObject({ code: 4400 })
  const idle = await connect('&renew=1', shortToken(server, 'ada', 2))
  expect(await idle.closed).toMatchObject({ code: 1012 })
  expect(client.socket.readyState).toBe(client.socket.OPEN)
  client.socket.close()
})
