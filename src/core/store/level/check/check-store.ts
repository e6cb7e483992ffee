import { errorMessage } from '../../../base/errors.ts'
import type { CheckOptions, Damage, StoreCheck } from '../../damage.ts'
import { EngineOpenError, type Key } from '../../engine.ts'
import { type ByteRange, decodeKey, rangeOf } from '../../key-encoding.ts'
import { baseSnapshot } from '../../log-state.ts'
import { DocumentKeyspace, keyspaces } from '../../pairs/keyspaces.ts'
import { DamagedRecordError } from '../../stored-record.ts'
import { checkFiles, withoutRemoved } from '../files/check-files.ts'
import { writeManifest } from '../files/file-manifest.ts'
import { readError } from '../files/level-errors.ts'
import { readLogStateNow } from '../log/document-heads.ts'
import { readAttributionRecord, readLevelLog, readLevelVersion } from '../log/read-log.ts'
import { levelOpenError, openChecked, storePath } from '../store/open.ts'
import type { KeyValuePair, ScanOptions } from '../store/reads.ts'
import { openLevelStore, type Store } from '../store/store.ts'
import { checkDueIndex, checkExpected, checkRecord } from './check-records.ts'

/**
 * Reads and checks all data in the store of a data directory. The store must exist, and no process may have
 * it open.
 * @throws EngineOpenError if the store cannot be opened for a reason other than damage
 */
export async function checkStore(directory: string, options: CheckOptions): Promise<StoreCheck> {
  const path = storePath(directory)
  // Called before the store is opened, because opening replaces files.
  const changed = await checkFiles(path, 'verify').catch((error: unknown) => {
    throw levelOpenError(error, path)
  })
  try {
    const { store, warnings } = await openChecked(directory, openLevelStore, {
      depth: 'start',
      damaged: 'inspect',
    })
    const known = (await withoutRemoved(path, changed)).map(fileDamage)
    const silent = warnings.map(fileDamage).filter(({ what }) => !known.some((each) => each.what === what))
    const damages = [...known, ...silent]
    let check: StoreCheck
    try {
      check = await new StoreChecker(store, options).run(damages)
    } finally {
      await store.close()
    }
    // If there is damage, no manifest is written, so that the next check finds the damage again.
    if (check.damages.length === 0) await writeManifest(path)
    return check
  } catch (error) {
    if (!(error instanceof EngineOpenError) || error.reason !== 'corrupted') throw error
    const damage: Damage = { kind: 'store', what: path, problem: error.message }
    return { damages: [...changed.map(fileDamage), damage], records: 0, bytes: 0, documents: 0 }
  }
}

/**
 * Converts a sentence to a `Damage`. If the sentence is about a file, it starts with the name of the file.
 * The log lines of LevelDB do not start with a file name.
 */
function fileDamage(sentence: string): Damage {
  const [name = ''] = sentence.split(' ', 1)
  const what = /^(CURRENT|MANIFEST-|\d+\.)/.test(name) ? name : `LevelDB: ${sentence}`
  return { kind: 'file', what, problem: sentence }
}

class StoreChecker {
  readonly #store: Store
  readonly #options: CheckOptions
  readonly #damages: Damage[] = []
  #records = 0
  #bytes = 0
  #documents = 0

  constructor(store: Store, options: CheckOptions) {
    this.#store = store
    this.#options = options
  }

  async run(known: readonly Damage[]): Promise<StoreCheck> {
    this.#damages.push(...known)
    const total = await this.#count()
    await this.#checkRecords(total)
    await this.#checkDocuments()
    return {
      damages: this.#damages,
      records: this.#records,
      bytes: this.#bytes,
      documents: this.#documents,
    }
  }

  #found(kind: Damage['kind'], what: string, problem: string): void {
    this.#damages.push({ kind, what, problem })
  }

  async #count(): Promise<number> {
    this.#options.onProgress('count', 0)
    let count = 0
    const range = rangeOf(Buffer.alloc(0))
    for await (const _ of readUndamaged(this.#store, range, { values: false }, () => undefined)) count += 1
    return count
  }

  /**
   * Checks all records one by one, except updates and snapshots. For those, it only checks that their
   * document has a head; their content is checked together with the document.
   */
  async #checkRecords(total: number): Promise<void> {
    let document = ''
    const onDamage = (problem: string) => this.#found('file', 'tables', problem)
    for await (const [key, value] of readUndamaged(this.#store, rangeOf(Buffer.alloc(0)), {}, onDamage)) {
      this.#records += 1
      this.#bytes += key.length + value.length
      if (this.#records % 1_000 === 0) this.#options.onProgress('records', this.#records / total)
      const of = documentOf(key)
      if (of === null) {
        const damage = checkRecord(key, value) ?? (await checkDueIndex(this.#store, key, value))
        const damages =
          damage === null ? await checkExpected(this.#store, key, value, this.#options) : [damage]
        this.#damages.push(...damages)
      } else if (of.toString('latin1') !== document) {
        document = of.toString('latin1')
        await this.#checkHead(of)
      }
    }
  }

  /**
   * Reports a document whose head is missing, because without the head no reader would ever find its records.
   */
  async #checkHead(encoded: Buffer): Promise<void> {
    const head = await this.#store.get(Buffer.concat([keyspaces.heads, encoded])).catch(() => undefined)
    if (head === undefined) this.#found('document', nameOf(encoded), 'the head is missing')
  }

  async #checkDocuments(): Promise<void> {
    const heads = rangeOf(keyspaces.heads)
    let total = 0
    for await (const _ of readUndamaged(this.#store, heads, { values: false }, () => undefined)) total += 1
    let done = 0
    for await (const [key] of readUndamaged(this.#store, heads, { values: false }, () => undefined)) {
      this.#options.onProgress('documents', done++ / total)
      await this.#checkDocument(key.subarray(keyspaces.heads.length))
    }
  }

  async #checkDocument(encoded: Buffer): Promise<void> {
    const keys = new DocumentKeyspace(encoded)
    try {
      const loaded = await readLevelLog(this.#store, keys, {})
      if (loaded.state !== 'live') return
      this.#documents += 1
      const problem = await this.#options.contentProblem(loaded)
      if (problem !== null) return this.#found('document', nameOf(encoded), problem)
    } catch (error) {
      return this.#found('document', nameOf(encoded), problemOf(error))
    }
    await this.#checkAttribution(keys).catch((error: unknown) =>
      this.#found('attribution', nameOf(encoded), problemOf(error)),
    )
    await this.#checkVersions(keys).catch((error: unknown) =>
      this.#found('version', nameOf(encoded), problemOf(error)),
    )
  }

  async #checkAttribution(keys: DocumentKeyspace): Promise<void> {
    const standing = await readLogStateNow(this.#store, keys)
    if (standing.state !== 'live') return
    await readAttributionRecord(this.#store, keys, baseSnapshot(standing.marks).seq)
  }

  /** Checks the snapshots and updates that are needed only for versions before the base. */
  async #checkVersions(keys: DocumentKeyspace): Promise<void> {
    const standing = await readLogStateNow(this.#store, keys)
    if (standing.state !== 'live') return
    const { epoch, marks } = standing
    for (const [index, { seq }] of marks.entries()) {
      const next = marks[index + 1]
      const upTo = next === undefined ? seq : Math.max(seq, next.seq - 1)
      if (seq < baseSnapshot(marks).seq) await readLevelVersion(this.#store, keys, { epoch, seq: upTo })
    }
  }
}

/**
 * Returns the encoded key of the document to which an update or a snapshot belongs; null for a record of
 * another kind.
 */
function documentOf(key: Buffer): Buffer | null {
  const [space] = key
  if (space !== keyspaces.updates[0] && space !== keyspaces.snapshots[0]) return null
  return key.subarray(1, Math.max(1, key.length - numberBytes - 1))
}

/** Length in bytes of the number at the end of the keys of updates and snapshots. */
const numberBytes = 8

function nameOf(encoded: Buffer): string {
  try {
    const key: Key = decodeKey(encoded)
    return JSON.stringify(key)
  } catch {
    return `the key ${encoded.toString('base64url')}`
  }
}

const problemOf = (error: unknown): string =>
  error instanceof DamagedRecordError ? error.message : `it cannot be read: ${errorMessage(error)}`

const afterKey = Buffer.alloc(1)

/**
 * Yields the pairs of a range that can be read. At the first damage, calls `onDamage` with the reason. It
 * then reads the pairs one by one until a read fails again.
 */
async function* readUndamaged(
  store: Store,
  range: ByteRange,
  options: ScanOptions,
  onDamage: (problem: string) => void,
): AsyncGenerator<KeyValuePair> {
  let { gte } = range
  let scan: ScanOptions = options
  for (;;) {
    let count = 0
    try {
      for await (const page of store.pages({ ...range, gte }, scan)) {
        for (const pair of page) {
          yield pair
          count += 1
          gte = Buffer.concat([pair[0], afterKey])
        }
      }
      if (scan.limit !== 1 || count === 0) return
    } catch (error) {
      const read = readError(error)
      if (!(read instanceof DamagedRecordError)) throw error
      if (scan.limit === 1) return
      onDamage(read.message)
      scan = { ...options, limit: 1 }
    }
  }
}
