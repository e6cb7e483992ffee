import * as Y from 'yjs'

type Shared = NonNullable<ReturnType<Y.Doc['share']['get']>>

/**
 * Returns the content of a document that is not deleted. The split into items has no effect on the result.
 * Roots without content are left out.
 */
export function storedContent(doc: Y.Doc): unknown {
  const roots = [...doc.share].map(([key, type]) => [key, dump(type)] as const)
  return Object.fromEntries(roots.filter(([, { entries, sequence }]) => entries.length + sequence.length > 0))
}

interface Stretch {
  readonly text?: string
  readonly value?: unknown
  /** Names and values of the formats, sorted by name. */
  readonly formats: readonly (readonly [string, unknown])[]
}

function dump(type: Shared): { entries: readonly unknown[]; sequence: readonly unknown[] } {
  const entries = [...type._map]
    .filter(([, item]) => !item.deleted)
    .map(([key, { content }]) => [key, valuesIn(content).at(-1)] as const)
  return { entries: entries.sort(([a], [b]) => (a < b ? -1 : 1)), sequence: joined(stretchesIn(type)) }
}

function valuesIn(content: Y.Item['content']): readonly object[] {
  if (content instanceof Y.ContentDoc)
    return [{ is: 'subdocument', guid: content.doc.guid, options: content.opts as unknown }]
  if (!(content instanceof Y.ContentType))
    return content
      .getContent()
      .map((value) => ({ value: value as unknown, isEmbed: content instanceof Y.ContentEmbed }))
  const { type } = content
  const name = type instanceof Y.XmlElement ? type.nodeName : type instanceof Y.XmlHook ? type.hookName : ''
  return [{ is: type.constructor.name, name, ...dump(type as Shared) }]
}

function stretchesIn(type: Shared): readonly Stretch[] {
  const stretches: Stretch[] = []
  const present = new Map<string, unknown>()
  for (let item = type._start; item !== null; item = item.right) {
    const { content } = item
    if (item.deleted) continue
    if (content instanceof Y.ContentFormat) {
      if (content.value === null) present.delete(content.key)
      else present.set(content.key, content.value)
      continue
    }
    const formats = [...present].sort(([a], [b]) => (a < b ? -1 : 1))
    if (content instanceof Y.ContentString) stretches.push({ text: content.str, formats })
    else stretches.push(...valuesIn(content).map((value) => ({ value, formats })))
  }
  return stretches
}

/** Joins adjacent stretches that have the same formatting. */
function joined(stretches: readonly Stretch[]): readonly Stretch[] {
  const all: Stretch[] = []
  for (const stretch of stretches) {
    const last = all.at(-1)
    const [before, next] = [textOf(last), textOf(stretch)]
    if (before === null || next === null || before.key !== next.key) all.push(stretch)
    else all[all.length - 1] = next.with(before.text)
  }
  return all
}

function textOf(stretch: Stretch | undefined) {
  if (stretch?.text === undefined) return null
  const { text, formats } = stretch
  return { key: JSON.stringify(formats), with: (before: string) => ({ text: before + text, formats }), text }
}
