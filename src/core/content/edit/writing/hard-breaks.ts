import * as Y from 'yjs'
import type { CompiledSchema } from '../../schemas/compiled-schema.ts'
import { TextChange } from '../../text/operations.ts'
import { hardBreakNames, isCode } from '../targets/xml-names.ts'
import type { XmlFlowView } from '../targets/xml-view.ts'
import { writeOperations } from './source-edits.ts'

/** Maximum number of line breaks in one text that become elements. */
const breaksMax = 10_000

/**
 * Replaces the line breaks in new text by elements, if the editor has an element for them. The text after such a
 * line break moves to a new text, as in the editor. The cost is linear in the texts that contain new characters.
 * @param clock the clock of the client of the document before the new text
 */
export function placeHardBreaks(
  transaction: Y.Transaction,
  clock: number,
  view: XmlFlowView,
  schema: CompiledSchema | null,
): void {
  const { store, clientID } = transaction.doc
  const texts = new Set<Y.XmlText>()
  const structs = store.clients.get(clientID) ?? []
  let at = structs.length
  while (at > 0 && (structs[at - 1]?.id.clock ?? -1) >= clock) at -= 1
  for (; at < structs.length; at += 1) {
    const item = structs[at]
    if (!(item instanceof Y.Item) || item.deleted || !(item.content instanceof Y.ContentString)) continue
    if (item.parent instanceof Y.XmlText && item.content.str.includes('\n')) texts.add(item.parent)
  }
  const isNew = ({ id }: Y.Item): boolean => id.client === clientID && id.clock >= clock
  for (const text of texts) {
    const { parent } = text
    const name = parent instanceof Y.XmlElement ? breakIn(parent.nodeName, view, schema) : undefined
    if (name !== undefined) divide(transaction, text, name, newBreaks(text, isNew))
  }
}

/** Returns the name of the element for a line break in the text of a block. */
function breakIn(
  block: string,
  { inlineNames }: XmlFlowView,
  schema: CompiledSchema | null,
): string | undefined {
  const names = [...hardBreakNames]
  if (schema !== null) return names.find((name) => schema.nodes.get(block)?.content.next.has(name) === true)
  return isCode(block) ? undefined : names.find((name) => inlineNames.has(name))
}

/** Returns the indexes of the new line breaks in a text; none if it has embedded values or too many of them. */
function newBreaks(text: Y.XmlText, isNew: (item: Y.Item) => boolean): readonly number[] {
  const found: number[] = []
  let index = 0
  for (let item = text._start; item !== null; item = item.right) {
    if (item.deleted || !item.countable) continue
    if (!(item.content instanceof Y.ContentString)) return []
    const { str } = item.content
    if (isNew(item))
      for (let at = str.indexOf('\n'); at >= 0; at = str.indexOf('\n', at + 1)) found.push(index + at)
    index += str.length
  }
  return found.length > breaksMax ? [] : found
}

interface DeltaText {
  readonly insert: string
  readonly attributes?: object
}

/** Divides a text at its line breaks. */
function divide(transaction: Y.Transaction, text: Y.XmlText, name: string, breaks: readonly number[]): void {
  const [first] = breaks
  const { parent } = text
  if (first === undefined || !(parent instanceof Y.XmlElement)) return
  const delta = text.toDelta() as DeltaText[]
  const whole = delta.map(({ insert }) => insert).join('')
  const types: (Y.XmlElement | Y.XmlText)[] = []
  let [operation, start] = [0, 0]
  breaks.forEach((at, index) => {
    const part: object[] = []
    const end = endOf(whole, breaks[index + 1])
    let next = at + 1
    while (next < end) {
      const { insert, attributes } = delta[operation] as DeltaText
      if (start + insert.length <= next) {
        start += insert.length
        operation += 1
        continue
      }
      const taken = insert.slice(next - start, end - start)
      part.push({ insert: taken, attributes: { ...attributes } })
      next += taken.length
    }
    types.push(new Y.XmlElement(name))
    if (part.length === 0) return
    const tail = new Y.XmlText()
    tail.applyDelta(part)
    types.push(tail)
  })
  parent.insertAfter(text, types)
  const kept = endOf(whole, first)
  if (kept === 0) text._item?.delete(transaction)
  else writeOperations(text, new TextChange().retain(kept).delete(whole.length - kept).operations)
}

/** Returns the end of the line before a line break. A carriage return belongs to the line break. */
function endOf(text: string, at = text.length + 1): number {
  if (at > text.length) return text.length
  return text[at - 1] === '\r' ? at - 1 : at
}
