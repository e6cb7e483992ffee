import type * as Y from 'yjs'
import type { SharedRoot } from '../../../src/core/content/yjs/root-kind.ts'
import type { Yjs } from './digest.ts'
import { type Random, randomClientId } from './random-doc.ts'

/** A replica of a stock client, with the updates that it has not sent yet. */
interface Replica {
  readonly doc: Y.Doc
  readonly undo: Y.UndoManager
  readonly unsent: Uint8Array[]
}

/** A message that a stock client sends. The kind `offer` is the answer to a state vector. */
export interface StockMessage {
  readonly kind: 'update' | 'offer'
  readonly bytes: Uint8Array
}

// The words have no unpaired surrogates. When Yjs splits a text at such a surrogate, it replaces the next
// character.
const words = [
  'a',
  'be',
  'Zoë',
  '漢字',
  '😀',
  '👩‍👩‍👧',
  'e\u0301',
  '\n',
  ' ',
  'weft and warp',
  '\u0000',
  'x'.repeat(300),
]
const plain = [
  1,
  -1,
  0.5,
  -0,
  Number.NaN,
  2 ** 40,
  2 ** 60,
  null,
  true,
  'text',
  '',
  [],
  {},
  { a: [1, { b: null }] },
  [[[]]],
]
const odd = [
  10n,
  undefined,
  new Uint8Array([1, 2]),
  { big: -3n, nothing: undefined, bytes: new Uint8Array(3) },
  { '': { '': Number.POSITIVE_INFINITY } },
  JSON.parse('{"__proto__":{"a":1}}'),
]
const names = [
  '',
  'a',
  'b',
  'constructor',
  '__proto__',
  'toString',
  '😀',
  '漢'.repeat(100),
  'x'.repeat(5_000),
]
const keys = ['', '__proto__', 'bold', 'link', 'comment--AbCd1234', 'a', 'y'.repeat(1_000)]

/** Creates random histories of stock clients. The clients use the whole public API of Yjs. */
export class StockHistory {
  readonly #yjs: Yjs
  readonly #random: Random
  readonly #replicas: readonly Replica[]
  readonly messages: StockMessage[] = []

  constructor(yjs: Yjs, random: Random) {
    this.#yjs = yjs
    this.#random = random
    this.#replicas = [1, 2, 3, 4].map(() => this.#newReplica())
  }

  #newReplica(): Replica {
    const random = this.#random
    const doc = new this.#yjs.Doc({ gc: random.below(3) > 0 })
    doc.clientID = randomClientId(random)
    const unsent: Uint8Array[] = []
    doc.on('update', (update: Uint8Array, origin: unknown) => {
      if (origin !== 'remote') unsent.push(update)
    })
    const roots = [doc.getText('text'), doc.getArray('array'), doc.getMap('map'), doc.getXmlFragment('xml')]
    return { doc, unsent, undo: new this.#yjs.UndoManager(roots, { captureTimeout: 0, doc }) }
  }

  step(): void {
    const random = this.#random
    const replica = random.pick(this.#replicas)
    const kind = random.below(24)
    if (kind === 0) replica.undo.undo()
    else if (kind === 1) replica.undo.redo()
    else if (kind < 6) this.#send(replica)
    else if (kind < 9) this.#receive(replica, random.pick(this.#replicas))
    else if (kind === 9) this.#offer(replica)
    else
      replica.doc.transact(() => {
        for (let count = random.pick([1, 1, 1, 5]); count > 0; count--) this.#edit(replica.doc)
      })
  }

  /** Sends the states of all replicas. Returns a document that contains all of them. */
  finish(): Y.Doc {
    for (const replica of this.#replicas) this.#offer(replica)
    const whole = new this.#yjs.Doc()
    // Merges all states in one transaction, because Yjs deletes redundant formatting after each transaction.
    const states = this.#replicas.map(({ doc }) => this.#yjs.encodeStateAsUpdate(doc))
    this.#yjs.applyUpdate(whole, this.#yjs.mergeUpdates(states))
    return whole
  }

  /** Sends the unsent updates of a replica one by one, or merged into one like those of an offline client. */
  #send({ unsent }: Replica): void {
    const updates = unsent.splice(0)
    if (updates.length === 0) return
    const merged = this.#random.below(2) === 0 ? [this.#yjs.mergeUpdates(updates)] : updates
    for (const bytes of merged) this.messages.push({ kind: 'update', bytes })
  }

  /** Sends the whole state of a replica as the answer to a state vector. */
  #offer({ doc, unsent }: Replica): void {
    unsent.length = 0
    this.messages.push({ kind: 'offer', bytes: this.#yjs.encodeStateAsUpdate(doc) })
  }

  #receive({ doc }: Replica, from: Replica): void {
    const { encodeStateAsUpdate, encodeStateVector, diffUpdate, applyUpdate } = this.#yjs
    const vector = encodeStateVector(doc)
    const isCut = this.#random.below(2) === 0
    const update = isCut
      ? diffUpdate(encodeStateAsUpdate(from.doc), vector)
      : encodeStateAsUpdate(from.doc, vector)
    applyUpdate(doc, update, 'remote')
  }

  #edit(doc: Y.Doc): void {
    const type = this.#typeIn(doc)
    const { Text, Array: YArray, Map: YMap, XmlFragment, XmlElement } = this.#yjs
    if (type instanceof Text) this.#editText(type)
    else if (type instanceof YArray) this.#editArray(type)
    else if (type instanceof YMap) this.#editMap(type)
    else if (type instanceof XmlElement && this.#random.below(3) === 0) this.#editAttributes(type)
    else if (type instanceof XmlFragment) this.#editXml(type)
  }

  /** Returns a random root, or a random type that is nested in a root. */
  #typeIn(doc: Y.Doc): SharedRoot {
    const random = this.#random
    let type: SharedRoot = this.#rootOf(doc)
    for (let depth = random.below(4); depth > 0; depth--) {
      const inside = this.#inside(type)
      if (inside.length === 0) break
      type = random.pick(inside)
    }
    return type
  }

  #rootOf(doc: Y.Doc): Y.Text | Y.Array<unknown> | Y.Map<unknown> | Y.XmlFragment {
    const kind = this.#random.below(4)
    if (kind === 0) return doc.getText('text')
    if (kind === 1) return doc.getArray('array')
    return kind === 2 ? doc.getMap('map') : doc.getXmlFragment('xml')
  }

  #inside(type: SharedRoot): readonly SharedRoot[] {
    const { Array: YArray, Map: YMap, XmlFragment, AbstractType } = this.#yjs
    const values: readonly unknown[] =
      type instanceof YMap
        ? [...type.values()]
        : type instanceof YArray || type instanceof XmlFragment
          ? type.toArray()
          : []
    return values.filter((value): value is SharedRoot => value instanceof AbstractType)
  }

  #newType(): SharedRoot {
    const { Text, Array: YArray, Map: YMap, XmlElement, XmlText, XmlFragment, XmlHook } = this.#yjs
    const random = this.#random
    return random.pick<() => unknown>([
      () => new Text('inner'),
      () => new YMap([['k', 1]]),
      () => YArray.from([1, 'two']),
      () => new XmlElement(random.pick(['p', 'div', '漢'])),
      () => new XmlText('x'),
      () => new XmlFragment(),
      () => new XmlHook('hook'),
    ])() as SharedRoot
  }

  #value(): unknown {
    const random = this.#random
    return random.below(4) === 0 ? this.#newType() : random.pick([...plain, ...odd])
  }

  /** Returns a random value for a Y.Array, which accepts some values only inside of other values. */
  #element(): unknown {
    const value = this.#value()
    return value === undefined || typeof value === 'bigint' ? [value] : value
  }

  /** Returns a random position in a list, and a random number of elements after it. */
  #range(length: number): readonly [from: number, count: number] {
    const from = this.#random.below(length + 1)
    return [from, this.#random.below(Math.min(length - from, 8) + 1)]
  }

  #attributes(): Record<string, unknown> {
    const random = this.#random
    return { [random.pick(keys)]: random.pick([true, null, { href: '#', n: 1 }, 'v', 1]) }
  }

  #editText(text: Y.Text): void {
    const random = this.#random
    const [from, count] = this.#range(text.length)
    const kind = random.below(7)
    if (kind < 2) text.insert(from, random.pick(words))
    else if (kind === 2) text.insert(from, random.pick(words), this.#attributes())
    else if (kind === 3) text.delete(from, count)
    else if (kind === 4) text.format(from, count, this.#attributes())
    else if (kind === 5)
      text.insertEmbed(from, random.pick([{ image: 'x' }, { a: [null, 1] }]), this.#attributes())
    else text.applyDelta([{ retain: from }, { insert: random.pick(words) }, { delete: count }])
  }

  #editArray(array: Y.Array<unknown>): void {
    const [from, count] = this.#range(array.length)
    const kind = this.#random.below(4)
    if (kind === 0) array.delete(from, count)
    else
      array.insert(
        from,
        Array.from({ length: kind }, () => this.#element()),
      )
  }

  #editMap(map: Y.Map<unknown>): void {
    const name = this.#random.pick(names)
    const kind = this.#random.below(12)
    if (kind === 0) map.clear()
    else if (kind < 3) map.delete(name)
    else map.set(name, this.#value())
  }

  #editAttributes(element: Y.XmlElement): void {
    const name = this.#random.pick(names)
    if (this.#random.below(4) === 0) element.removeAttribute(name)
    else element.setAttribute(name, this.#random.pick(['', 'v', 'x'.repeat(600)]))
  }

  #editXml(fragment: Y.XmlFragment): void {
    const { XmlElement, XmlText } = this.#yjs
    const [from, count] = this.#range(fragment.length)
    if (this.#random.below(4) === 0) fragment.delete(from, count)
    else
      fragment.insert(from, [
        this.#random.below(2) === 0 ? new XmlElement('p') : new XmlText(this.#random.pick(words)),
      ])
  }
}
