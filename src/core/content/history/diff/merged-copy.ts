import * as Y from 'yjs'
import { noGuid } from '../../yjs/create-doc.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import { plainValues } from '../../yjs/sequence-content.ts'
import type { DocumentHistory, HistoryState, ItemPart } from '../document-history.ts'
import { charactersIn, formOfRoot, VersionValues } from '../version-values.ts'

/** How content differs between two versions. */
export type PartChange = 'insert' | 'delete' | 'none'

/** A part of an item that at least one of the two versions contains. */
export interface MergedPart extends Omit<ItemPart, 'state'> {
  readonly change: PartChange
}

const changes: Readonly<Partial<Record<HistoryState, PartChange>>> = {
  unchanged: 'none',
  inserted: 'insert',
  deleted: 'delete',
}

/**
 * Yields the sequence of a type as it is in either version, in the order of the document. In a stretch of changes, the
 * deleted parts are before the inserted ones. Includes marks of texts.
 */
export function* mergedParts(history: DocumentHistory, type: SharedRoot): Generator<MergedPart> {
  const inserted: MergedPart[] = []
  for (const part of storedParts(history, type)) {
    if (part.change === 'insert') {
      inserted.push(part)
      continue
    }
    if (part.change === 'none') yield* inserted.splice(0)
    yield part
  }
  yield* inserted
}

function* storedParts(history: DocumentHistory, { _start }: SharedRoot): Generator<MergedPart> {
  for (let item = _start; item !== null; item = item.right)
    for (const { state, ...part } of history.partsOf(item)) {
      const change = changes[state]
      if (change !== undefined) yield { ...part, change }
    }
}

/** How a copy shows that content was inserted or deleted. */
export interface ChangeMarking {
  /** Returns the text of a changed part. */
  readonly text: (text: string, change: PartChange) => string
  /** Returns the formatting that a changed part gets in addition. */
  readonly format: (change: PartChange) => Readonly<Record<string, unknown>>
  /** Returns the attributes that a changed element gets in addition. */
  readonly attributes: (change: PartChange) => Readonly<Record<string, unknown>>
}

type Attributes = Readonly<Record<string, unknown>>

interface DeltaInsert {
  readonly insert: unknown
  readonly attributes: Attributes
}

/**
 * Copies a root of rich text or text into a new document. The copy contains the content of both versions, so that each
 * format can show it. Unchanged elements have the attributes and the formatting of the later version. Call `destroy`
 * after use.
 */
export function copyMerged(history: DocumentHistory, contentKey: string, marking: ChangeMarking): Y.Doc {
  const doc = new Y.Doc({ ...noGuid, gc: false })
  const root = history.doc.share.get(contentKey)
  if (root === undefined) return doc
  const copier = new MergedCopier(history, marking)
  doc.transact(() => {
    if (formOfRoot(history.doc, contentKey) === 'xml')
      doc.getXmlFragment(contentKey).insert(0, copier.nodes(root))
    else copier.write(doc.get(contentKey, Y.XmlText), root, 'none')
  })
  return doc
}

class MergedCopier {
  readonly #history: DocumentHistory
  readonly #marking: ChangeMarking
  readonly #before: VersionValues
  readonly #after: VersionValues

  constructor(history: DocumentHistory, marking: ChangeMarking) {
    this.#history = history
    this.#marking = marking
    this.#before = new VersionValues(history, 'from', Number.POSITIVE_INFINITY)
    this.#after = new VersionValues(history, 'to', Number.POSITIVE_INFINITY)
  }

  nodes(type: SharedRoot): (Y.XmlElement | Y.XmlText)[] {
    const nodes: (Y.XmlElement | Y.XmlText)[] = []
    for (const { item, change } of mergedParts(this.#history, type)) {
      if (!(item.content instanceof Y.ContentType)) continue
      const node = this.#node(item.content.type, change)
      if (node !== null) nodes.push(node)
    }
    return nodes
  }

  /** Writes the content and the attributes of a text into `text`. */
  write(text: Y.XmlText, from: SharedRoot, change: PartChange): void {
    for (const [name, value] of this.#entries(from, change)) text.setAttribute(name, value)
    text.applyDelta(this.#delta(from))
  }

  #node(type: SharedRoot, change: PartChange): Y.XmlElement | Y.XmlText | null {
    if (type instanceof Y.XmlElement) {
      const element = new Y.XmlElement(type.nodeName)
      for (const [name, value] of this.#entries(type, change)) element.setAttribute(name, value as string)
      for (const [name, value] of Object.entries(this.#marking.attributes(change)))
        element.setAttribute(name, value as string)
      element.insert(0, this.nodes(type))
      return element
    }
    if (!(type instanceof Y.Text)) return null
    const text = new Y.XmlText()
    this.write(text, type, change)
    return text
  }

  *#entries({ _map }: SharedRoot, change: PartChange): Generator<readonly [name: string, value: unknown]> {
    for (const [name, last] of _map) {
      const entry = (change === 'delete' ? this.#before : this.#after).entry(last)
      const [value] = entry === null ? [] : plainValues(entry.item.content, entry.offset, 1)
      if (value !== undefined) yield [name, value]
    }
  }

  #delta(type: SharedRoot): DeltaInsert[] {
    const [before, after] = [new FormatState(), new FormatState()]
    const inserts: DeltaInsert[] = []
    for (const { item, offset, length, change } of mergedParts(this.#history, type)) {
      const { content } = item
      if (content instanceof Y.ContentFormat) {
        if (change !== 'insert') before.set(content.key, content.value)
        if (change !== 'delete') after.set(content.key, content.value)
        continue
      }
      const insert = this.#insertOf(item, offset, length, change)
      if (insert === null) continue
      const formats = (change === 'delete' ? before : after).formats
      inserts.push({ insert, attributes: { ...formats, ...this.#marking.format(change) } })
    }
    return inserts
  }

  #insertOf(item: Y.Item, offset: number, length: number, change: PartChange): unknown {
    const { content } = item
    if (content instanceof Y.ContentString) {
      const text = this.#marking.text(charactersIn(item, offset, length).toWellFormed(), change)
      return text === '' ? null : text
    }
    if (content instanceof Y.ContentType) return this.#node(content.type, change)
    return content instanceof Y.ContentEmbed ? content.embed : null
  }
}

/** The formatting at one place of a text. A new object is made only if the formatting changes. */
class FormatState {
  formats: Attributes = {}

  set(name: string, value: unknown): void {
    const { [name]: _, ...others } = this.formats
    this.formats = value === null ? others : { ...others, [name]: value }
  }
}
