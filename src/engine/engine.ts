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

/** One Yjs update (encoding V1) and the id of the user who caused it ('' if the user is unknown). */
export interface LogUpdate {
  readonly bytes: Uint8Array
  readonly by: string
}

export interface LogEntry extends LogUpdate {
  readonly seq: number
  /** Epoch milliseconds of the append. */
  readonly at: number
}

/**
 * State of a log. `epoch` grows each time a document is deleted and created again. Sequence numbers start at
 * 1.
 */
export interface LogHead {
  readonly epoch: number
  readonly head: number
  /** Sequence number that the snapshot for loading covers; 0 without a snapshot. */
  readonly base: number
  /** Sequence number of the oldest version that can be rebuilt. */
  readonly oldest: number
}

export interface Appended {
  readonly state: 'appended'
  readonly epoch: number
  /** Sequence number of the first appended update. */
  readonly first: number
  /** Sequence number of the last appended update. */
  readonly last: number
}

/** Another writer has appended after `expectHead`. Nothing was written. */
export interface Moved {
  readonly state: 'moved'
  /** Sequence number of the last entry. */
  readonly head: number
  /**
   * The first page of the log after `expectHead`, as `load` returns it with `since: expectHead`. Absent if
   * the log ends before `expectHead`.
   */
  readonly missing?: LoadedLog
}

export type AppendResult = Appended | Moved

/**
 * The log to which an append belongs. A number is the epoch of an existing log. `create` creates a log; the
 * append is rejected if the document exists or was deleted. `recreate` creates a log, also if the document
 * existed and was deleted.
 */
export type AppendTo = number | 'create' | 'recreate'

export interface AppendOptions {
  /**
   * Append only if the log ends at exactly this sequence number (0: the log does not exist). Otherwise the
   * result is `moved`.
   */
  readonly expectHead?: number
  /** Jobs that the commit of the append enqueues. */
  readonly jobs?: readonly Job[]
  /** Reject the append with reason `fence` if one of these fences was raised after the caller read it. */
  readonly fence?: Fence
}

/**
 * State of one counter of a fence. Several fences share a counter, so a fence may look raised although only
 * another fence was raised. Counts are valid only in the process that read them.
 */
export interface FenceValue {
  /** Index of the counter. */
  readonly counter: number
  /** Number of raises in the store. */
  readonly raised: number
  /** Number of raises by this process. */
  readonly raisedHere: number
}

/** Fences that were read at one time. */
export type Fence = readonly FenceValue[]

/**
 * Orders two kinds of writes: Kv commits that end a right, and appends that rely on that right. The commit
 * raises a fence; the append contains the fence as it was read before. Such an append is either durable
 * before the commit, or rejected.
 */
export interface FenceStore {
  /**
   * Reads fences. Call it before you read the records that the fences protect.
   * @throws StoreUnavailableError
   */
  read(names: readonly Key[]): Promise<Fence>
  /**
   * Returns false if this process knows that one of the fences was raised after `fence` was read. Never
   * waits.
   */
  isCurrent(fence: Fence): boolean
}

export interface LoadOptions {
  /**
   * Return only the entries after this sequence number, without a snapshot, if the log still has all of them.
   * The log has all entries after the oldest version that `loadAt` can rebuild.
   */
  readonly since?: number
  /** The epoch of `since`. If the log has another epoch, `since` is ignored. */
  readonly epoch?: number
  /**
   * Return at most about this many bytes of entries (at least one entry), and set `more` if entries were left
   * out.
   */
  readonly bytesMax?: number
}

export type LoadedLog =
  | { readonly state: 'absent' }
  | { readonly state: 'deleted'; readonly epoch: number }
  | {
      readonly state: 'live'
      readonly epoch: number
      /** The snapshot covers every entry up to and including this one; 0 without a snapshot. */
      readonly base: number
      /** Time at which the snapshot was made, in epoch milliseconds; 0 without a snapshot. */
      readonly basedAt: number
      readonly head: number
      /** Yjs state (V1) at `base`; null without a snapshot, or if `since` was applied. */
      readonly snapshot: Uint8Array | null
      /** Contiguous entries, from `base + 1` or `since + 1` on. */
      readonly entries: readonly LogEntry[]
      /** Time and user of the last entry. Compaction preserves both. */
      readonly changed: { readonly at: number; readonly by: string }
      /** True if `bytesMax` left entries out. Load again with `since` = the number of the last entry. */
      readonly more: boolean
    }

export interface LoadAtOptions {
  /**
   * Continue after this sequence number, which is the last one of the previous page; no snapshot is returned.
   */
  readonly after?: number
  /**
   * Return at most about this many bytes of entries (at least one entry), and set `more` if entries were left
   * out.
   */
  readonly bytesMax?: number
}

/** The parts of a document as of one sequence number of its log. */
export interface LoadedVersion {
  /** Yjs state (V1) at `base`; null if `base` is 0 or `after` was given. */
  readonly snapshot: Uint8Array | null
  readonly base: number
  /**
   * Contiguous entries, from `base + 1` (or `after + 1`) on. The last page ends with the sequence number of
   * the version.
   */
  readonly entries: readonly LogEntry[]
  /** True if `bytesMax` left entries out. Load again with `after` = the number of the last entry. */
  readonly more: boolean
}

/** State of a log in another store. `epoch` and `head` are at least 1. */
export type AdoptedLog =
  | { readonly state: 'deleted'; readonly epoch: number }
  | {
      readonly state: 'live'
      readonly epoch: number
      readonly head: number
      /** Time (epoch milliseconds) and user of the last entry. */
      readonly changed: { readonly at: number; readonly by: string }
      /** Yjs state (V1) at `head`. */
      readonly snapshot: Uint8Array
    }

export interface DestroyOptions {
  /** Continue after this key. */
  readonly after?: Key
  /**
   * Called when the logs to destroy are determined, before the first one is destroyed. If `confirm` rejects,
   * no log is destroyed. A log that is created after this call is not destroyed, even if the deletion takes
   * long. So a caller that checks its permission here does not have to check it again.
   */
  readonly confirm?: () => Promise<void>
}

/** Append-only logs of Yjs updates, one for each document. */
export interface DocumentLog {
  /**
   * True if only this process appends while it has the store open. A room that has applied its own appends
   * then has the whole log: it sends no messages to other nodes, reads no heads, and its appends never return
   * `moved`.
   */
  readonly hasOneWriter: boolean
  /**
   * Adds updates (at least one) to the end of the log. Resolves when they are durable. Sequence numbers are
   * contiguous, also under concurrent appends, and follow the order of the calls. Returns `moved` only if
   * `expectHead` was given.
   * @throws AppendRejectedError if nothing was written and nothing will be
   * @throws StoreUnavailableError if the store is unavailable; whether the updates were written is then
   * unknown
   */
  append(
    doc: Key,
    to: AppendTo,
    updates: readonly LogUpdate[],
    options?: AppendOptions,
  ): Promise<AppendResult>
  /**
   * Loads a log.
   * @throws CorruptRecordError if the stored data fails its checksum or has a gap; the document is not served
   * then
   */
  load(doc: Key, options?: LoadOptions): Promise<LoadedLog>
  /**
   * Returns the parts from which the document can be rebuilt as of the entry `seq`. Returns null if that is
   * impossible: the log has another epoch, ends before `seq`, or no longer has the required entries. With
   * `after`, the required entries are those after that number.
   * @throws CorruptRecordError if required data is damaged; the current document may be undamaged
   */
  loadAt(doc: Key, epoch: number, seq: number, options?: LoadAtOptions): Promise<LoadedVersion | null>
  /** Returns the heads of `docs` in the same order; null for each document that is not live. */
  heads(docs: readonly Key[]): Promise<readonly (LogHead | null)[]>
  /**
   * Returns up to `limit` live documents whose key starts with `prefix` and is greater than `after`, in key
   * order.
   */
  list(prefix: Key, options: { after?: Key; limit: number }): Promise<readonly Key[]>
  /**
   * In one commit, makes `snapshot` the snapshot from which loading starts. The snapshot covers the entries
   * up to and including `upTo`. `loadAt` can still rebuild each version that was current in or after the
   * millisecond `keepSince` (epoch). For that purpose the store keeps at most two older snapshots, and the
   * entries after the oldest of them. All other entries and snapshots are unreachable after the commit. They
   * are deleted later in bounded slices. If a crash interrupts this deletion, a later compaction completes
   * it. With `keepSince` Infinity no older version is kept.
   *
   * Returns false, and changes nothing, unless the log is still at `epoch` and its snapshot still at
   * `expectBase`.
   */
  compact(
    doc: Key,
    epoch: number,
    expectBase: number,
    upTo: number,
    snapshot: Uint8Array,
    keepSince: number,
  ): Promise<boolean>
  /**
   * Takes over the state of a log from another store, in one commit. The log continues after `head`, and no
   * older version can be rebuilt. Returns false, and changes nothing, if this store has a live log of the
   * document, or if a log with the same or a later epoch was deleted here.
   * @throws RangeError for an epoch or a head that no log can have
   */
  adopt(doc: Key, log: AdoptedLog): Promise<boolean>
  /**
   * Deletes all data of the document except one record with its epoch. Because of this record, late appends
   * are rejected.
   */
  destroy(doc: Key): Promise<void>
  /**
   * Destroys documents under `prefix`, a bounded number in each call. Returns the key to continue after; null
   * if no documents remain.
   */
  destroyPrefix(prefix: Key, options?: DestroyOptions): Promise<Key | null>
}

export type AppendRejection = 'exists' | 'absent' | 'deleted' | 'epoch' | 'fence'

/** A rule rejected the append. Nothing was written. */
export class AppendRejectedError extends Error {
  readonly reason: AppendRejection
  constructor(reason: AppendRejection) {
    super(`append refused: ${reason}`)
    this.name = 'AppendRejectedError'
    this.reason = reason
  }
}

/** The store cannot read or write at the moment. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError'
}

/** Stored bytes are damaged. The message contains the key of the document. */
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

/** The store cannot be opened. The message is a sentence for the operator: the problem and the remedy. */
export class EngineOpenError extends Error {
  readonly reason: OpenFailure
  constructor(reason: OpenFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'EngineOpenError'
    this.reason = reason
  }
}

/** Messages between nodes: delivered at most once, unordered across topics, never a source of truth. */
export interface Bus {
  /** False while no other node can be reached. Always true on a single node. */
  readonly isConnected: boolean
  publish(topic: string, message: Uint8Array): void
  /** Subscribes to a topic. Returns the function that ends the subscription. */
  subscribe(topic: string, listener: BusListener): () => void
  /**
   * Registers a function that is called when messages may have been lost. Returns the function that removes
   * it.
   */
  onLoss(listener: () => void): () => void
  /**
   * Resolves when all current subscriptions receive every message that any node publishes from now on.
   * Resolves immediately if the bus is disconnected; the reconnect calls the `onLoss` listeners. Never
   * rejects. If the bus consists of several servers, the bus servers of other nodes may receive a
   * subscription shortly later.
   */
  flushed(): Promise<void>
}

export type BusListener = (message: Uint8Array) => void

export interface KvEntry {
  readonly key: Key
  readonly value: Uint8Array
}

export interface KvRange {
  /** Return only keys that start with these segments. */
  readonly prefix?: Key
  /** Return only keys after this key (with `reverse`: before it). */
  readonly after?: Key
  readonly reverse?: boolean
  readonly limit: number
}

export interface KvCommit {
  /** Expected current values. If one differs, nothing is written. `value` null: the key must be absent. */
  readonly checks?: readonly { readonly key: Key; readonly value: Uint8Array | null }[]
  readonly puts?: readonly KvEntry[]
  readonly dels?: readonly Key[]
  readonly jobs?: readonly Job[]
  /** Fences that the commit raises. */
  readonly fences?: readonly Key[]
  /**
   * When the commit is written. `now` (default): as soon as possible. `soon`: together with a later commit,
   * at the latest after 20 ms, and never after a commit of a later tick; for commits that no caller waits
   * for.
   */
  readonly pace?: 'now' | 'soon'
}

/** Ordered keys and values in partitions. A commit is atomic within its partition. */
export interface Kv {
  get(part: Key, keys: readonly Key[]): Promise<readonly (Uint8Array | null)[]>
  scan(part: Key, range: KvRange): Promise<readonly KvEntry[]>
  /**
   * Writes all changes of the commit, or none. Resolves when they are durable. Returns false, and writes
   * nothing, if a check failed; the stored values that the checks have read are durable then.
   */
  commit(part: Key, commit: KvCommit): Promise<boolean>
}

/**
 * Work that is done at least once, and not before `at`. Jobs are enqueued only by commits of a log or of the
 * Kv.
 */
export interface Job {
  readonly queue: string
  /** If a job with this id already waits in the queue, that job stays unchanged. */
  readonly id: string
  /** Time at which the job becomes due, in epoch milliseconds. */
  readonly at: number
  readonly payload: Uint8Array
}

export interface ClaimedJob {
  /** Proof of the lease; invalid after the lease has ended. */
  readonly token: string
  readonly id: string
  readonly payload: Uint8Array
  /** Number of claims of this job, including this one. */
  readonly attempt: number
}

/** Durable jobs, delivered at least once. */
export interface Queue {
  /**
   * Claims up to `count` due jobs, starting with those that have been due the longest. Each job is leased for
   * `leaseMs`; after that time it is due again.
   */
  claim(queue: string, count: number, leaseMs: number): Promise<readonly ClaimedJob[]>
  /** Renews the lease. Returns false if the lease has ended. */
  extend(token: string, leaseMs: number): Promise<boolean>
  /** Removes the job. Returns false if the lease has ended. */
  done(token: string): Promise<boolean>
  /** Makes the job due again after `delayMs`. Returns false if the lease has ended. */
  retry(token: string, delayMs: number, error: string): Promise<boolean>
  /** Moves the job to the dead letters, with its error. Returns false if the lease has ended. */
  moveToDeadLetters(token: string, error: string): Promise<boolean>
}

/**
 * Changes of this store by other processes. The bus usually reports such changes earlier, but it can lose a
 * message. Changes by this process are not reported here.
 */
export interface ForeignChanges {
  /**
   * How long a value may be reused before it must be read again, in ms. Infinity: no other process writes to
   * the store.
   */
  readonly maxAgeMs: number
  /**
   * Calls `changed` when another process has, or may have, changed the value, at most `maxAgeMs` after the
   * change. If several callers watch the same value, only the first one is called. Returns the function that
   * ends the watch.
   */
  watch(part: Key, key: Key, changed: () => void): () => void
}

/** Leases among the processes that share this store. At most one process holds a lease at a time. */
export interface LeaseStore {
  /**
   * Acquires the lease. Returns null while another process, or another caller in this process, holds it. The
   * lease ends when it is released, or a few seconds after its process has died or can no longer reach the
   * store.
   * @param lost called if another process may have the lease although this one did not release it
   */
  acquire(name: string, lost?: () => void): Promise<NamedLease | null>
}

export interface NamedLease {
  /** False if another process may have the lease now. */
  readonly isHeld: boolean
  /** Releases the lease; another caller can acquire it immediately. Never rejects. */
  release(): Promise<void>
}

/** The processes that share this store. */
export interface Cluster {
  readonly self: string
  /**
   * Unique id of this process: no other process that has ever opened the store has the same id. `self` is not
   * unique in this way, because a later process may have the same name.
   */
  readonly incarnation: string
  /** Largest difference between the clocks of the processes, in ms. */
  readonly clockSkewMs: number
  /**
   * Returns whether the process with this `incarnation` may still write. Returns false at most 5 s after the
   * death of the process. Returns true if the state of the process is unknown.
   */
  isAlive(incarnation: string): Promise<boolean>
  /**
   * True if other processes may write to this store while this process has it open. Each value in memory may
   * then be outdated, even while `nodes` lists no other node.
   */
  readonly isShared: boolean
  /** Ids of the live nodes, including this one. A node that has died disappears within 5 s. */
  nodes(): readonly string[]
  /**
   * Returns the node that should have the document's room. This is only a preference: correctness never
   * depends on it.
   */
  home(doc: Key): string
  on(event: 'change', listener: () => void): () => void
  /**
   * Ends the role of this node as a home node; the node remains in the list until the engine closes. Resolves
   * when the other nodes have been informed, or after `timeoutMs`.
   */
  drain(timeoutMs: number): Promise<void>
}

/** Large values by key (saved versions, big snapshots). */
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
   * All stored pairs as they were when the first page was requested.
   * @throws StoreUnavailableError, CorruptRecordError
   */
  readonly pages: AsyncIterable<StoredPage>
}

/** The dump of an offline store, which no running engine uses. The caller must close it. */
export interface OpenedDump extends StoreDump {
  close(): Promise<void>
}

/** All stored data whose keys start with one of these prefixes. */
export interface StoredUnder {
  readonly logs: readonly Key[]
  readonly blobs: readonly Key[]
  /** Prefixes of partition names. */
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
  /** State for `/readyz`. Inexpensive; never blocks. */
  health(): Health
  /**
   * Returns the number of accepted bytes that are not yet durable. Writers must slow down as the number
   * grows.
   */
  pendingBytes(): number
  /**
   * Estimates the bytes that the store uses for these prefixes, including all writes that were durable before
   * the call. The estimate of LevelDB is based on its compressed files. It counts deleted records until
   * LevelDB rewrites the file that contains them, and it may miss one block of each file. The cost grows with
   * the number of records (PostgreSQL) or files (LevelDB), so do not call this method for each request.
   */
  storedBytes(under: StoredUnder): Promise<number>
  /**
   * Returns the data for a backup; writes continue while it is read. Returns null if the engine does not
   * store anything durably.
   */
  dump(): StoreDump | null
  /** Waits for accepted writes, then closes. Later calls fail with StoreUnavailableError. */
  close(): Promise<void>
}
