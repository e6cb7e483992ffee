import { afterEach, expect } from 'vitest'
import { organizationPart } from '../../../src/core/directory/organizations/organization-keys.ts'
import type { Engine, Queue } from '../../../src/core/store/engine.ts'
import { eventually } from '../../support/clients/clients.ts'
import { scopeOf } from '../../support/data/directory.ts'
import { type NodeServer, startNodes } from '../../support/servers/node-servers.ts'
import { dataOf, startTestServer } from '../../support/servers/server.ts'
import { type NodesOptions, type SharedNode, sharedNodes } from '../../support/servers/simulated-network.ts'
import { nowhere } from '../../support/servers/webhooks.ts'
import { itLong as it } from '../../support/time/full-run.ts'

let stop = async (): Promise<void> => {}
afterEach(() => stop())

const organizationId = 'acme'

interface Nodes {
  readonly servers: readonly NodeServer[]
  /** Calls the nodes in turn. */
  readonly call: <Data>(path: string, data: object) => Promise<Data>
}

/** Calls whose `data` name no organization. */
const organizationless = /^\/v2\/(workspace|auth|organizations\/add)/

async function start(options: NodesOptions = {}): Promise<Nodes> {
  const started = await startNodes(3, {}, options)
  stop = started.stop
  let next = 0
  const call: Nodes['call'] = async (path, data) => {
    next += 1
    const server = started.servers[next % 3] as NodeServer
    const scope = organizationless.test(path) ? {} : { organizationId }
    return dataOf(await server.post(path, { ...scope, ...data })) as never
  }
  await call('/v2/organizations/add', { organizations: [{ organizationId }] })
  return { servers: started.servers, call }
}

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index)
type Results = Record<string, { success: boolean; message: string }>
const successes = (all: readonly Results[]): number =>
  all.flatMap((results) => Object.values(results)).filter(({ success }) => success).length

it('[CS-50] loses no item that concurrent calls at all nodes add', async () => {
  const { call } = await start()
  const document = await Promise.all(
    numbers(40).map((n) =>
      call<Results>('/v2/organizations/documents/add', { documents: [{ documentId: `d${n}` }] }),
    ),
  )
  expect(successes(document)).toBe(40)
  const users = await Promise.all(
    numbers(40).map((n) => call<Results>('/v2/users/add', { users: [{ userId: `u${n}`, name: `u${n}` }] })),
  )
  expect(successes(users)).toBe(40)
  const folders = await Promise.all(
    numbers(40).map((n) =>
      call<Results>('/v1/organizations/folders/add', {
        folders: [{ folderId: `f${n}`, parentFolderId: 'root' }],
      }),
    ),
  )
  expect(successes(folders)).toBe(40)
  const all = async (path: string, data: object = {}): Promise<number> =>
    (await call<readonly unknown[]>(path, { pageSize: 100, ...data })).length
  expect(await all('/v2/organizations/documents/get')).toBe(40)
  expect(await all('/v2/users/get')).toBe(40)
})

it('[CS-50] when concurrent calls at all nodes add the same item, adds it once, and reports this to the other calls', async () => {
  const { call } = await start()
  for (const round of numbers(10)) {
    const added = await Promise.all(
      numbers(6).map(() =>
        call<Results>('/v2/organizations/documents/add', { documents: [{ documentId: `d${round}` }] }),
      ),
    )
    expect(successes(added)).toBe(1)
  }
})

it('[CS-50] stores all comments, members, grants and endpoints that concurrent calls at all nodes add', async () => {
  const { call } = await start()
  const actionUser = { userId: 'ada' }
  const crew = { organizationUserGroupId: 'crew' }
  await call('/v2/organizations/documents/add', { documents: [{ documentId: 'plan' }] })
  await call('/v1/organizations/usergroups/add', {
    organizationUserGroups: [{ groupId: 'crew', groupName: 'Crew' }],
  })
  await call('/v2/workspace/advancedwebhookconfig/update', { isEnabled: true })
  const thread = { documentId: 'plan', annotationId: 'a' }
  await call('/v2/commentannotations/add', {
    documentId: 'plan',
    actionUser,
    annotations: [{ annotationId: 'a', comments: [{ text: 't', from: actionUser }] }],
  })
  const grantTo = (userId: string) => ({
    user: { userId },
    permissions: { resources: [{ type: 'document', id: 'plan', organizationId, accessRole: 'viewer' }] },
  })
  await Promise.all(
    numbers(30).flatMap((n) => [
      call('/v2/commentannotations/comments/add', {
        ...thread,
        actionUser,
        comments: [{ text: `t${n}`, from: actionUser }],
      }),
      call('/v1/organizations/usergroups/users/add', { ...crew, userIds: [`u${n}`] }),
      call('/v2/auth/permissions/add', grantTo(`u${n}`)),
      call('/v2/workspace/advancedwebhook/endpoints/create', { url: nowhere, uid: `uid-${n}` }),
    ]),
  )
  const [annotation] = await call<{ commentCount: number }[]>('/v2/commentannotations/get', {
    documentId: 'plan',
    annotationIds: ['a'],
  })
  expect(annotation?.commentCount).toBe(31)
  const [group] = await call<{ userIds: string[] }[]>('/v2/organizations/usergroups/get', {
    ...crew,
    pageSize: 100,
  })
  expect(group?.userIds).toHaveLength(30)
  const { endpoints } = await call<{ endpoints: unknown[] }>('/v2/workspace/advancedwebhook/endpoints/get', {
    limit: 100,
  })
  expect(endpoints).toHaveLength(30)
})

it('[CS-50] after concurrent calls at all nodes have added and deleted a document, later calls still delete and add it', async () => {
  const { call } = await start()
  const documents = [{ documentId: 'plan' }]
  for (let round = 0; round < 5; round++) {
    await Promise.all(
      numbers(6).map((n) =>
        n % 2 === 0
          ? call('/v2/organizations/documents/add', { documents })
          : call('/v2/organizations/documents/delete', { documentIds: ['plan'] }),
      ),
    )
    await call('/v2/organizations/documents/delete', { documentIds: ['plan'] })
    expect(await call('/v2/organizations/documents/get', { documentIds: ['plan'] })).toEqual([])
    const added = await call<Results>('/v2/organizations/documents/add', { documents })
    expect(successes([added])).toBe(1)
    await call('/v2/organizations/documents/delete', { documentIds: ['plan'] })
  }
})

/** A queue that returns no jobs to a node while it is `slow`. */
function slowed({ queue, ...engine }: Engine, name: string) {
  const state = { isSlow: true }
  const claim: Queue['claim'] = async (queueName, count, leaseMs) =>
    queueName === name && state.isSlow ? [] : queue.claim(queueName, count, leaseMs)
  const own: Queue = {
    claim,
    extend: (...call) => queue.extend(...call),
    done: (...call) => queue.done(...call),
    retry: (...call) => queue.retry(...call),
    moveToDeadLetters: (...call) => queue.moveToDeadLetters(...call),
  }
  return { engine: { ...engine, queue: own }, state }
}

it.each([
  ['delivers', undefined],
  ['loses', (topic: string) => (topic.startsWith('work.') ? [] : [0])],
])(
  '[CS-51] when another node runs a deletion and the bus %s its messages, answers the call after the deletion is complete',
  async (_, weather) => {
    const [one, two] = (await sharedNodes(2, weather === undefined ? {} : { weather })) as [
      SharedNode,
      SharedNode,
    ]
    const { engine, state } = slowed(one.engine, 'removal')
    const here = await startTestServer({}, { engine })
    const there = await startTestServer({}, { engine: two.engine })
    stop = async () => {
      await Promise.all([here.stop(), there.stop()])
    }
    const call = async (path: string, data: object) => dataOf(await here.post(path, data))
    await call('/v2/organizations/add', { organizations: [{ organizationId }] })
    const deleting = call('/v2/organizations/delete', { organizationIds: [organizationId] })
    const part = organizationPart(scopeOf(here.credentials, organizationId))
    await eventually(async () => (await engine.kv.scan(part, { limit: 1 })).length === 0)
    // Gives the job enough time to run.
    await there.post('/v2/organizations/get', { organizationIds: [organizationId] })
    if (weather !== undefined) state.isSlow = false
    expect(await deleting).toMatchObject({ [organizationId]: { success: true } })
  },
)
