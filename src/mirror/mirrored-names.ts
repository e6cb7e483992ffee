import { readFile } from 'node:fs/promises'
import { text as textOf } from 'node:stream/consumers'
import { ConfigError } from '../config/read-config.ts'
import { errorMessage } from '../errors.ts'
import type { DocumentPath } from '../model/address.ts'
import { readNameMap } from '../transfer/import/name-map.ts'
import { mapName, type NameMapping } from '../transfer/import/name-mapping.ts'
import type { DocumentName } from './mirrored-document.ts'
import type { SourceProtocol } from './source-protocols.ts'

/** Command-line flags that select the documents and determine their addresses. */
export interface NameFlags {
  readonly documents: string
  readonly organization?: string
  readonly editor: string
  readonly nameMap?: string
}

/**
 * Reads the names of the documents and their addresses.
 * @throws ConfigError if a name has no address, or if two names have the same address
 */
export async function mirroredNames(flags: NameFlags, dialect: SourceProtocol): Promise<DocumentName[]> {
  const naming: NameMapping = {
    map: flags.nameMap === undefined ? new Map<string, DocumentPath>() : await readNameMap(flags.nameMap),
    organizationId: flags.organization ?? null,
    editorId: flags.editor,
  }
  const names = linesOf(await read(flags.documents))
  if (names.size === 0) throw new ConfigError(`${flags.documents} names no document`)
  const taken = new Map<string, string>()
  return [...names].map((name) => {
    const named = mapName(name, naming)
    const problem = 'problem' in named ? named.problem : dialect.nameProblem(name)
    if (problem !== null || 'problem' in named) throw new ConfigError(`${JSON.stringify(name)}: ${problem}`)
    const place = JSON.stringify(Object.entries(named.path).sort())
    const other = taken.get(place)
    if (other !== undefined)
      throw new ConfigError(`${JSON.stringify(name)} and ${JSON.stringify(other)} have the same target`)
    taken.set(place, name)
    return { name, path: named.path }
  })
}

/**
 * Returns the distinct lines of a text that are not empty. Removes the byte order mark that some text editors
 * write at the start of a file.
 */
const linesOf = (text: string): ReadonlySet<string> => {
  const lines = text.replace(/^\ufeff/, '').split('\n')
  return new Set(lines.map((line) => line.replace(/\r$/, '')).filter((line) => line !== ''))
}

const read = (file: string): Promise<string> =>
  (file === '-' ? textOf(process.stdin) : readFile(file, 'utf8')).catch((error: unknown) => {
    throw new ConfigError(`${file} cannot be read: ${errorMessage(error)}`)
  })
