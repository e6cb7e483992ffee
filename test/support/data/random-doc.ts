import * as Y from 'yjs'

/** Generates pseudorandom numbers from a seed (mulberry32), so that a failing case can be repeated. */
export class Random {
  #state: number
  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** Returns an integer from 0 to `below - 1`. */
  below(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T
  }

  /** Returns true in one of `times` cases. */
  once(times: number): boolean {
    return this.below(times) === 0
  }
}

/** Borders of number ranges near which code may handle client ids wrongly. */
const idBorders = [2 ** 31, 2 ** 32, 2 ** 53]

/** Returns a client id of at most 53 bits: small, below or above a border, or any. */
export function randomClientId(random: Random): number {
  const border = random.pick(idBorders)
  const id = random.pick([
    random.below(1_000),
    border - 1 - random.below(1_000),
    Math.min(border + random.below(1_000), Number.MAX_SAFE_INTEGER),
    random.below(2 ** 32) * 2 ** 21 + random.below(2 ** 21),
  ])
  // These ids are reserved for virtual users.
  return id < 2 ** 32 && id >= 2 ** 32 - 500 ? id - 500 : id
}

const words = ['a', 'be', 'Zoë', '漢字', '😀', '👩‍👩‍👧', 'e\u0301', '\n', ' ', 'weft and warp', '\u{10ffff}']
const values = [1, -1, 0.5, 2 ** 40, null, true, false, 'text', '', { a: [1, { b: null }] }, [[], {}]]
/** Values that a Y.Array does not accept directly, but inside of other values. */
const oddValues = [10n, undefined, { big: 10n, nothing: undefined }]

const newTypes: (() => unknown)[] = [
  () => new Y.Text('inner'),
  () => new Y.Map([['k', 1]]),
  () => Y.Array.from([1, 'two']),
  () => new Y.XmlElement('p'),
  () => new Y.XmlText('x'),
]

type Edit = (doc: Y.Doc, random: Random) => void

const edits: readonly Edit[] = [
  (doc, random) => {
    const text = doc.getText('text')
    text.insert(random.below(text.length + 1), random.pick(words))
  },
  (doc, random) => {
    const text = doc.getText('text')
    if (text.length > 0) text.delete(random.below(text.length), 1)
  },
  (doc, random) => {
    const text = doc.getText('text')
    const from = random.below(text.length + 1)
    text.format(from, random.below(text.length - from + 1), {
      bold: random.pick([true, null]),
      link: { href: '#' },
    })
  },
  (doc, random) => {
    const text = doc.getText('text')
    text.insertEmbed(random.below(text.length + 1), { image: 'x', size: [1, 2] })
  },
  (doc, random) =>
    void doc
      .getMap('map')
      .set(random.pick(['a', 'b', 'constructor', '😀']), random.pick([...values, ...oddValues])),
  (doc, random) => void doc.getMap('map').set(random.pick(['a', 'b']), random.pick(newTypes)()),
  (doc, random) => doc.getMap('map').delete(random.pick(['a', 'b'])),
  (doc, random) => {
    const array = doc.getArray('array')
    array.insert(random.below(array.length + 1), [random.pick(values), random.pick(values)])
  },
  (doc, random) => {
    const array = doc.getArray('array')
    array.insert(random.below(array.length + 1), [random.pick(newTypes)()])
  },
  (doc, random) => {
    const array = doc.getArray('array')
    if (array.length > 0) array.delete(random.below(array.length), 1)
  },
  (doc) => doc.getArray('array').push([new Uint8Array([1, 2, 3])]),
  (doc, random) => {
    const fragment = doc.getXmlFragment('xml')
    const element = new Y.XmlElement('div')
    element.setAttribute('class', random.pick(words))
    element.insert(0, [new Y.XmlText(random.pick(words))])
    fragment.insert(random.below(fragment.length + 1), [element])
  },
  (doc, random) => {
    const fragment = doc.getXmlFragment('xml')
    if (fragment.length > 0) fragment.delete(random.below(fragment.length), 1)
  },
  (doc, random) => {
    const first = doc.getXmlFragment('xml').firstChild
    if (first instanceof Y.XmlElement) first.insert(0, [new Y.XmlElement(random.pick(['b', 'i']))])
  },
]

/** Makes one random edit of any shared type. */
export function editRandomly(doc: Y.Doc, random: Random): void {
  doc.transact(() => random.pick(edits)(doc, random))
}

export interface History {
  /** Updates of all replicas, in the order in which they were created. */
  readonly updates: readonly Uint8Array[]
  /** Document that contains the updates of all replicas. */
  readonly doc: Y.Doc
}

/** Generates a history in which several replicas edit, undo, and sometimes exchange updates. */
export function randomHistory(seed: number, steps: number): History {
  const random = new Random(seed)
  const updates: Uint8Array[] = []
  const ids = new Set<number>()
  while (ids.size < 3) ids.add(randomClientId(random))
  const replicas = [...ids].map((clientId) => {
    const doc = new Y.Doc()
    doc.clientID = clientId
    doc.on('update', (update: Uint8Array, origin: unknown) => {
      if (origin !== 'remote') updates.push(update)
    })
    return { doc, undo: new Y.UndoManager(doc.getText('text'), { captureTimeout: 0 }) }
  })
  for (let step = 0; step < steps; step++) {
    const { doc, undo } = random.pick(replicas)
    const what = random.below(20)
    if (what === 0) undo.undo()
    else if (what === 1) undo.redo()
    else if (what < 5) sync(random.pick(replicas).doc, doc)
    else editRandomly(doc, random)
  }
  const doc = new Y.Doc()
  for (const update of updates) Y.applyUpdate(doc, update)
  return { updates, doc }
}

function sync(from: Y.Doc, to: Y.Doc): void {
  Y.applyUpdate(to, Y.encodeStateAsUpdate(from, Y.encodeStateVector(to)), 'remote')
}
