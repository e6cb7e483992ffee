import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { runCli } from '../../support/servers/cli.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-restore-access-'))
const adminToken = 'an-admin-token-of-the-test'
const organizationId = 'acme'
let server: TestServer

type Fault = 'rejected' | 'lost' | null
/** Runs before each request. Decides whether the proxy rejects the request, or loses its response. */
let before: (path: string) => Promise<Fault> | Fault = () => null

/** A proxy in front of the server that fails as `before` decides. */
const proxy = createServer((request, response) => {
  void (async () => {
    const { url: path = '', headers } = request
    const body = await text(request)
    const fault = await before(path)
    const names = ['content-type', 'x-service-api-key', 'x-service-auth-token', 'idempotency-key']
    const given = names.flatMap((name) =>
      headers[name] === undefined ? [] : [[name, String(headers[name])]],
    )
    const init = { method: 'POST', headers: given as [string, string][], body }
    const answer = fault === 'rejected' ? null : await fetch(server.url + path, init)
    if (fault !== null || answer === null) response.writeHead(500).end('a fault of the proxy')
    else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  })()
})

const call = async (path: string, data: object): Promise<unknown> => dataOf(await server.post(path, data))

const grant = (userId: string, type: string, id: string) =>
  call('/v2/auth/permissions/add', {
    user: { userId },
    permissions: { resources: [{ type, id, organizationId, accessRole: 'viewer' }] },
  })

const recordOf = async (documentId: string): Promise<object | undefined> =>
  (
    (await call('/v2/organizations/documents/get', {
      organizationId,
      documentIds: [documentId],
    })) as object[]
  )[0]

const folder = async (): Promise<object | undefined> =>
  ((await call('/v2/organizations/folders/get', { organizationId, folderId: 'secret' })) as object[])[0]

/** Returns the role of a user on a document; null without access. */
async function roleOf(userId: string, documentId: string): Promise<string | null> {
  const query = { organizationId, userIds: [userId], documentIds: [documentId] }
  const found = (await call('/v2/auth/permissions/get', query)) as Record<
    string,
    { readonly documents: Record<string, { readonly accessRole?: string }> }
  >
  return found[userId]?.documents[documentId]?.accessRole ?? null
}

const remove = (documentId: string) =>
  call('/v2/organizations/documents/delete', { organizationId, documentIds: [documentId] })

async function restore(documentId: string) {
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const args = ['restore', 'file', '--to', url, '--data-dir', 'data', '--wait', '0']
  const { code, out } = await runCli([...args, '--document', `acme/${documentId}`], root)
  return { code, line: out.split('\n')[0] }
}

const complete = { folderName: 'Secret', accessType: 'restricted', inheritAccessFromParent: false }

beforeAll(async () => {
  writeFileSync(join(root, 'token'), adminToken)
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  server = await startTestServer({ engine: 'level', dataDir: join(root, 'data'), adminToken })
  await call('/v2/organizations/add', { organizations: [{ organizationId, metadata: { color: 'blue' } }] })
  const folders = [{ folderId: 'secret', folderName: 'Secret' }]
  await call('/v1/organizations/folders/add', { organizationId, folders })
  const { accessType, inheritAccessFromParent } = complete
  const access = { folderIds: ['secret'], accessType, inheritAccessFromParent }
  await call('/v2/organizations/folders/access/update', { organizationId, ...access })
  const documents = [
    { documentId: 'inside', folderId: 'secret' },
    { documentId: 'off', accessType: 'organizationPrivate', metadata: { color: 'red' } },
    { documentId: 'shared', accessType: 'restricted' },
  ]
  await call('/v2/organizations/documents/add', { organizationId, documents })
  for (const { documentId } of documents) {
    const editor = { organizationId, documentId, editorId: 'main' }
    await call('/v2/crdt/update', { ...editor, type: 'text', data: 'content', upsert: true })
  }
  await grant('cid', 'organization', organizationId)
  await grant('ann', 'folder', 'secret')
  await grant('ann', 'document', 'off')
  await grant('ann', 'document', 'shared')
  await grant('bob', 'document', 'shared')
  const disabled = [{ documentId: 'off', disabled: true }]
  await call('/v2/organizations/documents/update', { organizationId, documents: disabled })
  const backup = ['backup', server.url, 'file', '--token-file', 'token']
  expect(await runCli(backup, root)).toMatchObject({ code: 0 })
}, 60_000)

afterEach(() => {
  before = () => null
})

afterAll(async () => {
  proxy.close()
  await server.stop()
  rmSync(root, { recursive: true, force: true, maxRetries: 20 })
})

it.each([
  ['a call that sets its access fails', '/v2/organizations/folders/access/update', 'rejected'],
  ['the response to its creation is lost', '/v1/organizations/folders/add', 'lost'],
  ['a call that grants its permissions fails', '/v2/auth/permissions/add', 'rejected'],
] as const)(
  '[BKP-83] creates no document in a folder if %s, and completes the folder when the restore is repeated',
  async (_, faulty, fault) => {
    await call('/v2/organizations/folders/delete', { organizationId, folderId: 'secret' })
    before = (path) => (path === faulty ? fault : null)
    const first = await restore('inside')
    expect([first.code, first.line, await recordOf('inside')]).toEqual([
      1,
      expect.stringMatching(/^acme\/inside: failed/),
      undefined,
    ])
    before = () => null
    expect(await restore('inside')).toEqual({
      code: 0,
      line: 'acme/inside: created (main), with permissions: 1',
    })
    expect(await folder()).toMatchObject(complete)
    expect([await roleOf('ann', 'inside'), await roleOf('bob', 'inside')]).toEqual(['viewer', null])
  },
)

it('[BKP-83] reports an existing folder and an existing document with other access settings than in the backup', async () => {
  await remove('inside')
  const access = { folderIds: ['secret'], accessType: 'public', inheritAccessFromParent: true }
  await call('/v2/organizations/folders/access/update', { organizationId, ...access })
  expect((await restore('inside')).line).toBe('acme/inside: created (main), without other access settings: 1')
  expect((await restore('inside')).line).toBe('acme/inside: same, without other access settings: 1')
  expect(await folder()).toMatchObject({ accessType: 'public' })
})

it('[BKP-84] keeps a disabled document restricted and without permissions until it has its content', async () => {
  const past = await recordOf('off')
  await remove('off')
  const seen: unknown[] = []
  before = async (path) => {
    if (path === '/v2/crdt/apply') seen.push([await recordOf('off'), await roleOf('ann', 'off')])
    return null
  }
  const line = 'acme/off: created (main), with permissions: 1'
  expect(await restore('off')).toEqual({ code: 0, line })
  expect(seen).toEqual([[expect.objectContaining({ accessType: 'restricted' }), null]])
  expect(past).toMatchObject({ disabled: true, accessType: 'organizationPrivate' })
  const times = { createdAt: expect.any(Number), lastUpdated: expect.any(Number) }
  expect(await recordOf('off')).toEqual({ ...past, ...times })
})

it.each(['/v2/crdt/apply', '/v2/auth/permissions/add'])(
  '[BKP-84] disables a document again after a failure of %s, and reports it until it is deleted',
  async (faulty) => {
    await remove('off')
    before = (path) => (path === faulty ? 'rejected' : null)
    const first = await restore('off')
    expect([first.code, first.line]).toEqual([
      1,
      expect.stringMatching(/^acme\/off: failed.*so delete it before you repeat the restore$/),
    ])
    expect(await recordOf('off')).toMatchObject({ disabled: true })
    before = () => null
    const again = await restore('off')
    expect([again.code, again.line]).toEqual([
      1,
      expect.stringMatching(
        /^acme\/off: failed: an earlier restore did not complete the document, so delete it/,
      ),
    ])
    await remove('off')
    expect((await restore('off')).code).toBe(0)
  },
)

it('[BKP-85] does not add a user who was removed from the organization again, and counts the permission as left out', async () => {
  await call('/v2/users/delete', { organizationId, userIds: ['bob'] })
  await remove('shared')
  const line = 'acme/shared: created (main), with permissions: 1, without permissions: 1'
  expect(await restore('shared')).toEqual({ code: 0, line })
  const userIds = ['ann', 'bob']
  const users = (await call('/v2/users/get', { organizationId, userIds })) as { userId: string }[]
  expect(users.map(({ userId }) => userId)).toEqual(['ann'])
})

it('[BKP-73] reports a document that is deleted during its restore as failed', async () => {
  await remove('shared')
  before = async (path) => {
    if (path === '/v2/auth/permissions/add') await remove('shared')
    return null
  }
  const { code, line } = await restore('shared')
  expect([code, line]).toEqual([1, expect.stringMatching(/^acme\/shared: failed/)])
})

it('[BKP-83] completes an organization that has no permissions when the restore is repeated', async () => {
  await call('/v2/organizations/delete', { organizationIds: [organizationId] })
  before = (path) => (path === '/v2/auth/permissions/add' ? 'rejected' : null)
  const first = await restore('shared')
  const organizations = () => call('/v2/organizations/get', { organizationIds: [organizationId] })
  expect([first.code, await organizations()]).toEqual([
    1,
    [expect.objectContaining({ metadata: { weftRestore: 'incomplete' } })],
  ])
  expect(await recordOf('shared')).toBe(undefined)
  before = () => null
  const line = 'acme/shared: created (main), with permissions: 3'
  expect(await restore('shared')).toEqual({ code: 0, line })
  expect(await organizations()).toMatchObject([{ metadata: { color: 'blue' } }])
  const query = { organizationId, userIds: ['cid'] }
  const roles = await call('/v2/auth/permissions/get', query)
  expect(roles).toMatchObject({ cid: { organization: { acme: { accessRole: 'viewer' } } } })
})
