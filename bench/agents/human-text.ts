import * as Y from 'yjs'
import { contentKey, flatText } from './flat-text.ts'
import type { Typist } from './typist.ts'

/**
 * Returns a copy of a document without the characters that some clients have inserted. If a write of the agent has
 * kept such a character instead of an equal one of the document, the copy has it.
 * @param expected the document that the copy should equal
 */
export function withoutClients(doc: Y.Doc, clients: ReadonlySet<number>, expected: Y.Doc): Y.Doc {
  const copy = new Y.Doc()
  copy.getXmlFragment(contentKey)
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(doc))
  const [actual, target] = [flatText(copy), flatText(expected)]
  const isAlike = actual.parts.length === target.parts.length
  copy.transact(() => {
    for (const [index, { type, start, end }] of actual.parts.entries()) {
      const inserted = insertedBy(type, clients)
      const text = actual.text.slice(start, end)
      const part = isAlike ? target.parts[index] : undefined
      const kept =
        part === undefined ? null : keptCharacters(text, inserted, target.text.slice(part.start, part.end))
      for (let at = text.length - 1; at >= 0; at -= 1)
        if (inserted.has(at) && kept?.has(at) !== true) type.delete(at, 1)
    }
  })
  return copy
}

/** Returns the indexes of the characters of a text that some clients have inserted. */
function insertedBy(type: Y.XmlText, clients: ReadonlySet<number>): ReadonlySet<number> {
  const indexes = new Set<number>()
  let index = 0
  for (let item = type._start; item !== null; item = item.right) {
    if (item.deleted || !item.countable) continue
    for (let offset = 0; offset < item.length; offset += 1, index += 1)
      if (clients.has(item.id.client)) indexes.add(index)
  }
  return indexes
}

/**
 * Returns the inserted characters that must stay, so that the text without the others is the expected one. Returns
 * null if this is not possible.
 */
function keptCharacters(
  text: string,
  inserted: ReadonlySet<number>,
  expected: string,
): ReadonlySet<number> | null {
  const excess = text.length - expected.length
  if (inserted.size === 0 || excess < 0) return null
  // For each index and each number of characters that were dropped before it: whether the remainder can be reached.
  const width = excess + 2
  const reachable = new Uint8Array((text.length + 1) * width)
  reachable[text.length * width + excess] = 1
  const mayStay = (at: number, dropped: number): boolean =>
    text[at] === expected[at - dropped] && reachable[(at + 1) * width + dropped] === 1
  const mayDrop = (at: number, dropped: number): boolean =>
    inserted.has(at) && reachable[(at + 1) * width + dropped + 1] === 1
  for (let at = text.length - 1; at >= 0; at -= 1)
    for (let dropped = 0; dropped <= Math.min(at, excess); dropped += 1)
      if (mayStay(at, dropped) || mayDrop(at, dropped)) reachable[at * width + dropped] = 1
  if (reachable[0] === 0) return null
  const kept = new Set<number>()
  let dropped = 0
  for (let at = 0; at < text.length; at += 1) {
    if (mayDrop(at, dropped)) dropped += 1
    else if (inserted.has(at)) kept.add(at)
  }
  return kept
}

/** Returns how many of the characters of a typist the document does not have any more. */
export function lostCharacters(doc: Y.Doc, { editor, clocks }: Typist): number {
  const shown = new Set<number>()
  for (const { type } of flatText(doc).parts)
    for (let item = type._start; item !== null; item = item.right)
      if (!item.deleted && item.id.client === editor.clientID)
        for (let offset = 0; offset < item.length; offset += 1) shown.add(item.id.clock + offset)
  return clocks.filter((clock) => !shown.has(clock)).length
}
