import { errorMessage } from '../../core/base/errors.ts'
import { checkJson, MalformedJsonError } from '../../core/base/json.ts'
import * as s from '../../core/base/schema.ts'
import { type DocumentPath, decodeSegment, idProblem } from '../../core/model/address.ts'
import { StorageError } from '../backups/storage/storage-error.ts'
import { readTextFile } from './text-lines.ts'

/** Determines how names of another server become addresses. */
export interface NameMapping {
  /** Addresses by name. An address in this map has priority over all other rules. */
  readonly map: ReadonlyMap<string, DocumentPath>
  /**
   * Organization and editor for names that have neither an entry in the map nor the form of an address. If
   * the organization is null, such names are rejected.
   */
  readonly organizationId: string | null
  readonly editorId: string
}

type MappedName =
  | { readonly path: DocumentPath }
  /** Reason why the name has no address, as a sentence without a period. */
  | { readonly problem: string }

/**
 * Returns the address for a name, by the first of these rules that applies:
 * - The map contains the name.
 * - The name has the form `organization/document/editor`, with percent-encoded parts.
 * - Otherwise, the name is the document id. The organization and the editor are those of the mapping.
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

type UncheckedPath = { readonly [Name in keyof DocumentPath]?: unknown }

/** Returns the problem of the first invalid id; null if all ids are valid. */
function pathProblem(path: UncheckedPath): string | null {
  for (const key of ['organizationId', 'documentId', 'editorId'] as const) {
    const problem = idProblem(path[key])
    if (problem !== null) return `${key} ${problem}`
  }
  return null
}

/** Returns the address that a name contains; null if the name does not consist of three valid ids. */
function pathIn(name: string): DocumentPath | null {
  const [organizationId, documentId, editorId, ...others] = name.split('/').map(decodeSegment)
  const path = { organizationId, documentId, editorId }
  return others.length === 0 && pathProblem(path) === null ? (path as DocumentPath) : null
}

/**
 * Reads a name map. The file has one JSON object per line, with `name`, `organizationId`, `documentId` and
 * `editorId`. Empty lines are ignored.
 * @throws StorageError with the number of the first line that is invalid or repeats a name
 */
export async function readNameMap(file: string): Promise<ReadonlyMap<string, DocumentPath>> {
  const text = await readTextFile(file).catch((error: unknown) => {
    throw new StorageError(`the map cannot be read: ${errorMessage(error)}`)
  })
  const map = new Map<string, DocumentPath>()
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    try {
      addEntry(map, line)
    } catch (error) {
      throw new StorageError(`${file}, line ${index + 1}: ${errorMessage(error)}`)
    }
  }
  return map
}

const entrySchema = s.object({
  name: s.string,
  organizationId: s.string,
  documentId: s.string,
  editorId: s.string,
})

/** @throws SyntaxError, MalformedJsonError */
function addEntry(map: Map<string, DocumentPath>, line: string): void {
  const { name, organizationId, documentId, editorId } = checkJson(entrySchema, JSON.parse(line))
  const path = { organizationId, documentId, editorId }
  const problem = map.has(name) ? `${JSON.stringify(name)} comes twice` : pathProblem(path)
  if (problem !== null) throw new MalformedJsonError(problem)
  map.set(name, path)
}
