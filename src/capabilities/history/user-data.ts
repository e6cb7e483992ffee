import * as s from '../../core/base/schema.ts'
import type { DirectoryReader } from '../../core/directory/store/directory-reader.ts'
import type { Transaction } from '../../core/directory/store/transaction.ts'
import type { UserRanges } from '../../core/directory/user-data/user-data-source.ts'
import { deletedUserId } from '../../core/model/deleted-user.ts'
import { deletedUser } from '../../core/model/named-users.ts'
import type { KvEntry } from '../../core/store/engine.ts'
import type { RecordType } from '../../core/store/stored-record.ts'
import {
  type Author,
  type EditorIds,
  type EditorVersionsRecord,
  editorVersionsType,
  type VersionRecord,
  versionKeys,
  versionRecordType,
  withAuthors,
  writeVersion,
  writeVersions,
} from './version-keys.ts'

/** Maximum number of records that one commit changes. */
const sliceMax = 100

/** Saved versions that name a user. An erasure keeps them, and replaces the user with the deleted user. */
export const versionRanges: UserRanges = {
  name: 'versions',
  kind: 'version',
  ranges: (userId) => [versionKeys.allBy(userId)],
  show: listVersionsByUser,
  erase: anonymizeVersions,
}

/** Type of a record that is either a version or the state of all versions of an editor. */
const versionDataType: RecordType<VersionRecord | EditorVersionsRecord> = {
  name: 'version',
  schema: s.anyOf([versionRecordType.schema, editorVersionsType.schema]),
}

/** The members of a record that are data of one user. */
interface ShownVersion {
  readonly documentId: string
  readonly data: object
}

/**
 * Returns the data of a user in the records to which index entries refer. The result contains null for a
 * record that was deleted meanwhile.
 */
async function listVersionsByUser(
  reader: DirectoryReader,
  entries: readonly KvEntry[],
  userId: string,
): Promise<readonly (ShownVersion | null)[]> {
  const places = entries.map(placeOf)
  const records = await reader.getAll(places.map(keyOf), versionDataType)
  return places.map(({ ids: { documentId, editorId }, versionId }, at) => {
    const record = records[at] ?? null
    if (record === null) return null
    const authors = record.authors.filter((author) => author.userId === userId)
    if (!('versionId' in record)) return { documentId, data: { editorId, authors } }
    const { label, createdAt, createdBy } = record
    const maker = createdBy === userId ? { createdBy } : {}
    return { documentId, data: { editorId, versionId, label, createdAt, ...maker, authors } }
  })
}

/**
 * Replaces a user with the deleted user in up to `sliceMax` records. Returns the number of index entries that
 * were processed.
 */
async function anonymizeVersions(transaction: Transaction, userId: string): Promise<number> {
  const entries = await transaction.scan({ prefix: versionKeys.allBy(userId), limit: sliceMax })
  const places = entries.map(placeOf)
  const records = await transaction.getAll(places.map(keyOf), versionDataType)
  for (const [at, { ids, versionId }] of places.entries()) {
    const record = records[at] ?? null
    if (record === null) continue
    const authors = withoutUser(record.authors, userId)
    if (!('versionId' in record)) await writeVersions(transaction, ids, { ...record, authors })
    else {
      const createdBy = record.createdBy === userId ? deletedUserId : record.createdBy
      await writeVersion(transaction, ids, versionId, { ...record, authors, createdBy })
    }
  }
  return entries.length
}

const withoutUser = (authors: readonly Author[], userId: string): readonly Author[] =>
  withAuthors(
    authors.map((author) => (author.userId === userId ? { ...deletedUser, at: author.at } : author)),
    [],
  )

interface VersionScope {
  readonly ids: EditorIds
  /** Id of the version; '' for the state of all versions of the editor. */
  readonly versionId: string
}

const placeOf = ({ key: [, , documentId = '', editorId = '', versionId = ''] }: KvEntry): VersionScope => ({
  ids: { documentId, editorId },
  versionId,
})

const keyOf = ({ ids, versionId }: VersionScope) =>
  versionId === '' ? versionKeys.state(ids) : versionKeys.version(ids, versionId)
