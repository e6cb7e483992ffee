import { type DocumentPath, decodeSegment, idProblem } from '../../model/address.ts'

/** Where documents go whose names don't say so. */
export interface NameDefaults {
  /** Null: every name has to say it. */
  readonly organizationId: string | null
  readonly editorId: string
}

/** Names that go elsewhere than they say. */
export type NameMap = ReadonlyMap<string, DocumentPath>

export type Named =
  | { readonly kind: 'path'; readonly path: DocumentPath }
  /** A sentence without its end, such as `documentId must not be empty`. */
  | { readonly kind: 'problem'; readonly problem: string }

/**
 * Where a document of another server goes: what the map says; else `organization/document/editor`, each
 * percent-encoded; else a document of that name in the organization of the defaults.
 */
export function pathOf(name: string, map: NameMap, defaults: NameDefaults): Named {
  const mapped = map.get(name)
  if (mapped !== undefined) return checked(mapped)
  const ids = name.split('/').map(decodeSegment)
  const [organizationId, documentId, editorId] = ids
  if (ids.length === 3 && organizationId && documentId && editorId)
    return checked({ organizationId, documentId, editorId })
  if (defaults.organizationId === null)
    return { kind: 'problem', problem: 'is no organization/document/editor, and no organization is given' }
  return checked({
    organizationId: defaults.organizationId,
    documentId: name,
    editorId: defaults.editorId,
  })
}

/**
 * Reads a map: JSON lines of `{ name, organizationId, documentId, editorId }`; empty lines are passed over.
 * @throws TypeError that names the first line that is none
 */
export function readNameMap(text: string): NameMap {
  const map = new Map<string, DocumentPath>()
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const { name, ...path } = mapLine(line, index + 1)
    map.set(name, path)
  }
  return map
}

function mapLine(line: string, number: number): DocumentPath & { readonly name: string } {
  const { name, organizationId, documentId, editorId } = membersOf(line)
  if (
    typeof name !== 'string' ||
    typeof organizationId !== 'string' ||
    typeof documentId !== 'string' ||
    typeof editorId !== 'string'
  )
    throw new TypeError(`line ${number} is not { name, organizationId, documentId, editorId }`)
  return { name, organizationId, documentId, editorId }
}

function membersOf(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

function checked(path: DocumentPath): Named {
  for (const key of ['organizationId', 'documentId', 'editorId'] as const) {
    const problem = idProblem(path[key])
    if (problem !== null) return { kind: 'problem', problem: `${key} ${problem}` }
  }
  return { kind: 'path', path }
}
