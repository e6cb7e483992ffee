import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { verify } from '../../../src/capabilities/backups/storage/verify.ts'
import { mapInSlices } from '../../../src/core/directory/store/batch.ts'
import { eventually } from '../../support/clients/clients.ts'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { type ServerProcess, startProcess } from '../../support/servers/process.ts'
import { itLong } from '../../support/time/full-run.ts'

const rounds = process.env.WEFT_TEST_LONG === '1' ? 2 : 1
const documents = process.env.WEFT_TEST_LONG === '1' ? 1_000 : 500
const organizationId = 'acme'

const ids = Array.from({ length: documents }, (_, at) => `d${at}`)

async function fill(server: ServerProcess): Promise<void> {
  const folders = ['top', 'in']
  await server.post('/v2/organizations/add', { organizations: [{ organizationId }] })
  await server.post('/v1/organizations/folders/add', {
    organizationId,
    folders: folders.map((folderId) => ({ folderId })),
  })
  for (let at = 0; at < documents; at += 500)
    await server.post('/v2/organizations/documents/add', {
      organizationId,
      documents: ids
        .slice(at, at + 500)
        .map((documentId, index) => ({ documentId, folderId: folders[index % 2] })),
    })
  await mapInSlices(ids, (documentId) =>
    server.post('/v2/crdt/add', {
      organizationId,
      documentId,
      editorId: 'main',
      type: 'text',
      data: documentId,
    }),
  )
}

/** Number of documents, of every tenth, that still have content. */
async function contents(server: ServerProcess): Promise<number> {
  const some = ids.filter((_, at) => at % 10 === 0)
  const answers = await mapInSlices(some, (documentId) =>
    server.post('/v2/crdt/get', { organizationId, documentId }),
  )
  return answers.filter(({ status }) => status === 200).length
}

const add = async (server: ServerProcess) => {
  const { data } = await server.post('/v2/organizations/add', { organizations: [{ organizationId }] })
  return (data as Record<string, { success: boolean; message: string }>)[organizationId]
}

itLong(
  `[ORG-11] continues ${rounds} removals of ${documents} documents that a SIGKILL interrupted, removes everything, and damages nothing else (seed ${seed})`,
  async () => {
    const random = new Random(seed)
    const data = await mkdtemp(join(tmpdir(), 'weft-removal-'))
    try {
      let server = await startProcess(data, { WEFT_CALLS_PER_KEY: '0' })
      // A removal that ended before the kill proves nothing. It is tried again with an earlier kill.
      for (let [cut, tries] = [0, 0]; cut < rounds; tries += 1) {
        expect(tries, `seed ${seed}`).toBeLessThan(4 * rounds)
        await fill(server)
        const deletion = server
          .post('/v2/organizations/delete', { organizationIds: [organizationId] })
          .catch(() => null)
        await eventually(
          async () =>
            (await server.post('/v2/organizations/documents/get', { organizationId })).status === 404,
        )
        await new Promise((resolve) => setTimeout(resolve, random.below(50 / (1 + tries - cut))))
        await server.end('SIGKILL')
        const wasDone = (await deletion) !== null
        expect((await verify(data, () => undefined)).damages).toEqual([])
        server = await startProcess(data, { WEFT_CALLS_PER_KEY: '0' })
        if (wasDone) continue
        cut += 1
        expect(await add(server)).toMatchObject({
          success: false,
          message: expect.stringContaining('being deleted'),
        })
        let added = await add(server)
        for (let second = 0; second < 60 && added?.success !== true; second += 1) {
          await new Promise((resolve) => setTimeout(resolve, 500))
          added = await add(server)
        }
        expect(added).toMatchObject({ success: true })
        expect(await contents(server)).toBe(0)
        const { data: found } = await server.post('/v2/organizations/documents/get', { organizationId })
        expect(found).toEqual([])
        expect((await server.post('/v2/organizations/folders/get', { organizationId })).data).toEqual([])
      }
      await server.end('SIGTERM')
    } finally {
      await rm(data, { recursive: true, force: true, maxRetries: 20 })
    }
  },
  300_000,
)

itLong(
  `[DEL-5] loses no branch whose deletion or restore a SIGKILL interrupts (seed ${seed})`,
  async () => {
    const random = new Random(seed)
    const data = await mkdtemp(join(tmpdir(), 'weft-removal-'))
    const editor = { organizationId, documentId: 'd', editorId: 'main' }
    const branch = { ...editor, editorId: 'main@draft', type: 'text' }
    const ends = new Set<string>()
    let server = await startProcess(data)
    const deletions = async () =>
      (await server.post('/v2/workspace/deleted/get', {})).data as { deletionId: string }[]
    const found = async () => {
      const kept = (await deletions()).length
      const { data: content } = await server.post('/v2/crdt/get', branch)
      const text = (content as { data: string }[] | undefined)?.[0]?.data
      return `${kept} ${text}`
    }
    try {
      await server.post('/v2/crdt/add', { ...editor, type: 'text', data: 'Text' })
      await server.post('/v2/crdt/branches/create', { ...editor, name: 'draft', userId: 'ann' })
      await server.post('/v2/crdt/update', { ...branch, data: 'Draft' })
      for (let round = 0; round < 10; round += 1) {
        const [deletion] = await deletions()
        const [path, request] =
          deletion === undefined
            ? ['/v2/crdt/branches/delete', { ...editor, name: 'draft' }]
            : ['/v2/workspace/deleted/restore', { deletionId: deletion.deletionId }]
        const call = server.post(path, request).catch(() => null)
        await new Promise((resolve) => setTimeout(resolve, random.below(25)))
        await server.end('SIGKILL')
        await call
        expect((await verify(data, () => undefined)).damages).toEqual([])
        server = await startProcess(data)
        await eventually(async () => ['0 Draft', '1 undefined'].includes(await found()))
        ends.add(`${path} ${await found()}`)
      }
      expect(ends.size).toBeGreaterThan(1)
      await server.end('SIGTERM')
    } finally {
      await rm(data, { recursive: true, force: true, maxRetries: 20 })
    }
  },
  300_000,
)
