// @vitest-environment dom
import { BlockNoteEditor } from '@blocknote/core'
import {
  type VersioningEndpoints,
  VersioningExtension,
  type VersionSnapshot,
} from '@blocknote/core/extensions'
import { createYjsVersioningAdapter, withCollaboration } from '@blocknote/core/yjs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { openMemoryEngine } from '../../src/core/store/memory/engine.ts'
import { eventually, syncedEditor } from '../support/clients/clients.ts'
import { dataOf, startTestServer, type TestServer } from '../support/servers/server.ts'
import { HeldClock } from '../support/time/clock.ts'
import { place } from './dom.ts'
import { loadYjs14 } from './yjs-14.ts'

const contentKey = 'document-store'

/** The versioning interface of BlockNote, with contents of Yjs. */
type Endpoints = VersioningEndpoints<unknown, Uint8Array, unknown>

/**
 * Loads BlockNote's client of y/hub from the sources in its package. Its entry point for Yjs 14 also needs a package
 * that is not published to all registries.
 */
async function loadEndpoints(options: object): Promise<Endpoints> {
  const entry = import.meta.resolve('@blocknote/core')
  const { createYHubVersioningEndpoints } = (await import(
    /* @vite-ignore */ new URL('../src/y/versioning/yhub.ts', entry).href
  )) as { createYHubVersioningEndpoints: (options: object) => (editor: unknown) => Endpoints }
  return createYHubVersioningEndpoints(options)(BlockNoteEditor.create())
}

describe("BlockNote's history", () => {
  let clock: HeldClock
  let server: TestServer
  beforeAll(async () => {
    clock = new HeldClock(Math.floor(Date.now() / 1000) * 1000)
    server = await startTestServer({}, { engine: await openMemoryEngine({ clock }), clock })
  })
  afterAll(() => server?.stop())

  const endpointsFor = async (userId: string, docId: string): Promise<Endpoints> => {
    const headers = { authorization: `Bearer ${await server.token(userId)}` }
    return loadEndpoints({ baseUrl: `${server.url}/yhub`, org: 'acme', docId, headers })
  }

  /** Opens a document like the page of a user: BlockNote with Yjs 13, a websocket, and the versioning interface. */
  async function open(userId: string, docId: string) {
    const client = await syncedEditor(server.wsUrl, `acme/${docId}`, await server.token(userId))
    const fragment = client.doc.getXmlFragment(contentKey)
    const endpoints = await endpointsFor(userId, docId)
    const collaboration = { fragment, user: { name: userId, color: '#ff0000' } }
    const editor = BlockNoteEditor.create(
      withCollaboration({
        animations: false,
        collaboration,
        extensions: [
          VersioningExtension((own) => {
            const adapter = createYjsVersioningAdapter(own, collaboration)
            return {
              ...adapter,
              endpoints: {
                ...endpoints,
                // BlockNote's client returns states for Yjs 14 in V2; its preview with Yjs 13 reads V1.
                getContent: async (snapshot: VersionSnapshot) =>
                  Y.convertUpdateFormatV2ToV1(await endpoints.getContent(snapshot)),
              },
              preview: { ...adapter.preview, applyRestore: () => undefined },
            }
          }),
        ],
      }),
    )
    editor.mount(place())
    const shown = (): string =>
      JSON.stringify(editor.document.map(({ content }) => content)).replace(/.*?"text":"(.*?)"|.+/g, '$1')
    const versions = editor.getExtension(VersioningExtension)
    if (versions === undefined) throw new Error('BlockNote has no versioning interface')
    return { client, editor, shown, versions }
  }

  it('[ATT-127] lists the changes of two users, shows and names versions, and restores one', async () => {
    const docId = 'blocknote/main'
    const [ada, grace] = [await open('ada', docId), await open('grace', docId)]
    ada.editor.insertInlineContent('We ship on Monday.')
    await eventually(() => grace.shown() === 'We ship on Monday.', grace.shown)
    clock.advance(60_000)
    grace.editor.setTextCursorPosition(grace.editor.document[0] ?? '', 'end')
    grace.editor.insertInlineContent(' The budget is small.')
    await eventually(() => ada.shown().includes('budget'), ada.shown)
    const listed = await ada.versions.list()
    const edits = listed.filter(({ id }) => typeof id === 'string')
    expect(edits.map(({ by }) => by)).toEqual([['grace'], ['ada']])
    await ada.versions.previewSnapshot(edits[1]?.id ?? '')
    expect(ada.shown()).toBe('We ship on Monday.')
    await ada.versions.previewSnapshot(edits[0]?.id ?? '')
    expect(ada.shown()).toContain('budget')
    ada.versions.exitPreview()
    expect(ada.shown()).toContain('budget')
    clock.advance(60_000)
    await ada.versions.create?.({ name: 'First draft' })
    const [named] = (await ada.versions.list()).filter(({ name }) => name === 'First draft')
    expect(named).toMatchObject({ by: ['ada'], createdAt: clock.now() })
    clock.advance(60_000)
    await grace.versions.list()
    const first = grace.versions.store.state.snapshots.at(-1)
    await grace.versions.restore?.(first?.id ?? '')
    await eventually(() => ada.shown() === 'We ship on Monday.', ada.shown)
    expect(grace.shown()).toBe('We ship on Monday.')
    for (const { client } of [ada, grace]) client.provider.destroy()
  })

  it('[ATT-127] shows with Yjs 14 who has inserted and deleted what between two versions', async () => {
    const { Y: Y14 } = await loadYjs14()
    const write = async (data: string, userId: string): Promise<void> => {
      const editor = { organizationId: 'acme', documentId: 'yjs-14', editorId: 'main' }
      const answer = await server.post('/v2/crdt/update', {
        ...editor,
        type: 'text',
        data,
        userId,
        upsert: true,
      })
      dataOf(answer)
      clock.advance(60_000)
    }
    await write('We ship on Monday.', 'ada')
    await write('We ship on Monday. The budget is small.', 'grace')
    await write('We ship. The budget is small.', 'ada')
    const endpoints = await endpointsFor('ada', 'yjs-14')
    const edits = (await endpoints.list()).filter(({ id }) => typeof id === 'string')
    expect(edits).toHaveLength(3)
    const [newest, , oldest] = edits as [VersionSnapshot, VersionSnapshot, VersionSnapshot]
    const load = async (snapshot: VersionSnapshot) => {
      const doc = new Y14.Doc({ gc: false })
      Y14.applyUpdateV2(doc, await endpoints.getContent(snapshot))
      return doc
    }
    const attrs = (await endpoints.getAttributions?.(newest, oldest)) as never
    const [before, after] = [await load(oldest), await load(newest)]
    const manager = Y14.createAttributionManagerFromDiff(before, after, { attrs })
    const { children } = after.get('content').toDelta(manager).toJSON() as {
      children: { readonly insert: string; readonly attribution?: object }[]
    }
    const [at, minute] = [oldest.createdAt, 60_000]
    expect(children.map(({ insert, attribution = null }) => [insert, attribution])).toEqual([
      ['We ship', null],
      [' on Monday', { delete: ['ada'], deleteAt: at + 2 * minute }],
      ['.', null],
      [' The budget is small.', { insert: ['grace'], insertAt: at + minute }],
    ])
  })
})
