import * as Y from 'yjs'
import { ApiError } from '../../../../src/core/base/errors.ts'
import type { EditOutcome } from '../../../../src/core/content/edit/edit.ts'
import { applyPatch } from '../../../../src/core/content/edit/patch/apply-patch.ts'
import { checkPatch } from '../../../../src/core/content/edit/patch/check-patch.ts'
import type { SharedRoot } from '../../../../src/core/content/yjs/root-kind.ts'
import type { Value } from '../json-support.ts'
import { key, loaded } from '../support.ts'
import { elementsOf, entriesOf, type Node } from './patch-model.ts'

/** Position of the patch in the request of the tests. */
export const place = 'edits[0].patch'

/** Checks and carries out a patch, in one transaction. */
export function patch(doc: Y.Doc, kind: 'map' | 'array', operations: unknown): EditOutcome {
  const checked = checkPatch(operations, place)
  const root = doc.share.get(key) ?? doc.get(key)
  return doc.transact((transaction) => applyPatch(transaction, root, kind, checked, place))
}

/** Returns the code and the message of the error that `act` throws. */
export function refusal(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    if (error instanceof ApiError) return `${error.code} ${error.message}`
    throw error
  }
  throw new Error('it was accepted')
}

/** How the values of a document are stored. */
export const storages = ['shared', 'plain'] as const
export type Storage = (typeof storages)[number]

/** Returns a document in the form of the server, with the content `from` in the root. */
export function docOf(from: Value, storage: Storage): Y.Doc {
  const author = new Y.Doc()
  author.clientID = 1
  const stored = (value: Value): unknown => (storage === 'shared' ? sharedOf(value) : value)
  if (Array.isArray(from)) author.getArray(key).push(from.map(stored))
  else for (const [name, value] of Object.entries(from as object)) author.getMap(key).set(name, stored(value))
  return loaded(author)
}

/** Returns a value of which all parts are shared types, if there is one for them. */
export function sharedOf(value: Value): unknown {
  if (typeof value === 'string') return new Y.Text(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return Y.Array.from(value.map(sharedOf) as string[])
  return new Y.Map(Object.entries(value).map(([name, member]) => [name, sharedOf(member)]))
}

/** Pairs the nodes that no operation has replaced with the stored values at their places. */
export function survivors(
  root: Node,
  stored: SharedRoot,
): { node: Node; stored: unknown; id: string | null }[] {
  const found: { node: Node; stored: unknown; id: string | null }[] = []
  const visit = (node: Node, at: unknown, id: string | null): void => {
    if (node.origin !== undefined) found.push({ node, stored: at, id })
    if (!(at instanceof Y.AbstractType)) return
    const { content } = node
    if (content instanceof Map) {
      const entries = entriesOf(at)
      for (const [name, member] of content)
        visit(member, entries.get(name)?.stored, entries.get(name)?.id ?? null)
    } else if (Array.isArray(content)) {
      const elements = elementsOf(at)
      for (const [n, member] of content.entries()) visit(member, elements[n]?.stored, elements[n]?.id ?? null)
    }
  }
  visit(root, stored, null)
  return found
}
