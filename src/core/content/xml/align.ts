import { diffTokens, type Hunk } from '../diff/diff.ts'
import type { DiffBudget } from '../diff/myers.ts'
import { idOf, NodeSimilarity } from './similarity.ts'
import type { XmlNode } from './tree.ts'

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
        const known = numbers.get(key) ?? numbers.size
        numbers.set(key, known)
        return known
      })
    const [x, y] = [tokens(a.slice(hunk.aStart, hunk.aEnd)), tokens(b.slice(hunk.bStart, hunk.bEnd))]
    const found: (NodePair | Hunk)[] = []
    let [i, j] = [0, 0]
    const end: Hunk = { aStart: x.length, aEnd: x.length, bStart: y.length, bEnd: y.length }
    for (const gap of [...diffTokens(x, y, this.#budget), end]) {
      while (i < gap.aStart && j < gap.bStart) found.push([hunk.aStart + i++, hunk.bStart + j++])
      found.push({
        aStart: hunk.aStart + gap.aStart,
        aEnd: hunk.aStart + gap.aEnd,
        bStart: hunk.bStart + gap.bStart,
        bEnd: hunk.bStart + gap.bEnd,
      })
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
