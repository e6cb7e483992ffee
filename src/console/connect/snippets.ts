import type { EditorAddress } from '../documents/editor.ts'
import { jsLiteral, type Language, restCallCode } from './rest-call-code.ts'

export const editorLibraries = [
  ['y-websocket', 'y-websocket'],
  ['hocuspocus', 'Hocuspocus provider'],
  ['tiptap', 'Tiptap'],
  ['prosemirror', 'ProseMirror'],
  ['codemirror', 'CodeMirror'],
  ['quill', 'Quill'],
  ['blocknote', 'BlockNote'],
  ['lexical', 'Lexical (React)'],
  ['slate', 'Slate (React)'],
] as const

export type EditorLibrary = (typeof editorLibraries)[number][0]

/** Code samples that connect to one editor of this server. */
interface Snippets {
  /** Command that installs the packages of the editor library. */
  readonly install: string
  /** Code of the page. It expects a variable `token`. */
  readonly editor: string
  /** Backend code that requests a token. */
  readonly token: string
  /** Backend code that writes content that the editor can show. */
  readonly write: string
}

/** Content that each editor library expects: the root, its type and a sample. */
const contents: Readonly<
  Record<EditorLibrary, { readonly type: string; readonly contentKey: string; readonly data: unknown }>
> = {
  'y-websocket': { type: 'text', contentKey: 'content', data: 'Written by a backend.' },
  hocuspocus: { type: 'text', contentKey: 'content', data: 'Written by a backend.' },
  tiptap: { type: 'xml', contentKey: 'default', data: '<paragraph>Written by a backend.</paragraph>' },
  prosemirror: {
    type: 'xml',
    contentKey: 'prosemirror',
    data: '<paragraph>Written by a backend.</paragraph>',
  },
  codemirror: { type: 'text', contentKey: 'content', data: 'Written by a backend.' },
  quill: { type: 'delta', contentKey: 'content', data: [{ insert: 'Written by a backend.\n' }] },
  blocknote: {
    type: 'xml',
    contentKey: 'document-store',
    data:
      '<blockGroup><blockContainer id="first"><paragraph>Written by a backend.</paragraph></blockContainer>' +
      '</blockGroup>',
  },
  lexical: {
    type: 'xmltext',
    contentKey: 'root',
    data: {
      delta: [
        {
          text: {
            attributes: { __type: 'paragraph' },
            delta: [{ map: { __type: 'text' } }, { insert: 'Written by a backend.' }],
          },
        },
      ],
    },
  },
  slate: {
    type: 'xmltext',
    contentKey: 'content',
    data: {
      delta: [{ text: { attributes: { type: 'paragraph' }, delta: [{ insert: 'Written by a backend.' }] } }],
    },
  },
}

/** A root of an editor with content, as `/v2/crdt/get` lists it with the format `roots`. */
export interface PresentRoot {
  readonly contentKey: string
  readonly type: string
}

const noRoot: PresentRoot = { contentKey: 'content', type: 'text' }

const isProvider = (library: EditorLibrary): boolean => library === 'y-websocket' || library === 'hocuspocus'

/** Returns whether an editor library can show a root. A provider alone can show any root. */
export function showsRoot(library: EditorLibrary, { contentKey, type }: PresentRoot): boolean {
  if (isProvider(library)) return true
  const expected = contents[library]
  return expected.contentKey === contentKey && (expected.type === 'delta' ? 'text' : expected.type) === type
}

/** Returns the editor library that fits a root best. */
export function libraryOf(root: PresentRoot): EditorLibrary {
  const fits = editorLibraries.find(([library]) => !isProvider(library) && showsRoot(library, root))
  return root.type === 'text' ? 'y-websocket' : (fits?.[0] ?? 'y-websocket')
}

const written = 'Written by a backend.'

/** Returns an edit that adds content to a root and keeps the present content. Null for types without such an edit. */
function addition(type: string): object | null {
  if (type === 'map') return { patch: [{ op: 'add', path: '/written', value: 'by a backend' }] }
  if (type === 'array') return { patch: [{ op: 'add', path: '/-', value: written }] }
  return type === 'xmltext' ? null : { insert: { at: 'end', content: written } }
}

/** The call that writes content that an editor library can show. */
function writeCall(
  address: EditorAddress,
  library: EditorLibrary,
  present: PresentRoot | null,
): readonly [path: string, data: object] {
  const edit = present === null || !showsRoot(library, present) ? null : addition(present.type)
  if (present === null || edit === null)
    return ['/v2/crdt/update', { ...address, ...contents[library], upsert: true }]
  return ['/v2/crdt/edit', { ...address, contentKey: present.contentKey, edits: [edit] }]
}

const packages: Readonly<Record<EditorLibrary, string>> = {
  'y-websocket': 'yjs y-websocket',
  hocuspocus: 'yjs @hocuspocus/provider',
  tiptap:
    '@tiptap/core @tiptap/pm @tiptap/starter-kit @tiptap/y-tiptap @tiptap/extension-collaboration ' +
    '@tiptap/extension-collaboration-caret yjs @hocuspocus/provider',
  prosemirror:
    'prosemirror-commands prosemirror-keymap prosemirror-model prosemirror-schema-basic prosemirror-state ' +
    'prosemirror-view y-prosemirror y-protocols yjs y-websocket',
  codemirror: 'codemirror @codemirror/state y-codemirror.next yjs y-websocket',
  // y-quill 1 requires version 4 of quill-cursors.
  quill: 'quill quill-cursors@4 y-quill yjs y-websocket',
  blocknote: '@blocknote/core yjs y-websocket',
  lexical: 'lexical @lexical/react @lexical/yjs react react-dom yjs y-websocket',
  slate: '@slate-yjs/core slate slate-react slate-dom react react-dom yjs y-websocket',
}

/**
 * Returns the code samples for an editor.
 * @param url address at which clients reach the server
 * @param present the root of an editor with content; null without content
 */
export function snippetsFor(
  url: string,
  address: EditorAddress,
  { library, language }: { readonly library: EditorLibrary; readonly language: Language },
  present: PresentRoot | null = null,
): Snippets {
  const base = url.replace(/\/$/, '')
  const { organizationId, documentId } = address
  const resource = { type: 'document', id: documentId, organizationId, accessRole: 'editor' }
  const token = {
    userId: 'ada',
    userProperties: { name: 'Ada', email: 'ada@example.com' },
    permissions: { resources: [resource] },
  }
  const call = restCallCode[language]
  return {
    install: `npm install ${packages[library]}`,
    editor: editorCode[library](placeOf(base, address, present ?? noRoot)),
    token: call(base, '/v2/auth/generate_token', token),
    write: call(base, ...writeCall(address, library, present)),
  }
}

/** URLs and names in the form of JavaScript literals. */
interface Place {
  readonly websocket: string
  readonly hocuspocus: string
  readonly name: string
  /** Code that prints the content after each change. */
  readonly printing: string
}

function placeOf(
  base: string,
  { organizationId, documentId, editorId }: EditorAddress,
  root: PresentRoot,
): Place {
  const socket = base.replace(/^http/i, 'ws')
  return {
    websocket: jsLiteral(`${socket}/sync`),
    hocuspocus: jsLiteral(`${socket}/hocuspocus`),
    name: jsLiteral([organizationId, documentId, editorId].map(encodeURIComponent).join('/')),
    printing: printingCode(root),
  }
}

/** Types of roots of which Y.Doc has a method. */
const getters: Readonly<Record<string, string>> = {
  text: 'getText',
  map: 'getMap',
  array: 'getArray',
  xml: 'getXmlFragment',
}

function printingCode({ type, contentKey }: PresentRoot): string {
  const key = jsLiteral(contentKey)
  const getter = getters[type]
  const root = getter === undefined ? `doc.get(${key}, Y.XmlText)` : `doc.${getter}(${key})`
  if (type === 'text')
    return `const text = ${root}
text.observe(() => console.log(text.toString()))`
  return `const content = ${root}
content.observeDeep(() => console.log(content.toJSON()))`
}

const overWebsocket = ({ websocket, name }: Place): string => `const doc = new Y.Doc()
const provider = new WebsocketProvider(${websocket}, ${name}, doc, {
  params: { token },
})`

const overHocuspocus = ({ hocuspocus, name }: Place): string => `const doc = new Y.Doc()
const provider = new HocuspocusProvider({
  url: ${hocuspocus},
  name: ${name},
  token,
  document: doc,
})`

const editorCode: Readonly<Record<EditorLibrary, (place: Place) => string>> = {
  'y-websocket': (place) => `import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'

${overWebsocket(place)}
${place.printing}
`,
  hocuspocus: (place) => `import { HocuspocusProvider } from '@hocuspocus/provider'
import * as Y from 'yjs'

${overHocuspocus(place)}
${place.printing}
`,
  tiptap: (place) => `import { HocuspocusProvider } from '@hocuspocus/provider'
import { Editor } from '@tiptap/core'
import { Collaboration } from '@tiptap/extension-collaboration'
import { CollaborationCaret } from '@tiptap/extension-collaboration-caret'
import { StarterKit } from '@tiptap/starter-kit'
import * as Y from 'yjs'

${overHocuspocus(place)}
new Editor({
  element: document.querySelector('#editor'),
  extensions: [
    // Yjs has its own undo.
    StarterKit.configure({ undoRedo: false }),
    Collaboration.configure({ document: doc }),
    CollaborationCaret.configure({ provider, user: { name: 'Ada', color: '#a5e0f6' } }),
  ],
})
`,
  prosemirror: (place) => `import { baseKeymap } from 'prosemirror-commands'
import { keymap } from 'prosemirror-keymap'
import { schema } from 'prosemirror-schema-basic'
import { EditorState } from 'prosemirror-state'
import { EditorView } from 'prosemirror-view'
import { redo, undo, yCursorPlugin, ySyncPlugin, yUndoPlugin } from 'y-prosemirror'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import 'prosemirror-view/style/prosemirror.css'

${overWebsocket(place)}
provider.awareness.setLocalStateField('user', { name: 'Ada', color: '#0b57a4' })
new EditorView(document.querySelector('#editor'), {
  state: EditorState.create({
    schema,
    plugins: [
      ySyncPlugin(doc.getXmlFragment('prosemirror')),
      yCursorPlugin(provider.awareness),
      yUndoPlugin(),
      keymap({ 'Mod-z': undo, 'Mod-y': redo, 'Mod-Shift-z': redo }),
      keymap(baseKeymap),
    ],
  }),
})
`,
  codemirror: (place) => `import { EditorState } from '@codemirror/state'
import { basicSetup, EditorView } from 'codemirror'
import { yCollab } from 'y-codemirror.next'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'

${overWebsocket(place)}
const text = doc.getText('content')
new EditorView({
  parent: document.querySelector('#editor'),
  state: EditorState.create({
    doc: text.toString(),
    extensions: [basicSetup, yCollab(text, provider.awareness)],
  }),
})
`,
  quill: (place) => `import Quill from 'quill'
import QuillCursors from 'quill-cursors'
import { QuillBinding } from 'y-quill'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import 'quill/dist/quill.snow.css'

${overWebsocket(place)}
provider.awareness.setLocalStateField('user', { name: 'Ada', color: '#0b57a4' })
Quill.register('modules/cursors', QuillCursors)
const quill = new Quill('#editor', {
  theme: 'snow',
  // Undo reverts changes of this user only.
  modules: { cursors: true, history: { userOnly: true } },
})
// Before the first sync, Quill would write its own empty line.
provider.once('synced', () => new QuillBinding(doc.getText('content'), quill, provider.awareness))
`,
  blocknote: (place) => `import { BlockNoteEditor } from '@blocknote/core'
import { withCollaboration } from '@blocknote/core/yjs'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'

${overWebsocket(place)}
const editor = BlockNoteEditor.create(
  withCollaboration({
    collaboration: {
      provider,
      fragment: doc.getXmlFragment('document-store'),
      user: { name: 'Ada', color: '#0b57a4' },
    },
  }),
)
editor.mount(document.querySelector('#editor'))
`,
  lexical: ({
    websocket,
    name,
  }) => `import { LexicalCollaboration } from '@lexical/react/LexicalCollaborationContext'
import { CollaborationPlugin } from '@lexical/react/LexicalCollaborationPlugin'
import { LexicalComposer } from '@lexical/react/LexicalComposer'
import { ContentEditable } from '@lexical/react/LexicalContentEditable'
import { LexicalErrorBoundary } from '@lexical/react/LexicalErrorBoundary'
import { RichTextPlugin } from '@lexical/react/LexicalRichTextPlugin'
import { createRoot } from 'react-dom/client'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'

// The plugin connects the provider.
function providerFactory(id, docs) {
  const doc = new Y.Doc()
  docs.set(id, doc)
  return new WebsocketProvider(${websocket}, id, doc, {
    connect: false,
    params: { token },
  })
}

// The content comes from Yjs, so the editor starts without any.
const config = { namespace: 'weft', editorState: null, onError: console.error }
// Creates the first paragraph of an empty document. Only one client of a document may do so.
const shouldBootstrap = true
createRoot(document.querySelector('#editor')).render(
  <LexicalCollaboration>
    <LexicalComposer initialConfig={config}>
      <RichTextPlugin contentEditable={<ContentEditable />} ErrorBoundary={LexicalErrorBoundary} />
      <CollaborationPlugin
        id={${name}}
        providerFactory={providerFactory}
        shouldBootstrap={shouldBootstrap}
        username="Ada"
      />
    </LexicalComposer>
  </LexicalCollaboration>,
)
`,
  slate: (place) => `import { withCursors, withYHistory, withYjs, YjsEditor } from '@slate-yjs/core'
import { useEffect } from 'react'
import { createRoot } from 'react-dom/client'
import { createEditor, Transforms } from 'slate'
import { Editable, Slate, withReact } from 'slate-react'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'

${overWebsocket(place)}
const shared = withYHistory(withYjs(createEditor(), doc.get('content', Y.XmlText)))
const editor = withReact(withCursors(shared, provider.awareness, { data: { name: 'Ada' } }))

// Slate requires at least one element.
const { normalizeNode } = editor
editor.normalizeNode = (entry) => {
  if (editor.children.length > 0) return normalizeNode(entry)
  Transforms.insertNodes(editor, { type: 'paragraph', children: [{ text: '' }] }, { at: [0] })
}

function SharedEditor() {
  useEffect(() => {
    YjsEditor.connect(editor)
    return () => YjsEditor.disconnect(editor)
  }, [])
  return (
    <Slate editor={editor} initialValue={[]}>
      <Editable />
    </Slate>
  )
}

// Before the first sync, Slate would add an element to a document that has some.
provider.once('synced', () => createRoot(document.querySelector('#editor')).render(<SharedEditor />))
`,
}
