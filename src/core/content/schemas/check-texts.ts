import * as Y from 'yjs'
import type { SharedRoot } from '../yjs/root-kind.ts'
import type { AllowedTypes, TextSchema, XmlTextSchema } from './compiled-schema.ts'
import {
  type FoundViolation,
  type NodePlace,
  quoted,
  typeName,
  type Violation,
  violationAt,
} from './violation.ts'

const place: NodePlace = { parent: null, name: 'text', index: 0 }

/** Finds the formats and embeds of a root of text that a schema does not allow, in order. */
export function* textViolations(
  root: SharedRoot,
  { formats, embeds }: TextSchema,
): Generator<FoundViolation, void> {
  const changed = new Map<string, Y.Item>()
  for (let item = root._start; item !== null; item = item.right) {
    if (item.deleted) continue
    const { content } = item
    if (content instanceof Y.ContentFormat) {
      changed.set(content.key, item)
      continue
    }
    if (!item.countable) continue
    for (const [name, mark] of changed) {
      const { value } = mark.content as Y.ContentFormat
      yield* found(mark, valueViolation('format', formats, name, value))
    }
    changed.clear()
    if (content instanceof Y.ContentString) continue
    yield* found(
      item,
      content instanceof Y.ContentEmbed ? embedViolation(embeds, content.embed) : sharedValue(embeds),
    )
  }
}

function* found({ id }: Y.Item, violation: Violation | null): Generator<FoundViolation, void> {
  if (violation !== null) yield { key: `${id.client}:${id.clock} ${violation.problem}`, ...violation }
}

const sharedValue = (embeds: AllowedTypes): Violation =>
  violationAt(place, 'the text contains a value that is not an embed', embeds.keys())

function embedViolation(embeds: AllowedTypes, embed: unknown): Violation | null {
  const entries = typeof embed === 'object' && embed !== null ? Object.entries(embed) : []
  const [entry, ...others] = entries
  if (entry === undefined || others.length > 0)
    return violationAt(place, 'an embed must be an object with one member', embeds.keys())
  return valueViolation('embed', embeds, ...entry)
}

function valueViolation(
  what: 'format' | 'embed',
  known: AllowedTypes,
  name: string,
  value: unknown,
): Violation | null {
  if (value === null) return null
  const types = known.get(name)
  if (types === undefined)
    return violationAt(place, `the schema has no ${what} ${quoted(name)}`, known.keys(), name)
  const type = typeName(value)
  return types.has(type)
    ? null
    : violationAt(place, `the ${what} ${quoted(name)} has the type ${type}`, types, name)
}

/** Finds the nodes that a schema does not allow, in order. The cost is linear. */
export const xmlTextViolations = (root: SharedRoot, schema: XmlTextSchema): Generator<FoundViolation, void> =>
  childViolations({ parent: null, name: schema.topNode, index: 0 }, root, schema)

/** The nesting of shared types is limited, so the recursion is. */
function* childViolations(
  parent: NodePlace,
  type: SharedRoot,
  schema: XmlTextSchema,
): Generator<FoundViolation, void> {
  let index = 0
  for (let item = type._start; item !== null; item = item.right) {
    if (item.deleted || !item.countable || item.content instanceof Y.ContentString) continue
    const child: unknown = item.content instanceof Y.ContentType ? item.content.type : null
    const { place, found } = checkNode(parent, index, child, schema)
    if (found !== null) yield { key: `${item.id.client}:${item.id.clock} ${found.problem}`, ...found }
    if (child instanceof Y.XmlText) yield* childViolations(place, child, schema)
    index += 1
  }
}

function checkNode(
  parent: NodePlace,
  index: number,
  child: unknown,
  schema: XmlTextSchema,
): { readonly place: NodePlace; readonly found: Violation | null } {
  const { texts, maps, elements, typeAttribute } = schema
  const isText = child instanceof Y.XmlText
  const types = isText
    ? texts
    : child instanceof Y.XmlElement
      ? elements
      : child instanceof Y.Map
        ? maps
        : new Set<string>()
  const value: unknown =
    child instanceof Y.XmlText || child instanceof Y.XmlElement
      ? child.getAttribute(typeAttribute)
      : child instanceof Y.Map
        ? child.get(typeAttribute)
        : undefined
  const place = { parent, index, name: typeof value === 'string' ? value : 'node' }
  const allowed = types !== null && types.size > 0 ? types : [...(texts ?? []), ...maps, ...elements]
  return { place, found: typeViolation(place, value, types, allowed, typeAttribute) }
}

/** @param types the types that are allowed; null: every type, and no type */
function typeViolation(
  place: NodePlace,
  value: unknown,
  types: ReadonlySet<string> | null,
  allowed: Iterable<string>,
  attribute: string,
): Violation | null {
  if (value !== undefined && typeof value !== 'string')
    return violationAt(place, `the attribute ${quoted(attribute)} is not a string`, ['string'], attribute)
  if (types === null) return null
  if (types.size === 0) return violationAt(place, 'the schema does not allow a value of this kind', allowed)
  if (value === undefined)
    return violationAt(place, `a node needs the attribute ${quoted(attribute)}`, types, attribute)
  return types.has(value) ? null : violationAt(place, `the schema has no node ${quoted(value)}`, types)
}
