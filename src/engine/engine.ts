/**
 * The interfaces between Weft and durable state. Every implementation (folders beside this file) passes the one
 * suite in `test/contract/`. A promise that resolves means: durable, as durable as the engine is configured to be.
 */

/** Segments of a key, most significant first. Any well-formed strings; engines encode them so that none collide. */
export type Key = readonly string[]

/** One Yjs update (encoding V1) and the id of the user who caused it ('' when nobody is known). */
export interface LogUpdate {
  readonly bytes: Uint8Array
  readonly by: string
}

export interface LogEntry extends LogUpdate {
  readonly seq: number
  /** Epoch milliseconds of the append. */
  readonly at: number
}

/** Where a log stands. `epoch` grows each time a document is deleted and made anew; sequence numbers start at 1. */
export interface LogHead {
  readonly epoch: number
  readonly head: number
  /** Number that the snapshot covers from which opening starts; 0 without one. */
  readonly base: number
  /** The oldest version that can be rebuilt. */
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

/** Another writer has appended after `expectHead`: nothing was written. */
export interface Moved {
  readonly state: 'moved'
  /** Sequence number of the last entry. */
  readonly head: number
  /** The first page of the log after `expectHead`, as `load` returns it with `since`. Absent if the log ends before that. */
  readonly missing?: LoadedLog
}

export type AppendResult = Appended | Moved

/**
 * Which log an append is meant for: the one of that epoch; or a new one, if the document has never existed
 * (`create`); or a new one also where it existed and was deleted (`recreate`).
 */
export type AppendTo = number | 'create' | 'recreate'

export interface AppendOptions {
  /** Append only if the log ends at exactly this sequence number (0: it does not exist); else the result is `moved`. */
  readonly expectHead?: number
  /** Enqueued in the same commit. */
  readonly jobs?: readonly Job[]
  /** Refuse with reason `fence` when one of these fences was raised since it was read. */
  readonly fence?: Fence
}

/**
 * How often a fence was raised. Fences share counters: a fence may look raised because another one was.
 * Counts of an earlier process are never passed to a later one.
 */
export interface FenceValue {
  readonly counter: number
  /** In the store. */
  readonly raised: number
  /** By this process. */
  readonly raisedHere: number
}

/** Some fences, as they were read at one time. */
export type Fence = readonly FenceValue[]

/**
 * Order between commits of the Kv that end a right and appends that rely on the right. A commit raises a fence. An append
 * that has read the fence before is then either durable before that commit, or refused.
 */
export interface FenceStore {
  /** Call it before reading the records that the fences protect. @throws StoreUnavailableError */
  read(names: readonly Key[]): Promise<Fence>
  /** False when this process knows that a fence was raised since. Never waits. */
  isCurrent(fence: Fence): boolean
}

export interface LoadOptions {
  /**
   * Return only entries after this number, without a snapshot, if the log still holds all of them: it does from the
   * oldest version on that `loadAt` can rebuild.
   */
  readonly since?: number
  /** The epoch `since` belongs to; with another epoch `since` is ignored. */
  readonly epoch?: number
  /** Stop after about this many bytes of entries (at least one entry is returned) and set `more`. */
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
      /** When that snapshot was made, in epoch milliseconds; 0 without one. */
      readonly basedAt: number
      readonly head: number
      /** Yjs state (V1) at `base`; null when there is none or `since` was honoured. */
      readonly snapshot: Uint8Array | null
      /** Contiguous: from `base + 1`, or `since + 1`. */
      readonly entries: readonly LogEntry[]
      /** Time and user of the last entry, kept over compaction. */
      readonly changed: { readonly at: number; readonly by: string }
      /** True when entries were left out because of `bytesMax`: load again with `since` = the last one's number. */
      readonly more: boolean
    }

export interface LoadAtOptions {
  /** Go on after this number, the last of the page before: without the snapshot. */
  readonly after?: number
  /** Stop after about this many bytes of entries (at least one entry is returned) and set `more`. */
  readonly bytesMax?: number
}

/** The parts of a document as it was at some number of its log. */
export interface LoadedVersion {
  /** Yjs state (V1) at `base`; null at 0, and when `after` was given. */
  readonly snapshot: Uint8Array | null
  readonly base: number
  /** Contiguous from `base + 1`; the last page ends with the version's own number. */
  readonly entries: readonly LogEntry[]
  /** True when entries were left out because of `bytesMax`: load again with `after` = the last one's number. */
  readonly more: boolean
}

/** How a log stood in another store. `epoch` and `head` are at least 1. */
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
  /** Go on after this key. */
  readonly after?: Key
  /**
   * Called when it is settled which logs are meant, before any of them is destroyed; where it rejects none is. A log that
   * is made after it was called stays, however late the rest of the call is: whoever asks here whether he still may do it
   * need not ask again.
   */
  readonly confirm?: () => Promise<void>
}

/** Append-only logs of Yjs updates, one a document. */
export interface DocumentLog {
  /**
   * True if this process is the only one that appends while it has the store open. Then a room that has applied its own
   * appends has all of its log: it sends no messages, reads no heads, and no append that it makes is `moved`.
   */
  readonly hasOneWriter: boolean
  /**
   * Adds updates (at least one) to the end. Resolves when durable. Numbers are contiguous and without gaps, also
   * under concurrent appends; the order of calls is the order of numbers. `moved` only with `expectHead`.
   * @throws AppendRejectedError when nothing was written and nothing will be
   * @throws StoreUnavailableError when the store is away; whether the updates were written is then unknown
   */
  append(
    doc: Key,
    to: AppendTo,
    updates: readonly LogUpdate[],
    options?: AppendOptions,
  ): Promise<AppendResult>
  /** @throws CorruptRecordError when what is stored fails its checksum or has a gap: the document is not served. */
  load(doc: Key, options?: LoadOptions): Promise<LoadedLog>
  /**
   * The parts to rebuild the document as it was when `seq` was its last entry. Null when that is not possible: the
   * log has another epoch, ends before, or no longer holds what it takes (with `after`: what it takes to go on).
   * @throws CorruptRecordError when what it takes is damaged; the document itself may be sound
   */
  loadAt(doc: Key, epoch: number, seq: number, options?: LoadAtOptions): Promise<LoadedVersion | null>
  /** Heads of those of `docs` that are live, in the order given; null for the others. */
  heads(docs: readonly Key[]): Promise<readonly (LogHead | null)[]>
  /** Live documents whose key starts with `prefix`, in key order, after `after`. */
  list(prefix: Key, options: { after?: Key; limit: number }): Promise<readonly Key[]>
  /**
   * Makes `snapshot`, which covers the entries up to and including `upTo`, the one that loading starts from, in one
   * commit. Every version that the log stood at in or after the millisecond `keepSince` (epoch) can still be rebuilt
   * with `loadAt`: for that, at most two older snapshots and the entries after the oldest of them stay. The others
   * are out of reach with that commit, and are removed after it in bounded slices; what a crash leaves of them goes
   * with a later compaction. With `keepSince` Infinity no older version is kept.
   * False, and nothing done, unless the log is still at `epoch` and its snapshot still at `expectBase`.
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
   * Makes a log stand as one stood in another store, in one commit: it goes on after `head`, and no older version can be
   * rebuilt. False, and nothing done, where a log is live, or one of that epoch or a later one was deleted.
   * @throws RangeError for numbers that no log has
   */
  adopt(doc: Key, log: AdoptedLog): Promise<boolean>
  /** Removes everything of the document but one record that keeps its epoch: a late append is refused. */
  destroy(doc: Key): Promise<void>
  /**
   * Destroys documents under `prefix`, a bounded number a call. Returns the key to go on after, null at the end.
   */
  destroyPrefix(prefix: Key, options?: DestroyOptions): Promise<Key | null>
}

export type AppendRejection = 'exists' | 'absent' | 'deleted' | 'epoch' | 'fence'

/** The append was refused by a rule: nothing was written. */
export class AppendRejectedError extends Error {
  readonly reason: AppendRejection
  constructor(reason: AppendRejection) {
    super(`append refused: ${reason}`)
    this.name = 'AppendRejectedError'
    this.reason = reason
  }
}

/** The store cannot write or read now. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError'
}

/** Stored bytes are damaged. Names the document. */
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

/** The store cannot be opened. The message is a sentence for the operator: what is wrong, and what helps. */
export class EngineOpenError extends Error {
  readonly reason: OpenFailure
  constructor(reason: OpenFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'EngineOpenError'
    this.reason = reason
  }
}

/** Messages between nodes: at most once, unordered across topics, never a source of truth. */
export interface Bus {
  /** False while nobody else can be reached. Where there is nobody else it is true. */
  readonly isConnected: boolean
  publish(topic: string, message: Uint8Array): void
  /** Returns the function that ends the subscription. */
  subscribe(topic: string, listener: BusListener): () => void
  /** Called when messages may have been lost. Returns the function that ends it. */
  onLoss(listener: () => void): () => void
  /**
   * Resolves when every subscription made so far hears what anybody publishes from now on; at once where the bus is away:
   * `onLoss` calls when it is back. Never rejects. Where the bus itself is several servers, those that others are
   * connected to hear of a subscription a moment later.
   */
  flushed(): Promise<void>
}

export type BusListener = (message: Uint8Array) => void

export interface KvEntry {
  readonly key: Key
  readonly value: Uint8Array
}

export interface KvRange {
  /** Only keys that start with these segments. */
  readonly prefix?: Key
  /** Only keys after this one (before it, with `reverse`). */
  readonly after?: Key
  readonly reverse?: boolean
  readonly limit: number
}

export interface KvCommit {
  /** All must hold, else nothing is written. `value` null: the key is absent. */
  readonly checks?: readonly { readonly key: Key; readonly value: Uint8Array | null }[]
  readonly puts?: readonly KvEntry[]
  readonly dels?: readonly Key[]
  readonly jobs?: readonly Job[]
  /** Fences that are raised when it is written. */
  readonly fences?: readonly Key[]
  /**
   * `soon`: nobody waits for it alone, so it is written together with what is asked for after it, or at the latest
   * after 20 ms; never after what is asked for a turn of the event loop later. `now` unless given.
   */
  readonly pace?: 'now' | 'soon'
}

/** Ordered keys and values in partitions. A commit is atomic within its partition. */
export interface Kv {
  get(part: Key, keys: readonly Key[]): Promise<readonly (Uint8Array | null)[]>
  scan(part: Key, range: KvRange): Promise<readonly KvEntry[]>
  /** Resolves when durable. False, and nothing written, when a check failed: what it has met is durable then. */
  commit(part: Key, commit: KvCommit): Promise<boolean>
}

/** Work to be done at least once, not before `at`. Enqueued only in a commit of a log or of the Kv. */
export interface Job {
  readonly queue: string
  /** A job whose id is waiting in the queue already is left as it is. */
  readonly id: string
  /** Epoch milliseconds. */
  readonly at: number
  readonly payload: Uint8Array
}

export interface ClaimedJob {
  /** Proof of the lease; invalid once the lease has ended. */
  readonly token: string
  readonly id: string
  readonly payload: Uint8Array
  /** How often this job has been claimed, this time included. */
  readonly attempt: number
}

/** Durable jobs, delivered at least once. */
export interface Queue {
  /** Up to `count` due jobs, the longest due first, each leased for `leaseMs`; then they are due again. */
  claim(queue: string, count: number, leaseMs: number): Promise<readonly ClaimedJob[]>
  /** False when the lease has ended. */
  extend(token: string, leaseMs: number): Promise<boolean>
  /** Removes the job. False when the lease has ended. */
  done(token: string): Promise<boolean>
  /** Makes the job due again after `delayMs`. False when the lease has ended. */
  retry(token: string, delayMs: number, error: string): Promise<boolean>
  /** Puts the job aside for good, with its error. False when the lease has ended. */
  bury(token: string, error: string): Promise<boolean>
}

/**
 * Changes of this store by other processes. The bus usually reports them earlier, but it can lose a message. Changes by
 * this process are not reported here.
 */
export interface ForeignChanges {
  /** How long a value that was read may be reused without reading it again, in ms. Infinity: no other process writes. */
  readonly maxAgeMs: number
  /**
   * Calls `changed` at most `maxAgeMs` after another process has changed the value, or when that may be so. If several
   * callers watch the same value, it calls the first. Returns the function that ends it.
   */
  watch(part: Key, key: Key, changed: () => void): () => void
}

/** Work that one process at a time does, among the processes that share this store. */
export interface LeaseStore {
  /**
   * Null while another process, or another caller in this one, holds the lease. It ends when it is
   * released, or some seconds after its process has died or can't reach the store.
   * @param lost another process may have it, though it was not released
   */
  acquire(name: string, lost?: () => void): Promise<NamedLease | null>
}

export interface NamedLease {
  /** False when another process may have it by now. */
  readonly isHeld: boolean
  /** Another caller can have it at once. Never rejects. */
  release(): Promise<void>
}

/** The processes that share this store. */
export interface Cluster {
  readonly self: string
  /** Names this process among all that have ever opened the store: another one may be called `self` later. */
  readonly incarnation: string
  /** How far the clocks of the processes may differ, in ms. */
  readonly clockSkewMs: number
  /**
   * Returns whether the process of an incarnation may still write. It returns false within 5 s of the death of a process,
   * and true if the state is unknown.
   */
  isAlive(incarnation: string): Promise<boolean>
  /**
   * May others write to this store while this process does? Then nothing that is kept in memory is the last word: not
   * even where `nodes` names nobody else.
   */
  readonly isShared: boolean
  /** Ids of those who are alive, this one included. Of a node that has died this is known within 5 s. */
  nodes(): readonly string[]
  /** The node that should hold the document's room. A preference: correctness never depends on it. */
  home(doc: Key): string
  on(event: 'change', listener: () => void): () => void
  /**
   * Is nobody's home from now on, though still in the list until the engine closes; resolves when the others have seen it,
   * or after `timeoutMs`.
   */
  drain(timeoutMs: number): Promise<void>
}

/** Large values by key (versions, big snapshots). */
export interface Blobs {
  put(key: Key, bytes: Uint8Array): Promise<void>
  get(key: Key): Promise<Uint8Array | null>
  delete(key: Key): Promise<void>
  list(prefix: Key, options: { after?: Key; limit: number }): Promise<readonly Key[]>
}

export type Health = { readonly ok: true } | { readonly ok: false; readonly reason: string }

/** Some stored pairs, in the order of their keys. What keys and values mean only the engine knows. */
export type StoredPage = readonly (readonly [key: Uint8Array, value: Uint8Array])[]

export interface StoreDump {
  /** Number of the layout that keys and values have. */
  readonly format: number
  /** All that is stored, as it is when the first page is asked for. @throws StoreUnavailableError, CorruptRecordError */
  readonly pages: AsyncIterable<StoredPage>
}

/** Of a store that no engine has open. */
export interface OpenedDump extends StoreDump {
  close(): Promise<void>
}

/** Everything whose key starts with one of these. */
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
  /** What `/readyz` says. Cheap, never blocks. */
  health(): Health
  /** Bytes accepted but not yet durable: writers slow down when it grows. */
  pendingBytes(): number
  /**
   * An estimate of the bytes that the store takes for all this, with all writes that were durable before the call. LevelDB
   * counts its compressed files: deleted records count until it rewrites them, and of each file it may miss one block.
   * The cost grows with the number of records (PostgreSQL) or files (LevelDB): do not call it for each request.
   */
  storedBytes(under: StoredUnder): Promise<number>
  /** What a backup is made of, while writes go on; null: nothing is kept. */
  dump(): StoreDump | null
  /** Waits for accepted writes, then closes. Everything after it fails with StoreUnavailableError. */
  close(): Promise<void>
}
