import { words } from '../diff/tokenizers.ts'
import type { XmlElement, XmlNode } from './tree.ts'

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
export function idOf(node: XmlNode): string | null {
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
export class NodeSimilarity {
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

  of(node: XmlNode): Uint32Array {
    const known = this.#known.get(node.number)
    if (known !== undefined) return known
    const features = node.kind === 'text' ? smallest(wordHashes(node.text)) : this.#ofElement(node)
    this.#known.set(node.number, features)
    return features
  }

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
