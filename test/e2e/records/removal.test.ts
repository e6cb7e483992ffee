import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { documentPrefix, organizationPrefix } from '../../../src/core/model/address.ts'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { directoryOn, type TestDirectory, tenant } from '../../support/data/directory.ts'
import {
  newOrganization,
  type OrganizationCalls,
  outcomes,
  statusOf,
} from '../../support/data/folder-tree.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { withLog } from '../../support/stores/pausable-engine.ts'
import { heldStore } from '../../support/stores/pausable-store.ts'
import { itLong } from '../../support/time/full-run.ts'

async function withDirectory(use: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'weft-removal-'))
  try {
    await use(directory)
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 20 })
  }
}

const connect = async (server: TestServer, ...ids: string[]): Promise<RawClient> =>
  RawClient.connect(
    `${server.wsUrl}/sync/${ids.map(encodeURIComponent).join('/')}?token=${await server.token('ann')}`,
  )

/** A client that has written and a client that has only connected, for each document. */
async function editorsOf(
  server: TestServer,
  { organizationId }: OrganizationCalls,
  documentIds: readonly string[],
) {
  const clients = []
  for (const documentId of documentIds) {
    const writer = await connect(server, organizationId, documentId, 'written')
    writer.sendUpdate(typed(documentId, 1))
    await writer.roundTrip()
    const reader = await connect(server, organizationId, documentId, 'empty')
    await reader.roundTrip()
    clients.push({ documentId, writer, reader })
  }
  return clients
}

it.each([
  ['documents', 'documents/delete', { documentIds: ['a', 'b'] }],
  ['a folder', 'folders/delete', { folderId: 'top' }],
  ['the organization', 'delete', null],
] as const)(
  '[ORG-9] when it deletes %s, closes the sockets with 4404, and lets no client restore the content',
  async (_, path, data) => {
    const server = await startTestServer({ engine: 'level' })
    const organization = await newOrganization(server)
    const { organizationId, v2 } = organization
    await organization.addFolders({ folderId: 'top' }, { folderId: 'in', parentFolderId: 'top' })
    await organization.addDocuments({ documentId: 'a', folderId: 'in' }, { documentId: 'b', folderId: 'top' })
    const beside = await newOrganization(server)
    const [other] = await editorsOf(server, beside, ['a'])
    const gone = await editorsOf(server, organization, ['a', 'b'])
    // These clients type until they are closed.
    const typing = gone.map(async ({ writer, reader }) => {
      for (let client = 2; writer.socket.readyState === writer.socket.OPEN; client += 1) {
        writer.sendUpdate(typed('again', client))
        reader.sendUpdate(typed('for the first time', client))
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
    })
    const answer =
      data === null
        ? await server.post(`/v2/organizations/${path}`, { organizationIds: [organizationId] })
        : await v2(path, data)
    expect(statusOf(answer)).toBe('success')
    for (const { documentId, writer, reader } of gone) {
      for (const client of [writer, reader])
        expect(await client.closed).toEqual({ code: 4404, reason: 'the document was deleted' })
      const { body } = await server.post('/v2/crdt/get', { organizationId, documentId })
      expect(body.error?.status).toBe('NOT_FOUND')
      expect((await (await connect(server, organizationId, documentId, 'written')).closed).code).toBe(4404)
    }
    await Promise.all(typing)
    await other?.writer.roundTrip()
    expect(other?.reader.socket.readyState).toBe(other?.reader.socket.OPEN)
    await server.stop()
  },
)

it('[ORG-9] closes a room that opens while its document is being deleted', async () => {
  let slow = false
  let load: () => void = () => {}
  const loading = new Promise<void>((resolve) => {
    load = resolve
  })
  await withDirectory(async (directory) => {
    const engine = withLog(await openLevelEngine({ directory }), (log) => ({
      load: async (...parameters) => {
        const loaded = await log.load(...parameters)
        if (slow) await loading
        return loaded
      },
    }))
    const server = await startTestServer({}, { engine })
    const { organizationId, addDocuments, v2 } = await newOrganization(server)
    await addDocuments({ documentId: 'a' })
    slow = true
    const client = await connect(server, organizationId, 'a', 'main')
    client.sendUpdate(typed('too late', 1))
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(outcomes(await v2('documents/delete', { documentIds: ['a'] }))).toEqual({ a: true })
    load()
    expect((await client.closed).code).toBe(4404)
    slow = false
    expect(statusOf(await server.post('/v2/crdt/get', { organizationId, documentId: 'a' }))).toBe('NOT_FOUND')
    await server.stop()
  })
})

it('[ORG-10] answers a deletion when it is durable, and then accepts a new document with the same id', () =>
  withDirectory(async (directory) => {
    const disk = heldStore()
    const engine = await openLevelEngine({ directory, openStore: disk.openStore })
    const server = await startTestServer({}, { engine })
    const { addDocuments, v2 } = await newOrganization(server)
    await addDocuments({ documentId: 'a' })
    disk.hold()
    let answered = false
    const deletion = v2('documents/delete', { documentIds: ['a'] }).finally(() => {
      answered = true
    })
    for (let round = 0; round < 10; round += 1) await server.post('/v2/organizations/get', {})
    expect(answered).toBe(false)
    disk.release()
    expect(outcomes(await deletion)).toEqual({ a: true })
    expect(dataOf(await v2('documents/get'))).toEqual([])
    expect(await addDocuments({ documentId: 'a' })).toEqual({ a: true })
    await server.stop()
  }))

it('[ORG-10] while a document, folder or organization is being removed, hides it, closes it to clients, and rejects a new one with its id', () =>
  withDirectory(async (directory) => {
    let remove: () => void = () => {}
    const removing = new Promise<void>((resolve) => {
      remove = resolve
    })
    const engine = withLog(await openLevelEngine({ directory }), (log) => ({
      destroyPrefix: async (...parameters) => {
        await removing
        return log.destroyPrefix(...parameters)
      },
    }))
    const server = await startTestServer({}, { engine })
    const organization = await newOrganization(server)
    const { organizationId, addFolders, addDocuments, updateFolders, v1, v2 } = organization
    await addFolders({ folderId: 'f' }, { folderId: 'g', parentFolderId: 'f' })
    await addDocuments({ documentId: 'a' }, { documentId: 'b', folderId: 'g' }, { documentId: 'c' })
    const [b] = await editorsOf(server, organization, ['b'])
    const deletions = [
      v2('documents/delete', { documentIds: ['a'] }),
      v2('folders/delete', { folderId: 'f' }),
    ]
    const found = async () => ((await organization.documents()) as { id: string }[]).map(({ id }) => id)
    await eventually(async () => (await found()).join() === 'c')
    expect(await organization.folders()).toEqual([])
    expect(await addFolders({ folderId: 'f' }, { folderId: 'new', parentFolderId: 'g' })).toEqual({
      f: 'the folder is being deleted; try again',
      new: 'the parent folder does not exist',
    })
    expect(await updateFolders({ folderId: 'g', parentFolderId: 'root' })).toEqual({
      g: 'the folder does not exist',
    })
    expect(
      await addDocuments({ documentId: 'a' }, { documentId: 'b' }, { documentId: 'd', folderId: 'g' }),
    ).toEqual({
      a: 'the document is being deleted; try again',
      b: 'the document is being deleted; try again',
      d: 'the folder does not exist',
    })
    expect(outcomes(await v2('documents/delete', { documentIds: ['a', 'b'] }))).toEqual({
      a: 'the document does not exist',
      b: 'the document does not exist',
    })
    expect(statusOf(await v1('folders/delete', { folderId: 'g' }))).toBe('NOT_FOUND')
    expect((await (await connect(server, organizationId, 'b', 'other')).closed).code).toBe(4404)
    const whole = server.post('/v2/organizations/delete', { organizationIds: [organizationId] })
    await eventually(async () => statusOf(await v2('documents/get')) === 'NOT_FOUND')
    const again = await server.post('/v2/organizations/add', { organizations: [{ organizationId }] })
    expect(outcomes(again)).toEqual({ [organizationId]: 'the organization is being deleted; try again' })
    remove()
    for (const answer of [...deletions, whole]) expect(statusOf(await answer)).toBe('success')
    expect((await b?.writer.closed)?.code).toBe(4404)
    await server.stop()
  }))

const scope = { ...tenant, organizationId: 'acme' }

/** An organization with documents that have content. */
async function fill({ engine, organizations, folders, documents }: TestDirectory): Promise<void> {
  await organizations.ensure(scope)
  await folders.add(scope, [{ folderId: 'top' }, { folderId: 'in', parentFolderId: 'top' }])
  const ids = Array.from({ length: 400 }, (_, at) => `d${at}`)
  await documents.add(
    scope,
    ids.map((documentId, at) => ({ documentId, folderId: at % 2 === 0 ? 'in' : 'root' })),
    { createFolder: false },
  )
  const update = { bytes: typed('text', 1), by: '' }
  await Promise.all(
    ids.map((id) => engine.log.append([...documentPrefix(scope, id), 'main'], 'create', [update])),
  )
}

/** Number of remaining keys and logs. Only the organization's own activities outlive a folder. */
async function left({ engine, store }: TestDirectory, kind: 'organization' | 'folder'): Promise<number> {
  const logs = await engine.log.list(organizationPrefix(scope), { limit: 10_000 })
  const entries = await store.read(scope).scan({ limit: 10_000 })
  const counted = entries.filter(({ key }) => kind === 'organization' || !key[0]?.startsWith('activit'))
  return logs.length + counted.length
}

it.each(['organization', 'folder', 'documents'] as const)(
  '[ORG-9] also removes entries that are added while the logs of the %s are being removed',
  (kind) =>
    withDirectory(async (path) => {
      const engine = await openLevelEngine({ directory: path })
      const late = [...documentPrefix(scope, 'd0'), 'late']
      let calls = 0
      const directory = directoryOn(
        withLog(engine, (log) => ({
          destroyPrefix: async (prefix, options) => {
            const next = await log.destroyPrefix(prefix, options)
            calls += 1
            if (next === null && calls < 100 && prefix.every((part, at) => part === late[at]))
              await log.append(late, 'create', [{ bytes: typed('late', 1), by: '' }]).catch(() => {})
            return next
          },
        })),
      )
      await fill(directory)
      if (kind === 'organization') await directory.organizations.delete(tenant, ['acme'])
      else if (kind === 'folder') await directory.folders.delete(scope, 'top')
      else await directory.documents.delete(scope, ['d0'])
      expect(await engine.log.list(documentPrefix(scope, 'd0'), { limit: 10 })).toEqual([])
      await engine.close()
    }),
)

itLong.each(['organization', 'folder'] as const)(
  '[ORG-11] at the next start, continues a removal of the %s that a shutdown interrupted, and retries a removal that fails',
  (kind) =>
    withDirectory(async (directory) => {
      const engine = await openLevelEngine({ directory })
      let calls = 0
      let failures = 0
      let stopAt = Number.POSITIVE_INFINITY
      const interrupted = withLog(engine, (log) => ({
        destroyPrefix: async (...parameters) => {
          calls += 1
          if (calls === stopAt) void first.removals.stop()
          if (calls <= failures) throw new Error('the disk is out of order')
          return log.destroyPrefix(...parameters)
        },
      }))
      const first = directoryOn(interrupted)
      await fill(first)
      const before = await left(first, kind)
      const deletion = () =>
        kind === 'organization'
          ? first.organizations.delete(tenant, ['acme'])
          : first.folders.delete(scope, 'top')
      const isGone = async (directory: TestDirectory) => {
        const found = await left(directory, kind)
        return kind === 'organization' ? found === 0 : found < before / 2 + 10
      }
      stopAt = 3
      await expect(deletion()).rejects.toMatchObject({ status: 'UNAVAILABLE' })
      expect(await isGone(first)).toBe(false)
      failures = Number.POSITIVE_INFINITY
      const second = directoryOn(interrupted)
      const failed = calls
      second.removals.start()
      await eventually(() => calls > failed)
      failures = 0
      // The server waits longer after each failure.
      await eventually(
        () => isGone(second),
        () => calls,
        30_000,
      )
      await second.removals.stop()
      const third = directoryOn(engine)
      if (kind === 'organization') {
        expect(await third.organizations.add(tenant, [{ organizationId: 'acme' }])).toMatchObject({
          acme: { success: true },
        })
      } else {
        const { items } = await third.documents.list(scope, { limit: 1_000, after: undefined })
        expect(items).toHaveLength(200)
        for await (const page of (await third.folders.all(scope))()) expect(page).toEqual([])
        expect(await engine.log.list(organizationPrefix(scope), { limit: 1_000 })).toHaveLength(200)
        await third.folders.add(scope, [{ folderId: 'top' }])
        expect(await third.store.read(scope).get(['counts'])).toMatchObject({ folders: 1 })
      }
      await engine.close()
    }),
)
