import * as Y from 'yjs'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { type NodePlace, quoted, type Violation, violationAt } from './violation.ts'

/** A schema of nested shared texts, as Lexical and Slate store them. */
export interface XmlTextSchema {
  readonly is: 'xmltext'
  readonly contentKey: string | null
  readonly topNode: string
  /** Attribute that contains the type of a node. */
  readonly typeAttribute: string
  /** Types of nodes that are texts; null: every type, and no type. */
  readonly texts: ReadonlySet<string> | null
  /** Types of nodes that are maps. */
  readonly maps: ReadonlySet<string>
  /** Types of nodes that are elements. */
  readonly elements: ReadonlySet<string>
}

/** Finds the first node that a schema does not allow; null if there is none. The cost is linear. */
export const xmlTextViolation = (root: SharedRoot, schema: XmlTextSchema): Violation | null =>
  childViolation({ parent: null, name: schema.topNode, index: 0 }, root, schema)

/** The nesting of shared types is limited, so the recursion is. */
function childViolation(parent: NodePlace, type: SharedRoot, schema: XmlTextSchema): Violation | null {
  let index = 0
  for (let item = type._start; item !== null; item = item.right) {
    if (item.deleted || !item.countable || item.content instanceof Y.ContentString) continue
    const child: unknown = item.content instanceof Y.ContentType ? item.content.type : null
    const found = nodeViolation(parent, index, child, schema)
    if (found !== null) return found
    index += 1
  }
  return null
}

function nodeViolation(
  parent: NodePlace,
  index: number,
  child: unknown,
  schema: XmlTextSchema,
): Violation | null {
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
  if (value !== undefined && typeof value !== 'string')
    return violationAt(
      place,
      `the attribute ${quoted(typeAttribute)} is not a string`,
      ['string'],
      typeAttribute,
    )
  if (types !== null && types.size === 0)
    return violationAt(place, 'the schema does not allow a value of this kind', allowed)
  if (types !== null && value === undefined)
    return violationAt(place, `a node needs the attribute ${quoted(typeAttribute)}`, types, typeAttribute)
  if (types !== null && value !== undefined && !types.has(value))
    return violationAt(place, `the schema has no node ${quoted(value)}`, types)
  return isText ? childViolation(place, child, schema) : null
}
