// @vitest-environment dom
import { EditorState as CodeState } from '@codemirror/state'
import { EditorView as CodeView } from '@codemirror/view'
import { yCursorPlugin as tiptapCursors, ySyncPlugin as tiptapSync } from '@tiptap/y-tiptap'
import { schema } from 'prosemirror-schema-basic'
import { EditorState } from 'prosemirror-state'
import { EditorView } from 'prosemirror-view'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { yCollab } from 'y-codemirror.next'
import { yCursorPlugin, ySyncPlugin } from 'y-prosemirror'
import { type Editor, eventually, openEditor } from '../support/clients/clients.ts'
import { presenceNodes } from '../support/servers/node-presence.ts'
import { dataOf, metric, startTestServer, type TestServer } from '../support/servers/server.ts'
import { place } from './dom.ts'

/** A caret of another user: the name at it, the text before it in its line or block, and the selected text. */
interface Caret {
  readonly name: string
  readonly before: string
  readonly selected: string
}

interface Page {
  carets(): readonly Caret[]
  /** Inserts text at an index of the text, or of the first block. */
  type(index: number, text: string): void
  close(): void
}

interface Binding {
  readonly type: 'text' | 'xml'
  readonly contentKey: string
  readonly content: string
  open(editor: Editor): Page
}

/** Returns the text of a line that the page shows before an element, without the carets in it. */
function textBefore(element: Element, line: Element | null): string {
  let text = ''
  const read = (node: Node): boolean => {
    if (node === element) return true
    if (node instanceof Element && /cursor|ySelectionCaret/.test(node.className)) return false
    if (node.nodeType === 3) text += node.textContent
    return [...node.childNodes].some(read)
  }
  if (line !== null) read(line)
  return text
}

const textOf = (found: Iterable<Element>): string =>
  [...found]
    .map(({ textContent }) => textContent)
    .join('')
    .replaceAll('\u2060', '')

const proseMirror = (sync: typeof ySyncPlugin, cursors: typeof yCursorPlugin): Binding => ({
  type: 'xml',
  contentKey: 'prosemirror',
  content:
    '<paragraph>One two three.</paragraph><paragraph/><paragraph>Four <strong>five</strong> six.</paragraph>',
  open({ doc, provider }) {
    const plugins = [sync(doc.getXmlFragment('prosemirror')), cursors(provider.awareness)]
    const view = new EditorView(place(), { state: EditorState.create({ schema, plugins }) })
    view.setProps({
      // The plugin with the carets dispatches in a timer, also after the view was destroyed.
      dispatchTransaction: (transaction) => {
        if (!view.isDestroyed) view.updateState(view.state.apply(transaction))
      },
    })
    return {
      carets: () =>
        [...view.dom.querySelectorAll('.ProseMirror-yjs-cursor')].map((caret) => ({
          name: textOf([caret]),
          before: textBefore(caret, caret.closest('p')),
          selected: textOf(view.dom.querySelectorAll('.ProseMirror-yjs-selection')),
        })),
      type: (index, text) => view.dispatch(view.state.tr.insertText(text, index + 1)),
      close: () => view.destroy(),
    }
  },
})

const codeMirror: Binding = {
  type: 'text',
  contentKey: 'content',
  content: 'One two three.\n\nFour five six.',
  open({ text, provider }) {
    const view = new CodeView({
      state: CodeState.create({ doc: text.toJSON(), extensions: [yCollab(text, provider.awareness)] }),
      parent: place(),
    })
    return {
      carets: () =>
        [...view.dom.querySelectorAll('.cm-ySelectionCaret')].map((caret) => ({
          name: textOf(caret.querySelectorAll('.cm-ySelectionInfo')),
          before: textBefore(caret, caret.closest('.cm-line')),
          selected: textOf(view.dom.querySelectorAll('.cm-ySelection')),
        })),
      type: (index, inserted) => view.dispatch({ changes: { from: index, insert: inserted } }),
      close: () => view.destroy(),
    }
  },
}

const bindings = {
  'y-prosemirror': proseMirror(ySyncPlugin, yCursorPlugin),
  'y-tiptap': proseMirror(tiptapSync as typeof ySyncPlugin, tiptapCursors as typeof yCursorPlugin),
  'y-codemirror.next': codeMirror,
}

describe.each(Object.entries(bindings))('carets of %s', (_name, binding) => {
  const { type, contentKey, content } = binding
  let server: TestServer
  let documents = 0
  beforeAll(async () => {
    server = await startTestServer({ idleUnloadSeconds: 1 })
  })
  afterAll(() => server?.stop())

  async function newDocument() {
    const ids = { organizationId: 'acme', documentId: `carets-${++documents}` }
    const post = async (path: string, data: object): Promise<unknown> =>
      dataOf(await server.post(path, { ...ids, ...data }))
    await post('/v2/crdt/add', { editorId: 'main', contentKey, type, data: content })
    const show = (cursor: object | null, user = {}) =>
      post('/v2/presence/add', { users: [{ userId: 'bot', name: 'Writer', kind: 'agent', cursor, ...user }] })
    const open = async (editorId = 'main'): Promise<Page & { readonly editor: Editor }> => {
      const path = `acme/${ids.documentId}/${editorId}`
      const editor = openEditor(server.wsUrl, path, await server.token('ada'))
      // y-codemirror.next draws only carets that it receives after the view was created.
      const page = binding.open(editor)
      await eventually(() => editor.provider.synced)
      const close = (): void => {
        page.close()
        editor.close()
      }
      return { ...page, editor, close }
    }
    return { post, show, open }
  }

  async function shows(page: Page, expected: readonly Partial<Caret>[]): Promise<void> {
    const matches = (): boolean => {
      const carets = page.carets()
      const isEqual = (caret: Caret, each: Partial<Caret> = {}): boolean =>
        (Object.keys(each) as (keyof Caret)[]).every((key) => caret[key] === each[key])
      return (
        carets.length === expected.length && carets.every((caret, index) => isEqual(caret, expected[index]))
      )
    }
    await eventually(matches, () => page.carets(), 10_000)
  }

  it('[PRES-33] draws the caret of a virtual user with the name, keeps it at its text while others type, and removes it', async () => {
    const { post, show, open } = await newDocument()
    const page = await open()
    await show({ quote: 'two', at: 'end' })
    await shows(page, [{ name: 'Writer', before: 'One two' }])
    page.type(0, 'Zero ')
    await shows(page, [{ name: 'Writer', before: 'Zero One two' }])
    const late = await open()
    await shows(late, [{ name: 'Writer', before: 'Zero One two' }])
    await show({ quote: 'three' })
    for (const each of [page, late]) await shows(each, [{ before: 'Zero One two three', selected: 'three' }])
    await show({ quote: 'five', at: 'start' })
    await shows(page, [{ before: 'Four ' }])
    await show({ end: true })
    await shows(page, [{ before: 'Four five six.' }])
    await post('/v2/crdt/edit', {
      editorId: 'main',
      edits: [{ insert: { after: 'six.', content: ' Seven.' } }],
    })
    await shows(page, [{ before: 'Four five six. Seven.' }])
    await show(null)
    for (const each of [page, late]) await shows(each, [])
    await show({ quote: 'two' })
    await shows(page, [{ selected: 'two' }])
    await post('/v2/presence/delete', { userIds: ['bot'] })
    for (const each of [page, late]) await shows(each, [])
    await post('/v2/presence/add', {
      users: [{ userId: 'bot', name: 'Short', cursor: { quote: 'two' } }],
      ttlSeconds: 2,
    })
    await shows(page, [{ name: 'Short' }])
    await shows(page, [])
    for (const each of [page, late]) each.close()
  })

  it('[PRES-33] draws the caret in an empty block and in an empty editor', async () => {
    const { show, open } = await newDocument()
    const [page, empty] = [await open(), await open('empty')]
    await show({ editorId: 'main', block: 1 })
    await shows(page, [{ name: 'Writer', before: '' }])
    await show({ editorId: 'empty', contentKey, end: true })
    await shows(page, [])
    // y-prosemirror draws no caret before its editor has content.
    if (type === 'text') await shows(empty, [{ name: 'Writer', before: '' }])
    for (const each of [page, empty]) each.close()
  })

  it('[PRES-34] publishes the cursor only to clients of its editor', async () => {
    const { post, show, open } = await newDocument()
    await post('/v2/crdt/add', { editorId: 'second', contentKey, type, data: content })
    const [main, second] = [await open(), await open('second')]
    await show({ editorId: 'second', quote: 'two' })
    await shows(second, [{ name: 'Writer' }])
    const stateIn = ({ editor }: { readonly editor: Editor }) =>
      [...editor.provider.awareness.getStates().values()].find(({ user }) => user?.id === 'bot')
    await eventually(() => stateIn(main) !== undefined)
    expect(stateIn(main)).toMatchObject({ user: { name: 'Writer', kind: 'agent' } })
    expect(stateIn(main)).not.toHaveProperty('cursor')
    await shows(main, [])
    for (const each of [main, second]) each.close()
  })

  it('[PRES-33] draws the caret after the room was closed and opened again', async () => {
    const { show, open } = await newDocument()
    const first = await open()
    await show({ quote: 'two', at: 'end' })
    first.type(0, 'Zero ')
    await shows(first, [{ before: 'Zero One two' }])
    first.close()
    await eventually(async () => (await metric(server, 'weft_rooms_open')) === 0)
    const again = await open()
    await shows(again, [{ name: 'Writer', before: 'Zero One two' }])
    again.close()
  })
})

describe('carets in a cluster', () => {
  it('[PRES-33] draws the caret at every node, also if REST has set it at another one', async () => {
    const { at, ids, call, stop } = await presenceNodes(2)
    const data = { ...ids, editorId: 'main', contentKey: 'content', type: 'text', data: 'One two three.' }
    dataOf(await at(0).post('/v2/crdt/add', data))
    const token = await at(0).token('ada')
    const editors = [0, 1].map((node) => openEditor(at(node).wsUrl, 'acme/doc/main', token))
    const pages = editors.map((editor) => codeMirror.open(editor))
    const before = () => pages.map((page) => page.carets().map((caret) => `${caret.name}: ${caret.before}`))
    const both = (expected: readonly string[]) =>
      eventually(() => JSON.stringify(before()) === JSON.stringify([expected, expected]), before, 10_000)
    await call(1, 'add', { users: [{ userId: 'bot', name: 'Writer', cursor: { quote: 'two', at: 'end' } }] })
    await both(['Writer: One two'])
    pages[0]?.type(0, 'Zero ')
    await both(['Writer: Zero One two'])
    await call(0, 'update', { users: [{ userId: 'bot', cursor: { quote: 'three' } }] })
    await both(['Writer: Zero One two three'])
    await call(0, 'delete', { userIds: ['bot'] })
    await both([])
    for (const page of pages) page.close()
    for (const editor of editors) editor.close()
    await stop()
  })
})
