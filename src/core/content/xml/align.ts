import { memoized } from '../../base/maps.ts'
import { diffTokens, type Hunk, shifted } from '../diff/diff.ts'
import type { DiffBudget } from '../diff/myers.ts'
import { words } from '../diff/tokenizers.ts'
import type { XmlElement, XmlNode } from './tree.ts'

/** The positions of a node and of the node that it becomes. In a list of pairs, both positions ascend. */
type NodePair = readonly [a: number, b: number]

/** A range that differs, and the pairs of corresponding nodes in it. */
export interface NodeDifference {
  readonly hunk: Hunk
  readonly pairs: readonly NodePair[]
}

/**
 * Maximum number of node pairs (rows x columns) of a range that are compared individually. A larger range is
 * first divided by keys.
 */
const cellsMax = 10_000

/**
 * Maximum size of an equal range that is joined with the differences on both sides, for example a line break
 * or an empty paragraph.
 */
const trivialSize = 3

/**
 * Maximum length of the text at the start (or end) of a node that serves as its key. Keys are used in ranges
 * that are too large to compare all pairs.
 */
const keyLength = 24

/** Finds the corresponding children of two elements, in order. */
export class NodeAligner {
  readonly #features = new NodeSimilarity()
  readonly #budget: DiffBudget

  constructor(budget: DiffBudget) {
    this.#budget = budget
  }

  /**
   * Returns the ranges that differ, with the pairs of corresponding nodes in each range. Nodes outside the
   * ranges are equal.
   */
  differences(a: readonly XmlNode[], b: readonly XmlNode[]): NodeDifference[] {
    const hunks = diffTokens(numbersOf(a), numbersOf(b), this.#budget)
    return joinTrivial(a, hunks).map((hunk) => ({ hunk, pairs: this.#pairs(a, b, hunk, 0) }))
  }

  #pairs(a: readonly XmlNode[], b: readonly XmlNode[], hunk: Hunk, keyIndex: number): NodePair[] {
    const [rows, columns] = [hunk.aEnd - hunk.aStart, hunk.bEnd - hunk.bStart]
    if (rows === 0 || columns === 0) return []
    if (rows * columns <= cellsMax && this.#budget.steps > 0) return this.#weigh(a, b, hunk)
    const keyOf = keys[keyIndex]
    if (keyOf === undefined) return []
    return this.#byKey(a, b, hunk, keyOf).flatMap((found) =>
      'length' in found ? [found] : this.#pairs(a, b, found, keyIndex + 1),
    )
  }

  /** Returns the pairs of nodes with the same key, and the ranges between them. */
  #byKey(a: readonly XmlNode[], b: readonly XmlNode[], hunk: Hunk, keyOf: KeyOf): (NodePair | Hunk)[] {
    const numbers = new Map<string, number>()
    let nameless = 0
    const tokens = (nodes: readonly XmlNode[]): Int32Array =>
      Int32Array.from(nodes, (node) => {
        const key = keyOf(node)
        // A unique number, so that a node without a key equals no other node.
        if (key === null) return --nameless
        return memoized(numbers, key, () => numbers.size)
      })
    const [x, y] = [tokens(a.slice(hunk.aStart, hunk.aEnd)), tokens(b.slice(hunk.bStart, hunk.bEnd))]
    const found: (NodePair | Hunk)[] = []
    let [i, j] = [0, 0]
    const end: Hunk = { aStart: x.length, aEnd: x.length, bStart: y.length, bEnd: y.length }
    for (const gap of [...diffTokens(x, y, this.#budget), end]) {
      while (i < gap.aStart && j < gap.bStart) found.push([hunk.aStart + i++, hunk.bStart + j++])
      found.push(shifted(gap, hunk.aStart, hunk.bStart))
      ;[i, j] = [gap.aEnd, gap.bEnd]
    }
    return found
  }

  /**
   * Returns the ordered pairs that keep the most content: Needleman and Wunsch (1970), without a penalty for
   * gaps.
   */
  #weigh(a: readonly XmlNode[], b: readonly XmlNode[], hunk: Hunk): NodePair[] {
    const { aStart, aEnd, bStart, bEnd } = hunk
    if (aEnd - aStart === 1 && bEnd - bStart === 1) {
      return mayPair(a[aStart] as XmlNode, b[bStart] as XmlNode) ? [[aStart, bStart]] : []
    }
    const width = bEnd - bStart + 1
    const weights = new Float64Array((aEnd - aStart) * width)
    const best = new Float64Array((aEnd - aStart + 1) * width)
    for (let i = aEnd - aStart - 1; i >= 0; i--) {
      for (let j = width - 2; j >= 0; j--) {
        const weight = this.#weight(a[aStart + i] as XmlNode, b[bStart + j] as XmlNode)
        weights[i * width + j] = weight
        const cell = i * width + j
        const skipped = Math.max(best[cell + width] as number, best[cell + 1] as number)
        best[cell] = Math.max(skipped, weight === 0 ? 0 : weight + (best[cell + width + 1] as number))
      }
    }
    const pairs: NodePair[] = []
    for (let [i, j] = [0, 0]; i < aEnd - aStart && j < width - 1; ) {
      const cell = i * width + j
      const weight = weights[cell] as number
      if (weight > 0 && best[cell] === weight + (best[cell + width + 1] as number)) {
        pairs.push([aStart + i++, bStart + j++])
      } else if (best[cell] === best[cell + width]) i += 1
      else j += 1
    }
    return pairs
  }

  /** Returns a weight for how much content is kept if two nodes are paired; 0 if they cannot be paired. */
  #weight(a: XmlNode, b: XmlNode): number {
    this.#budget.steps -= 1
    if (!mayPair(a, b)) return 0
    if (a.number === b.number) return 2 + 2 * this.#features.of(a).length
    const [left, right] = [this.#features.of(a), this.#features.of(b)]
    this.#budget.steps -= (left.length + right.length) >> 3
    const shared = this.#features.shared(a, b)
    // Among nodes with the same amount of common content, this factor prefers the node with less different
    // content.
    const likeness = (2 * shared) / (left.length + right.length + 1)
    const [leftId, rightId] = [idOf(a), idOf(b)]
    if (leftId !== null && leftId === rightId) return 4 + 2 * left.length + shared
    if (leftId !== null && rightId !== null) return 0.1 + shared * likeness
    return 1 + shared * (0.5 + likeness / 2)
  }
}

const mayPair = (a: XmlNode, b: XmlNode): boolean =>
  a.kind === 'text' ? b.kind === 'text' : b.kind === 'element' && a.name === b.name

const numbersOf = (nodes: readonly XmlNode[]): Int32Array => Int32Array.from(nodes, ({ number }) => number)

/** Joins two differences if the equal nodes between them are trivial. */
function joinTrivial(a: readonly XmlNode[], hunks: readonly Hunk[]): Hunk[] {
  const joined: Hunk[] = []
  for (const hunk of hunks) {
    const last = joined.at(-1)
    if (last !== undefined && isTrivial(a, last.aEnd, hunk.aStart) && cells(last, hunk) <= cellsMax) {
      joined[joined.length - 1] = { ...last, aEnd: hunk.aEnd, bEnd: hunk.bEnd }
    } else joined.push(hunk)
  }
  return joined
}

const cells = (first: Hunk, last: Hunk): number => (last.aEnd - first.aStart) * (last.bEnd - first.bStart)

function isTrivial(nodes: readonly XmlNode[], start: number, end: number): boolean {
  let size = 0
  for (let index = start; index < end && size <= trivialSize; index++) size += (nodes[index] as XmlNode).size
  return size <= trivialSize
}

type KeyOf = (node: XmlNode) => string | null

/**
 * Keys by which nodes are paired in ranges that are too large to compare all pairs, the most reliable key
 * first. The last key is only the name.
 */
const keys: readonly KeyOf[] = [
  (node) => {
    const id = idOf(node)
    return id === null ? null : `${nameOf(node)} ${id}`
  },
  (node) => keyText(node, (text) => text.slice(0, keyLength)),
  (node) => keyText(node, (text) => text.slice(-keyLength)),
  (node) => nameOf(node),
]

const nameOf = (node: XmlNode): string => (node.kind === 'text' ? '' : node.name)

function keyText(node: XmlNode, cut: (text: string) => string): string | null {
  const text = cut(someText(node))
  return text === '' ? null : `${nameOf(node)} ${text}`
}

/**
 * Returns the first text that is found in a node. The search reads one child of each level, the first text or
 * else the first element, so that the work stays small.
 */
function someText(node: XmlNode): string {
  let inside: XmlNode | undefined = node
  while (inside?.kind === 'element') {
    inside = inside.children.find((child) => child.kind === 'text') ?? inside.children[0]
  }
  return inside?.text ?? ''
}

/**
 * Maximum number of features that represent one node. The features with the smallest hashes are used, so that
 * the samples of two nodes contain the same common features.
 */
const featuresMax = 96

/** Maximum number of UTF-16 units of one text that are read. */
const textMax = 4_000

const none = new Uint32Array(0)

/** Attributes that identify an element, the most specific first. */
const idNames: readonly string[] = ['id', 'xml:id', '_id', 'key', 'uid', 'uuid', 'name', 'slug', 'anchor']

/** Returns the id of an element; null if the element has no id. */
function idOf(node: XmlNode): string | null {
  if (node.kind === 'text') return null
  for (const name of idNames) {
    const found = node.attributes.find(([attribute]) => attribute === name)
    if (found !== undefined) return `${name}=${found[1]}`
  }
  return null
}

/**
 * Estimates the similarity of nodes from hashes of their words and children. Each node is represented by a
 * sample of limited size.
 */
class NodeSimilarity {
  readonly #known = new Map<number, Uint32Array>()

  /**
   * Returns an estimate of the number of words and children that two nodes have in common, from 0 to about a
   * hundred.
   */
  shared(a: XmlNode, b: XmlNode): number {
    const [left, right] = [this.of(a), this.of(b)]
    let [i, j, count] = [0, 0, 0]
    while (i < left.length && j < right.length) {
      const [x, y] = [left[i] as number, right[j] as number]
      if (x === y) count += 1
      if (x <= y) i += 1
      if (y <= x) j += 1
    }
    return count
  }

  of = (node: XmlNode): Uint32Array =>
    memoized(this.#known, node.number, () =>
      node.kind === 'text' ? smallest(wordHashes(node.text)) : this.#ofElement(node),
    )

  #ofElement({ attributes, children }: XmlElement): Uint32Array {
    const own = attributes.map(([name, text]) => hash(`${name}=${text}`))
    for (const child of children) if (child.kind === 'element') own.push(mix(child.number))
    return children.reduce((sum, child) => union(sum, this.of(child)), smallest(own))
  }
}

function wordHashes(text: string): number[] {
  const hashes: number[] = []
  let start = 0
  for (const end of words(text, 0, Math.min(text.length, textMax))) {
    const isBlank = end === start + 1 && text.charCodeAt(start) <= 32
    if (!isBlank) hashes.push(hash(text.slice(start, end)))
    start = end
  }
  return hashes
}

function smallest(hashes: number[]): Uint32Array {
  if (hashes.length === 0) return none
  const sorted = Uint32Array.from(hashes).sort()
  return sorted.filter((value, index) => value !== sorted[index - 1]).slice(0, featuresMax)
}

function union(a: Uint32Array, b: Uint32Array): Uint32Array {
  if (a.length === 0) return b
  if (b.length === 0) return a
  const merged = new Uint32Array(Math.min(featuresMax, a.length + b.length))
  let [i, j, count] = [0, 0, 0]
  while (count < merged.length && (i < a.length || j < b.length)) {
    const [x, y] = [a[i] ?? Number.POSITIVE_INFINITY, b[j] ?? Number.POSITIVE_INFINITY]
    merged[count++] = Math.min(x, y)
    if (x <= y) i += 1
    if (y <= x) j += 1
  }
  return merged.subarray(0, count)
}

/** Returns the FNV-1a hash of a text. The bits are mixed again, because only the smallest hashes are kept. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  }
  return mix(value)
}

/** Mixes the bits of a hash with the finalizer of MurmurHash3. */
function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
