import { expect, test } from 'vitest'
import * as Y from 'yjs'
import type { EditRequest } from '../../../../../src/core/content/edit/check-edits.ts'
import { checkChange } from '../../../../../src/core/content/root-change.ts'
import type { SharedRoot } from '../../../../../src/core/content/yjs/root-kind.ts'
import { Random } from '../../../../support/data/random-doc.ts'
import { seed } from '../../../../support/data/seed.ts'
import { isEverythingAsked, times } from '../../../../support/time/full-run.ts'
import { readAs, type Value } from '../../json-support.ts'
import { key, loaded, updatesOf } from '../../support.ts'
import { mergeEdits, rejectionIn } from '../merge-support.ts'
import { applyToModel, canonical, jsonOf, type Node, nodeOf, type Sent } from '../patch-model.ts'
import { docOf, storages, survivors } from '../patch-support.ts'
import { randomText } from './random-edits.ts'

/** Number of edits of each kind of root. An operation of a patch counts as an edit. */
const editsPerRoot = times(500, 6_000)
const requestsPerDocument = 10
const clientId = 7

for (const [index, kind] of (['map', 'array'] as const).entries()) {
  test(`[EDIT-73] edits a root of the kind ${kind} like a plain implementation on values, while clients write (seed ${seed})`, () => {
    const random = new Random(seed * 31 + 17 + index)
    const counts = { requests: 0, edits: 0, rejected: 0, merged: 0 }
    while (counts.edits < editsPerRoot) {
      const server = docOf(randomRoot(random, kind), random.pick(storages))
      const client = loaded(server, clientId)
      for (let request = 0; request < requestsPerDocument; request++) {
        const start = readAs(kind, server)
        const chosen = choose(random, modelOf(server, kind))
        counts.requests += 1
        counts.edits += chosen.operations.length
        try {
          if (chosen.isRejected) counts.rejected += 1
          if (carryOut({ random, kind, server, client }, chosen)) counts.merged += 1
        } catch (error) {
          const problem = `request ${counts.requests} for a root of the kind ${kind} with seed ${seed}`
          const request = `${JSON.stringify(chosen.edits)} of ${JSON.stringify(start)}`
          throw new Error(`${problem}: ${request}`, { cause: error })
        }
      }
    }
    if (isEverythingAsked) console.info(`${kind}, seed ${seed}: ${JSON.stringify(counts)}`)
  }, 600_000)
}

const modelOf = (doc: Y.Doc, kind: 'map' | 'array'): Node =>
  nodeOf(readAs(kind, doc) as Value, doc.share.get(key) ?? doc.get(key), null)

const keys = ['a', 'b', 'c', 'd/e', 'f~', '__proto__', 'constructor', ''] as const

function randomValue(random: Random, depth: number): Value {
  const way = random.below(depth > 0 ? 8 : 5)
  if (way === 0) return random.pick([null, true, false])
  if (way < 3) return random.below(10)
  if (way < 5) return randomText(random, 2)
  return randomContainer(random, way === 5 ? 'array' : 'map', depth - 1)
}

function randomContainer(random: Random, kind: 'map' | 'array', depth: number): Value {
  const count = 1 + random.below(4)
  if (kind === 'array') return Array.from({ length: count }, () => randomValue(random, depth))
  const names = Array.from({ length: count }, () => random.pick(keys)).filter(isStorable)
  return Object.fromEntries(names.map((name) => [name, randomValue(random, depth)]))
}

/** Returns the first content. It is not empty, so that the root has a kind. */
const randomRoot = (random: Random, kind: 'map' | 'array'): Value =>
  kind === 'array'
    ? randomContainer(random, kind, 3)
    : { a: randomValue(random, 2), ...Object(randomContainer(random, kind, 3)) }

/** The methods of Yjs, which create the first content, do not support these keys of plain objects. */
const isStorable = (name: string): boolean => name !== '__proto__' && name !== 'constructor'

interface PathValue {
  readonly path: string
  readonly json: Value
}

const escaped = (token: string): string => token.replaceAll('~', '~0').replaceAll('/', '~1')

function placesIn(json: Value, path = ''): PathValue[] {
  const members = typeof json === 'object' && json !== null ? Object.entries(json) : []
  return [{ path, json }, ...members.flatMap(([name, value]) => placesIn(value, `${path}/${escaped(name)}`))]
}

interface Chosen {
  readonly edits: EditRequest[]
  readonly operations: readonly Sent[]
  readonly isRejected: boolean
}

/** Chooses one to four operations, in one patch or as edits of paths. */
function choose(random: Random, root: Node): Chosen {
  const operations: Sent[] = []
  let isRejected = false
  for (let count = 1 + random.below(4); count > 0 && !isRejected; count--) {
    const model = applyToModel(copyOf(root), operations)
    if (model === null) break
    const operation = randomOperation(random, jsonOf(model))
    isRejected = applyToModel(copyOf(root), [...operations, operation]) === null
    if (isRejected && random.once(2)) {
      isRejected = false
      continue
    }
    operations.push(operation)
  }
  const edits = random.once(2) ? operations.map(editOf) : operations.length > 0 ? [{ patch: operations }] : []
  return { edits, operations, isRejected }
}

const copyOf = (node: Node): Node => {
  const { content } = node
  if (content instanceof Map)
    return { ...node, content: new Map([...content].map(([name, member]) => [name, copyOf(member)])) }
  return { ...node, content: Array.isArray(content) ? content.map(copyOf) : content }
}

/** Returns an operation as an edit of a path, if there is one with the same meaning. */
function editOf(operation: Sent): EditRequest {
  const { op, path, value } = operation
  const isText = typeof value === 'string'
  if (op === 'remove' && path !== '') return { remove: { target: { path } } }
  if (op === 'replace' && path !== '' && (isText || typeof value === 'object'))
    return { replace: { find: { path }, with: value } }
  return { patch: [operation] }
}

function randomOperation(random: Random, json: Value): Sent {
  const places = placesIn(json)
  const place = random.pick(places)
  const source = random.pick(places)
  const value = random.once(8) ? place.json : randomValue(random, 2)
  const op = random.pick(['add', 'add', 'remove', 'replace', 'replace', 'move', 'copy', 'test'] as const)
  const wrong = random.once(15) ? random.pick(['/absent/0', '/01', '/-', '/99']) : ''
  if (op === 'remove') return { op, path: place.path + wrong }
  if (op === 'replace') return { op, path: place.path + wrong, value }
  if (op === 'test') return { op, path: place.path + wrong, value: random.once(6) ? value : place.json }
  const path = pathInto(random, place) + wrong
  return op === 'add' ? { op, path, value } : { op, path, from: source.path }
}

function pathInto(random: Random, { path, json }: PathValue): string {
  if (Array.isArray(json)) return `${path}/${random.once(4) ? '-' : random.below(json.length + 1)}`
  return typeof json === 'object' && json !== null ? `${path}/${escaped(random.pick(keys))}` : path
}

interface Replicas {
  readonly random: Random
  readonly kind: 'map' | 'array'
  readonly server: Y.Doc
  readonly client: Y.Doc
}

/** Sends edits while a client writes into shared values. Returns whether the edits had a base version. */
function carryOut(
  { random, kind, server, client }: Replicas,
  { edits, operations, isRejected }: Chosen,
): boolean {
  if (isRejected) {
    const before = Y.encodeStateAsUpdate(server)
    const { code } = rejectionIn(() => apply(loaded(server), edits))
    expect(code).toMatch(/^crdt\/(patch-failed|invalid-edit)$/)
    if (edits.length === 1) rejectionIn(() => apply(server, edits))
    expect(Buffer.compare(Y.encodeStateAsUpdate(server), before)).toBe(0)
    return false
  }
  const expected = applyToModel(modelOf(server, kind), operations) as Node
  const typed = random.once(3) ? null : typeIn(random, client, kind)
  const isMerged = typed !== null && random.once(2)
  const updates = updatesOf(server, () => {
    if (isMerged) merge({ random, server }, typed.update, edits, operations)
    else {
      apply(server, edits)
      if (typed !== null) Y.applyUpdate(server, typed.update)
    }
  })
  for (const update of updates) Y.applyUpdate(client, update)
  expect(canonical(readAs(kind, client))).toBe(canonical(readAs(kind, server)))
  if (typed !== null)
    for (const update of updatesOf(client, () => typed.undo())) Y.applyUpdate(server, update)
  expect(canonical(readAs(kind, server))).toBe(canonical(jsonOf(expected)))
  for (const { node, stored, id } of survivors(expected, server.get(key))) {
    const { origin } = node
    if (origin?.type !== null) expect(stored).toBe(origin?.type)
    else if (!node.isTouched && origin.id !== null) expect(id).toBe(origin.id)
  }
  return isMerged
}

/** Merges edits of the version before the update of the client. Edits that replace and remove can be sent twice. */
function merge(
  { random, server }: Pick<Replicas, 'random' | 'server'>,
  update: Uint8Array,
  edits: EditRequest[],
  operations: readonly Sent[],
): void {
  const base = loaded(server)
  Y.applyUpdate(server, update)
  mergeEdits(server, base, key, edits)
  const isRepeatable = operations.every(({ op }) => op === 'replace' || op === 'remove' || op === 'test')
  if (isRepeatable && random.once(2)) expect(mergeEdits(server, base, key, edits)).toBe(false)
}

interface Typed {
  readonly update: Uint8Array
  /** Removes the value of the client. Its shared type must contain the value if the type still exists. */
  undo(): void
}

const mark = '#~'

/** Writes a value into a shared value of the client. */
function typeIn(random: Random, client: Y.Doc, kind: 'map' | 'array'): Typed {
  const root = (kind === 'map' ? client.getMap(key) : client.getArray(key)) as SharedRoot
  const type = random.pick(sharedIn(root))
  const [update] = updatesOf(client, () => {
    if (type instanceof Y.Map) type.set(mark, mark)
    else if (type instanceof Y.Array) type.push([mark])
    else (type as unknown as Y.Text).insert(0, mark)
  })
  const undo = (): void => {
    if (type._item?.deleted === true) return
    if (type instanceof Y.Map) {
      expect(type.get(mark)).toBe(mark)
      type.delete(mark)
    } else if (type instanceof Y.Array) {
      expect(type.toArray()).toContain(mark)
      type.delete(type.toArray().indexOf(mark), 1)
    } else {
      const text = type as unknown as Y.Text
      expect(text.toJSON()).toContain(mark)
      text.delete(text.toJSON().indexOf(mark), mark.length)
    }
  }
  return { update: update as Uint8Array, undo }
}

/** Returns a shared value and all shared values in it. */
function sharedIn(type: SharedRoot): SharedRoot[] {
  const inside = type instanceof Y.Map ? [...type.values()] : type instanceof Y.Array ? type.toArray() : []
  return [type, ...inside.flatMap((value) => (value instanceof Y.AbstractType ? sharedIn(value) : []))]
}

const apply = (doc: Y.Doc, edits: EditRequest[]): void => {
  if (edits.length > 0) checkChange({ contentKey: key, edits }).apply(doc)
}
