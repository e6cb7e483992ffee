import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { mapInSlices } from '../../../src/core/directory/store/batch.ts'
import { type Editor, eventually, syncedEditor } from '../../support/clients/clients.ts'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { type ServerProcess, startProcess } from '../../support/servers/process.ts'
import { times } from '../../support/time/full-run.ts'

const rounds = times(1, 12)
const timeout = times(120_000, 600_000)
const documents = Array.from({ length: times(12, 60) }, (_, at) => `d${at}`)
const options = { WEFT_CALLS_PER_KEY: '0', WEFT_CALLS_PER_ADDRESS: '0' }
const random = new Random(seed)

let directory: string
let server: ServerProcess
let token: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'weft-generations-'))
  server = await startProcess(directory, options)
  token = await server.token()
}, 60_000)

afterAll(async () => {
  await server?.end('SIGKILL')
  await rm(directory, { recursive: true, force: true, maxRetries: 20 })
})

const post = (path: string, body: object) => server.post(`/v2/${path}`, body)
const open = (path: string, parameters = {}): Promise<Editor> =>
  syncedEditor(server.wsUrl, path, token, { parameters })

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return Math.ceil(performance.now() - startedAt)
}

/**
 * Kills the server at a random moment of some work, which takes about `ms`, and starts it again.
 * @returns the result of the work; null if it was interrupted
 */
async function interrupted<T>(work: () => Promise<T>, ms: number): Promise<T | null> {
  const working = work().catch(() => null)
  await new Promise((resolve) => setTimeout(resolve, random.below(ms)))
  await server.end('SIGKILL')
  const done = await working
  server = await startProcess(directory, options, Number(new URL(server.url).port))
  return done
}

it(
  `[PRUNE-5] [PRUNE-17] after SIGKILL at any moment of a prune, has what all clients of both generations have typed once (seed ${seed})`,
  async () => {
    const editor = { organizationId: 'acme', documentId: 'pruned', editorId: 'main' }
    const prune = () => post('crdt/prune', editor)
    const [ann, ben] = [await open('acme/pruned/main'), await open('acme/pruned/main')]
    ann.doc.getText('note').insert(0, 'the kept words')
    const typed: string[] = []
    /** Types a new letter, and a text that is deleted at once. */
    const type = ({ text }: Editor): void => {
      const letter = String.fromCodePoint(0x4e00 + typed.length)
      typed.push(letter)
      const at = random.below(text.length + 1)
      text.insert(at, `${letter}deleted`)
      text.delete(at + 1, 'deleted'.length)
    }
    for (let count = 0; count < 50; count += 1) type(ann)
    const textOf = async (): Promise<unknown> =>
      (
        (await post('crdt/get', { ...editor, contentKey: 'content' })).data as [{ data: string }] | undefined
      )?.[0].data
    const areSame = (clients: readonly Editor[]): Promise<void> =>
      eventually(
        async () => {
          const texts = [await textOf(), ...clients.map(({ text }) => text.toString())]
          return texts.every((text) => text === texts[0]) && ann.text.length >= typed.length
        },
        () => ({ seed, typed: typed.length, shown: clients.map(({ text }) => text.length) }),
      )
    await areSame([ann, ben])
    const comment = { from: { userId: 'ada' }, text: 'Really?' }
    const anchor = { editorId: 'main', contentKey: 'note', quote: 'kept words' }
    const place = { organizationId: 'acme', documentId: 'pruned' }
    const added = { ...place, actionUser: { userId: 'ada' }, annotations: [{ anchor, comments: [comment] }] }
    expect(await post('commentannotations/add', added)).toMatchObject({ status: 200 })
    const ms = await msOf(prune)
    let pruned = 1
    for (let round = 0; round < rounds; round += 1) {
      ben.provider.disconnect()
      await eventually(() => !ben.provider.wsconnected)
      type(ben)
      const typing = setInterval(() => type(ann), 2)
      const result = await interrupted(prune, ms)
      clearInterval(typing)
      if (result?.status === 200) pruned += 1
      type(ben)
      ben.provider.connect()
      const late = await open('acme/pruned/main')
      type(late)
      await areSame([ann, ben, late])
      expect(ann.text.toString().split('').toSorted()).toEqual(typed.toSorted())
      late.close()
      await eventually(async () => {
        const [thread] = (await post('commentannotations/get', place)).data as [
          { anchorPlace?: { quote: string } },
        ]
        return thread.anchorPlace?.quote === 'kept words'
      })
    }
    const { data } = await prune()
    expect((data as { generation: number }).generation).toBeGreaterThan(pruned)
    await areSame([ann, ben])
    for (const client of [ann, ben]) client.close()
  },
  timeout,
)

const schema = (line: string) => ({
  nodes: { doc: { content: `${line}+` }, [line]: { content: 'text*' }, text: {} },
  contentKey: 'default',
})

it(
  `[FMT-205] [FMT-210] after SIGKILL at any moment of a migration, rewrites each editor once, and stores nothing of older clients (seed ${seed})`,
  async () => {
    let ms = 0
    for (let round = 0; round <= rounds; round += 1) {
      const name = `lines-${round}`
      const at = (documentId: string) => ({ organizationId: name, documentId, editorId: 'main' })
      const read = async (documentId: string) =>
        (
          (await post('crdt/get', { ...at(documentId), format: 'xml' })).data as [
            { data: string; version: string },
          ]
        )[0]
      await post('crdt/schemas/set', { name, schema: schema('line') })
      await mapInSlices(documents, (documentId) =>
        post('crdt/add', { ...at(documentId), schema: name, type: 'xml', data: '<line>a</line>' }),
      )
      const before = await mapInSlices(documents, read)
      const old = await open(`${name}/d0/main`, { schemaVersion: '1' })
      const typing = setInterval(() => old.doc.getXmlFragment('default').push([new Y.XmlElement('line')]), 5)
      await post('crdt/schemas/set', { name, schema: schema('row'), version: 2 })
      const rules = [{ rule: 'renameNode', name: 'line', to: 'row' }]
      const statusOf = async (): Promise<string | undefined> =>
        ((await post('crdt/schemas/get', { name })).data as { migration?: { status: string } } | undefined)
          ?.migration?.status
      const migrate = async () => {
        await post('crdt/schemas/migrate', { name, toVersion: 2, rules })
        await eventually(async () => (await statusOf()) === 'done')
      }
      if (ms === 0) ms = await msOf(migrate)
      else {
        await interrupted(migrate, ms)
        if ((await statusOf()) === undefined) await migrate()
      }
      await eventually(
        async () => (await statusOf()) === 'done',
        () => ({ seed, round }),
      )
      await eventually(() => old.doc.getXmlFragment('default').toString().includes('<row>a</row>'))
      clearInterval(typing)
      // Lines that the old client has added before the migration reached its document are rows now.
      expect((await read('d0')).data).toMatch(/^<row>a<\/row>(<row\/>)*$/)
      for (const [index, documentId] of documents.slice(1).entries()) {
        const [epoch, seq] = (before[index + 1]?.version ?? '').split('.')
        expect(await read(documentId)).toMatchObject({
          data: '<row>a</row>',
          schemaVersion: 2,
          version: `${epoch}.${Number(seq) + 1}`,
        })
      }
      old.close()
    }
  },
  timeout,
)

it(
  `[DEL-5] [PRUNE-9] after SIGKILL at any moment of a deletion or a restore, loses nothing, shows no part, and merges a client from before a prune (seed ${seed})`,
  async () => {
    let ms = 0
    for (let round = 0; round <= rounds; round += 1) {
      const organizationId = `gone-${round}`
      const at = (documentId: string) => ({ organizationId, documentId, editorId: 'main' })
      await mapInSlices(documents, (documentId) =>
        post('crdt/add', { ...at(documentId), type: 'text', contentKey: 'content', data: documentId }),
      )
      const ben = await open(`${organizationId}/d0/main`)
      ben.provider.disconnect()
      await eventually(() => !ben.provider.wsconnected)
      ben.text.insert(2, ' and ben')
      await post('crdt/prune', at('d0'))
      const shown = async (): Promise<number> =>
        (
          (await post('organizations/documents/get', { organizationId })).data as
            | readonly object[]
            | undefined
        )?.length ?? 0
      const deletions = async () =>
        (await post('workspace/deleted/get', { organizationId })).data as readonly { deletionId: string }[]
      const restore = async (): Promise<void> => {
        for (const { deletionId } of await deletions())
          await post('workspace/deleted/restore', { deletionId })
      }
      const work = async (): Promise<void> => {
        await post('organizations/delete', { organizationIds: [organizationId] })
        await eventually(async () => (await deletions()).length > 0)
        await restore()
      }
      if (ms === 0) ms = await msOf(work)
      else await interrupted(work, ms)
      await eventually(
        async () => {
          const count = await shown()
          expect([0, documents.length]).toContain(count)
          await restore()
          return count > 0 && (await deletions()).length === 0
        },
        () => ({ seed, round }),
      )
      ben.provider.connect()
      const read = async (documentId: string): Promise<string> =>
        ((await post('crdt/get', at(documentId))).data as [{ data: string }])[0].data
      await eventually(async () => (await read('d0')) === 'd0 and ben')
      expect(await mapInSlices(documents.slice(1), read)).toEqual(documents.slice(1))
      ben.close()
    }
  },
  timeout,
)
