import * as Y from 'yjs'

type Shared = NonNullable<ReturnType<Y.Doc['share']['get']>>

/** Everything that is live in a document, as it is stored and however it is cut into items; only roots that hold anything. */
export function storedContent(doc: Y.Doc): unknown {
  const roots = [...doc.share].map(([key, type]) => [key, dump(type)] as const)
  return Object.fromEntries(roots.filter(([, { entries, sequence }]) => entries.length + sequence.length > 0))
}

interface Stretch {
  readonly text?: string
  readonly node?: unknown
  readonly value?: unknown
  /** Sorted by name. */
  readonly formats: readonly (readonly [string, unknown])[]
}

/** Texts next to each other in an element are one, empty ones none. */
function dump(type: Shared): { entries: readonly unknown[]; sequence: readonly unknown[] } {
  const entries = [...type._map]
    .filter(([, item]) => !item.deleted)
    .map(([key, { content }]) => [key, valuesIn(content).at(-1)] as const)
  return { entries: entries.sort(([a], [b]) => (a < b ? -1 : 1)), sequence: joined(stretchesIn(type)) }
}

function valuesIn(content: Y.Item['content']): readonly object[] {
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
  const holdsXml = isXml(type)
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
    else if (holdsXml && content instanceof Y.ContentType && isText(content.type))
      stretches.push(...stretchesIn(content.type as object as Shared).map((node) => ({ node, formats })))
    else stretches.push(...valuesIn(content).map((value) => ({ value, formats })))
  }
  return stretches
}

const isText = (type: object): boolean =>
  type instanceof Y.XmlText && Object.keys(type.getAttributes()).length === 0

/** A root that holds nothing but XML nodes may be a fragment as well as an array. */
function isXml(type: Shared): boolean {
  if (type instanceof Y.XmlFragment || type._item !== null) return type instanceof Y.XmlFragment
  for (let item = type._start; item !== null; item = item.right)
    if (!item.deleted && !(item.content instanceof Y.ContentType && isXmlNode(item.content.type)))
      return false
  return true
}

const isXmlNode = (type: object): boolean =>
  type instanceof Y.XmlElement || type instanceof Y.XmlText || type instanceof Y.XmlHook

/** Text of equal formatting as one. */
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

/** Of a text, or of one in an element. */
function textOf(stretch: Stretch | undefined) {
  if (stretch === undefined) return null
  const { formats } = stretch
  const inner = stretch.node as Stretch | undefined
  const text = stretch.text ?? inner?.text
  if (text === undefined) return null
  const key = JSON.stringify([inner === undefined, inner?.formats, formats])
  const made = (whole: string): Stretch =>
    inner === undefined ? { text: whole, formats } : { node: { ...inner, text: whole }, formats }
  return { key, text, with: (before: string) => made(before + text) }
}
