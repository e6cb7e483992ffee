import { createHeadlessEditor } from '@lexical/headless'
import { createBinding, type Provider, syncLexicalUpdateToYjs, syncYjsChangesToLexical } from '@lexical/yjs'
import { slateNodesToInsertDelta, yTextToSlateElement } from '@slate-yjs/core'
import type { LexicalEditor } from 'lexical'
import type { Node } from 'slate'
import * as Y from 'yjs'
import { loaded } from './support.ts'

export const slateKey = 'content'

export function slateDoc(nodes: Node[]): Y.Doc {
  const author = new Y.Doc()
  author.get(slateKey, Y.XmlText).applyDelta(slateNodesToInsertDelta(nodes))
  return loaded(author)
}

export const slateNodes = (doc: Y.Doc): unknown =>
  yTextToSlateElement(loaded(doc).get(slateKey, Y.XmlText)).children

export const lexicalKey = 'root'

const noAwareness = {
  getLocalState: () => null,
  getStates: () => new Map(),
  off: () => undefined,
  on: () => undefined,
  setLocalState: () => undefined,
  setLocalStateField: () => undefined,
}
const provider: Provider = {
  awareness: noAwareness,
  connect: () => undefined,
  disconnect: () => undefined,
  off: () => undefined,
  on: () => undefined,
}

const editorOf = (): LexicalEditor =>
  createHeadlessEditor({
    onError: (error) => {
      throw error
    },
  })

/** The document that Lexical creates from the content that `write` writes. */
export function lexicalDoc(write: () => void): Y.Doc {
  const author = new Y.Doc()
  const editor = editorOf()
  const binding = createBinding(editor, provider, lexicalKey, author, new Map([[lexicalKey, author]]))
  editor.registerUpdateListener(
    ({ prevEditorState, editorState, dirtyElements, dirtyLeaves, normalizedNodes, tags }) =>
      syncLexicalUpdateToYjs(
        binding,
        provider,
        prevEditorState,
        editorState,
        dirtyElements,
        dirtyLeaves,
        normalizedNodes,
        tags,
      ),
  )
  editor.update(write, { discrete: true })
  return loaded(author)
}

/** The state of Lexical after it has received a document. */
export async function lexicalState(doc: Y.Doc): Promise<unknown> {
  const received = new Y.Doc()
  const editor = editorOf()
  const binding = createBinding(editor, provider, lexicalKey, received, new Map([[lexicalKey, received]]))
  binding.root.getSharedType().observeDeep((events, transaction) => {
    if (transaction.origin !== binding) syncYjsChangesToLexical(binding, provider, events, false)
  })
  Y.applyUpdate(received, Y.encodeStateAsUpdate(doc))
  await Promise.resolve()
  return editor.getEditorState().toJSON()
}
