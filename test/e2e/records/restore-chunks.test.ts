import { randomBytes } from 'node:crypto'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { runCli } from '../../support/servers/cli.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-restore-chunks-'))
const repository = join(root, 'repository')
const adminToken = 'an-admin-token-of-the-test'
const organizationId = 'acme'
/** Each of these documents is larger than the minimum size of a chunk. */
const documentIds = Array.from({ length: 8 }, (_, index) => `large-${index}`)
let server: TestServer

const textOf = async (documentId: string): Promise<unknown> => {
  const query = { organizationId, documentId, editorId: 'main', format: 'text' }
  return (dataOf(await server.post('/v2/crdt/get', query)) as [{ data: string }])[0].data
}

const replace = async (documentId: string, data: string): Promise<void> => {
  const query = { organizationId, documentId, editorId: 'main', type: 'text', data, upsert: true }
  dataOf(await server.post('/v2/crdt/update', query))
}

/** Restores documents, and returns the exit code and the members of all lines of the output. */
async function restore(...selection: readonly string[]) {
  const to = ['--key-file', 'key', '--to', server.url, '--data-dir', 'data', '--json']
  const { code, out } = await runCli(['restore', 'repository', ...to, ...selection], root)
  const lines = out.trim().split('\n')
  const members = lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
  const { damages = [], chunks } = Object.assign({}, ...members) as {
    readonly damages?: readonly { readonly object: string }[]
    readonly chunks?: { readonly read: number; readonly total: number }
  }
  return { code, damages, chunks }
}

/** Repairs the chunks that the command names, until it succeeds. Returns their number, and the chunks that it has read. */
async function restoreWithRepairs(onFailure: () => Promise<void>, ...selection: readonly string[]) {
  let repaired = 0
  for (;;) {
    const { code, damages, chunks } = await restore(...selection)
    if (code === 0) return { repaired, read: chunks?.read, total: chunks?.total }
    expect(code).toBe(2)
    expect(damages.length).toBeGreaterThan(0)
    await onFailure()
    for (const { object } of damages) cpSync(join(root, 'sound', object), join(repository, object))
    repaired += damages.length
  }
}

const chunkFiles = (): readonly string[] =>
  readdirSync(join(repository, 'chunks'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.includes('/'))
    .map((name) => `chunks/${name}`)

beforeAll(async () => {
  writeFileSync(join(root, 'token'), adminToken)
  server = await startTestServer({ engine: 'level', dataDir: join(root, 'data'), adminToken })
  for (const documentId of documentIds) {
    const doc = new Y.Doc()
    doc.getText('content').insert(0, documentId + randomBytes(1_200_000).toString('base64'))
    const update = Buffer.from(Y.encodeStateAsUpdate(doc)).toString('base64')
    const address = { organizationId, documentId, editorId: 'main' }
    dataOf(await server.post('/v2/crdt/apply', { ...address, update, create: true }))
  }
  const folders = [{ folderId: 'folder' }]
  dataOf(await server.post('/v1/organizations/folders/add', { organizationId, folders }))
  const move = { organizationId, folderId: 'folder', documentIds: ['large-2', 'large-3'] }
  dataOf(await server.post('/v2/organizations/documents/move', move))
  expect(await runCli(['backups', 'key', 'key'], root)).toMatchObject({ code: 0 })
  const to = ['--to', 'repository', '--key-file', 'key', '--token-file', 'token']
  expect(await runCli(['backup', server.url, ...to], root)).toMatchObject({ code: 0 })
  cpSync(repository, join(root, 'sound'), { recursive: true })
}, 60_000)

afterAll(async () => {
  await server.stop()
  rmSync(root, { recursive: true, force: true, maxRetries: 20 })
})

it('[BKP-76] [BKP-77] names the damaged chunks that documents need and changes nothing, and restores them when only these are sound', async () => {
  const chunks = chunkFiles()
  for (const name of chunks) {
    const bytes = readFileSync(join(repository, name))
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
    writeFileSync(join(repository, name), bytes)
  }
  const all = async () => Promise.all(documentIds.map(textOf))
  const past = await all()
  for (const documentId of ['large-2', 'large-5']) await replace(documentId, 'new')
  const isUnchanged = async () =>
    expect(await Promise.all(['large-2', 'large-5'].map(textOf))).toEqual(['new', 'new'])
  const one = await restoreWithRepairs(isUnchanged, '--document', 'acme/large-5')
  // Every chunk that was read was damaged and named.
  expect(one).toEqual({ repaired: one.read, read: expect.any(Number), total: chunks.length })
  expect(one.repaired).toBeLessThanOrEqual(5)
  expect(chunks.length).toBeGreaterThan(8)
  const isFolderUnchanged = async () => expect(await textOf('large-2')).toBe('new')
  const folder = await restoreWithRepairs(isFolderUnchanged, '--folder', 'acme/folder')
  expect(await all()).toEqual(past)
  expect(one.repaired + folder.repaired).toBeLessThan(chunks.length)
})
