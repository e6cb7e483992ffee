import { type DocumentPath, decodeSegment, idProblem } from '../../model/address.ts'

/** How the names of another server become addresses. */
export interface NameMapping {
  /** Addresses by name; they go before all else. */
  readonly map: ReadonlyMap<string, DocumentPath>
  /** Of names that are no address: their organization (null: such names are refused) and their editor. */
  readonly organizationId: string | null
  readonly editorId: string
}

export type MappedName =
  | { readonly path: DocumentPath }
  /** A sentence without a stop. */
  | { readonly problem: string }

/**
 * The address that a name stands for: that of the map; or, of `organization/document/editor`, each percent-encoded,
 * these three; or else the organization and the editor given, with the name, as it is, as id of the document.
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

/** What is wrong with one of the ids, and null when nothing is. */
export function pathProblem(path: DocumentPath): string | null {
  for (const key of ['organizationId', 'documentId', 'editorId'] as const) {
    const problem = idProblem(path[key])
    if (problem !== null) return `${key} ${problem}`
  }
  return null
}

/** Null when the name is not three ids. */
function pathIn(name: string): DocumentPath | null {
  const ids = name.split('/').map(decodeSegment)
  if (ids.length !== 3 || ids.some((id) => idProblem(id) !== null)) return null
  const [organizationId, documentId, editorId] = ids as [string, string, string]
  return { organizationId, documentId, editorId }
}
