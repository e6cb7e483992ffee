import * as Y from 'yjs'
import type { SharedRoot } from '../../../../../src/core/content/yjs/root-kind.ts'
import type { Attributes, Block, Unit } from './text-model.ts'

type SharedType = SharedRoot

/** A stored character: the shared text that contains it, and its index. */
export interface Place {
  readonly type: SharedType
  readonly index: number
}

/** The content of a root in the form of the model. */
export interface ReadRoot {
  readonly root: Block
  readonly places: ReadonlyMap<string, Place>
}

const inlineElements = ['hardBreak', 'image']
const inlineTypes = ['link']

/** Reads a root item by item. */
export function readBlocks(doc: Y.Doc, key: string, kind: 'text' | 'xml' | 'xmltext'): ReadRoot {
  const places = new Map<string, Place>()
  const root = doc.share.get(key) as SharedType
  const base = { id: null, name: 'root', attributes: {} }
  if (kind === 'text') return { root: { ...base, units: unitsOf(root, places), blocks: [] }, places }
  const blocks = nestedIn(root).map((type) => blockOf(type, places))
  return { root: { ...base, units: null, blocks }, places }
}

function* liveItems(type: SharedType): Generator<Y.Item> {
  for (let item = type._start; item !== null; item = item.right) if (!item.deleted) yield item
}

function nestedIn(type: SharedType): SharedType[] {
  return [...liveItems(type)].flatMap(({ content }) =>
    content instanceof Y.ContentType ? [content.type] : [],
  )
}

const idOf = ({ id }: Y.Item, offset = 0): string => `${id.client}:${id.clock + offset}`

export function attributesOf(type: SharedType): Attributes {
  const attributes: Record<string, Attributes[string]> = {}
  for (const [name, item] of type._map) if (!item.deleted) attributes[name] = item.content.getContent().at(-1)
  return attributes
}

const isInlineXml = (type: SharedType): boolean =>
  type instanceof Y.XmlElement && inlineElements.includes(type.nodeName)

const typeName = (attributes: Attributes): string => String(attributes.__type ?? attributes.type ?? '')

function blockOf(type: SharedType, places: Map<string, Place>): Block {
  const attributes = attributesOf(type)
  const base = { id: idOf(type._item as Y.Item), attributes }
  const nested = nestedIn(type)
  if (type instanceof Y.XmlElement) {
    const isText = ['paragraph', 'heading'].includes(type.nodeName)
    const units = isText ? [...liveItems(type)].flatMap((item) => inlineUnits(item, places)) : null
    return {
      ...base,
      name: type.nodeName,
      units,
      blocks: isText ? [] : nested.map((each) => blockOf(each, places)),
    }
  }
  const isContainer = nested.some(
    (each) => each instanceof Y.XmlText && !inlineTypes.includes(typeName(attributesOf(each))),
  )
  const name = typeName(attributes)
  if (isContainer) return { ...base, name, units: null, blocks: nested.map((each) => blockOf(each, places)) }
  return { ...base, name, units: unitsOf(type, places), blocks: [] }
}

/** The units of a child of a block of XML. */
function inlineUnits(item: Y.Item, places: Map<string, Place>): Unit[] {
  const { content } = item
  if (!(content instanceof Y.ContentType)) return []
  if (!isInlineXml(content.type)) return unitsOf(content.type, places)
  const character = (content.type as Y.XmlElement).nodeName === 'hardBreak' ? '\n' : '\ufffc'
  return [{ character, marks: {}, id: idOf(item), isAtom: true }]
}

function unitsOf(type: SharedType, places: Map<string, Place>, link?: string): Unit[] {
  const units: Unit[] = []
  const marks = new Map<string, Attributes[string]>()
  let [index, node] = [0, null as Y.Map<unknown> | null]
  let current: Attributes | null = null
  const markOf = (): Attributes => ({
    ...Object.fromEntries([...marks].sort(([a], [b]) => (a < b ? -1 : 1))),
    ...(node !== null && { format: Number(node.get('__format')) }),
    ...(link !== undefined && { link }),
  })
  for (const item of liveItems(type)) {
    const { content } = item
    if (content instanceof Y.ContentFormat) {
      current = null
      if (content.value === null) marks.delete(content.key)
      else marks.set(content.key, content.value as unknown as string)
    } else if (content instanceof Y.ContentString) {
      current ??= markOf()
      const shared = current
      for (const [offset, character] of content.str.split('').entries()) {
        units.push({ character, marks: shared, id: idOf(item, offset) })
        places.set(idOf(item, offset), { type, index: index + offset })
      }
    } else if (content instanceof Y.ContentType) {
      const { type: nested } = content
      current = null
      if (nested instanceof Y.Map && nested.get('__type') !== 'linebreak') node = nested as Y.Map<unknown>
      else if (nested instanceof Y.Map) {
        units.push({ character: '\n', marks: {}, id: idOf(item), isAtom: true })
        node = null
      } else units.push(...unitsOf(nested, places, idOf(item)))
    } else if (content instanceof Y.ContentEmbed)
      units.push({ character: '\ufffc', marks: {}, id: idOf(item), isEmbed: true })
    if (item.countable) index += item.length
  }
  return units
}
