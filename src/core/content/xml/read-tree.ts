import * as Y from 'yjs'
import { memoized } from '../../base/maps.ts'
import { Output } from '../output.ts'
import { type PlainTextState, readTextState } from '../text/text-state.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { MarkCursor, type MarkSet, MarkTable } from './mark-sets.ts'
import { byName, xmlName } from './names.ts'
import { ObservedSchema } from './observed-schema.ts'
import {
  type LiveElement,
  type LiveNode,
  NodeInterner,
  type TextPart,
  type XmlParent,
  XmlRunBuilder,
} from './tree.ts'
import type { ValueCodec } from './value-codec.ts'

/** The names, the marks and the numbers of nodes of a root. Trees that are compared have the same scope. */
export class XmlScope {
  readonly vocabulary: ObservedSchema
  readonly marks: MarkTable
  readonly numbers = new NodeInterner()

  /** Parameters: as for `ObservedSchema`. */
  constructor(...given: ConstructorParameters<typeof ObservedSchema>) {
    this.vocabulary = new ObservedSchema(...given)
    this.marks = new MarkTable(this.vocabulary)
  }
}

/** The view that a format has of a root, with the shared types that it represents. */
export interface LiveTree {
  readonly root: LiveElement
  /** Number of items of the texts and elements. Deleted items count, because Yjs also passes over them. */
  readonly items: number
}

/**
 * Reads the live elements and texts of a root without changing it, and records their names, types and marks.
 * Text directly in an element, as Yjs 14 stores it, is a text without parts, which cannot be changed. Content
 * that XML cannot express (embeds, hooks, other values) is skipped: it is not shown, and a replacement does not
 * delete it.
 */
export function readTree(root: SharedRoot | undefined, scope: XmlScope, output = new Output()): LiveTree {
  const reader = new TreeReader(scope, output)
  return { root: reader.element(root ?? new Y.XmlFragment(), ''), items: reader.items }
}

/** The children of an element that have been read so far. */
interface Content {
  readonly children: LiveNode[]
  blanks: Map<number, Y.XmlText> | null
  /** Adjacent texts since the last element. */
  parts: TextPart[]
  /** Text directly in the element since the last element or text; null if the element has none. */
  direct: DirectText | null
}

/** Text directly in an element. Formatting continues after the elements that divide it. */
interface DirectText {
  readonly cursor: MarkCursor
  readonly builder: XmlRunBuilder
}

const noPairs: LiveElement['attributes'] = []
const noBlanks: LiveElement['blanks'] = new Map()

class TreeReader {
  items = 0
  readonly #scope: XmlScope
  readonly #output: Output
  readonly #names = new Map<string, string>()

  constructor(scope: XmlScope, output: Output) {
    this.#scope = scope
    this.#output = output
  }

  element(type: XmlParent, name: string): LiveElement {
    const attributes = name === '' ? noPairs : this.#attributes(type, name)
    const content: Content = { children: [], blanks: null, parts: [], direct: null }
    for (let item = type._start; item !== null; item = item.right) {
      this.items += 1
      if (item.deleted) continue
      if (!(item.content instanceof Y.ContentType)) {
        this.#directText(content, item.content)
        continue
      }
      const child: unknown = item.content.type
      if (child instanceof Y.XmlText) {
        this.#endDirectText(content)
        content.parts.push(this.#part(child))
      } else if (child instanceof Y.XmlElement) {
        this.#endText(content)
        this.#endDirectText(content)
        const childName = this.#name(child.nodeName)
        this.#scope.vocabulary.addElement(childName)
        content.children.push(this.element(child, childName))
      }
    }
    this.#endText(content)
    this.#endDirectText(content)
    const { children, blanks } = content
    const element = this.#scope.numbers.element(name, attributes, children)
    return { ...element, children, type, blanks: blanks ?? noBlanks }
  }

  #directText(content: Content, stored: Y.Item['content']): void {
    const isFormat = stored instanceof Y.ContentFormat
    if (!isFormat && !(stored instanceof Y.ContentString)) return
    this.#endText(content)
    content.direct ??= { cursor: new MarkCursor(this.#scope.marks), builder: new XmlRunBuilder() }
    const { cursor, builder } = content.direct
    if (isFormat) cursor.change(stored.key, stored.value)
    else
      builder.add(
        this.#scope.vocabulary.values.toCharacters(stored.str.toWellFormed()),
        this.#scope.marks.shown(cursor.stored),
      )
  }

  #endDirectText({ children, direct }: Content): void {
    const text = direct?.builder.take(this.#scope.numbers) ?? null
    if (text !== null) children.push({ ...text, parts: [] })
  }

  /** Joins the texts since the last element to one node. */
  #endText(content: Content): void {
    const [first] = content.parts
    if (first === undefined) return
    const text = this.#text(content.parts)
    if (text !== null) content.children.push(text)
    else {
      content.blanks ??= new Map()
      content.blanks.set(content.children.length, first.type)
    }
    content.parts = []
  }

  #attributes(type: XmlParent, owner: string): LiveElement['attributes'] {
    if (type._map.size === 0) return noPairs
    const attributes: [string, string][] = []
    for (const [name, item] of type._map) {
      if (item.deleted) continue
      const value: unknown = item.content.getContent()[item.length - 1]
      const text = this.#scope.vocabulary.values.toText(value, this.#output)
      if (text === null) continue
      const shown = this.#name(name)
      this.#scope.vocabulary.addValue(owner, shown, value)
      attributes.push([shown, text])
    }
    return attributes.sort(byName)
  }

  #part(type: Y.XmlText): TextPart {
    const read = readTextState(type)
    this.items += read.items
    const cursor = new MarkCursor(this.#scope.marks)
    const sets = read.runs.map((run) => {
      cursor.enter(run)
      return this.#scope.marks.shown(cursor.stored)
    })
    return { type, state: sayable(read, this.#scope.vocabulary.values), sets }
  }

  #text(parts: readonly TextPart[]): LiveNode | null {
    const builder = new XmlRunBuilder()
    for (const { state, sets } of parts) {
      for (const [index, { start }] of state.runs.entries()) {
        const end = state.runs[index + 1]?.start ?? state.text.length
        builder.add(state.text.slice(start, end).toWellFormed(), sets[index] as MarkSet)
      }
    }
    const text = builder.take(this.#scope.numbers)
    return text === null ? null : { ...text, parts }
  }

  #name = (stored: string): string => memoized(this.#names, stored, () => xmlName(stored))
}

/**
 * Replaces characters that the format does not allow. The placeholder of an unpaired surrogate stays, because Yjs
 * cannot split an item after an unpaired surrogate.
 */
function sayable(state: PlainTextState, values: ValueCodec): PlainTextState {
  const text = values.toCharacters(state.text)
  if (text === state.text) return state
  const kept = text.replace(/\ufffd/g, (found, at: number) =>
    state.text[at] === '\ud800' ? '\ud800' : found,
  )
  return { ...state, text: kept }
}
