import type { MarkSet } from './xml-marks.ts'
import type { XmlElement, XmlNode, XmlRun, XmlText } from './xml-tree.ts'

/**
 * Gives nodes numbers, bottom up: equal trees, equal numbers. Numbers instead of hashes, since nobody can make two of
 * them collide; the work is linear in the content. XML text has no control characters, so they may separate.
 */
export class NodeNumbers {
  readonly #numbers = new Map<string, number>()

  text(runs: readonly XmlRun[], text: string): XmlText {
    const marks = runs.length === 1 && runs[0]?.marks === 0 ? '' : runs.map(markKey).join()
    return { kind: 'text', text, runs, size: text.length, number: this.#numberOf(`${marks}\u0001${text}`) }
  }

  element<T extends XmlNode>(
    name: string,
    attributes: XmlElement['attributes'],
    children: readonly T[],
  ): XmlElement & { readonly children: readonly T[] } {
    const listed = attributes.map(([attribute, text]) => `${attribute}\u0002${text}`).join('\u0003')
    const inside = children.map(({ number }) => number).join()
    const size = children.reduce((sum, child) => sum + child.size, 1)
    const number = this.#numberOf(`${name}\u0004${listed}\u0005${inside}`)
    return { kind: 'element', name, attributes, children, size, number }
  }

  #numberOf(key: string): number {
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    this.#numbers.set(key, this.#numbers.size)
    return this.#numbers.size - 1
  }
}

const markKey = ({ start, marks }: XmlRun): string => `${start}:${marks}`

/** Puts runs of text together, joining those that bear the same marks. */
export class RunBuilder {
  #text = ''
  #runs: XmlRun[] = []

  add(text: string, marks: MarkSet): void {
    if (text === '') return
    if (this.#runs.at(-1)?.marks !== marks) this.#runs.push({ start: this.#text.length, marks })
    this.#text += text
  }

  /** What has been put together, if anything; then it starts anew. */
  take(numbers: NodeNumbers): XmlText | null {
    if (this.#text === '') return null
    const node = numbers.text(this.#runs, this.#text)
    this.#text = ''
    this.#runs = []
    return node
  }
}
