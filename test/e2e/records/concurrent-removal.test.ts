import { expect, it } from 'vitest'
import { keys } from '../../../src/core/directory/organizations/organization-keys.ts'
import { documentPrefix, organizationPrefix } from '../../../src/core/model/address.ts'
import type { Engine, Key } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { directoryOn, scopeOf, tenant } from '../../support/data/directory.ts'
import { newOrganization, statusOf } from '../../support/data/folder-tree.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'
import { withLog } from '../../support/stores/pausable-engine.ts'

/** A real engine that removes the logs that `isHeld` selects only after `release`. */
async function engineHolding(isHeld: (prefix: Key) => boolean) {
  let release: () => void = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let held = 0
  const engine: Engine = withLog(await openMemoryEngine(), (log) => ({
    destroyPrefix: async (prefix, options) => {
      if (isHeld(prefix)) {
        held += 1
        await released
      }
      return log.destroyPrefix(prefix, options)
    },
  }))
  return { engine, release, held: () => held }
}

const connect = async (server: TestServer, ...ids: string[]): Promise<RawClient> =>
  RawClient.connect(
    `${server.wsUrl}/sync/${ids.map(encodeURIComponent).join('/')}?token=${await server.token('ann')}`,
  )

const whole = { type: 'text', data: 'again' }
const update = Buffer.from(typed('again', 2)).toString('base64')

it.each([
  ['documents', 'documents/delete', { documentIds: ['a'] }],
  ['a folder', 'folders/delete', { folderId: 'top' }],
  ['the organization', 'delete', null],
] as const)(
  '[ORG-9] when it deletes %s, closes its sockets before it removes anything',
  async (_, path, data) => {
    const { engine, release } = await engineHolding(() => true)
    const server = await startTestServer({}, { engine })
    const { organizationId, v2, addFolders, addDocuments } = await newOrganization(server)
    await addFolders({ folderId: 'top' }, { folderId: 'in', parentFolderId: 'top' })
    await addDocuments({ documentId: 'a', folderId: 'in' }, { documentId: 'beside' })
    const writer = await connect(server, organizationId, 'a', 'main')
    writer.sendUpdate(typed('text', 1))
    await writer.roundTrip()
    const reader = await connect(server, organizationId, 'a', 'empty')
    const beside = await connect(server, organizationId, 'beside', 'main')
    for (const client of [reader, beside]) await client.roundTrip()
    const deletion =
      data === null
        ? server.post(`/v2/organizations/${path}`, { organizationIds: [organizationId] })
        : v2(path, data)
    for (const client of [writer, reader])
      expect(await client.closed).toEqual({ code: 4404, reason: 'the document was deleted' })
    expect((await (await connect(server, organizationId, 'a', 'main')).closed).code).toBe(4404)
    const call = async (name: string, more: object = {}) =>
      statusOf(await server.post(`/v2/crdt/${name}`, { organizationId, documentId: 'a', ...more }))
    const editor = { editorId: 'main' }
    expect(await call('get', editor)).toBe('NOT_FOUND')
    expect(await call('get')).toBe('NOT_FOUND')
    expect(await call('add', { editorId: 'new', ...whole })).toBe('ABORTED')
    expect(await call('update', { ...editor, ...whole })).toBe('ABORTED')
    expect(await call('update', { editorId: 'new', ...whole, upsert: true })).toBe('ABORTED')
    expect(await call('apply', { ...editor, update })).toBe('ABORTED')
    expect(await call('delete')).toBe('ABORTED')
    if (data !== null) await beside.roundTrip()
    release()
    expect(statusOf(await deletion)).toBe('success')
    await server.stop()
  },
)

it('[ORG-9] when the permission of a socket is read again while its folder is being removed, closes the socket with 4404', async () => {
  const { engine } = await engineHolding(() => false)
  const server = await startTestServer({}, { engine })
  const { organizationId, addFolders, addDocuments } = await newOrganization(server)
  await addFolders({ folderId: 'top' })
  await addDocuments({ documentId: 'a', folderId: 'top' })
  const client = await connect(server, organizationId, 'a', 'main')
  await client.roundTrip()
  const { store } = directoryOn(engine)
  const { workspaceId, apiKey } = server.credentials
  await store.change({ workspaceId, apiKey, organizationId }, async (transaction) => {
    const folder = await transaction.get(keys.folder('top'))
    transaction.put(keys.folder('top'), { ...folder, deleting: true })
  })
  const named = { organizationId, organizationName: 'A change that concerns everybody' }
  await server.post('/v2/organizations/update', { organizations: [named] })
  expect(await client.closed).toEqual({ code: 4404, reason: 'the document was deleted' })
  await server.stop()
})

it('[ORG-14] deletes an organization without a wait for a hundred deletions of another tenant', async () => {
  const { engine, release, held } = await engineHolding(([, apiKey]) => apiKey === tenant.apiKey)
  const { organizations, removals } = directoryOn(engine)
  removals.start()
  const ids = Array.from({ length: 100 }, (_, at) => `o${at}`)
  const other = { ...tenant, apiKey: 'other' }
  await organizations.add(
    tenant,
    ids.map((organizationId) => ({ organizationId })),
  )
  await organizations.add(other, [{ organizationId: 'o' }])
  const deletions = ids.map((id) => organizations.delete(tenant, [id]))
  await eventually(() => held() >= 8)
  expect(await organizations.delete(other, ['o'])).toMatchObject({ o: { success: true } })
  expect(await organizations.get(tenant, ids)).toEqual([])
  release()
  for (const result of await Promise.all(deletions))
    expect(Object.values(result)).toMatchObject([{ success: true }])
  await removals.stop()
  await engine.close()
})

it.each(['folder', 'documents'] as const)(
  '[ORG-15] when an organization is deleted while a %s in it is removed, removes everything',
  async (kind) => {
    const scope = scopeOf(tenant, 'acme')
    const slow = documentPrefix(scope, 'd0')
    const { engine, release, held } = await engineHolding((prefix) => prefix.join('/') === slow.join('/'))
    const { store, organizations, folders, documents, removals } = directoryOn(engine)
    removals.start()
    const fill = async () => {
      await organizations.ensure(scope)
      await folders.add(scope, [{ folderId: 'top' }, { folderId: 'in', parentFolderId: 'top' }])
      await documents.add(scope, [{ documentId: 'd0', folderId: 'in' }], { createFolder: false })
      await engine.log.append([...slow, 'main'], 'create', [{ bytes: typed('text', 1), by: '' }])
    }
    const left = async () => [
      ...(await store.read(scope).scan({ limit: 100 })).map(({ key }) => key),
      ...(await engine.log.list(organizationPrefix(scope), { limit: 100 })),
    ]
    await fill()
    const within = kind === 'folder' ? folders.delete(scope, 'top') : documents.delete(scope, ['d0'])
    await eventually(() => held() > 0)
    const whole = organizations.delete(tenant, ['acme'])
    // If the deletion did not wait, it would end here. The earlier removal would then write again or delete
    // new entries.
    await Promise.race([whole, new Promise((resolve) => setTimeout(resolve, 100))])
    const isGone = (await left()).length === 0
    if (isGone) await fill()
    const filled = await left()
    release()
    await Promise.all([within, whole])
    expect(await left()).toEqual(isGone ? filled : [])
    await removals.stop()
    await engine.close()
  },
)
