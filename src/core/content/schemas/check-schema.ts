import { escapePointer, isJsonObject } from '../../base/json.ts'
import { jsonTypeName } from '../json/json.ts'
import { jsonTypes, schemaProblem } from './compiled-schema.ts'
import { type SchemaSpec, schemaLimits } from './schema-spec.ts'

/**
 * Checks the form of a schema and its limits. `compileSchema` checks the content expressions and the names in
 * them.
 * @throws ApiError INVALID_ARGUMENT with the JSON pointer of the problem
 */
export function checkSchema(data: unknown): SchemaSpec {
  const schema = objectAt('', data)
  checkMembers('', schema, ['nodes', 'marks', 'topNode', 'contentKey', 'protected'])
  const nodes = entriesAt('/nodes', schema.nodes, schemaLimits.nodes)
  if (nodes.length === 0) throw schemaProblem('/nodes', 'expected at least one node')
  for (const [name, node] of nodes) checkNode(`/nodes/${escapePointer(name)}`, node)
  if (schema.marks !== undefined) {
    for (const [name, mark] of entriesAt('/marks', schema.marks, schemaLimits.marks))
      checkMark(`/marks/${escapePointer(name)}`, mark)
  }
  for (const member of ['topNode', 'contentKey'] as const)
    checkText(`/${member}`, schema[member], schemaLimits.nameLength)
  const spec = data as SchemaSpec
  checkProtected(spec)
  return spec
}

function checkProtected({ protected: names = [], nodes, marks = {} }: SchemaSpec): void {
  if (!Array.isArray(names)) throw schemaProblem('/protected', 'expected an array of names')
  const attributes = Object.values(nodes).flatMap((node) => Object.keys(node.attributes ?? {}))
  const known = new Set([...Object.keys(marks), ...attributes])
  const index = names.findIndex((name) => !known.has(name))
  if (index !== -1)
    throw schemaProblem(`/protected/${index}`, 'expected the name of a mark, or of an attribute of a node')
}

function checkNode(path: string, data: unknown): void {
  const node = objectAt(path, data)
  checkMembers(path, node, ['content', 'marks', 'group', 'inline', 'attributes'])
  for (const member of ['content', 'marks', 'group'])
    checkText(`${path}/${member}`, node[member], schemaLimits.expressionLength)
  if (node.inline !== undefined && typeof node.inline !== 'boolean')
    throw schemaProblem(`${path}/inline`, `expected a boolean, not ${jsonTypeName(node.inline)}`)
  checkAttributes(`${path}/attributes`, node.attributes)
}

function checkMark(path: string, data: unknown): void {
  const mark = objectAt(path, data)
  checkMembers(path, mark, ['excludes', 'group', 'attributes'])
  for (const member of ['excludes', 'group'])
    checkText(`${path}/${member}`, mark[member], schemaLimits.expressionLength)
  checkAttributes(`${path}/attributes`, mark.attributes)
}

function checkAttributes(path: string, data: unknown): void {
  if (data === undefined) return
  for (const [name, value] of entriesAt(path, data, schemaLimits.attributes)) {
    const at = `${path}/${escapePointer(name)}`
    const attribute = objectAt(at, value)
    checkMembers(at, attribute, ['default', 'type'])
    checkText(`${at}/type`, attribute.type, schemaLimits.nameLength)
    for (const type of typeof attribute.type === 'string' ? attribute.type.split('|') : []) {
      if (!jsonTypes.some((known) => known === type.trim()))
        throw schemaProblem(`${at}/type`, `"${type.trim()}" is not one of ${jsonTypes.join(', ')}`)
    }
  }
}

const objectAt = (path: string, data: unknown): Readonly<Record<string, unknown>> => {
  if (isJsonObject(data)) return data
  throw schemaProblem(path, `expected an object, not ${jsonTypeName(data)}`)
}

/** Returns the members of an object whose names are not specified. */
function entriesAt(path: string, data: unknown, max: number): [string, unknown][] {
  const entries = Object.entries(objectAt(path, data))
  if (entries.length > max)
    throw schemaProblem(path, `it has ${entries.length} members; at most ${max} are allowed`)
  for (const [name] of entries) {
    if (name === '' || name.length > schemaLimits.nameLength || !name.isWellFormed())
      throw schemaProblem(
        path,
        `a name must be well-formed and have 1 to ${schemaLimits.nameLength} characters`,
      )
  }
  return entries
}

function checkMembers(
  path: string,
  object: Readonly<Record<string, unknown>>,
  known: readonly string[],
): void {
  for (const name of Object.keys(object)) {
    if (!known.includes(name))
      throw schemaProblem(
        `${path}/${escapePointer(name.slice(0, schemaLimits.nameLength))}`,
        `unknown member; expected ${known.join(', ')}`,
      )
  }
}

function checkText(path: string, data: unknown, max: number): void {
  if (data === undefined) return
  if (typeof data !== 'string') throw schemaProblem(path, `expected a string, not ${jsonTypeName(data)}`)
  if (data.length > max)
    throw schemaProblem(path, `it has ${data.length} characters; at most ${max} are allowed`)
  if (!data.isWellFormed()) throw schemaProblem(path, 'expected well-formed Unicode')
}
