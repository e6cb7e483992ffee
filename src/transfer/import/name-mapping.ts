import { type DocumentPath, decodeSegment, idProblem } from '../../model/address.ts'

/** How names of another server become addresses. */
export interface NameMapping {
  /** Addresses by name; they take precedence. */
  readonly map: ReadonlyMap<string, DocumentPath>
  /** For names that are not addresses: their organization (null to reject such names) and their editor. */
  readonly organizationId: string | null
  readonly editorId: string
}

export type MappedName =
  | { readonly path: DocumentPath }
  /** A sentence without a period. */
  | { readonly problem: string }

/**
 * Returns the address of a name. The map takes precedence. A name of the form `organization/document/editor` with
 * percent-encoded parts is an address. Any other name becomes the document id, with the given organization and editor.
 */
export function mapName(name: string, { map, organizationId, editorId }: NameMapping): MappedName {
  const path = map.get(name) ?? pathIn(name)
  if (path !== null) return { path }
  if (organizationId === null)
    return { problem: 'its name is not organization/document/editor: name an organization (--organization)' }
  const problem = idProblem(name)
  if (problem === null) return { path: { organizationId, documentId: name, editorId } }
  return { problem: `its name cannot be the id of a document: it ${problem}` }
}

/** Returns the problem of the first invalid id; null if all are valid. */
export function pathProblem(path: DocumentPath): string | null {
  for (const key of ['organizationId', 'documentId', 'editorId'] as const) {
    const problem = idProblem(path[key])
    if (problem !== null) return `${key} ${problem}`
  }
  return null
}

/** Returns null if the name does not consist of three ids. */
function pathIn(name: string): DocumentPath | null {
  const ids = name.split('/').map(decodeSegment)
  if (ids.length !== 3 || ids.some((id) => idProblem(id) !== null)) return null
  const [organizationId, documentId, editorId] = ids as [string, string, string]
  return { organizationId, documentId, editorId }
}
