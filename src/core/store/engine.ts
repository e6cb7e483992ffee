import type { ChangeMeta, ChangeSource } from '../model/change-origin.ts'

/**
 * The interfaces between Weft and durable state. Each implementation has a folder next to this file, and must
 * pass the common suite in `test/contract/`. The promise of a write resolves when the write is durable. An
 * option of the engine determines whether a durable write survives a power failure or only the end of the
 * process.
 */

/**
 * Segments of a key, most significant first. A segment is any well-formed string. Engines encode keys so that
 * different keys never have the same encoding.
 */
export type Key = readonly string[]

/** One Yjs update (encoding V1), and the id of the user who caused the update ('' if the user is unknown). */
export interface LogUpdate {
  readonly bytes: Uint8Array
  readonly by: string
  /** How the update reached the document; absent for an update from a websocket. */
  readonly source?: ChangeSource
  /** Data of the sender of the update; absent or null if there is none. */
  readonly meta?: ChangeMeta | null
}

export interface LogEntry extends LogUpdate {
  readonly seq: number
  /** Time of the append, in epoch milliseconds. */
  readonly at: number
}

/**
 * State of a log. `epoch` grows each time a deleted document is created again. Sequence numbers start at 1.
 */
export interface LogHead {
  readonly epoch: number
  readonly head: number
  /** Sequence number up to which the snapshot for loading covers the log; 0 without a snapshot. */
  readonly base: number
  /** Sequence number of the oldest version that can be rebuilt. */
  readonly oldest: number
}

export interface Appended {
  readonly epoch: number
  /** Sequence number of the first appended update. */
  readonly first: number
  /** Sequence number of the last appended update. */
  readonly last: number
}

/**
 * Specifies the log to which an append adds entries. A number is the epoch of an existing log. `create`
 * creates a log; the append is rejected if the document exists or was deleted. `recreate` creates a log even
 * if the document existed and was deleted.
 */
export type AppendTo = number | 'create' | 'recreate'

export interface AppendOptions {
  /**
   * The sequence number with which the log must end (0: the log must not exist). If the log has another end, the
   * append is rejected with the reason `moved`.
   */
  readonly expectHead?: number | undefined
  /** Jobs that are enqueued in the same commit as the append. */
  readonly jobs?: readonly Job[] | undefined
  /**
   * Fences that the caller has read. If one of them was raised since then, the append is rejected with the
   * reason `fence`.
   */
  readonly fence?: Fence | undefined
  /**
   * The term in which the caller holds the document. If the term has ended, the append is rejected with the
   * reason `term`. While the append is in progress, no other process can take the document. Absent: the append
   * does not depend on a term.
   */
  readonly term?: Term | undefined
  /** Time of the entries in epoch milliseconds, if they are copies of older ones. Default: the current time. */
  readonly at?: number | undefined
}

/**
 * One counter of a fence, as `FenceStore.read` found it. Several fences share a counter, so a fence may look
 * raised although only another fence was raised. The counts are valid only in the process that read them.
 */
export interface FenceValue {
  /** Index of the counter. */
  readonly counter: number
  /** Number of raises that are stored, by all processes. */
  readonly raised: number
  /** Number of raises that this process has made. */
  readonly raisedHere: number
}

/** The counters of one or more fences, all read at the same time. */
export type Fence = readonly FenceValue[]

/**
 * Ensures that no update is appended after its sender has lost the right to write. A Kv commit that ends a
 * right raises a fence. An append that relies on the right contains the value of that fence, which the caller
 * read before it checked the right. Such an append either becomes durable before the commit, or is rejected.
 */
export interface FenceStore {
  /**
   * Reads fences. Call this method before you read the records that the fences protect.
   * @throws StoreUnavailableError
   */
  read(names: readonly Key[]): Promise<Fence>
  /**
   * Returns false if this process knows that one of the fences was raised after `fence` was read; otherwise
   * true. Never waits for the store.
   */
  isCurrent(fence: Fence): boolean
}

export interface LoadOptions {
  /**
   * Return only the entries after this sequence number, without a snapshot. Ignored if the log no longer has
   * all of these entries. The log has all entries after the oldest version that `loadAt` can rebuild.
   */
  readonly since?: number
  /** Epoch to which `since` belongs. If the log has another epoch, `since` is ignored. */
  readonly epoch?: number
  /**
   * Approximate maximum size of the returned entries, in bytes. At least one entry is returned. If entries
   * are left out, `more` is set.
   */
  readonly bytesMax?: number
  /** Also return the stored attribution. */
  readonly attribution?: boolean
}

export type LoadedLog =
  | { readonly state: 'absent' }
  | { readonly state: 'deleted'; readonly epoch: number }
  | {
      readonly state: 'live'
      readonly epoch: number
      /** Sequence number of the last entry that the snapshot covers; 0 without a snapshot. */
      readonly base: number
      /** Time at which the snapshot was made, in epoch milliseconds; 0 without a snapshot. */
      readonly basedAt: number
      readonly head: number
      /** Yjs state (V1) at `base`; null without a snapshot, or if `since` was applied. */
      readonly snapshot: Uint8Array | null
      /** Entries without gaps, starting with `base + 1` or `since + 1`. */
      readonly entries: readonly LogEntry[]
      /** Time and user of the last entry. A compaction keeps these two values. */
      readonly changed: { readonly at: number; readonly by: string }
      /**
       * The stored attribution of the entries up to `base`, as `compact` got it. Null if there is
       * none, if it is damaged, or if it belongs to another `base`. Absent if it was not requested.
       */
      readonly attribution?: Uint8Array | null
      /**
       * True if entries were left out because of `bytesMax`. To get them, load again with `since` = the
       * number of the last entry.
       */
      readonly more: boolean
    }

export interface LoadAtOptions {
  /**
   * Continue after this sequence number, which is the last one of the previous page. The result then contains
   * no snapshot.
   */
  readonly after?: number
  /**
   * Approximate maximum size of the returned entries, in bytes. At least one entry is returned. If entries
   * are left out, `more` is set.
   */
  readonly bytesMax?: number
}

/** The snapshot and the entries from which a document can be rebuilt as of one sequence number of its log. */
export interface LoadedVersion {
  /** Yjs state (V1) at `base`; null if `base` is 0 or `after` was given. */
  readonly snapshot: Uint8Array | null
  readonly base: number
  /**
   * Entries without gaps, starting with `base + 1` or `after + 1`. On the last page, the last entry has the
   * sequence number of the version.
   */
  readonly entries: readonly LogEntry[]
  /**
   * True if entries were left out because of `bytesMax`. To get them, load again with `after` = the number of
   * the last entry.
   */
  readonly more: boolean
}

export interface DestroyOptions {
  /** Continue with the documents after this key. */
  readonly after?: Key
  /**
   * Called once, after the logs to destroy have been determined and before the first one is destroyed. If
   * `confirm` rejects, no log is destroyed. A log that is created after this call is not destroyed, even if
   * the deletion takes long. Therefore a caller that checks its permission in `confirm` does not have to
   * check it again.
   */
  readonly confirm?: () => Promise<void>
}

/** Append-only logs of Yjs updates, one for each document. */
export interface DocumentLog {
  /**
   * Adds updates (at least one) to the end of the log. Resolves when they are durable. Sequence numbers are
   * contiguous, even if appends run concurrently, and follow the order of the calls.
   * @throws AppendRejectedError if a rule rejected the append: nothing was written, and nothing will be
   * @throws StoreUnavailableError if the store is unavailable; it is then unknown whether the updates were
   * written
   */
  append(doc: Key, to: AppendTo, updates: readonly LogUpdate[], options?: AppendOptions): Promise<Appended>
  /**
   * Loads a log.
   * @throws CorruptRecordError if the stored data fails its checksum or has a gap; such a document must not
   * be served
   */
  load(doc: Key, options?: LoadOptions): Promise<LoadedLog>
  /**
   * Returns the parts from which the document can be rebuilt as of the entry `seq`. Returns null if that is
   * impossible: the log has another epoch, ends before `seq`, or no longer has the required entries. With
   * `after`, only the entries after that number are required.
   * @throws CorruptRecordError if required data is damaged; the current version of the document may be
   * undamaged
   */
  loadAt(doc: Key, epoch: number, seq: number, options?: LoadAtOptions): Promise<LoadedVersion | null>
  /**
   * Returns the heads of the given documents, in the same order. The head of a document that is not live is
   * null.
   */
  heads(docs: readonly Key[]): Promise<readonly (LogHead | null)[]>
  /**
   * Returns the keys of up to `limit` live documents, in key order. Each key starts with `prefix` and is
   * greater than `after`.
   */
  list(prefix: Key, options: { after?: Key; limit: number }): Promise<readonly Key[]>
  /**
   * Makes `snapshot` the snapshot from which loading starts, in one commit. The snapshot covers the entries
   * up to and including `upTo`. `loadAt` can still rebuild each version that was current in or after the
   * millisecond `keepSince` (epoch milliseconds). For that purpose the store keeps at most two older
   * snapshots, and the entries after the oldest of them. All other entries and snapshots are unreachable
   * after the commit. The store deletes them later in bounded slices. If a crash interrupts this deletion, a
   * later compaction completes it. With `keepSince` Infinity, no older version is kept. The caller must not
   * change `snapshot` and `attribution` before the promise settles.
   *
   * `attribution` is stored in the same commit, as opaque bytes. It is the attribution of the entries up to
   * and including `upTo`; null if it is unknown. It replaces the stored one.
   *
   * If the user `forget` has made the last change, `load` returns the user '' for it afterwards.
   *
   * Returns false, and changes nothing, unless the log still has the epoch `epoch` and its snapshot still
   * covers exactly the entries up to `expectBase`.
   */
  compact(
    doc: Key,
    epoch: number,
    expectBase: number,
    upTo: number,
    snapshot: Uint8Array,
    keepSince: number,
    attribution?: Uint8Array | null,
    forget?: string,
  ): Promise<boolean>
  /**
   * Deletes all data of the document except one record with its epoch. The record remains so that late
   * appends are rejected.
   * @param term the term in which the caller holds the document, as in `AppendOptions`
   * @throws AppendRejectedError with the reason `term` if the term has ended: nothing was deleted
   */
  destroy(doc: Key, term?: Term): Promise<void>
  /**
   * Destroys documents whose keys start with `prefix`, up to a fixed number in each call. Returns the key to
   * pass as `after` in the next call; null if no documents remain.
   */
  destroyPrefix(prefix: Key, options?: DestroyOptions): Promise<Key | null>
}

export type AppendRejection = 'exists' | 'absent' | 'deleted' | 'epoch' | 'moved' | 'fence' | 'term'

/** Thrown if a rule rejects an append. Nothing was written. */
export class AppendRejectedError extends Error {
  readonly reason: AppendRejection
  constructor(reason: AppendRejection) {
    super(`append refused: ${reason}`)
    this.name = 'AppendRejectedError'
    this.reason = reason
  }
}

/** Thrown if the store cannot read or write at the moment. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError'
}

/** Thrown if stored bytes are damaged. The message contains the key of the document. */
export class CorruptRecordError extends Error {
  override readonly name = 'CorruptRecordError'
}

export type OpenFailure =
  | 'locked'
  | 'corrupted'
  | 'readOnly'
  | 'full'
  | 'newerFormat'
  | 'olderFormat'
  | 'failed'

/**
 * Thrown if the store cannot be opened. The message is a sentence for the operator: the problem and the
 * remedy.
 */
export class EngineOpenError extends Error {
  readonly reason: OpenFailure
  constructor(reason: OpenFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'EngineOpenError'
    this.reason = reason
  }
}

/**
 * Sends messages between nodes. A message is delivered at most once. Messages of different topics may arrive
 * in any order. No code may rely on a message alone, because it can be lost.
 */
export interface Bus {
  /** False while no other node can be reached. Always true on a single node. */
  readonly isConnected: boolean
  publish(topic: string, message: Uint8Array): void
  /** Subscribes to a topic. Returns the function that ends the subscription. */
  subscribe(topic: string, listener: BusListener): () => void
  /**
   * Registers a listener that is called when messages may have been lost. Returns the function that removes
   * the listener.
   */
  onLoss(listener: () => void): () => void
}

export type BusListener = (message: Uint8Array) => void

export interface KvEntry {
  readonly key: Key
  readonly value: Uint8Array
}

export interface KvRange {
  /** Return only keys that start with these segments. */
  readonly prefix?: Key
  /** Return only keys after this key. With `reverse`, return only keys before it. */
  readonly after?: Key
  readonly reverse?: boolean
  readonly limit: number
}

export interface KvCommit {
  /**
   * Expected current values. If one of them differs, the commit writes nothing. `value` null: the key must be
   * absent.
   */
  readonly checks?: readonly { readonly key: Key; readonly value: Uint8Array | null }[]
  readonly puts?: readonly KvEntry[]
  readonly dels?: readonly Key[]
  readonly jobs?: readonly Job[]
  /** Fences that the commit raises. */
  readonly fences?: readonly Key[]
  /**
   * When the commit is written. `now` (default): as soon as possible. `soon`: together with a later commit,
   * at the latest after 20 ms, and never after a commit of a later tick. Use `soon` only if no caller waits
   * for the commit.
   */
  readonly pace?: 'now' | 'soon'
  /**
   * Called once when the writes of the commit are certain, before they are durable. No write that it starts is durable
   * before the commit, and such writes may be durable together with it. Must not throw. An engine need not call it.
   */
  readonly decided?: (() => void) | undefined
}

/** Stores values by key, in partitions. Keys are ordered. A commit changes one partition, and is atomic. */
export interface Kv {
  get(part: Key, keys: readonly Key[]): Promise<readonly (Uint8Array | null)[]>
  scan(part: Key, range: KvRange): Promise<readonly KvEntry[]>
  /**
   * Writes all changes of the commit, or none. Resolves when they are durable. Returns false, and writes
   * nothing, if a check failed. In that case, the stored values with which the checks compared are durable.
   */
  commit(part: Key, commit: KvCommit): Promise<boolean>
}

/**
 * A unit of work that is done at least once, and not before the time `at`. Only commits of a log or of the Kv
 * enqueue jobs.
 */
export interface Job {
  readonly queue: string
  /**
   * Id of the job. If a job with this id already waits in the queue, that job stays unchanged and this job is
   * not added.
   */
  readonly id: string
  /**
   * True if no job with this id was enqueued before, so that the engine need not look for one. Default: false.
   */
  readonly isNew?: boolean
  /** Time at which the job becomes due, in epoch milliseconds. */
  readonly at: number
  readonly payload: Uint8Array
}

export interface ClaimedJob {
  /** Token that identifies the lease. It is invalid after the lease has ended. */
  readonly token: string
  readonly id: string
  readonly payload: Uint8Array
  /** Number of times that this job was claimed, including this time. */
  readonly attempt: number
}

/** Queues of durable jobs. Each job is delivered at least once. */
export interface Queue {
  /**
   * Claims up to `count` due jobs, starting with those that have been due the longest. Each claimed job is
   * leased for `leaseMs`. When its lease ends, the job is due again.
   */
  claim(queue: string, count: number, leaseMs: number): Promise<readonly ClaimedJob[]>
  /** Renews the lease of a job. Returns false if the lease has already ended. */
  extend(token: string, leaseMs: number): Promise<boolean>
  /** Removes a job that is done. Returns false if the lease has already ended. */
  done(token: string): Promise<boolean>
  /** Makes a job due again after `delayMs`. Returns false if the lease has already ended. */
  retry(token: string, delayMs: number, error: string): Promise<boolean>
  /** Moves a job to the dead letters, with its error. Returns false if the lease has already ended. */
  moveToDeadLetters(token: string, error: string): Promise<boolean>
}

/**
 * Reports changes that other processes make to this store. The bus usually reports such changes earlier, but
 * it can lose a message. Changes by this process are not reported.
 */
export interface ForeignChanges {
  /**
   * Maximum time in ms for which a value may be reused before it must be read again. Infinity: no other
   * process writes to the store.
   */
  readonly maxAgeMs: number
  /**
   * Watches a value. Calls `changed` at most `maxAgeMs` after another process has, or may have, changed the
   * value. If several callers watch the same value, only the `changed` of the first caller is called. Returns
   * the function that ends the watch.
   */
  watch(part: Key, key: Key, changed: () => void): () => void
}

/** Leases that the processes of this store can acquire. At most one process holds a lease at a time. */
export interface LeaseStore {
  /**
   * Acquires the lease. Returns null while another process, or another caller in this process, holds it. The
   * lease ends when it is released, or a few seconds after its process has died or has lost its connection to
   * the store.
   * @param lost called if another process may have the lease although this process has not released it
   */
  acquire(name: string, lost?: () => void): Promise<NamedLease | null>
}

export interface NamedLease {
  /** True while this process certainly holds the lease. False if another process may have it. */
  readonly isHeld: boolean
  /** Releases the lease. Another caller can acquire it immediately. Never rejects. */
  release(): Promise<void>
}

/** A process that shares the store. */
export interface NodeAddress {
  readonly id: string
  /** Base URL at which the other nodes reach the node, such as `http://10.0.0.7:8080`; null if it serves no calls. */
  readonly url: string | null
}

/**
 * The right of a process to be the only writer of some documents. It ends when the process no longer owns these
 * documents, or is taken for dead; a later right to the same documents has another term. Only the engine reads it.
 */
export interface Term {
  /** Number of the group of documents. */
  readonly bucket: number
  /** Grows each time a process takes the group. */
  readonly value: number
}

/** Thrown if another process owns a document, or has not released it yet. */
export class NotOwnerError extends Error {
  /** The node that owns the document. It may be this process, if the former owner has not released the document. */
  readonly owner: NodeAddress
  constructor(owner: NodeAddress) {
    super(`the document belongs to the node ${owner.id}`)
    this.name = 'NotOwnerError'
    this.owner = owner
  }
}

/** Ends the use of all documents for which `isLost` returns true. Resolves when their last appends have ended. */
export type EndOfUse = (isLost: (document: Key) => boolean) => Promise<void>

/** Describes the processes that share this store, and their documents. Each document belongs to one process. */
export interface Cluster {
  readonly self: string
  /**
   * Unique id of this process. No other process that has ever opened the store has the same id. In contrast,
   * a later process may have the same name (`self`).
   */
  readonly incarnation: string
  /**
   * Returns whether the process with this `incarnation` may still write. Returns false at most 5 s after the
   * process has died. Returns true if it is unknown whether the process is alive.
   */
  isAlive(incarnation: string): Promise<boolean>
  /**
   * True if other processes may write to this store while this process has it open. Any value in memory may
   * then be outdated, even while `nodes` returns no other node.
   */
  readonly isShared: boolean
  /** Ids of the live nodes, including this one. A node that has died disappears within 5 s. */
  nodes(): readonly string[]
  /** Returns the other live nodes that serve calls. */
  others(): readonly NodeAddress[]
  /**
   * Announces the URL at which other nodes reach this node. Until then, this node owns documents only if no other
   * node has announced its URL.
   */
  listening(url: string): void
  /**
   * Returns the node that owns a document, and all editors of the document. Nodes that learn of a change of the node
   * list at different times may name different owners for a moment. Only `hold` gives the right to write.
   * @param document the key of the document or of one of its editors
   */
  owner(document: Key): NodeAddress
  /**
   * Resolves with the current term of a document when this process is its only writer.
   * @param document as for `owner`
   * @throws NotOwnerError if another node owns the document (at once), or if its former owner has not released it
   * within 10 s; StoreUnavailableError if the other nodes may take this process for dead
   */
  hold(document: Key): Promise<Term>
  /**
   * Registers a function that is called before this process releases documents, and after it has lost documents. The
   * documents are released, and can be held again, when the functions of all callers have resolved.
   */
  onLose(end: EndOfUse): void
  on(event: 'change', listener: () => void): () => void
  /**
   * Makes other nodes the owners of the documents of this node. This node remains in the list until the engine
   * closes. Resolves when the other nodes have been informed, or after `timeoutMs`.
   */
  drain(timeoutMs: number): Promise<void>
}

/** Stores large values by key (saved versions, big snapshots). */
export interface Blobs {
  put(key: Key, bytes: Uint8Array): Promise<void>
  get(key: Key): Promise<Uint8Array | null>
  delete(key: Key): Promise<void>
  list(prefix: Key, options: { after?: Key; limit: number }): Promise<readonly Key[]>
}

export type Health = { readonly ok: true } | { readonly ok: false; readonly reason: string }

/** A page of stored pairs in key order. Only the engine knows the meaning of keys and values. */
export type StoredPage = readonly (readonly [key: Uint8Array, value: Uint8Array])[]

export interface StoreDump {
  /** Version number of the layout of keys and values. */
  readonly format: number
  /**
   * All stored pairs, as they were when the caller requested the first page.
   * @throws StoreUnavailableError, CorruptRecordError
   */
  readonly pages: AsyncIterable<StoredPage>
}

/** Selects the stored data whose keys start with one of these prefixes. */
export interface StoredUnder {
  readonly logs: readonly Key[]
  readonly blobs: readonly Key[]
  /** Prefixes of the names of partitions. */
  readonly parts: readonly Key[]
}

export interface Engine {
  readonly log: DocumentLog
  readonly blobs: Blobs
  readonly bus: Bus
  readonly kv: Kv
  readonly foreignChanges: ForeignChanges
  readonly fences: FenceStore
  readonly queue: Queue
  readonly leases: LeaseStore
  readonly cluster: Cluster
  /** Returns the state that `/readyz` reports. Inexpensive; never waits for the store. */
  health(): Health
  /**
   * Returns the number of accepted bytes that are not yet durable. The greater this number is, the more
   * slowly callers must write.
   */
  pendingBytes(): number
  /**
   * Estimates the bytes that the stored data of these prefixes uses. Includes all writes that were durable
   * before the call. The estimate of LevelDB is based on its compressed files. It counts deleted records
   * until LevelDB rewrites the file that contains them, and it may miss one block of each file. The cost
   * grows with the number of records (PostgreSQL) or files (LevelDB), so do not call this method for each
   * request.
   */
  storedBytes(under: StoredUnder): Promise<number>
  /**
   * Returns the data for a backup. Writes may continue while the backup reads the data. Returns null if the
   * engine does not store anything durably.
   */
  dump(): StoreDump | null
  /**
   * Waits until all accepted writes are durable, then closes the engine. Later calls fail with
   * StoreUnavailableError.
   */
  close(): Promise<void>
}
