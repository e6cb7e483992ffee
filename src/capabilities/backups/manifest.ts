import { randomBytes } from 'node:crypto'
import { readJson } from '../../core/base/json.ts'
import * as s from '../../core/base/schema.ts'
import { identifyingWorkspacesMax } from '../../core/directory/tenants/tenant-store.ts'
import { workspaceKeys, workspacesPart } from '../../core/directory/tenants/workspace-keys.ts'
import type { Key, StoredPage } from '../../core/store/engine.ts'
import { decodeKey, encodeKey } from '../../core/store/key-encoding.ts'
import { keyspaces, under } from '../../core/store/pairs/keyspaces.ts'
import type { ObjectSealer } from './object-sealer.ts'
import type { ObjectStore } from './object-store.ts'
import { decodePairsInSlices } from './pair-slices.ts'
import { backupHeaderSchema } from './storage/backup-file.ts'

const partition = under(keyspaces.kv, encodeKey(workspacesPart))
const start = Buffer.concat([partition, encodeKey(workspaceKeys.workspaces)])

/** Returns the ids of the workspaces that a page of a store creates. */
export function workspacesIn(pairs: StoredPage): readonly string[] {
  const found: string[] = []
  for (const [key] of pairs) {
    if (Buffer.compare(key.subarray(0, start.length), start) !== 0) continue
    const [, id, ...rest] = decodedOrNone(key.subarray(partition.length))
    if (id !== undefined && rest.length === 0) found.push(id)
  }
  return found
}

/** A damaged store may contain keys that cannot be decoded. */
function decodedOrNone(key: Uint8Array): Key {
  try {
    return decodeKey(key)
  } catch {
    return []
  }
}

/** The workspaces of one store. Workspaces are created and deleted, so two moments of a store share only some. */
export class StoreIdentity {
  readonly #ids = new Set<string>()

  get ids(): readonly string[] {
    return [...this.#ids]
  }

  add(ids: readonly string[]): void {
    for (const id of ids) if (this.#ids.size < identifyingWorkspacesMax) this.#ids.add(id)
  }

  /** Returns whether the store is the one with these workspaces: it has one of them, or neither has any. */
  isOf(ids: readonly string[]): boolean {
    return ids.some((id) => this.#ids.has(id)) || (ids.length === 0 && this.#ids.size === 0)
  }
}

const hexDigits = s.pattern(/^[0-9a-f]{64}$/)
const size = s.integer(0)

const chunkSchema = s.object({
  /** HMAC of the plain content, as 64 hexadecimal digits. */
  digest: hexDigits,
  /** First key in base64. The chunk contains the keys from this one to the first key of the next chunk. */
  firstKey: s.string,
  /** Number of pairs. */
  pairs: size,
  /** Bytes of the plain content. */
  bytes: size,
  /** Size of the object when this backup was written. */
  storedBytes: size,
})

const manifestSchema = s.object({
  /** Format of the repository. */
  format: s.literal(1),
  id: s.string,
  /** Version of Weft that wrote the backup. */
  version: s.string,
  header: backupHeaderSchema,
  /** Ids of the first workspaces, by which the store is recognized. */
  workspaces: s.array(s.string),
  /** Small files of the data directory, with their content in base64. */
  files: s.array(s.object({ name: s.string, content: s.string })),
  /** In the order of the keys. */
  chunks: s.array(chunkSchema),
  /** Number of pairs in all chunks. */
  pairs: size,
  /** Bytes of the plain content of all chunks. */
  bytes: size,
  /** SHA-256 over all pairs; see `PairSum`. */
  sum: hexDigits,
})

export type ChunkEntry = s.TypeOf<typeof chunkSchema>

/** The content of one backup. It is written last, so a backup without a manifest does not exist. */
export type Manifest = s.TypeOf<typeof manifestSchema>

/** @throws MalformedJsonError */
export const readManifest = (json: Uint8Array): Manifest => readJson(manifestSchema, json)

/** The id of a backup, and the time that it contains (epoch milliseconds). */
export interface BackupName {
  readonly id: string
  readonly at: number
}

/** Maximum difference in ms between the clocks of machines that counts as usual. */
const clockDifferenceMs = 600_000

/** Returns whether a backup has a time in the future, because it was made with a wrong clock. */
export const isAhead = ({ at }: BackupName, now: number): boolean => at > now + clockDifferenceMs

export const manifestPrefix = 'backups/'
export const chunkPrefix = 'chunks/'

export const backupObjectName = (id: string): string => `${manifestPrefix}${id}`

export const chunkName = (digest: string): string => `${chunkPrefix}${digest.slice(0, 2)}/${digest}`

/** Returns the digest in the name of a chunk; null for the name of another object. */
export function parseChunkName(name: string): string | null {
  const digest = name.slice(-64)
  return /^[0-9a-f]{64}$/.test(digest) && chunkName(digest) === name ? digest : null
}

/** Returns an id that starts with the time, so the ids of later backups are greater. */
export const newBackupId = (at: number): string =>
  `${new Date(at).toISOString().replaceAll(/[-:]/g, '')}-${randomBytes(4).toString('hex')}`

/** Reads the name of a manifest; null for the name of another object. */
export function parseBackupName(name: string): BackupName | null {
  const id = name.slice(manifestPrefix.length)
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d\.\d{3})Z-[0-9a-f]{8}$/.exec(id)
  if (!name.startsWith(manifestPrefix) || parts === null) return null
  const [, year, month, day, hour, minute, second] = parts
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  return Number.isNaN(at) ? null : { id, at }
}

export type ObjectProblem = 'missing' | 'truncated' | 'changed'

type ChunkRead =
  | { readonly state: 'sound'; readonly pairs: StoredPage; readonly storedBytes: number }
  | { readonly state: 'damaged'; readonly problem: ObjectProblem }

/** Limits of the chunks that are read or written at the same time. */
export const chunkLimits = { countMax: 4, bytesMax: 16 * 2 ** 20 } as const

/** The chunks of a repository, by their digest. */
export class ChunkObjects {
  readonly #store: ObjectStore
  readonly #sealer: ObjectSealer

  constructor(store: ObjectStore, sealer: ObjectSealer) {
    this.#store = store
    this.#sealer = sealer
  }

  /**
   * Reads and checks a chunk. Its content is correct only if it has the digest.
   * @param storedBytes size of the object when it was written; 0 if unknown
   * @throws StorageError if the store cannot be used
   */
  async read(digest: string, storedBytes: number): Promise<ChunkRead> {
    const name = chunkName(digest)
    const bytes = await this.#store.get(name)
    if (bytes === null) return { state: 'damaged', problem: 'missing' }
    const content = await this.#sealer.unseal(name, bytes)
    if (content === null || (await this.#sealer.digestOf(content)) !== digest)
      return { state: 'damaged', problem: bytes.length < storedBytes ? 'truncated' : 'changed' }
    return { state: 'sound', pairs: await decodePairsInSlices(content), storedBytes: bytes.length }
  }

  /** Writes a chunk. Returns the size of the object. @throws StorageError */
  async write(digest: string, content: Uint8Array): Promise<number> {
    const name = chunkName(digest)
    const bytes = await this.#sealer.seal(name, content)
    await this.#store.put(name, bytes)
    return bytes.length
  }
}
