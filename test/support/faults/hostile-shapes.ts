import {
  type Block,
  block,
  contents,
  id,
  item,
  type KnownContent,
  list,
  type Place,
  skip,
  updateOf,
} from '../data/update-builder.ts'

/** Bytes that cost far more than their length suggests. Each shape is a pure function of its size. */

/** The updates of one shape in the order in which a client sends them. */
export type UpdateShape = (n: number) => readonly Uint8Array[]

/** A run of `n` single items of a client, each after the one before. */
const appended = (client: number, n: number, content: KnownContent, first: Place = {}): Block =>
  block(
    client,
    list(n, (clock) => item(clock === 0 ? first : { left: id(client, clock - 1) }, content)),
  )

/** Items of a client, each before the one before it and without a left origin, so that none of them merge. */
const prepended = (client: number, n: number, content: KnownContent, first: Place = {}): Block =>
  block(
    client,
    list(n, (clock) => item(clock === 0 ? first : { right: id(client, clock - 1) }, content)),
  )

const string = (client: number, length: number): Block =>
  block(client, [item({}, contents.text('x'.repeat(length)))])

const a = contents.text('a')

/** Nested Y.Array types: item `depth - 1` of client 1 holds the innermost one. */
const nest = (depth: number): Block =>
  block(
    1,
    list(depth, (clock) => item(clock === 0 ? {} : { parent: id(1, clock - 1) }, contents.type(0))),
  )

const deepest = 150

/** Updates by the name of their shape. The sizes of all of them grow linearly with `n`. */
export const hostileUpdates = {
  /** Item i of client 5 has no left origin and the right origin (9, n - i): each scans all items before it. */
  rightOriginsBackwards: (n) => [
    updateOf([
      block(9, [item({}, contents.text('x'.repeat(n + 1)))]),
      block(
        5,
        list(n, (i) => item({ right: id(9, n - i) }, a)),
      ),
    ]),
  ],
  /** As above, but every item has its own client. */
  rightOriginsOfClients: (n) => [
    updateOf([
      block(1, [item({}, contents.text('x'.repeat(n + 1)))]),
      ...list(n, (i) => block(n + 1 - i, [item({ right: id(1, i + 1) }, a)])),
    ]),
  ],
  /** Every item that is prepended scans all items that another client appends. */
  prependsOverAppends: (n) => [
    updateOf([prepended(9, n, a, { left: id(5, n - 1) }), appended(5, n, contents.embed)]),
  ],
  /** The same in two updates, as two offline replicas send them. */
  concurrentPrepends: (n) => [updateOf([appended(5, n, contents.embed)]), updateOf([prepended(9, n, a)])],
  /** One item of each client at the same place, from the lowest client up: each scans those of all before. */
  clientsAtOnePlace: (n) => list(n, (i) => updateOf([block(i + 1, [item({}, a)])])),
  /** Small updates of one client each of which scans a long list. */
  smallLongScans: (n) => [
    updateOf([appended(5, n, contents.embed)]),
    ...list(n, (i) => updateOf([block(9, [item(i === 0 ? {} : { right: id(9, i - 1) }, a)], i)])),
  ],
  /** Entries of one key without origins: each walks from the newest entry to the oldest. */
  entriesOfOneKey: (n) => [
    updateOf([
      block(
        1,
        list(n, () => item({ parent: 'm', key: 'k' }, contents.values(1))),
      ),
    ]),
  ],
  /** Encoding searches all root types for the name of each. */
  rootNames: (n) => [
    updateOf([
      block(
        1,
        list(n, (i) => item({ parent: `r${i}` }, a)),
      ),
    ]),
  ],
  /** Every second character of a string is deleted: each range splits it, and shifts the rest of the array. */
  alternateDeletions: (n) => [
    updateOf([string(1, 2 * n)], [[1, list(n, (i) => [2 * i, 1] as const)]]),
    updateOf([], [[1, list(n, (i) => [2 * i + 1, 1] as const)]]),
  ],
  /** Every second item of a list whose items never merge is deleted, then the others. */
  alternateItemDeletions: (n) => [
    updateOf([prepended(1, 2 * n, contents.embed)]),
    updateOf([], [[1, list(n, (i) => [2 * i, 1] as const)]]),
    updateOf([], [[1, list(n, (i) => [2 * i + 1, 1] as const)]]),
  ],
  /** Every range covers all items, so that each is a scan of all. */
  overlappingDeletions: (n) => [
    updateOf([prepended(1, n, contents.embed)], [[1, list(n, () => [0, n] as const)]]),
  ],
  /** Nested types with content, deleted one by one. */
  deletedTypes: (n) => [
    updateOf([
      block(1, [
        ...list(n, (i) => item(i === 0 ? {} : { left: id(1, i - 1) }, contents.type(1))),
        ...list(n, (i) => item({ parent: id(1, i), key: 'k' }, contents.values(1))),
      ]),
    ]),
    updateOf([], [[1, list(n, (i) => [i, 1] as const)]]),
  ],
  /** Two types whose content alternates: deleting one leaves runs of one item. */
  deletedTurns: (n) => [
    updateOf([
      block(1, [
        item({}, contents.type(0)),
        item({}, contents.type(0)),
        ...list(2 * n, (i) => item(i < 2 ? { parent: id(1, i) } : { left: id(1, i) }, contents.embed)),
      ]),
    ]),
    updateOf([], [[1, [[0, 1]]]]),
    updateOf([], [[1, [[1, 1]]]]),
  ],
  /** Changes of types, each of which is deep below the root. */
  changedDeepTypes: (n) => [
    updateOf([
      nest(deepest),
      block(
        2,
        list(n, (i) =>
          item(i === 0 ? { parent: id(1, deepest - 1) } : { left: id(2, i - 1) }, contents.type(0)),
        ),
      ),
    ]),
    updateOf([
      block(
        3,
        list(n, (i) => item({ parent: id(2, i) }, contents.embed)),
      ),
    ]),
  ],
  /** Items inside a long string, from its end to its start: each splits it. */
  splits: (n) => [
    updateOf([
      string(9, n + 1),
      block(
        5,
        list(n, (i) => item({ left: id(9, n - 1 - i), right: id(9, n - i) }, a)),
      ),
    ]),
  ],
  /** The same between the halves of surrogate pairs: each split copies the string. */
  surrogateSplits: (n) => [
    updateOf([
      block(9, [item({}, contents.text('😀'.repeat(n)))]),
      block(
        5,
        list(n, (i) => item({ left: id(9, 2 * (n - i) - 2), right: id(9, 2 * (n - i) - 1) }, a)),
      ),
    ]),
  ],
  /** The same in a list of values: each split copies the list. */
  valueSplits: (n) => [
    updateOf([
      block(9, [item({}, contents.values(n + 1))]),
      block(
        5,
        list(n, (i) => item({ left: id(9, n - 1 - i), right: id(9, n - i) }, contents.values(1))),
      ),
    ]),
  ],
  /** Single values in a row, which Yjs joins one by one. */
  singleValues: (n) => [updateOf([appended(1, n, contents.values(1))])],
  singleCharacters: (n) => [updateOf([appended(1, n, a)])],
  /** Formatting marks between the same two characters of a nested text. */
  formatsInOneGap: (n) => [
    updateOf([
      block(1, [
        item({ parent: 'm', key: 'k' }, contents.type(2)),
        item({ parent: id(1, 0) }, contents.text('ab')),
      ]),
    ]),
    updateOf([
      block(
        2,
        list(n, (i) =>
          item({ left: i === 0 ? id(1, 1) : id(2, i - 1), right: id(1, 2) }, contents.format(`k${i}`, true)),
        ),
      ),
    ]),
  ],
  /** Content that is deleted from a nested text with a mark: for each item Yjs scans the remaining gap. */
  deletedFromFormatted: (n) => [
    updateOf([
      block(1, [
        item({ parent: 'm', key: 'k' }, contents.type(2)),
        item({ parent: id(1, 0) }, contents.format('b', true)),
        ...list(n, (i) => item({ left: id(1, i + 1) }, contents.embed)),
      ]),
    ]),
    updateOf([], [[1, [[3, n - 2]]]]),
  ],
  /** Marks in a nested text, one an update: Yjs cleans up all of the text after each. */
  formatKeystrokes: (n) => [
    updateOf([
      block(1, [
        item({ parent: 'm', key: 'k' }, contents.type(2)),
        ...list(n, (i) => item(i === 0 ? { parent: id(1, 0) } : { left: id(1, i) }, contents.embed)),
      ]),
    ]),
    ...list(Math.ceil(n / 4), (clock) =>
      updateOf([block(2, [item({ left: id(1, 4 * clock + 1) }, contents.format('b', clock))], clock)]),
    ),
  ],
  /** Marks that begin before every character and never end: each stretch has all attributes before it. */
  attributesOfStretches: (n) => [
    updateOf([
      block(1, [
        item({ parent: 'm', key: 'k' }, contents.type(2)),
        ...list(2 * n, (i) =>
          item(
            i === 0 ? { parent: id(1, 0) } : { left: id(1, i) },
            i % 2 === 0 ? contents.format(`k${i}`, true) : a,
          ),
        ),
      ]),
    ]),
    // When a mark is deleted, Yjs cleans up all of the text.
    updateOf([], [[1, [[1, 1]]]]),
  ],
  /** One large attribute value over many stretches, in the root `content`: small as bytes, large as a delta. */
  attributeOverStretches: (n) => [
    updateOf([
      block(1, [
        item({ parent: 'content' }, contents.format('a', 'v'.repeat(n))),
        ...list(2 * n, (i) =>
          item({ left: id(1, i) }, i % 2 === 0 ? a : contents.format('b', i % 4 === 1 ? true : null)),
        ),
      ]),
    ]),
  ],
  /** Clients with one item each that they delete. */
  deletingClients: (n) => [
    updateOf(
      list(n, (i) => block(n - i, [item({ parent: 'm', key: `${i}` }, a)])),
      list(n, (i) => [n - i, [[0, 1]]] as const),
    ),
  ],
  /** Clients whose first items are missing: Yjs removes each from the list of all. */
  missingClients: (n) => [updateOf(list(n, (i) => block(n - i, [item({}, a)], 1)))],
  /** Updates with missing dependencies and many clients each, and a keystroke after them. */
  heldUpdates: (n) => [
    ...list(16, (held) =>
      updateOf(
        [
          block(2_000_000 + held, [item({ left: id(3_000_000, 0) }, a)]),
          ...list(Math.ceil(n / 16), (i) => block(100 + held * n + i, [item({}, a)])),
        ],
        list(Math.ceil(n / 16), (i) => [100 + held * n + i, [[0, 1]]] as const),
      ),
    ),
    ...list(8, (clock) =>
      updateOf([block(7, [item(clock === 0 ? {} : { left: id(7, clock - 1) }, a)], clock)]),
    ),
  ],
  /** Items with gaps between them. */
  gaps: (n) => [
    updateOf([
      block(
        1,
        list(2 * n, (i) => (i % 2 === 0 ? item({}, a) : skip(1))),
      ),
    ]),
  ],
} as const satisfies Record<string, UpdateShape>

export type UpdateShapeName = keyof typeof hostileUpdates
