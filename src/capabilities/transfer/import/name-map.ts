import { errorMessage } from '../../../core/base/errors.ts'
import { checkJson, MalformedJsonError } from '../../../core/base/json.ts'
import * as s from '../../../core/base/schema.ts'
import type { DocumentPath } from '../../../core/model/address.ts'
import { StorageError } from '../../backups/storage/storage-error.ts'
import { pathProblem } from '../name-mapping.ts'
import { readTextFile } from '../text-lines.ts'

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
