import * as Y from 'yjs'
import { limits } from '../../model/limits.ts'
import { toJson } from '../json/json.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'

/** Delimiter of content that is not text. No stored text contains this character. */
const bracket = '\ud801'

/** Returns the content of an item as a string. Equal content has equal strings. Text stands for itself. */
export function comparableForm({ content }: Y.Item, depth = 0): string {
  if (content instanceof Y.ContentString) return content.str
  if (content instanceof Y.ContentFormat) return bracketed([content.key, toJson(content.value) ?? null])
  if (content instanceof Y.ContentType) return bracketed(formOfType(content.type, depth))
  return content
    .getContent()
    .map((value: unknown) => bracketed(toJson(value) ?? null))
    .join('')
}

const bracketed = (value: unknown): string => `${bracket}${JSON.stringify(value)}${bracket}`

function formOfType(type: SharedRoot, depth: number): unknown {
  if (depth > limits.typeDepth) return null
  const entries = [...type._map]
    .filter(([, { deleted }]) => !deleted)
    .map(([key, item]) => [key, comparableForm(item, depth + 1)] as const)
  const children: string[] = []
  for (let item = type._start; item !== null; item = item.right)
    if (!item.deleted) children.push(comparableForm(item, depth + 1))
  const name = type instanceof Y.XmlElement ? type.nodeName : type.constructor.name
  return [name, entries.sort(([a], [b]) => (a < b ? -1 : 1)), children.join('')]
}
