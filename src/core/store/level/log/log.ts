import type {
  Appended,
  AppendOptions,
  AppendTo,
  DestroyOptions,
  DocumentLog,
  Key,
  LoadAtOptions,
  LoadedLog,
  LoadedVersion,
  LoadOptions,
  LogHead,
  LogUpdate,
  StoreUnavailableError,
} from '../../engine.ts'
import { checkFence } from '../../fences.ts'
import { checkJobs, copyOfJob } from '../../job-state.ts'
import { decodeKey, keyName, keyRange } from '../../key-encoding.ts'
import { absentLog, destroyedPerCallMax, headOf, type LogState, resolveAppend } from '../../log-state.ts'
import { keyspaces } from '../../pairs/keyspaces.ts'
import { decodeHead, encodeHead, encodeUpdates } from '../../pairs/record-codec.ts'
import { copyOfUpdate } from '../../stored-author.ts'
import { DamagedRecordError, toCorruptRecord, withRecordName } from '../../stored-record.ts'
import type { LevelQueue, PinnedJobs } from '../jobs/queue.ts'
import type { WriteWaiter } from '../store/group-commit.ts'
import type { LevelCore } from '../store/level-core.ts'
import { inEntryOrder, known } from '../store/write-through-cache.ts'
import { LevelCompaction } from './compaction.ts'
import {
  type DocumentCacheEntry,
  DocumentHeads,
  keysOf,
  nameOfLog,
  readLogStateNow,
} from './document-heads.ts'
import { LogRemoval } from './log-removal.ts'
import { readLevelLog, readLevelVersion } from './read-log.ts'

/**
 * The logs of documents. If the head of a log is in memory, `append` assigns the sequence numbers and encodes the
 * record before it returns. Two kinds of appends have to wait: appends without a head in memory, and appends
 * with jobs whose ids may have been used before. These appends, and all later appends to the same document, are done
 * one after the other in the order of the calls. The promises of one document also resolve in that order, because the
 * group commit resolves each promise directly, without another promise in between.
 */
export class LevelLog implements DocumentLog {
  readonly #core: LevelCore
  readonly #queue: LevelQueue
  readonly #documents: DocumentHeads
  readonly #compaction: LevelCompaction
  readonly #removal: LogRemoval

  constructor(core: LevelCore, queue: LevelQueue) {
    this.#core = core
    this.#queue = queue
    this.#documents = new DocumentHeads(core.disk)
    this.#compaction = new LevelCompaction(core, this.#documents)
    this.#removal = new LogRemoval(core, this.#documents)
  }

  append(
    doc: Key,
    to: AppendTo,
    updates: readonly LogUpdate[],
    options: AppendOptions = {},
  ): Promise<Appended> {
    const { gate, commit } = this.#core
    if (!gate.isOpen) return gate.refuse()
    return new Promise((resolve, reject) => {
      if (updates.length === 0) throw new RangeError('an append without updates')
      checkJobs(options.jobs ?? [])
      commit.admit()
      const call = new PendingAppend(this.#documents, { doc, to, updates, options }, resolve, reject)
      const { knowledge, lastCall } = call.cell
      const isReady = knowledge.state === 'known' && lastCall === null
      const jobs = isReady ? this.#queue.pinNew(options.jobs ?? []) : null
      if (jobs === null) return this.#writeInOrder(call)
      this.#write(call, jobs)
      jobs.release()
    })
  }

  #writeInOrder(call: PendingAppend): void {
    const { gate, commit } = this.#core
    call.keepCopies()
    const release = commit.reserve(call.bytes)
    const write = async () => {
      const jobs = await this.#queue.pin(call.options.jobs ?? [])
      try {
        commit.admit()
        this.#write(call, jobs)
      } finally {
        jobs.release()
      }
    }
    void gate
      .run(() => inEntryOrder(call.cell, write))
      .catch((error: unknown) => call.refuse(error))
      .finally(release)
  }

  /** Adds the record of an append to the group commit. If the append is rejected, writes nothing. */
  #write(call: PendingAppend, jobs: PinnedJobs): void {
    const { fences, clock, commit } = this.#core
    const { cell, to, updates } = call
    const keys = cell.key
    try {
      checkFence(fences, call.options)
      const log = resolveAppend(known(cell), to, call.options)
      const { epoch, marks, head } = log
      const [first, last] = [head + 1, head + updates.length]
      const record = encodeUpdates(keys.updatesCrc, first, call.options.at ?? clock.now(), updates)
      const newHead = typeof to === 'number' ? null : encodeHead(keys.head, log)
      const key = keys.update(first)
      jobs.enqueue()
      // Nothing after this line may throw: the commit must contain all operations of the append.
      this.#documents.set(cell, { state: 'live', epoch, marks, head: last })
      if (newHead !== null) commit.put(keys.head, newHead)
      commit.put(key, record)
      call.written({ epoch, first, last })
      commit.wait(call)
    } catch (error) {
      call.refuse(error)
    }
  }

  load(doc: Key, options: LoadOptions = {}): Promise<LoadedLog> {
    const keys = keysOf(doc)
    if (this.#core.gate.isOpen && this.#documents.isAbsent(keys)) {
      this.#documents.note(nameOfLog(doc), keys, absentLog)
      return Promise.resolve(absentLog)
    }
    return this.#run('document', doc, async () => {
      let [found, failed]: [(standing: LogState) => void, (error: unknown) => void] = [ignore, ignore]
      const state = (): Promise<LogState> =>
        new Promise((resolve, reject) => {
          found = resolve
          failed = reject
        })
      this.#documents.share(nameOfLog(doc), keys, state)
      try {
        return await this.#core.disk.read((store) => readLevelLog(store, keys, options, found))
      } catch (error) {
        failed(error)
        throw error
      }
    })
  }

  loadAt(doc: Key, epoch: number, seq: number, options: LoadAtOptions = {}): Promise<LoadedVersion | null> {
    return this.#run('document', doc, async () => {
      const keys = keysOf(doc)
      return this.#core.disk.read((store) => readLevelVersion(store, keys, { ...options, epoch, seq }))
    })
  }

  heads(docs: readonly Key[]): Promise<readonly (LogHead | null)[]> {
    return this.#core.gate.run(() => {
      // An append in progress may still fail, so only the states of logs without one are used.
      const known = docs.map((doc) => this.#documents.settled(keyName(doc)))
      if (known.every((state) => state !== undefined)) return Promise.resolve(known.map(headOf))
      return Promise.all(docs.map(async (doc, index) => headOf(known[index] ?? (await this.#read(doc)))))
    })
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
      return this.#core.disk.read(async (store) => {
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
    return this.#core.gate.run(() => withRecordName(what, key, call))
  }

  #read(doc: Key): Promise<LogState> {
    const keys = keysOf(doc)
    return withRecordName('document', doc, () =>
      this.#core.disk.read((store) => readLogStateNow(store, keys)),
    )
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

/**
 * One call of `append`. Exists until the promise of the call settles; until then, the cell of the document
 * stays pinned.
 */
class PendingAppend implements WriteWaiter {
  readonly cell: DocumentCacheEntry
  readonly to: AppendTo
  updates: readonly LogUpdate[]
  options: AppendOptions
  readonly #doc: Key
  readonly #documents: DocumentHeads
  readonly #resolve: (result: Appended) => void
  readonly #reject: (error: unknown) => void
  #appended: Appended | null = null

  constructor(
    documents: DocumentHeads,
    call: { doc: Key; to: AppendTo; updates: readonly LogUpdate[]; options: AppendOptions },
    resolve: (result: Appended) => void,
    reject: (error: unknown) => void,
  ) {
    this.#documents = documents
    this.#doc = call.doc
    this.to = call.to
    this.updates = call.updates
    this.options = call.options
    this.#resolve = resolve
    this.#reject = reject
    this.cell = documents.pinDocument(call.doc)
  }

  /**
   * Copies the updates and jobs. Call this method before you wait for anything, because the caller may reuse
   * their buffers.
   */
  keepCopies(): void {
    this.updates = this.updates.map(copyOfUpdate)
    this.options = { ...this.options, jobs: (this.options.jobs ?? []).map(copyOfJob) }
  }

  get bytes(): number {
    return this.updates.reduce((sum, { bytes }) => sum + bytes.length, 0)
  }

  /** Notes that the sequence numbers are assigned. The append then waits until it is durable. */
  written(appended: Appended): void {
    this.#appended = appended
  }

  durable(): void {
    this.#documents.unpin(this.cell)
    this.#resolve(this.#appended as Appended)
  }

  lost(error: StoreUnavailableError): void {
    this.refuse(error)
  }

  refuse(error: unknown): void {
    this.#documents.unpin(this.cell)
    this.#reject(toCorruptRecord('document', this.#doc, error))
  }
}
