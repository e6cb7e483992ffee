import * as Y from 'yjs'
import { invalid } from '../../base/errors.ts'
import { rootKind } from '../yjs/root-kind.ts'
import { isPresetWord } from './presets/presets.ts'
import { changeAttribute, markName } from './schema-spec.ts'
import { quoted } from './violation.ts'

/** Maximum number of names that are reported. */
const namesMax = 10

/** Maximum number of names that are collected. Marks that the root already has are not reported. */
const collectedMax = 1_000

/** A name that no preset has. */
interface UnknownName {
  readonly what: 'node' | 'mark'
  readonly name: string
}

/**
 * Runs a change of a root of XML. Returns its result, and a sentence for each name that the change adds and no
 * preset has, because an editor library would remove such a node or mark. The cost is linear in the number of
 * items that the change creates. If one of them is an unknown mark, it is linear in the number of all items.
 */
export function changeWithWarnings<Result>(
  doc: Y.Doc,
  change: () => Result,
  contentKeyOf: (result: Result) => string,
): { readonly result: Result; readonly warnings: readonly string[] } {
  const clock = Y.getState(doc.store, doc.clientID)
  const result = change()
  const names = unknownNames(doc, clock)
  const isXml = names.length > 0 && rootKind(doc, contentKeyOf(result)) === 'xml'
  return { result, warnings: isXml ? names.map(sentence) : [] }
}

/** Returns the error of a change with warnings that must not have any. */
export const unknownNamesError = (warnings: readonly string[]): Error =>
  invalid('crdt/schema-violation', warnings.join('; '), { warnings })

const sentence = ({ what, name }: UnknownName): string =>
  `no preset has the ${what} ${quoted(name)}, so that editors may remove it: send the names of your editor, ` +
  'another format such as "html" or "markdown", or a schema that has this name'

/** @param clock the clock of the client of `doc` before the change */
function unknownNames(doc: Y.Doc, clock: number): readonly UnknownName[] {
  const nodes = new Set<string>()
  const marks = new Set<string>()
  const structs = doc.store.clients.get(doc.clientID) ?? []
  let at = structs.length
  while (at > 0 && (structs[at - 1]?.id.clock ?? -1) >= clock) at -= 1
  for (; at < structs.length && nodes.size < namesMax && marks.size < collectedMax; at += 1) {
    const item = structs[at]
    if (!(item instanceof Y.Item) || item.deleted) continue
    const { content } = item
    if (content instanceof Y.ContentType && content.type instanceof Y.XmlElement) {
      if (!isPresetWord(content.type.nodeName)) nodes.add(content.type.nodeName)
    } else if (content instanceof Y.ContentFormat && content.value !== null) {
      const name = markName(content.key)
      if (name !== changeAttribute && !isPresetWord(name)) marks.add(name)
    }
  }
  if (marks.size > 0) removeKnown(doc, clock, marks)
  return [
    ...[...nodes].map((name) => ({ what: 'node', name }) as const),
    ...[...marks].map((name) => ({ what: 'mark', name }) as const),
  ].slice(0, namesMax)
}

/** Removes the marks that the document had before: text that is inserted into such a mark sets it again. */
function removeKnown(doc: Y.Doc, clock: number, marks: Set<string>): void {
  for (const [client, structs] of doc.store.clients) {
    for (const item of structs) {
      if (client === doc.clientID && item.id.clock >= clock) break
      if (!(item instanceof Y.Item) || item.deleted || !(item.content instanceof Y.ContentFormat)) continue
      marks.delete(markName(item.content.key))
    }
  }
}
