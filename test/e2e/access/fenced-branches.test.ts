import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  branchKeys,
  branchRecordType,
  writeBranch,
} from '../../../src/core/directory/branches/branch-records.ts'
import type { DocumentLog, Engine } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { directoryOn, scopeOf } from '../../support/data/directory.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { withLog } from '../../support/stores/pausable-engine.ts'
import { gate, type TestGate } from '../../support/time/gate.ts'

const main = { organizationId: 'acme', documentId: 'shared', editorId: 'main' }
const branch = { ...main, name: 'idea', userId: 'sue' }

let engine: Engine
let server: TestServer
/** Gate at which appends wait; null if they do not wait. */
let held: TestGate | null = null
let appends = 0
const clients: RawClient[] = []

beforeEach(async () => {
  held = null
  appends = 0
  const memory = await openMemoryEngine()
  const append: DocumentLog['append'] = async (...parameters) => {
    appends += 1
    await held?.opened
    return memory.log.append(...parameters)
  }
  engine = withLog(memory, () => ({ append }))
  server = await startTestServer({}, { engine })
  await call('/v2/crdt/add', { ...main, type: 'text', data: 'kept' })
  await grant('suggester')
  await call('/v2/crdt/branches/create', branch)
})

afterEach(async () => {
  held?.open()
  for (const client of clients.splice(0)) client.end()
  await server.stop()
})

const call = async (path: string, data: object): Promise<unknown> => dataOf(await server.post(path, data))

const grant = (accessRole: 'viewer' | 'suggester') =>
  call('/v2/auth/permissions/add', {
    user: { userId: 'sue' },
    permissions: { resources: [{ type: 'document', id: 'shared', organizationId: 'acme', accessRole }] },
  })

async function connect(userId: string): Promise<RawClient> {
  const token = await server.token(userId)
  const client = await RawClient.connect(`${server.wsUrl}/sync/acme/shared/main%40idea?token=${token}`)
  clients.push(client)
  await client.roundTrip()
  return client
}

async function textOfBranch(): Promise<string> {
  const [{ data }] = (await call('/v2/crdt/get', { ...main, editorId: 'main@idea' })) as [{ data: string }]
  return data
}

/** Stores the decision only. The operation would wait for the update. */
async function storeRejection(): Promise<void> {
  const { workspaceId, apiKey } = server.credentials
  const place = { documentId: 'shared', editorId: 'main', name: 'idea' }
  const scope = scopeOf({ workspaceId, apiKey }, 'acme')
  await directoryOn(engine).store.carryOut(scope, async (transaction) => {
    const record = await transaction.get(branchKeys.branch(place), branchRecordType)
    if (record === null) throw new Error('no branch')
    await writeBranch(transaction, place, { ...record, status: 'rejected' })
  })
}

const ends: readonly [string, () => Promise<unknown>][] = [
  ['the role of the suggester becomes viewer', () => grant('viewer')],
  ['the branch is rejected', storeRejection],
]

it.each(ends)('[ACC-101] does not store an update that waits for the store when %s', async (_, end) => {
  const sue = await connect('sue')
  sue.sendUpdate(typed('in time ', 7))
  await sue.roundTrip()
  held = gate()
  const before = appends
  sue.sendUpdate(typed('too late ', 8))
  await eventually(() => appends > before)
  await end()
  held.open()
  expect((await sue.closed).code).toBe(1013)
  const text = await textOfBranch()
  expect(text).toContain('in time')
  expect(text).not.toContain('too late')
})
