import * as Y from 'yjs'
import type { SharedRoot } from '../../../../src/core/content/yjs/root-kind.ts'
import type { Value } from '../json-support.ts'

/**
 * A value of the model. The model is an implementation of RFC 6902 that is independent of the server. A node
 * stays the same object as long as no operation replaces or removes it.
 */
export interface Node {
  content: Map<string, Node> | Node[] | Exclude<Value, object> | null
  /** The stored value from which the node was read; absent in nodes that operations have created. */
  readonly origin?: Origin
  /** Whether an operation has changed something inside the node. */
  isTouched: boolean
  /** Whether the value is an XML node or a subdocument, which cannot be moved. */
  readonly isFixed: boolean
}

interface Origin {
  /** The shared type; null if the value is plain. */
  readonly type: SharedRoot | null
  /** Identity of the item and of the position in it; null inside plain values. */
  readonly id: string | null
}

/** One operation as it is sent. */
export interface Sent {
  readonly op: string
  readonly path: string
  readonly from?: string
  readonly value?: Value
}

/** Reads a stored value into the model. */
export function nodeOf(json: Value, stored: unknown, id: string | null): Node {
  const type = stored instanceof Y.AbstractType ? stored : null
  const isFixed = stored instanceof Y.Doc || stored instanceof Y.XmlElement
  const base = { origin: { type, id }, isTouched: false, isFixed }
  if (isFixed || typeof json !== 'object' || json === null) return { ...base, content: json as string }
  if (Array.isArray(json)) {
    const children = type === null ? null : elementsOf(type)
    const nodes = json.map((value, n) => nodeOf(value, children?.[n]?.stored, children?.[n]?.id ?? null))
    return { ...base, content: nodes }
  }
  const children = type === null ? null : entriesOf(type)
  const nodes = Object.entries(json).map(([name, value]) => {
    const child = children?.get(name)
    return [name, nodeOf(value, child?.stored, child?.id ?? null)] as const
  })
  return { ...base, content: new Map(nodes) }
}

interface StoredChild {
  readonly stored: unknown
  readonly id: string
}

/** The live elements of a shared array, with their identities. */
export function elementsOf(type: SharedRoot): StoredChild[] {
  const elements: StoredChild[] = []
  for (let item = type._start; item !== null; item = item.right) {
    const { client, clock } = item.id
    if (!item.deleted && item.countable)
      for (const [n, stored] of item.content.getContent().entries())
        elements.push({ stored, id: `${client}:${clock + n}` })
  }
  return elements
}

/** The live entries of a shared map, with their identities. */
export function entriesOf(type: SharedRoot): Map<string, StoredChild> {
  const entries = new Map<string, StoredChild>()
  for (const [name, item] of type._map) {
    const { client, clock } = item.id
    if (!item.deleted)
      entries.set(name, { stored: item.content.getContent().at(-1), id: `${client}:${clock}` })
  }
  return entries
}

export function jsonOf({ content }: Node): Value {
  if (content instanceof Map) {
    const json: Record<string, Value> = {}
    for (const [name, member] of content)
      Object.defineProperty(json, name, { value: jsonOf(member), enumerable: true, configurable: true })
    return json
  }
  return Array.isArray(content) ? content.map(jsonOf) : content
}

/** JSON text with sorted keys, which are compared with all keys, also `__proto__`. */
export function canonical(json: unknown): string {
  if (Array.isArray(json)) return `[${json.map(canonical).join()}]`
  if (typeof json !== 'object' || json === null) return JSON.stringify(json === 0 ? 0 : json)
  const members = Object.entries(json).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join()}}`
}

class Failure extends Error {}

const fresh = (json: Value): Node => {
  const base = { isTouched: false, isFixed: false }
  if (Array.isArray(json)) return { ...base, content: json.map(fresh) }
  if (typeof json !== 'object' || json === null) return { ...base, content: json }
  return { ...base, content: new Map(Object.entries(json).map(([name, value]) => [name, fresh(value)])) }
}

/** Carries out operations on the model. Returns the root; null if an operation fails. */
export function applyToModel(start: Node, operations: readonly Sent[]): Node | null {
  try {
    let root = start
    for (const operation of operations) root = step(root, operation)
    return root
  } catch (error) {
    if (error instanceof Failure) return null
    throw error
  }
}

function step(root: Node, { op, path, from = '', value = null }: Sent): Node {
  switch (op) {
    case 'test':
      if (canonical(jsonOf(find(root, path))) !== canonical(value)) throw new Failure()
      return root
    case 'remove':
      if (path === '') throw new Failure()
      find(root, path)
      return removed(root, path)
    case 'replace':
      find(root, path)
      return path === '' ? newRoot(root, fresh(value)) : added(removed(root, path), path, fresh(value))
    case 'add':
      return added(root, path, fresh(value))
    case 'copy':
      return added(root, path, duplicate(find(root, from)))
    default: {
      if (path !== from && path.startsWith(`${from}/`)) throw new Failure()
      const found = find(root, from)
      return path === from ? root : added(from === '' ? root : removed(root, from), path, duplicate(found))
    }
  }
}

function duplicate(node: Node): Node {
  if (node.isFixed) throw new Failure()
  if (Array.isArray(node.content))
    return { isTouched: false, isFixed: false, content: node.content.map(duplicate) }
  if (!(node.content instanceof Map)) return { isTouched: false, isFixed: false, content: node.content }
  const members = [...node.content].map(([name, member]) => [name, duplicate(member)] as const)
  return { isTouched: false, isFixed: false, content: new Map(members) }
}

const tokensOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((token) => token.replace(/~[01]/g, (code) => (code === '~1' ? '/' : '~')))

function find(root: Node, pointer: string): Node {
  let node: Node | undefined = root
  for (const token of tokensOf(pointer)) {
    const content: Node['content'] = node.content
    if (content instanceof Map) node = content.get(token)
    else if (Array.isArray(content) && /^\d+$/.test(token)) node = content[indexOf(token)]
    else node = undefined
    if (node === undefined) throw new Failure()
  }
  return node
}

function indexOf(token: string): number {
  if (token !== '0' && !/^[1-9]\d*$/.test(token)) throw new Failure()
  return Number(token)
}

/** Returns the parent of a place, and marks all nodes above the place. */
function parentOf(root: Node, pointer: string): { parent: Node; token: string } {
  const above = pointer.slice(0, pointer.lastIndexOf('/'))
  for (let end = 0; end !== -1; end = above.indexOf('/', end + 1))
    find(root, above.slice(0, end)).isTouched = true
  const parent = find(root, above)
  parent.isTouched = true
  return { parent, token: tokensOf(pointer).at(-1) as string }
}

function removed(root: Node, pointer: string): Node {
  const { parent, token } = parentOf(root, pointer)
  if (Array.isArray(parent.content)) parent.content.splice(Number(token), 1)
  else (parent.content as Map<string, Node>).delete(token)
  return root
}

function added(root: Node, pointer: string, node: Node): Node {
  if (pointer === '') return newRoot(root, node)
  const { parent, token } = parentOf(root, pointer)
  if (parent.content instanceof Map) parent.content.set(token, node)
  else if (Array.isArray(parent.content)) {
    const index = token === '-' ? parent.content.length : indexOf(token)
    if (index > parent.content.length) throw new Failure()
    parent.content.splice(index, 0, node)
  } else throw new Failure()
  return root
}

/** A root keeps its kind. */
function newRoot(root: Node, node: Node): Node {
  const kindOf = ({ content }: Node): string =>
    content instanceof Map ? 'map' : Array.isArray(content) ? 'array' : ''
  if (kindOf(root) !== kindOf(node)) throw new Failure()
  return node
}
