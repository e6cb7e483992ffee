import * as Y from 'yjs'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { type FoundViolation, type NodePlace, quoted, type Violation, violationAt } from './violation.ts'

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
