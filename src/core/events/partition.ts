import type { Job, Key, KvEntry, KvRange } from '../store/engine.ts'
import type { RecordType } from '../store/stored-record.ts'

/** Reads the partition of an organization. */
export interface PartitionReader {
  /**
   * Returns the records at `keys` in the same order; null for a record that does not exist.
   * @throws MalformedJsonError if a record does not match its type
   */
  getAll<R extends object>(keys: readonly Key[], type: RecordType<R>): Promise<readonly (R | null)[]>
  scan(range: KvRange): Promise<readonly KvEntry[]>
}

/**
 * Writes as part of a transaction. Either all writes are committed or none of them. They are committed only
 * if the values that the transaction has read are unchanged.
 */
export interface PartitionWriter extends PartitionReader {
  put(key: Key, record: object): void
  delete(key: Key): void
  /** Enqueues a job in the same commit. */
  enqueue(job: Job): void
}
