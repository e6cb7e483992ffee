import type * as Y from 'yjs'
import { invalid } from '../../base/errors.ts'
import { memoized } from '../../base/maps.ts'
import { shownName } from '../roots.ts'
import { type KnownKind, rootKind } from '../yjs/root-kind.ts'
import { textViolations, xmlTextViolations } from './check-texts.ts'
import { treeViolations } from './check-tree.ts'
import { type ContentSchema, compileSchema, kindOfSchema } from './compiled-schema.ts'
import { isPresetName, presetSchema } from './presets/presets.ts'
import type { SchemaSpec } from './schema-spec.ts'
import type { FoundViolation, Violation } from './violation.ts'

/** A schema as it can be sent to a thread. */
export interface NamedSchema {
  readonly name: string
  /** Null: `name` is that of a preset. */
  readonly spec: SchemaSpec | null
  /** True if the schema was attached to the root before. Content that broke it before a change may then stay. */
  readonly isAttached?: boolean
}

/** A root, and the schema that its content must match. */
export interface RootSchema {
  readonly contentKey: string
  readonly schema: NamedSchema
}

/** Compiled schemas, so that each specification is compiled once. */
const compiled = new WeakMap<SchemaSpec, ContentSchema>()

/** Returns the schema with a name. @throws ApiError INVALID_ARGUMENT if its specification is invalid */
export function schemaOf({ name, spec }: NamedSchema): ContentSchema {
  if (spec === null) {
    if (!isPresetName(name)) throw new TypeError('the schema is not a preset')
    return presetSchema(name)
  }
  return memoized(compiled, spec, () => compileSchema(spec))
}

/** Returns the kind of a root that the schema with this name describes. Stored schemas are those of nodes. */
export const kindOfNamed = (name: string): KnownKind =>
  isPresetName(name) ? kindOfSchema(presetSchema(name)) : 'xml'

/**
 * Finds the places at which a root does not match a schema, in order. Nothing is changed. A root without content
 * matches every schema.
 */
export function violationsIn(
  doc: Y.Doc,
  contentKey: string,
  schema: ContentSchema,
): Iterable<FoundViolation> {
  const root = doc.share.get(contentKey)
  if (root === undefined || root._length === 0) return []
  if (schema.is === 'nodes') return treeViolations(root, schema)
  return schema.is === 'text' ? textViolations(root, schema) : xmlTextViolations(root, schema)
}

const none: ReadonlySet<string> = new Set()

/**
 * Returns the keys of the places at which a root does not match a schema. `withProblems`: also their problems, because a
 * change that restores content copies it to items with other keys.
 */
export const violationKeys = (
  doc: Y.Doc,
  contentKey: string,
  schema: ContentSchema,
  withProblems = false,
): ReadonlySet<string> =>
  new Set(
    Array.from(violationsIn(doc, contentKey, schema)).flatMap(({ key, problem }) =>
      withProblems ? [key, problem] : [key],
    ),
  )

/** Maximum number of places that warnings name. */
const warningsMax = 10

/**
 * Checks that the content of a root matches a schema, except where it did not match before a change.
 * @param name the schema, as the message names it
 * @param before the places at which the root did not match before the change, as `violationKeys` returns them
 * @returns a sentence for each of the first places that did not match before
 * @throws ApiError INVALID_ARGUMENT with the place and the allowed alternatives
 */
export function checkAgainstSchema(
  doc: Y.Doc,
  contentKey: string,
  schema: ContentSchema,
  name: string,
  before: ReadonlySet<string> = none,
): readonly string[] {
  const kind = rootKind(doc, contentKey)
  const wanted = kindOfSchema(schema)
  if (kind !== 'none' && kind !== wanted && !(wanted === 'xmltext' && kind === 'xml'))
    throw violationError(
      { path: '/', problem: `the root ${shownName(contentKey)} is of type "${kind}"`, allowed: [wanted] },
      name,
    )
  const warnings: string[] = []
  for (const violation of violationsIn(doc, contentKey, schema)) {
    if (!before.has(violation.key) && !before.has(violation.problem)) throw violationError(violation, name)
    if (warnings.length < warningsMax) warnings.push(olderViolation(violation, name))
  }
  return warnings
}

const olderViolation = ({ path, problem }: Violation, name: string): string =>
  `the content did not match the schema ${JSON.stringify(name)} before, at ${path}: ${problem}; it stays as it is, and ` +
  'editors may remove it'

/**
 * Remembers where a document does not match the schema of a root. Returns the check to call after a change, with the
 * results and errors of `checkAgainstSchema`.
 * @param rootSchema null: the check accepts everything
 */
export function expectMatch(doc: Y.Doc, rootSchema: RootSchema | null): () => readonly string[] {
  if (rootSchema === null) return () => []
  const { contentKey, schema: named } = rootSchema
  const schema = schemaOf(named)
  const before = violationKeys(doc, contentKey, schema)
  return () => checkAgainstSchema(doc, contentKey, schema, named.name, before)
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
