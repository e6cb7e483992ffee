import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import * as Y from 'yjs'
import { type Editor, eventually, syncedEditor } from '../../support/clients/clients.ts'
import { editRandomly, Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { itLong } from '../../support/time/full-run.ts'

const rounds = process.env.WEFT_TEST_LONG === '1' ? 12 : 6

interface EditorIds {
  readonly organizationId: string
  readonly documentId: string
  readonly editorId: string
}

const words = ['a paragraph', 'b', '漢字', '😀', 'weft and warp']
const marks = [{ bold: {} }, { link: { href: '#' } }, { bold: null }]

/** Edits of a rich-text editor, as y-prosemirror stores them. */
const richEdits: readonly ((fragment: Y.XmlFragment, random: Random) => void)[] = [
  (fragment, random) => {
    const element = new Y.XmlElement(random.pick(['paragraph', 'heading']))
    if (element.nodeName === 'heading')
      element.setAttribute('level', (1 + random.below(3)) as unknown as string)
    element.insert(0, [new Y.XmlText(random.pick(words))])
    fragment.insert(random.below(fragment.length + 1), [element])
  },
  (fragment, random) => {
    if (fragment.length > 0) fragment.delete(random.below(fragment.length), 1)
  },
  (fragment, random) => {
    const text = (fragment.firstChild as Y.XmlElement | null)?.firstChild
    if (text instanceof Y.XmlText) text.insert(random.below(text.length + 1), random.pick(words))
  },
  (fragment, random) => {
    const text = (fragment.firstChild as Y.XmlElement | null)?.firstChild
    if (text instanceof Y.XmlText) text.format(0, random.below(text.length + 1), random.pick(marks))
  },
]

function edit({ doc }: Editor, random: Random): void {
  if (random.below(3) > 0) return editRandomly(doc, random)
  doc.transact(() => random.pick(richEdits)(doc.getXmlFragment('default'), random))
}

const isNothing = (data: unknown): boolean =>
  data === '' || isDeepStrictEqual(data, {}) || isDeepStrictEqual(data, [])

/** Returns all roots in all formats; null for a format that does not fit or an empty root. */
async function contentOf(server: TestServer, operation: string, ids: object): Promise<unknown> {
  const shown: Record<string, unknown> = {}
  for (const contentKey of ['text', 'map', 'array', 'xml', 'default'])
    for (const format of ['json', 'text', 'delta', 'xml', 'xmltext']) {
      const { body } = await server.post(`/v2/crdt/${operation}`, { ...ids, contentKey, format })
      const [entry] = [body.result?.data].flat() as [{ data: unknown; type: string } | undefined]
      const { data, type } = entry ?? {}
      shown[`${contentKey} ${format}`] = data === undefined || isNothing(data) ? null : { data, type }
    }
  return shown
}

const inSync = async (server: TestServer, ids: EditorIds, editors: readonly Editor[]): Promise<boolean> => {
  const answer = await server.post('/v2/crdt/get', { ...ids, format: 'update' })
  // The first edits may not have arrived yet.
  if (answer.status === 404) return false
  const [entry] = dataOf(answer) as [{ data: string }]
  const doc = new Y.Doc()
  Y.applyUpdate(doc, Buffer.from(entry.data, 'base64'))
  return editors.every((each) => Y.equalSnapshots(Y.snapshot(doc), Y.snapshot(each.doc)))
}

itLong(
  `[VER-6] after a restore of any version of a random history, all clients and formats show the content of this version (seed ${seed})`,
  async () => {
    const server = await startTestServer()
    const token = await server.token('ann')
    for (let round = 0; round < rounds; round++) {
      const random = new Random(seed + round)
      const ids = { organizationId: 'acme', documentId: `d${round}`, editorId: 'main' }
      const call = async (operation: string, data: object = {}) =>
        dataOf(await server.post(`/v2/crdt/versions/${operation}`, { ...ids, ...data }))
      const editors = [
        await syncedEditor(server.wsUrl, `acme/d${round}/main`, token),
        await syncedEditor(server.wsUrl, `acme/d${round}/main`, token),
      ]
      const versions: { versionId: string; content: unknown }[] = []
      for (let step = 0; step < 8; step++) {
        for (let edits = 1 + random.below(8); edits > 0; edits--) edit(random.pick(editors), random)
        editors[0]?.doc.getMap('steps').set('step', step)
        await eventually(() => inSync(server, ids, editors))
        const { versionId } = (await call('create')) as { versionId: string }
        versions.push({ versionId, content: await contentOf(server, 'get', ids) })
        if (random.below(2) === 0) continue
        const { versionId: some, content } = random.pick(versions)
        await call('restore', { versionId: some })
        expect(await contentOf(server, 'get', ids), `seed ${seed + round}`).toEqual(content)
        expect(await contentOf(server, 'versions/get', { ...ids, versionId: some })).toEqual(content)
        expect(await call('restore', { versionId: some })).toMatchObject({ changed: false, bytes: 0 })
        await eventually(() => inSync(server, ids, editors))
      }
      for (const each of editors) each.close()
    }
    await server.stop()
  },
  300_000,
)
