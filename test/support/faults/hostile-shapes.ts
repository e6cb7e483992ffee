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

/**
 * The functions of this file create updates of a given size. Integrating them costs far more than their
 * length suggests.
 */

/** Function that returns the updates of one shape, in the order in which a client sends them. */
export type UpdateShape = (n: number) => readonly Uint8Array[]

/** Returns `n` items of a client. Each item is appended after the previous one. */
const appended = (client: number, n: number, content: KnownContent, first: Place = {}): Block =>
  block(
    client,
    list(n, (clock) => item(clock === 0 ? first : { left: id(client, clock - 1) }, content)),
  )

/**
 * Returns `n` items of a client. Each item is inserted before the previous one. The items have no left
 * origin, so none of them merge.
 */
const prepended = (client: number, n: number, content: KnownContent, first: Place = {}): Block =>
  block(
    client,
    list(n, (clock) => item(clock === 0 ? first : { right: id(client, clock - 1) }, content)),
  )

const string = (client: number, length: number): Block =>
  block(client, [item({}, contents.text('x'.repeat(length)))])

const a = contents.text('a')

/** Returns ranges of every second clock of `2 * n` clocks, from the last to the first. */
const reversed = (n: number): (readonly [number, number])[] => list(n, (i) => [2 * (n - 1 - i), 1] as const)

/**
 * Returns nested Y.Array types of client 1. The item with the clock `depth - 1` contains the innermost type.
 */
const nest = (depth: number): Block =>
  block(
    1,
    list(depth, (clock) => item(clock === 0 ? {} : { parent: id(1, clock - 1) }, contents.type(0))),
  )

const deepest = 150

/** Updates by the name of their shape. Their size grows linearly with `n`. */
export const hostileUpdates = {
  /**
   * Item i of client 5 has no left origin, and its right origin is (9, n - i). Each item makes Yjs scan all
   * earlier items.
   */
  rightOriginsBackwards: (n) => [
    updateOf([
      block(9, [item({}, contents.text('x'.repeat(n + 1)))]),
      block(
        5,
        list(n, (i) => item({ right: id(9, n - i) }, a)),
      ),
    ]),
  ],
  /** Like `rightOriginsBackwards`, but each item has its own client. */
  rightOriginsOfClients: (n) => [
    updateOf([
      block(1, [item({}, contents.text('x'.repeat(n + 1)))]),
      ...list(n, (i) => block(n + 1 - i, [item({ right: id(1, i + 1) }, a)])),
    ]),
  ],
  /**
   * One client prepends items, and another client appends items. For each prepended item, Yjs scans all
   * appended items.
   */
  prependsOverAppends: (n) => [
    updateOf([prepended(9, n, a, { left: id(5, n - 1) }), appended(5, n, contents.embed)]),
  ],
  /** Like `prependsOverAppends`, but in two updates, as two offline replicas send them. */
  concurrentPrepends: (n) => [updateOf([appended(5, n, contents.embed)]), updateOf([prepended(9, n, a)])],
  /**
   * Each client inserts one item at the same place, the client with the lowest id first. For each item, Yjs
   * scans the items of all earlier clients.
   */
  clientsAtOnePlace: (n) => list(n, (i) => updateOf([block(i + 1, [item({}, a)])])),
  /** Small updates of one client. For each update, Yjs scans a long list. */
  smallLongScans: (n) => [
    updateOf([appended(5, n, contents.embed)]),
    ...list(n, (i) => updateOf([block(9, [item(i === 0 ? {} : { right: id(9, i - 1) }, a)], i)])),
  ],
  /**
   * Entries of the same key without origins. For each entry, Yjs walks from the newest entry to the oldest.
   */
  entriesOfOneKey: (n) => [
    updateOf([
      block(
        1,
        list(n, () => item({ parent: 'm', key: 'k' }, contents.values(1))),
      ),
    ]),
  ],
  /** Items in different roots. For each item, the encoder searches all roots for the name. */
  rootNames: (n) => [
    updateOf([
      block(
        1,
        list(n, (i) => item({ parent: `r${i}` }, a)),
      ),
    ]),
  ],
  /**
   * Deletes every second character of a string, and then the others. Each deletion splits the string and
   * shifts the rest of the array.
   */
  alternateDeletions: (n) => [
    updateOf([string(1, 2 * n)], [[1, list(n, (i) => [2 * i, 1] as const)]]),
    updateOf([], [[1, list(n, (i) => [2 * i + 1, 1] as const)]]),
  ],
  /**
   * Deletes every second character of a string, from its end to its start. Each deletion splits the string
   * and shifts everything that was split before.
   */
  reversedDeletions: (n) => [updateOf([string(1, 2 * n)], [[1, reversed(n)]])],
  /** Like `reversedDeletions`, in a string that the document already has. */
  laterReversedDeletions: (n) => [updateOf([string(1, 2 * n)]), updateOf([], [[1, reversed(n)]])],
  /** Deletes characters of a string from both ends in turn. */
  deletionsFromBothEnds: (n) => [
    updateOf([string(1, 2 * n)], [[1, list(n, (i) => [i % 2 === 0 ? i : 2 * n - 1 - i, 1] as const)]]),
  ],
  /** Deletes every second item of a list, and then the others. The items of this list never merge. */
  alternateItemDeletions: (n) => [
    updateOf([prepended(1, 2 * n, contents.embed)]),
    updateOf([], [[1, list(n, (i) => [2 * i, 1] as const)]]),
    updateOf([], [[1, list(n, (i) => [2 * i + 1, 1] as const)]]),
  ],
  /**
   * Deletes all items in many ranges. Each range contains all items, so Yjs scans all items for each range.
   */
  overlappingDeletions: (n) => [
    updateOf([prepended(1, n, contents.embed)], [[1, list(n, () => [0, n] as const)]]),
  ],
  /** Deletes nested types with content, one by one. */
  deletedTypes: (n) => [
    updateOf([
      block(1, [
        ...list(n, (i) => item(i === 0 ? {} : { left: id(1, i - 1) }, contents.type(1))),
        ...list(n, (i) => item({ parent: id(1, i), key: 'k' }, contents.values(1))),
      ]),
    ]),
    updateOf([], [[1, list(n, (i) => [i, 1] as const)]]),
  ],
  /**
   * Two types whose items alternate. After one of the types is deleted, the remaining runs have one item
   * each.
   */
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
  /** Changes many types. Each type is deep below the root. */
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
  /** Inserts items into a long string, from its end to its start. Each item splits the string. */
  splits: (n) => [
    updateOf([
      string(9, n + 1),
      block(
        5,
        list(n, (i) => item({ left: id(9, n - 1 - i), right: id(9, n - i) }, a)),
      ),
    ]),
  ],
  /**
   * Like `splits`, but the items are in another type. At the end of the transaction, Yjs joins the parts of the string
   * again, so each read of the document splits it again.
   */
  splitsOfAnotherType: (n) => [
    updateOf([
      block(9, [item({ parent: 'other' }, contents.text('x'.repeat(n + 1)))]),
      block(6, [item({}, a)]),
      block(
        5,
        list(n, (i) => item({ left: i === 0 ? id(6, 0) : id(5, i - 1), right: id(9, n - i) }, a)),
      ),
    ]),
  ],
  /** Like `splits`, but each item has its own client. */
  splitsOfClients: (n) => [
    updateOf([
      string(1, n + 1),
      ...list(n, (i) => block(n + 1 - i, [item({ left: id(1, n - 1 - i), right: id(1, n - i) }, a)])),
    ]),
  ],
  /** Like `splits`, but between the halves of surrogate pairs. Each split copies the string. */
  surrogateSplits: (n) => [
    updateOf([
      block(9, [item({}, contents.text('😀'.repeat(n)))]),
      block(
        5,
        list(n, (i) => item({ left: id(9, 2 * (n - i) - 2), right: id(9, 2 * (n - i) - 1) }, a)),
      ),
    ]),
  ],
  /** Like `splits`, but in a list of values. Each split copies the list. */
  valueSplits: (n) => [
    updateOf([
      block(9, [item({}, contents.values(n + 1))]),
      block(
        5,
        list(n, (i) => item({ left: id(9, n - 1 - i), right: id(9, n - i) }, contents.values(1))),
      ),
    ]),
  ],
  /** Single values in a row. Yjs joins them one by one. */
  singleValues: (n) => [updateOf([appended(1, n, contents.values(1))])],
  singleCharacters: (n) => [updateOf([appended(1, n, a)])],
  /** Inserts many formatting marks between the same two characters of a nested text. */
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
  /**
   * Deletes items from a nested text that has a formatting mark. For each item, Yjs scans the remaining gap.
   */
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
  /**
   * Inserts formatting marks into a nested text, one per update. After each update, Yjs cleans up the whole
   * text.
   */
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
  /**
   * Formatting marks that begin before each character and never end. Each stretch of text has all attributes
   * that begin before it.
   */
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
    // This deletes a mark, after which Yjs cleans up the whole text.
    updateOf([], [[1, [[1, 1]]]]),
  ],
  /**
   * A large attribute value that applies to many stretches of text, in the root `content`. The encoded text
   * is small, but its delta is large.
   */
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
  /** Many clients. Each client has one item and deletes it. */
  deletingClients: (n) => [
    updateOf(
      list(n, (i) => block(n - i, [item({ parent: 'm', key: `${i}` }, a)])),
      list(n, (i) => [n - i, [[0, 1]]] as const),
    ),
  ],
  /** Many clients. Each client writes a value into its own root, and deletes it, so that each root gets a marker. */
  emptiedRoots: (n) => [
    updateOf(
      list(n, (i) => block(n - i, [item({ parent: `r${i}` }, contents.values(1))])),
      list(n, (i) => [n - i, [[0, 1]]] as const),
    ),
  ],
  /** Many clients whose first items are missing. Yjs removes each client from a list of all clients. */
  missingClients: (n) => [updateOf(list(n, (i) => block(n - i, [item({}, a)], 1)))],
  /** Many clients, each of which depends on the next one. The struct of the last one is missing. */
  missingChains: (n) => [updateOf(list(n, (i) => block(n - i, [item({ left: id(n - i + 1, 0) }, a)])))],
  /** Pairs of clients. The first structs of both depend on each other. */
  circularClients: (n) => [
    updateOf(list(n, (i) => block(n - i, [item({ left: id(i % 2 === 0 ? n - i - 1 : n - i + 1, 0) }, a)]))),
  ],
  /** Many clients, each of which has a gap. */
  gapsOfClients: (n) => [updateOf(list(n, (i) => block(n - i, [item({}, a), skip(1), item({}, a)])))],
  /** Updates with many clients and missing dependencies, followed by keystrokes. */
  pendingUpdates: (n) => [
    ...list(16, (at) =>
      updateOf(
        [
          block(2_000_000 + at, [item({ left: id(3_000_000, 0) }, a)]),
          ...list(Math.ceil(n / 16), (i) => block(100 + at * n + i, [item({}, a)])),
        ],
        list(Math.ceil(n / 16), (i) => [100 + at * n + i, [[0, 1]]] as const),
      ),
    ),
    ...list(8, (clock) =>
      updateOf([block(7, [item(clock === 0 ? {} : { left: id(7, clock - 1) }, a)], clock)]),
    ),
  ],
  /** Items of one client with gaps between them. */
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
