import { type Extensions, getSchema } from '@tiptap/core'
import { Image } from '@tiptap/extension-image'
import { TaskItem, TaskList } from '@tiptap/extension-list'
import { TableKit } from '@tiptap/extension-table'
import { MarkdownManager } from '@tiptap/markdown'
import { StarterKit } from '@tiptap/starter-kit'
import { defaultMarkdownParser, schema as markdownSchema } from 'prosemirror-markdown'
import { DOMParser, type Schema } from 'prosemirror-model'
import { yXmlFragmentToProseMirrorRootNode } from 'y-prosemirror'
import * as Y from 'yjs'
import { replaceContent } from '../../src/core/content/replace.ts'

/** A Markdown parser of an editor library. */
export interface MarkdownParser {
  /** Returns the document of a text, as JSON of ProseMirror. */
  parse(text: string): PmNode
  /** Returns the document that the server stores for a text, as the editor reads it. */
  stored(text: string): PmNode
}

export interface PmNode {
  readonly type: string
  readonly attrs?: Readonly<Record<string, unknown>>
  readonly content?: readonly PmNode[]
  readonly marks?: readonly PmNode[]
  readonly text?: string
}

function storedIn(contentKey: string, schema: Schema, text: string): PmNode {
  const doc = new Y.Doc()
  replaceContent(doc, { type: 'markdown', contentKey, data: text })
  const client = new Y.Doc()
  Y.applyUpdate(client, Y.encodeStateAsUpdate(doc))
  return yXmlFragmentToProseMirrorRootNode(client.getXmlFragment(contentKey), schema).toJSON() as PmNode
}

const extensions: Extensions = [
  StarterKit.configure({ undoRedo: false }),
  Image,
  TableKit,
  TaskList,
  TaskItem.configure({ nested: true }),
]
const tiptapSchema = getSchema(extensions)
const manager = new MarkdownManager({ extensions })

/** Returns the document that Tiptap reads from HTML. */
export function parsedByTiptap(html: string): PmNode {
  const element = document.createElement('div')
  element.innerHTML = html
  return DOMParser.fromSchema(tiptapSchema).parse(element).toJSON() as PmNode
}

export const markdownParsers: Readonly<Record<'@tiptap/markdown' | 'prosemirror-markdown', MarkdownParser>> =
  {
    '@tiptap/markdown': {
      parse: (text) => tiptapSchema.nodeFromJSON(manager.parse(text)).toJSON() as PmNode,
      stored: (text) => storedIn('default', tiptapSchema, text),
    },
    'prosemirror-markdown': {
      parse: (text) => defaultMarkdownParser.parse(text).toJSON() as PmNode,
      stored: (text) => storedIn('prosemirror', markdownSchema, text),
    },
  }

/** Names of nodes whose text keeps its white space. */
const codeNames: readonly string[] = ['codeBlock', 'code_block']

/**
 * Returns a document in the form in which the parsers and the server are compared. The form leaves out the
 * differences that `generalDifferences` lists.
 */
export function comparable(node: PmNode): unknown {
  const { type, text, content = [], marks = [], attrs = {} } = node
  if (text !== undefined) return { text, marks: comparableMarks(marks) }
  const isCode = codeNames.includes(type)
  const children = content
    .map(comparable)
    .filter((child) => !isEqual(child, { type: 'paragraph', attrs: {}, content: [] }))
  return { type, attrs: comparableAttributes(attrs), content: isCode ? content : withoutLayout(children) }
}

interface ComparableText {
  readonly text: string
  readonly marks: readonly unknown[]
}

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

const comparableMarks = (marks: readonly PmNode[]): readonly unknown[] => {
  const shown = marks.map(({ type, attrs = {} }) =>
    JSON.stringify({ type, attrs: comparableAttributes(attrs) }),
  )
  return [...new Set(shown)].sort()
}

const comparableAttributes = (attrs: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(
    Object.entries(attrs)
      .filter(([name, value]) => name !== 'tight' && value !== null && value !== '')
      .map(([name, value]) => [name, name === 'href' || name === 'src' ? decoded(String(value)) : value]),
  )

function decoded(address: string): string {
  try {
    return decodeURI(encodeURI(decodeURI(address)))
  } catch {
    return address
  }
}

/** Joins texts of the same formatting, and collapses white space as a browser does. */
function withoutLayout(children: readonly unknown[]): unknown[] {
  const joined: unknown[] = []
  for (const child of children) {
    const last = joined.at(-1)
    if (isText(child) && isText(last) && isEqual(child.marks, last.marks))
      joined[joined.length - 1] = { ...last, text: last.text + child.text }
    else joined.push(child)
  }
  return joined
    .map((child, index) => {
      if (!isText(child) || child.marks.some((mark) => String(mark).includes('"code"'))) return child
      let text = child.text.replace(/[ \n]+/g, ' ')
      if (!isText(joined[index - 1])) text = text.replace(/^ /, '')
      if (!isText(joined[index + 1])) text = text.replace(/ $/, '')
      return { ...child, text }
    })
    .filter((child) => !isText(child) || child.text !== '')
}

const isText = (node: unknown): node is ComparableText =>
  typeof (node as ComparableText | undefined)?.text === 'string'
