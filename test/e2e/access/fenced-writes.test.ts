import { pino } from 'pino'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { DocumentLog } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { contentOf, eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { withLog } from '../../support/stores/pausable-engine.ts'
import { gate, type TestGate } from '../../support/time/gate.ts'

const organizationId = 'acme'
const documentId = 'shared'

let server: TestServer
/** Gate at which appends wait; null if they do not wait. */
let held: TestGate | null = null
let appends = 0
/** Lines of the server log. */
let lines: { readonly event?: string; readonly msg: string }[] = []
const clients: RawClient[] = []

beforeEach(async () => {
  held = null
  appends = 0
  lines = []
  const log = pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line)) })
  const memory = await openMemoryEngine()
  const append: DocumentLog['append'] = async (...parameters) => {
    appends += 1
    await held?.opened
    return memory.log.append(...parameters)
  }
  server = await startTestServer({}, { engine: withLog(memory, () => ({ append })), log })
  await call('/v2/organizations/add', { organizations: [{ organizationId }] })
  const documents = [{ documentId, accessType: 'restricted' }]
  await call('/v2/organizations/documents/add', { organizationId, documents })
})

afterEach(async () => {
  held?.open()
  for (const client of clients.splice(0)) client.end()
  await server.stop()
})

const call = async (path: string, data: object): Promise<unknown> => dataOf(await server.post(path, data))
const resources = [{ type: 'document', id: documentId, organizationId }]
const grant = (to: object) => call('/v2/auth/permissions/add', { ...to, permissions: { resources } })
const revoke = (from: object) => call('/v2/auth/permissions/remove', { ...from, permissions: { resources } })

async function connect(userId: string): Promise<RawClient> {
  const url = `${server.wsUrl}/sync/${organizationId}/${documentId}/main?token=${await server.token(userId)}`
  const client = await RawClient.connect(url)
  clients.push(client)
  await client.roundTrip()
  return client
}

/** Sends an update, and waits until its append has begun. */
async function type(client: RawClient, text: string, by: number): Promise<void> {
  const before = appends
  client.sendUpdate(typed(text, by))
  await eventually(() => appends > before)
}

async function stored(): Promise<string> {
  const reader = await connect('bob')
  // All frames of the first answer come before the second one.
  await reader.roundTrip()
  return contentOf([...reader.offers(), ...reader.updates()])
}

it('[ROOM-61] when an append is rejected and its senders keep their rights, appends again and keeps their sockets open', async () => {
  const crew = { organizationUserGroupId: 'crew' }
  const organizationUserGroups = [{ groupId: 'crew', groupName: 'Crew' }]
  await call('/v1/organizations/usergroups/add', { organizationId, organizationUserGroups })
  await call('/v1/organizations/usergroups/users/add', { organizationId, ...crew, userIds: ['ann'] })
  await grant(crew)
  await grant({ user: { userId: 'bob' } })
  const [ann, bob] = [await connect('ann'), await connect('bob')]
  held = gate()
  await type(bob, 'first ', 1)
  await type(bob, 'second ', 2)
  await revoke(crew)
  expect(await ann.closed).toMatchObject({ code: 4403 })
  held.open()
  await bob.roundTrip()
  await type(bob, 'third ', 3)
  await bob.roundTrip()
  expect(bob.socket.readyState).toBe(bob.socket.OPEN)
  const text = await stored()
  for (const part of ['first', 'second', 'third']) expect(text).toContain(part)
})

it('[ROOM-62] when an append is rejected and one sender has lost its right, closes this sender with 4403 and the other senders with 1013, and keeps acknowledged updates of the others', async () => {
  for (const userId of ['ann', 'bob']) await grant({ user: { userId } })
  const [ann, bob] = [await connect('ann'), await connect('bob')]
  await type(bob, 'acknowledged ', 1)
  await bob.roundTrip()
  held = gate()
  await type(ann, 'forbidden ', 2)
  await type(bob, 'resent ', 3)
  await revoke({ userId: 'ann' })
  expect(await ann.closed).toMatchObject({ code: 4403 })
  held.open()
  expect(await bob.closed).toMatchObject({
    code: 1013,
    reason: 'document reloaded after an error; reconnect',
  })
  expect(lines.filter(({ event }) => event === 'document.reloaded')).toHaveLength(1)
  expect(lines.map(({ msg }) => msg)).not.toContain('room failed')
  const again = await connect('bob')
  again.sendOffer(typed('resent ', 3))
  await again.roundTrip()
  const text = await stored()
  expect(text).toContain('acknowledged')
  expect(text).toContain('resent')
  expect(text).not.toContain('forbidden')
})
