import * as Y from 'yjs'
import type { Segment, SegmentReader } from '../history/segments.ts'
import { charactersIn, type HistoryVersion, isIn, plainValues } from '../history/version-values.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'

/**
 * Returns a text that is equal for equal content: characters, formatting marks, values, and shared types with
 * the content that they have in a version.
 */
export function encodeSegment(reader: SegmentReader, version: HistoryVersion, segment: Segment): string {
  const { item, offset, length } = segment
  const { content } = item
  if (content instanceof Y.ContentString) return charactersIn(item, offset, length)
  if (content instanceof Y.ContentFormat) return control(['format', content.key, content.value])
  if (!(content instanceof Y.ContentType))
    return control([content.constructor.name, ...plainValues(item, offset, length)])
  return control([typeName(content.type), encodeType(reader, version, content.type)])
}

function encodeType(reader: SegmentReader, version: HistoryVersion, type: SharedRoot): string {
  const parts: string[] = []
  for (const key of [...type._map.keys()].sort())
    for (let item = type._map.get(key) ?? null; item !== null; item = item.left) {
      const last = reader.of(item).at(-1)
      if (last === undefined || !isIn(version, last.state)) continue
      parts.push(control([key, encodeSegment(reader, version, last)]))
      break
    }
  for (let item = type._start; item !== null; item = item.right)
    for (const segment of reader.of(item))
      if (isIn(version, segment.state)) parts.push(encodeSegment(reader, version, segment))
  return parts.join('')
}

const typeName = (type: SharedRoot): string => {
  if (type instanceof Y.XmlElement) return `element ${type.nodeName}`
  return type instanceof Y.XmlHook ? `hook ${type.hookName}` : type.constructor.name
}

/** Encodes parts so that no text can have the same encoding. */
const control = (parts: readonly unknown[]): string =>
  `\u0000${JSON.stringify(parts, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))}\u0000`
