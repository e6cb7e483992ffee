import { readFile } from 'node:fs/promises'
import { errorMessage } from '../../../core/base/errors.ts'
import { isJsonObject } from '../../../core/base/json.ts'
import type { DocumentPath } from '../../../core/model/address.ts'
import { StorageError } from '../../backups/storage/storage-error.ts'
import { isPath, pathProblem } from './name-mapping.ts'

/**
 * Reads a name map. The file has one JSON object per line, with `name`, `organizationId`, `documentId` and
 * `editorId`. Empty lines are ignored.
 * @throws StorageError with the number of the first line that is invalid or repeats a name
 */
export async function readNameMap(file: string): Promise<ReadonlyMap<string, DocumentPath>> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new StorageError(`the map cannot be read: ${errorMessage(error)}`)
  })
  const map = new Map<string, DocumentPath>()
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const entry = entryOf(line)
    if (typeof entry === 'string') throw new StorageError(`${file}, line ${index + 1}: ${entry}`)
    if (map.has(entry.name))
      throw new StorageError(`${file}, line ${index + 1}: ${JSON.stringify(entry.name)} comes twice`)
    map.set(entry.name, entry.path)
  }
  return map
}

/** Parses a line of the name map. Returns the problem as a sentence if the line is invalid. */
function entryOf(line: string): { readonly name: string; readonly path: DocumentPath } | string {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    return `it is not JSON: ${errorMessage(error)}`
  }
  if (!isJsonObject(value)) return 'it is not an object'
  const { name, organizationId, documentId, editorId } = value
  if (typeof name !== 'string') return 'name must be a string'
  const path = { organizationId, documentId, editorId }
  return isPath(path) ? { name, path } : (pathProblem(path) ?? 'it is not an address')
}
