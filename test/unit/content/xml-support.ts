import * as Y from 'yjs'
import { ApiError } from '../../../src/core/base/errors.ts'
import type { ReplacementResult } from '../../../src/core/content/replacement-result.ts'
import { serializeXml } from '../../../src/core/content/xml/serialize.ts'
import { checkXml, replaceTree } from '../../../src/core/content/xml/xml.ts'
import { loaded } from './support.ts'

/** A root of a rich-text editor, and another root. */
export const richKey = 'default'
export const plainKey = 'content'

export const replace = (doc: Y.Doc, xml: string, key = plainKey): ReplacementResult =>
  replaceTree(doc, key, checkXml(xml))

/** Content as another replica reads it from the update only. */
export const xmlOf = (doc: Y.Doc, key = plainKey): string => serializeXml(loaded(doc), key)

/** A document in the form of the server, whose root `fill` has filled. */
export function made(fill: (root: Y.XmlFragment) => void, key = plainKey): Y.Doc {
  const author = new Y.Doc()
  author.clientID = 1
  fill(author.getXmlFragment(key))
  return loaded(author)
}

export const docOf = (xml: string, key = plainKey): Y.Doc => {
  const author = new Y.Doc()
  author.clientID = 1
  replace(author, xml, key)
  return loaded(author)
}

/** The stored form: elements, attributes and formatting with the types of their values. */
export type Stored =
  | { name: string; attributes: Record<string, unknown>; children: Stored[] }
  | { text: { insert: unknown; attributes?: object }[] }

export const storedOf = (doc: Y.Doc, key = plainKey): Stored[] =>
  loaded(doc).getXmlFragment(key).toArray().map(stored)

function stored(type: unknown): Stored {
  if (type instanceof Y.XmlText) return { text: type.toDelta() as { insert: unknown }[] }
  if (!(type instanceof Y.XmlElement)) throw new Error('neither element nor text')
  const attributes = type.getAttributes() as Record<string, unknown>
  return { name: type.nodeName, attributes, children: type.toArray().map(stored) }
}

export const element = (
  name: string,
  children: (Y.XmlElement | Y.XmlText)[] = [],
  attributes: Record<string, unknown> = {},
): Y.XmlElement => {
  const made = new Y.XmlElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value as string)
  made.insert(0, children)
  return made
}

export const text = (...delta: [string, object?][]): Y.XmlText => {
  const made = new Y.XmlText()
  made.applyDelta(delta.map(([insert, attributes]) => ({ insert, attributes: attributes ?? {} })))
  return made
}

/** Message of the INVALID_ARGUMENT that `act` throws. */
export function refusal(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.status !== 'INVALID_ARGUMENT') throw error
    return error.message
  }
  throw new Error('it was accepted')
}

/** Identity of each live element and text: its id and its name. */
export function identities(doc: Y.Doc, key = plainKey): Map<string, string> {
  const found = new Map<string, string>()
  const visit = (type: { _start: Y.Item | null }): void => {
    for (let item = type._start; item !== null; item = item.right) {
      if (item.deleted || !(item.content instanceof Y.ContentType)) continue
      const inner: unknown = item.content.type
      found.set(
        `${item.id.client}:${item.id.clock}`,
        inner instanceof Y.XmlElement ? inner.nodeName : '#text',
      )
      if (inner instanceof Y.XmlElement) visit(inner)
    }
  }
  visit(doc.get(key))
  return found
}
