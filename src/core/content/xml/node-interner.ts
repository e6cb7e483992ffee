import type { MarkSet } from './mark-sets.ts'
import type { XmlElement, XmlNode, XmlRun } from './tree.ts'

/**
 * Assigns numbers to nodes, from the leaves up. Equal trees have equal numbers. Unlike hashes, numbers cannot
 * collide. The work is linear in the content. Control characters serve as separators: names and
 * attributes contain no control characters, and a text is the last part of its key.
 */
export class NodeInterner {
  readonly #numbers = new Map<string, number>()

  ofText(runs: readonly XmlRun[], text: string): number {
    const marks = runs.length === 1 && runs[0]?.marks === 0 ? '' : runs.map(markKey).join()
    return this.#numberOf(`${marks}\u0001${text}`)
  }

  ofElement(name: string, attributes: XmlElement['attributes'], children: readonly XmlNode[]): number {
    let key = name
    for (const [attribute, text] of attributes) key += `\u0002${attribute}\u0003${text}`
    key += '\u0004'
    for (const child of children) key += `${child.number},`
    return this.#numberOf(key)
  }

  #numberOf(key: string): number {
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    this.#numbers.set(key, this.#numbers.size)
    return this.#numbers.size - 1
  }
}

/** Returns the size of an element that has these children. */
export function subtreeSize(children: readonly XmlNode[]): number {
  let size = 1
  for (const child of children) size += child.size
  return size
}

const markKey = ({ start, marks }: XmlRun): string => `${start}:${marks}`

/** Joins runs of text. Adjacent runs with the same marks become one run. */
export class XmlRunBuilder {
  #text = ''
  #runs: XmlRun[] = []

  add(text: string, marks: MarkSet): void {
    if (text === '') return
    if (this.#runs.at(-1)?.marks !== marks) this.#runs.push({ start: this.#text.length, marks })
    this.#text += text
  }

  /** Returns the collected text and removes it from the builder; null if there is no text. */
  take(): { text: string; runs: readonly XmlRun[] } | null {
    if (this.#text === '') return null
    const taken = { text: this.#text, runs: this.#runs }
    this.#text = ''
    this.#runs = []
    return taken
  }
}
