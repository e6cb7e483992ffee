import * as Y from 'yjs'
import { diffTokens, type Hunk } from '../../src/core/content/diff/diff.ts'

/** Name of the root in which Tiptap has its content. */
export const contentKey = 'default'

/** Stands before each text, so that no neighbor of a character is in another text. */
const boundary = '\0'
/** Stands for an embed. */
const embed = '\ufffc'

/** All texts of a document in order, as one string. */
export interface FlatText {
  readonly text: string
  readonly parts: readonly FlatPart[]
}

export interface FlatPart {
  readonly type: Y.XmlText
  /** Offset in the string of the first character, which is after the boundary. */
  readonly start: number
  readonly end: number
  /** The names of the elements around the text. */
  readonly kind: string
  /** The same with attributes. */
  readonly elements: string
}

export function flatText(doc: Y.Doc): FlatText {
  let text = ''
  const parts: FlatPart[] = []
  const visit = (node: Y.XmlFragment | Y.XmlElement, kind: string, elements: string): void => {
    for (const child of node.toArray()) {
      if (child instanceof Y.XmlText) {
        text += boundary
        const start = text.length
        text += charactersOf(child)
        parts.push({ type: child, start, end: text.length, kind, elements })
      } else if (child instanceof Y.XmlElement) {
        const attributes = Object.entries(child.getAttributes()).sort()
        const element = `${child.nodeName}${JSON.stringify(attributes)}`
        visit(child, `${kind}/${child.nodeName}`, `${elements}/${element}`)
      }
    }
  }
  visit(doc.getXmlFragment(contentKey), '', '')
  return { text: text + boundary, parts }
}

/** Returns one UTF-16 unit for each index of a text. */
function charactersOf(type: Y.XmlText): string {
  let characters = ''
  for (let item = type._start; item !== null; item = item.right)
    if (!item.deleted && item.countable)
      characters += item.content instanceof Y.ContentString ? item.content.str : embed.repeat(item.length)
  return characters
}

/** Returns the part that contains an offset. */
export const partAt = ({ parts }: FlatText, offset: number): FlatPart | undefined =>
  parts.find(({ start, end }) => start <= offset && offset <= end)

/** Number of characters on each side of an offset that count as its neighbors. */
const neighborsMax = 20

/** Returns the characters around an offset. They are in the same text, or its boundary. */
export function neighborsAt(text: string, offset: number): string {
  const start = Math.max(text.lastIndexOf(boundary, offset - 1), offset - neighborsMax)
  const end = Math.min(text.indexOf(boundary, offset) + 1, offset + neighborsMax)
  return `${text.slice(start, offset)}|${text.slice(offset, end)}`
}

/** Returns the differences between two documents, in their texts and in the elements around each text. */
export function differences(from: FlatText, to: FlatText): readonly Hunk[] {
  const numbers = new Map<string, number>()
  const tokensOf = ({ text, parts }: FlatText): Int32Array => {
    const tokens = Int32Array.from(text.split(''), (unit) => unit.charCodeAt(0))
    for (const { start, elements } of parts) {
      const number = numbers.get(elements) ?? firstNumber + numbers.size
      numbers.set(elements, number)
      tokens[start - 1] = number
    }
    return tokens
  }
  return diffTokens(tokensOf(from), tokensOf(to), { steps: 10_000_000 })
}

/** Above all UTF-16 units. */
const firstNumber = 0x1_0000

/**
 * Returns whether the neighbors of an offset are not among the differences, and the elements around it keep their
 * names. Yjs cannot rename an element, so that the text of a renamed one is always new.
 */
export function isUntouched(from: FlatText, to: FlatText, hunks: readonly Hunk[], offset: number): boolean {
  let shift = 0
  for (const { aStart, aEnd, bStart, bEnd } of hunks) {
    if (aStart < offset && offset < aEnd) return false
    if (aEnd <= offset) shift += bEnd - bStart - (aEnd - aStart)
  }
  const [before, after] = [partAt(from, offset), partAt(to, offset + shift)]
  if (before === undefined || after === undefined || before.kind !== after.kind) return false
  return neighborsAt(from.text, offset) === neighborsAt(to.text, offset + shift)
}
