import type { Transaction } from '../../core/directory/store/transaction.ts'
import type { Key } from '../../core/store/engine.ts'
import type { RecordType } from '../../core/store/stored-record.ts'
import {
  type EditorIds,
  type EditorVersionsRecord,
  editorVersionsType,
  type VersionRecord,
  type VersionUsers,
  versionKeys,
  versionRecordType,
  versionUsersType,
} from './version-keys.ts'

/** Value of all index entries, which have no content. */
const entry: object = {}

/** Writes a version; if `record` is null, deletes the version. Also updates the index by user. */
export async function writeVersion(
  transaction: Transaction,
  ids: EditorIds,
  versionId: string,
  record: VersionRecord | null,
): Promise<void> {
  const key = versionKeys.version(ids, versionId)
  const before = await transaction.get(key, record === null ? versionUsersType : versionRecordType)
  const keyBy = (userId: string): Key => versionKeys.by(userId, ids, versionId)
  writeIndex(transaction, namedIn(before), namedIn(record), keyBy)
  if (record === null) transaction.delete(key)
  else transaction.put(key, record)
}

/**
 * Writes the state of all versions of an editor; if `record` is null, deletes the state. Also updates the
 * index by user.
 */
export async function writeVersions(
  transaction: Transaction,
  ids: EditorIds,
  record: EditorVersionsRecord | null,
): Promise<void> {
  const key = versionKeys.state(ids)
  const type: RecordType<VersionUsers> = record === null ? versionUsersType : editorVersionsType
  const before = await transaction.get(key, type)
  const keyBy = (userId: string): Key => versionKeys.since(userId, ids)
  writeIndex(transaction, authorsOf(before), authorsOf(record), keyBy)
  if (record === null) transaction.delete(key)
  else transaction.put(key, record)
}

function writeIndex(
  transaction: Transaction,
  before: ReadonlySet<string>,
  after: ReadonlySet<string>,
  keyBy: (userId: string) => Key,
): void {
  for (const userId of before) if (!after.has(userId)) transaction.delete(keyBy(userId))
  for (const userId of after) if (!before.has(userId)) transaction.put(keyBy(userId), entry)
}

const authorsOf = (record: VersionUsers | null): ReadonlySet<string> =>
  new Set((record?.authors ?? []).map(({ userId }) => userId))

function namedIn(record: VersionUsers | null): ReadonlySet<string> {
  const { createdBy = '' } = record ?? {}
  return createdBy === '' ? authorsOf(record) : new Set([...authorsOf(record), createdBy])
}
