import type { Clock } from '../../../base/clock.ts'
import { DamagedRecordError, withRecordName } from '../../damaged-record.ts'
import type {
  AdoptedLog,
  AppendOptions,
  AppendResult,
  AppendTo,
  DestroyOptions,
  DocumentLog,
  FenceStore,
  Key,
  LoadAtOptions,
  LoadedLog,
  LoadedVersion,
  LoadOptions,
  LogHead,
  LogUpdate,
} from '../../engine.ts'
import { decodeKey, keyRange } from '../../key-encoding.ts'
import { destroyedPerCallMax, headOf, type LogState } from '../../log-state.ts'
import type { OpenCalls } from '../../open-calls.ts'
import { keyspaces } from '../../pairs/keyspaces.ts'
import { decodeHead } from '../../pairs/record-codec.ts'
import type { LevelQueue } from '../jobs/queue.ts'
import type { GroupCommit } from '../store/group-commit.ts'
import type { RangeCompaction } from '../store/range-compaction.ts'
import type { ReopeningStore } from '../store/reopening-store.ts'
import { LogAdoption } from './adoption.ts'
import { AppendQueue } from './append-queue.ts'
import { LevelCompaction } from './compaction.ts'
import { DocumentHeads, keysOf, readLogStateNow } from './document-heads.ts'
import { LogRemoval } from './log-removal.ts'
import { readLevelLog, readLevelVersion } from './read-log.ts'

interface LevelLogDependencies {
  readonly gate: OpenCalls
  readonly disk: ReopeningStore
  readonly commit: GroupCommit
  readonly queue: LevelQueue
  readonly clock: Clock
  readonly rewriting: RangeCompaction
  readonly fences: FenceStore
}

export class LevelLog implements DocumentLog {
  readonly hasOneWriter = true
  readonly #gate: OpenCalls
  readonly #disk: ReopeningStore
  readonly #documents: DocumentHeads
  readonly #appends: AppendQueue
  readonly #compaction: LevelCompaction
  readonly #removal: LogRemoval
  readonly #adoption: LogAdoption

  constructor({ gate, disk, commit, queue, clock, rewriting, fences }: LevelLogDependencies) {
    this.#gate = gate
    this.#disk = disk
    this.#documents = new DocumentHeads(disk)
    this.#appends = new AppendQueue(this, { gate, documents: this.#documents, commit, queue, clock, fences })
    const shared = { documents: this.#documents, commit, disk, clock, rewriting }
    this.#compaction = new LevelCompaction({ gate, ...shared })
    this.#removal = new LogRemoval(shared)
    this.#adoption = new LogAdoption(shared)
  }

  append(
    doc: Key,
    to: AppendTo,
    updates: readonly LogUpdate[],
    options: AppendOptions = {},
  ): Promise<AppendResult> {
    if (!this.#gate.isOpen) return this.#gate.refuse()
    return this.#appends.append(doc, to, updates, options)
  }

  load(doc: Key, options: LoadOptions = {}): Promise<LoadedLog> {
    return this.#run('document', doc, async () => {
      const keys = keysOf(doc)
      let [found, failed]: [(standing: LogState) => void, (error: unknown) => void] = [ignore, ignore]
      const state = (): Promise<LogState> =>
        new Promise((resolve, reject) => {
          found = resolve
          failed = reject
        })
      this.#documents.share(doc, keys, state)
      try {
        return await this.#disk.read((store) => readLevelLog(store, keys, options, found))
      } catch (error) {
        failed(error)
        throw error
      }
    })
  }

  loadAt(doc: Key, epoch: number, seq: number, options: LoadAtOptions = {}): Promise<LoadedVersion | null> {
    return this.#run('document', doc, async () => {
      const keys = keysOf(doc)
      return this.#disk.read((store) => readLevelVersion(store, keys, { ...options, epoch, seq }))
    })
  }

  heads(docs: readonly Key[]): Promise<readonly (LogHead | null)[]> {
    return this.#gate.run(() => Promise.all(docs.map((doc) => this.#head(doc))))
  }

  async list(prefix: Key, options: { after?: Key; limit: number }): Promise<readonly Key[]> {
    return (await this.#list(prefix, options)).map(({ doc }) => doc)
  }

  #list(
    prefix: Key,
    { after, limit }: { after?: Key | undefined; limit: number },
  ): Promise<readonly Listed[]> {
    return this.#run('documents under', prefix, async () => {
      const range = keyRange(keyspaces.heads, { prefix, after })
      return this.#disk.read(async (store) => {
        const found: Listed[] = []
        if (limit <= 0) return found
        for await (const page of store.pages(range)) {
          for (const [key, value] of page) {
            const head = listed(key, value)
            if (head !== null) found.push(head)
            if (found.length >= limit) return found
          }
        }
        return found
      })
    })
  }

  compact(
    doc: Key,
    epoch: number,
    expectBase: number,
    upTo: number,
    snapshot: Uint8Array,
    keepSince: number,
    attribution: Uint8Array | null = null,
    forget?: string,
  ): Promise<boolean> {
    const wanted = { epoch, expectBase, upTo, keepSince }
    return this.#run('document', doc, () =>
      this.#compaction.compact(doc, wanted, { snapshot, attribution, forget }),
    )
  }

  adopt(doc: Key, log: AdoptedLog): Promise<boolean> {
    return this.#run('document', doc, () => this.#adoption.adopt(doc, log))
  }

  destroy(doc: Key): Promise<void> {
    return this.#run('document', doc, () => this.#removal.destroy(doc))
  }

  async destroyPrefix(prefix: Key, { after, confirm }: DestroyOptions = {}): Promise<Key | null> {
    const found = await this.#list(prefix, { after, limit: destroyedPerCallMax })
    await confirm?.()
    const destroy = ({ doc, epoch }: Listed) =>
      this.#run('document', doc, () => this.#removal.destroy(doc, epoch))
    await Promise.all(found.map(destroy))
    return found.length < destroyedPerCallMax ? null : (found.at(-1)?.doc ?? null)
  }

  /** Evicts all cached heads. Call this method after a write with unknown outcome. */
  forget(): void {
    this.#documents.forget()
  }

  #run<T>(what: string, key: Key, call: () => Promise<T>): Promise<T> {
    return this.#gate.run(() => withRecordName(what, key, call))
  }

  /**
   * Returns the head of a document. Uses the cached state only if no append is pending; otherwise reads the
   * store.
   */
  async #head(doc: Key): Promise<LogHead | null> {
    const known = this.#documents.settled(doc)
    return headOf(known ?? (await withRecordName('document', doc, () => this.#read(doc))))
  }

  async #read(doc: Key): Promise<LogState> {
    const keys = keysOf(doc)
    return this.#disk.read((store) => readLogStateNow(store, keys))
  }
}

const ignore = (): void => undefined

interface Listed {
  readonly doc: Key
  /** Epoch of the document; undefined if the head cannot be read. */
  readonly epoch: number | undefined
}

/**
 * Decodes the head of a document for a list. Returns null if the document is deleted. A document with a
 * damaged head counts as live: the list continues, and the damage is reported when the document is loaded.
 */
function listed(key: Buffer, value: Buffer): Listed | null {
  const doc = decodeKey(key.subarray(keyspaces.heads.length))
  try {
    const { state, epoch } = decodeHead(key, value)
    return state === 'live' ? { doc, epoch } : null
  } catch (error) {
    if (error instanceof DamagedRecordError) return { doc, epoch: undefined }
    throw error
  }
}
