import type * as Y from 'yjs'
import { invalid } from '../../errors.ts'
import { shownName } from '../roots.ts'
import { type KnownKind, rootKind } from '../yjs/root-kind.ts'
import { type TextSchema, textViolation } from './check-text.ts'
import { treeViolation } from './check-tree.ts'
import { type XmlTextSchema, xmlTextViolation } from './check-xmltext.ts'
import type { CompiledSchema } from './compiled-schema.ts'
import type { Violation } from './violation.ts'

/** A schema of the content of a root. */
export type ContentSchema = CompiledSchema | TextSchema | XmlTextSchema

/** The kind of a root that a schema describes. */
const kinds: Readonly<Record<ContentSchema['is'], KnownKind>> = {
  nodes: 'xml',
  text: 'text',
  xmltext: 'xmltext',
}

/**
 * Finds the first place at which a root does not match a schema; null if it matches. Nothing is changed. A
 * root without content matches every schema.
 */
export function findViolation(doc: Y.Doc, contentKey: string, schema: ContentSchema): Violation | null {
  const root = doc.share.get(contentKey)
  if (root === undefined || root._length === 0) return null
  if (schema.is === 'nodes') return treeViolation(root, schema)
  return schema.is === 'text' ? textViolation(root, schema) : xmlTextViolation(root, schema)
}

/**
 * Checks that the content of a root matches a schema.
 * @param name the schema, as the message names it
 * @throws ApiError INVALID_ARGUMENT with the place and the allowed alternatives
 */
export function checkAgainstSchema(
  doc: Y.Doc,
  contentKey: string,
  schema: ContentSchema,
  name: string,
): void {
  const kind = rootKind(doc, contentKey)
  const wanted = kinds[schema.is]
  if (kind !== 'none' && kind !== wanted && !(wanted === 'xmltext' && kind === 'xml'))
    throw violationError(
      { path: '/', problem: `the root ${shownName(contentKey)} is of type "${kind}"`, allowed: [wanted] },
      name,
    )
  const violation = findViolation(doc, contentKey, schema)
  if (violation !== null) throw violationError(violation, name)
}

function violationError({ path, problem, allowed }: Violation, name: string): Error {
  const names = allowed.slice(0, namesMax).map((each) => JSON.stringify(each))
  const more = allowed.length > namesMax ? ` and ${allowed.length - namesMax} more` : ''
  const list = names.length === 0 ? 'nothing' : names.join(', ') + more
  return invalid(
    'crdt/schema-violation',
    `the content does not match the schema ${JSON.stringify(name)} at ${path}: ${problem}; allowed: ${list}`,
    { path, problem, allowed, schema: name },
  )
}

/** Maximum number of alternatives in a message. */
const namesMax = 20
