import { recountSchemas, tenantOfSchemas } from '../../../core/directory/schemas/schema-service.ts'
import { workspacesPart } from '../../../core/directory/tenants/workspace-keys.ts'
import type { Tenant } from '../../../core/model/address.ts'
import type { Engine, KvEntry } from '../../../core/store/engine.ts'
import { StorageError } from '../../backups/storage/storage-error.ts'
import type { ExportReader } from '../export/export-reader.ts'
import { exportedBytes, importedBytes, type ValueLine } from '../export/manifest.ts'
import { redactSecrets, regenerateSecrets } from '../export/redact-secrets.ts'

/** Maximum number of values in one read and in one commit. */
const valuesAtOnce = 500
/** Maximum size of a commit in bytes. The last value of a commit may exceed this limit. */
const bytesAtOnce = 4 * 1024 * 1024
/** Maximum number of conflicts that an error lists. */
const namedMax = 3

/** Result of the comparison between the values of an export and the values of the store. */
export interface Comparison {
  readonly absent: number
  readonly same: number
  /** Names of the values that are in the store with different content. */
  readonly different: readonly string[]
  /**
   * True if the store has all workspaces and API keys of the export. The store then keeps its own records of
   * workspaces and API keys.
   */
  readonly ownTenants: boolean
}

/**
 * Writes the keys and values of an export into a store. The store keeps its existing values, which must be
 * equal to the exported values.
 */
export class ValueRestorer {
  readonly #engine: Engine
  readonly #files: ExportReader

  constructor(engine: Engine, files: ExportReader) {
    this.#engine = engine
    this.#files = files
  }

  /**
   * Compares all values of the export with the store. @throws StorageError that lists the values that differ
   */
  async compare(): Promise<Comparison> {
    const tenants = new TenantComparison()
    const different: string[] = []
    let [absent, same] = [0, 0]
    for await (const { line, found } of this.#pairs()) {
      const state = this.#stateOf(line, found)
      if (isOfTenants(line)) tenants.add(line, state)
      else if (state === 'different') different.push(JSON.stringify([...line.part, ...line.key]))
      if (state === 'absent') absent += 1
      if (state === 'same') same += 1
    }
    const ownTenants = tenants.areThere()
    if (!ownTenants) different.push(...tenants.different)
    expectNone(different)
    return { absent, same, different, ownTenants }
  }

  /** Writes the values that are missing in the store. */
  async write({ ownTenants }: Comparison): Promise<void> {
    let [waiting, bytes]: [KvEntry[], number] = [[], 0]
    const withSchemas = new Map<string, Tenant>()
    let first: ValueLine | undefined
    const flush = async () => {
      if (first !== undefined && waiting.length > 0)
        await this.#engine.kv.commit(first.part, { puts: waiting })
      ;[waiting, bytes, first] = [[], 0, undefined]
    }
    for await (const { line, found } of this.#pairs()) {
      if (found !== null || (ownTenants && isOfTenants(line))) continue
      const isFull = waiting.length >= valuesAtOnce || bytes >= bytesAtOnce
      if (isFull || !isOfPart(first, line)) await flush()
      const entry = this.#entryOf(line)
      const tenant = tenantOfSchemas(line.part)
      if (tenant !== null) withSchemas.set(JSON.stringify(line.part), tenant)
      first ??= line
      waiting.push(entry)
      bytes += entry.value.length
    }
    await flush()
    for (const tenant of withSchemas.values()) await recountSchemas(this.#engine.kv, tenant)
  }

  #entryOf(line: ValueLine): KvEntry {
    const { secrets, key } = line
    if (secrets === undefined || !('json' in line)) return { key, value: importedBytes(line) }
    return { key, value: importedBytes({ json: regenerateSecrets(line.json, secrets) }) }
  }

  #stateOf(line: ValueLine, found: Uint8Array | null): 'absent' | 'same' | 'different' {
    if (found === null) return 'absent'
    return Buffer.compare(importedBytes(line), this.#shown(line, found)) === 0 ? 'same' : 'different'
  }

  /** Returns a stored value in the form in which the export contains it, so that both can be compared. */
  #shown(line: ValueLine, value: Uint8Array): Uint8Array {
    if (this.#files.summary.secrets === 'included' || !('json' in line)) return value
    const found = exportedBytes(value)
    const kept = 'json' in found ? redactSecrets(line.part, line.key, found.json) : null
    return kept === null ? value : importedBytes({ json: kept.record })
  }

  /** Yields each value of the export, together with the value that the store has under the same key. */
  async *#pairs(): AsyncGenerator<{ readonly line: ValueLine; readonly found: Uint8Array | null }> {
    let lines: ValueLine[] = []
    for await (const line of this.#files.lines('values')) {
      if (lines.length >= valuesAtOnce || !isOfPart(lines[0], line)) {
        yield* await this.#found(lines)
        lines = []
      }
      lines.push(line)
    }
    yield* await this.#found(lines)
  }

  async #found(lines: readonly ValueLine[]) {
    const [first] = lines
    if (first === undefined) return []
    const found = await this.#engine.kv.get(
      first.part,
      lines.map(({ key }) => key),
    )
    return lines.map((line, index) => ({ line, found: found[index] ?? null }))
  }
}

const isOfPart = (first: ValueLine | undefined, { part }: ValueLine): boolean =>
  first === undefined || JSON.stringify(first.part) === JSON.stringify(part)

const isOfTenants = ({ part }: ValueLine): boolean =>
  part.length === workspacesPart.length && part[0] === workspacesPart[0]

/**
 * Decides whether the store keeps its own records of workspaces and API keys. The store keeps them if some of
 * them differ from the export, and if the store has all API keys of the export in the same workspaces.
 */
class TenantComparison {
  readonly different: string[] = []
  #owners: 'same' | 'others' = 'same'

  add({ part, key }: ValueLine, state: 'absent' | 'same' | 'different'): void {
    if (state === 'different') this.different.push(JSON.stringify([...part, ...key]))
    if (key[0] === 'ownerOfApiKey' && state !== 'same') this.#owners = 'others'
  }

  areThere(): boolean {
    return this.different.length > 0 && this.#owners === 'same'
  }
}

function expectNone(different: readonly string[]): void {
  if (different.length === 0) return
  const more = different.length > namedMax ? ` and ${different.length - namedMax} more` : ''
  throw new StorageError(
    `the store has other values than the export, nothing is written: ${different.slice(0, namedMax).join(', ')}${more}; ` +
      'import into an empty data directory, or an export of documents only',
  )
}
