// @vitest-environment dom
import { toggleMark } from 'prosemirror-commands'
import { schema } from 'prosemirror-schema-basic'
import { type Command, EditorState, TextSelection } from 'prosemirror-state'
import { EditorView } from 'prosemirror-view'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { initProseMirrorDoc, ySyncPlugin } from 'y-prosemirror'
import { endpointUrl } from '../../../src/client/endpoint/endpoint-request.ts'
import { DocumentProvider } from '../../../src/client/provider/index.ts'
import {
  acceptSuggestion,
  rejectSuggestion,
  SuggestionStore,
  suggestionsPlugin,
} from '../../../src/client/suggestions/index.ts'
import { eventually } from '../../support/clients/clients.ts'
import { settled } from '../../support/clients/provider.ts'
import { useEventsOfNode } from '../../support/clients/react-page.ts'
import {
  type CommentApplication,
  startCommentApplication,
} from '../../support/servers/comment-application.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

useEventsOfNode()

let server: TestServer
let application: CommentApplication
beforeAll(async () => {
  server = await startTestServer()
  application = await startCommentApplication(server)
})
afterAll(async () => {
  await application?.stop()
  await server?.stop()
})

const paragraphs = (...texts: string[]): string =>
  texts.map((text) => `<paragraph>${text}</paragraph>`).join('')

let documents = 0
async function newDocument(data = paragraphs('One two three.', 'Four <strong>five</strong> six.', 'Seven.')) {
  const ids = { organizationId: 'acme', documentId: `suggested ${++documents}` }
  const post = async (path: string, members: object): Promise<unknown> =>
    dataOf(await server.post(`/v2/crdt/${path}`, { ...ids, editorId: 'main', ...members }))
  await post('add', { contentKey: 'prosemirror', type: 'xml', data })
  const suggestionsOf = (name: string): SuggestionStore =>
    new SuggestionStore(application.endpointOf(name), ids, () => 'teal')
  const open = async (name: string, editorId?: string): Promise<Page> => {
    const suggestions = suggestionsOf(name)
    const provider = new DocumentProvider({
      url: server.url,
      WebSocket: WebSocket as never,
      retryMaxMs: 300,
      ...ids,
      ...(editorId !== undefined && { editorId }),
      tokenUrl: endpointUrl(application.endpointOf(name), 'token'),
    })
    await settled(provider)
    return new Page(provider, suggestions, editorId)
  }
  return { ids, post, suggestionsOf, open }
}

/** An editor with the suggestions of a user. */
class Page {
  readonly view: EditorView
  readonly suggestions: SuggestionStore
  readonly provider: DocumentProvider

  constructor(provider: DocumentProvider, suggestions: SuggestionStore, editorId: string | undefined) {
    this.provider = provider
    this.suggestions = suggestions
    suggestions.listenTo(provider)
    const fragment = provider.doc.getXmlFragment('prosemirror')
    const { doc, mapping } = initProseMirrorDoc(fragment, schema)
    const plugins = [suggestionsPlugin(suggestions, editorId), ySyncPlugin(fragment, { mapping })]
    const place = document.body.appendChild(document.createElement('div'))
    this.view = new EditorView(place, { state: EditorState.create({ doc, schema, plugins }) })
  }

  text(): string {
    const { doc } = this.view.state
    return doc.textBetween(0, doc.content.size, '|')
  }

  /** Selects from the first letter of one text to the last letter of another one. */
  select(first: string, last = first): this {
    const { state } = this.view
    const find = (sought: string): number => {
      let found = -1
      state.doc.descendants(({ text = '' }, at) => {
        if (text.includes(sought)) found = at + text.indexOf(sought)
      })
      return found
    }
    const selection = TextSelection.create(state.doc, find(first), find(last) + last.length)
    this.view.dispatch(state.tr.setSelection(selection))
    return this
  }

  type(text: string): void {
    const { state } = this.view
    this.view.dispatch(text === '' ? state.tr.deleteSelection() : state.tr.insertText(text))
  }

  /** Returns the marked text of each suggestion, and the text that the editor does not have. */
  shown(): readonly (readonly [marked: string, other: string])[] {
    const parts = new Map<string, [string, string]>()
    for (const element of this.view.dom.querySelectorAll<HTMLElement>('[data-suggestion]')) {
      const id = element.dataset.suggestion ?? ''
      const known = parts.get(id) ?? ['', '']
      parts.set(id, known)
      const isWidget = element.classList.contains('weft-suggestion-widget')
      if (isWidget) known[1] += element.querySelector('ins, del')?.textContent ?? ''
      else known[0] += element.textContent
    }
    return [...parts.values()]
  }

  async shows(...expected: readonly (readonly [marked: string, other: string])[]): Promise<void> {
    const seen = (): string => JSON.stringify(this.shown())
    await eventually(() => seen() === JSON.stringify(expected), seen)
  }

  button(label: string, index = 0): HTMLButtonElement {
    return [...this.view.dom.querySelectorAll<HTMLButtonElement>(`[aria-label="${label}"]`)][
      index
    ] as HTMLButtonElement
  }

  close(): void {
    this.view.destroy()
    this.provider.destroy()
  }
}

it('[SUG-1] shows replaced, inserted and deleted text at its place, in the editor and in the branch', async () => {
  const { suggestionsOf, open } = await newDocument()
  const editorId = await suggestionsOf('sue').editorFor(true)
  expect(editorId).toBe('main@sue')
  const [ada, sue] = [await open('ada'), await open('sue', editorId)]
  sue.select('two').type('2')
  sue.select('six.').type('six and more.')
  sue.select('Seven.').type('')
  await sue.shows(['2', 'two'], [' and more', ''], ['', 'Seven.'])
  await ada.shows(['two', '2'], ['', ' and more'], ['Seven.', ''])
  expect(ada.text()).toBe('One two three.|Four five six.|Seven.')
  // Places follow own and remote changes.
  ada.select('One').type('Now one')
  await eventually(() => sue.text() === 'Now one 2 three.|Four five six and more.|')
  await sue.shows(['2', 'two'], [' and more', ''], ['', 'Seven.'])
  expect(ada.shown()).toEqual([
    ['two', '2'],
    ['', ' and more'],
    ['Seven.', ''],
  ])
  for (const page of [ada, sue]) page.close()
})

it('[SUG-1] shows formatting, and text that is deleted over the border of blocks', async () => {
  const { suggestionsOf, open } = await newDocument()
  const editorId = await suggestionsOf('sue').editorFor(true)
  const [ada, sue] = [await open('ada'), await open('sue', editorId)]
  const { view } = sue.select('One')
  toggleMark(schema.marks.em)(view.state, view.dispatch)
  sue.select('six.', 'Seven.').type('')
  await eventually(() => sue.text() === 'One two three.|Four five ')
  await eventually(() => ada.shown().length >= 2)
  const [formatted, ...deleted] = ada.shown()
  expect(formatted).toEqual(['One', ''])
  expect(ada.view.dom.querySelector('.weft-formatting')?.textContent).toBe('One')
  expect(deleted.map(([marked]) => marked).join('')).toBe('six.Seven.')
  expect(
    sue
      .shown()
      .map(([, other]) => other.replaceAll('\n', ''))
      .join(''),
  ).toBe('six.Seven.')
  for (let count = ada.shown().length; count > 0; count -= 1) {
    ada.button('Accept').click()
    await eventually(() => ada.shown().length < count)
  }
  await eventually(() => ada.text() === sue.text())
  expect(ada.view.dom.querySelector('em')?.textContent).toBe('One')
  for (const page of [ada, sue]) page.close()
})

it('[SUG-2] accepts and rejects a suggestion in place, by its buttons and by commands', async () => {
  const { suggestionsOf, open } = await newDocument()
  const [ada, vera] = [await open('ada'), await open('vera')]
  const sue = await open('sue', await suggestionsOf('sue').editorFor(true))
  sue.select('One').type('Uno')
  sue.select('three').type('3')
  sue.select('Four').type('Quattro')
  await ada.shows(['One', 'Uno'], ['three', '3'], ['Four', 'Quattro'])
  ada.button('Accept').click()
  for (const page of [ada, vera, sue]) await eventually(() => page.text().startsWith('Uno '))
  await ada.shows(['three', '3'], ['Four', 'Quattro'])
  const atSelection = ({ view }: Page, command: Command): boolean => command(view.state, view.dispatch)
  expect(atSelection(ada.select('Seven'), rejectSuggestion())).toBe(false)
  expect(atSelection(ada.select('three'), rejectSuggestion())).toBe(true)
  await eventually(() => sue.text() === 'Uno two three.|Quattro five six.|Seven.')
  await vera.shows(['Four', 'Quattro'])
  const [left] = vera.suggestions.get().suggestions
  expect(atSelection(vera, acceptSuggestion(left?.hunkId))).toBe(false)
  expect([vera.button('Accept'), sue.button('Accept')]).toEqual([undefined, undefined])
  await sue.shows(['Quattro', 'Four'])
  sue.button('Reject').click()
  for (const page of [ada, vera, sue]) await page.shows()
  expect([ada.text(), sue.text()]).toEqual(Array(2).fill('Uno two three.|Four five six.|Seven.'))
  for (const page of [ada, vera, sue]) page.close()
})

it('[SUG-3] shows the suggestions of an offline user after the return, with the color of the presence', async () => {
  const { suggestionsOf, open } = await newDocument()
  const ada = await open('ada')
  const sue = await open('sue', await suggestionsOf('sue').editorFor(true))
  sue.provider.setUser({ color: 'tomato' })
  sue.provider.disconnect()
  sue.select('two').type('2')
  ada.select('One').type('Ein')
  sue.provider.connect()
  await ada.shows(['two', '2'])
  await sue.shows(['2', 'two'])
  expect(sue.text()).toBe('Ein 2 three.|Four five six.|Seven.')
  const colorIn = ({ view }: Page): string | undefined =>
    view.dom.querySelector<HTMLElement>('.weft-suggestion')?.getAttribute('style') ?? undefined
  expect(colorIn(ada)).toContain('teal')
  await eventually(() => colorIn(sue)?.includes('tomato') === true)
  for (const page of [ada, sue]) page.close()
})
