import * as s from '../../../core/base/schema.ts'
import { branchKeys, branchUsersType } from '../../../core/directory/branches/branch-records.ts'
import {
  keys,
  organizationPart,
  type ResourceType,
  type SubjectType,
} from '../../../core/directory/organizations/organization-keys.ts'
import { organizationRecordType } from '../../../core/directory/store/records.ts'
import type { ExpectedEntry, PendingRemoval } from '../../../core/store/damage.ts'
import type { Key } from '../../../core/store/engine.ts'
import { type RecordType, readRecord } from '../../../core/store/stored-record.ts'
import { commentKeys as comments } from '../../comments/comment-keys.ts'
import {
  annotationEntries,
  annotationRecordType,
  commentEntries,
  commentRecordType,
} from '../../comments/comment-records.ts'
import { versionBlobKey } from '../../history/version-keys.ts'

/**
 * The members of records that the rules read. While a record is being deleted, its index entries are removed
 * together with it.
 */
interface Fields {
  readonly folderId?: string
  readonly parentFolderId?: string
  readonly expiresAt?: number | null
  readonly order?: string
}

const fieldsType: RecordType<Fields> = {
  name: 'record',
  schema: s.object(
    {},
    { folderId: s.string, parentFolderId: s.string, expiresAt: s.orNull(s.number), order: s.string },
  ),
}

type ReadEntry = <R extends object>(type: RecordType<R>) => R
type ExpectationRule = (key: readonly string[], record: ReadEntry) => readonly Key[]

const [organizations = ''] = organizationPart({ workspaceId: '', apiKey: '', organizationId: '' })

/**
 * The entries that must exist because a key exists. A rule applies to a kind of keys, and to their number of
 * segments. There are rules for records and for index entries.
 */
const rules: ReadonlyMap<string, ExpectationRule> = new Map<string, ExpectationRule>([
  ['documents 2', ([, id = ''], record) => [keys.documentIn(record(fieldsType).folderId ?? '', id)]],
  [
    'branches 4',
    ([, documentId = '', editorId = '', name = ''], record) => {
      const { createdBy = '', decidedBy = '' } = record(branchUsersType)
      const users = [createdBy, decidedBy].filter((userId) => userId !== '')
      return users.map((userId) => branchKeys.by(userId, { documentId, editorId, name }))
    },
  ],
  [
    'branchesBy 5',
    ([, , documentId = '', editorId = '', name = '']) => [branchKeys.branch({ documentId, editorId, name })],
  ],
  ['documentsIn 3', ([, , id = '']) => [keys.document(id)]],
  [
    'annotations 2',
    ([, id = ''], record) => [comments.thread(id), ...annotationEntries(record(annotationRecordType))],
  ],
  ['annotationThreads 2', ([, id = '']) => [comments.annotation(id)]],
  ['annotationsIn 5', ([, , , , id = '']) => [comments.annotation(id)]],
  ['annotationsIn 6', ([, , , , , id = '']) => [comments.annotation(id)]],
  [
    'annotationComments 3',
    ([, id = ''], record) => {
      const comment = record(commentRecordType)
      const place = comments.commentPlace(id, comment.commentId)
      return [comments.annotation(id), place, ...commentEntries(id, comment)]
    },
  ],
  [
    'annotationCommentPlaces 3',
    ([, id = ''], record) => [comments.comment(id, record(fieldsType).order ?? '')],
  ],
  [
    'annotationTies 4',
    ([, , id = '', order = '']) => [order === '' ? comments.annotation(id) : comments.comment(id, order)],
  ],
  ['folders 2', ([, id = ''], record) => [keys.folderIn(record(fieldsType).parentFolderId ?? '', id)]],
  ['foldersIn 3', ([, , id = '']) => [keys.folder(id)]],
  ['members 3', ([, group = '', user = '']) => [keys.groupOf(user, group)]],
  ['groupsOf 3', ([, user = '', group = '']) => [keys.member(group, user)]],
  [
    'grants 5',
    ([, type, id = '', subject, of = ''], record) => [
      keys.grantOf(
        { type: subject as SubjectType, id: of },
        { type: type as ResourceType, id },
        record(fieldsType).expiresAt ?? null,
      ),
    ],
  ],
  [
    'grantsOf 6',
    ([, subject, of = '', , type, id = '']) => [
      keys.grant({ type: type as ResourceType, id }, { type: subject as SubjectType, id: of }),
    ],
  ],
])

/**
 * Returns how to recognize that an organization is being removed, if `part` is the partition of an
 * organization; null for any other partition. The removal of an organization takes several commits, and its
 * last commit deletes the record of the organization.
 */
export const pendingRemovalOf = (part: Key): PendingRemoval | null =>
  part[0] === organizations
    ? {
        key: keys.organization,
        isBeing: (value) =>
          readRecord(organizationRecordType, { key: keys.organization, value }).deleting === true,
      }
    : null

/**
 * Returns the entries that must exist because an entry of an organization's partition exists. For a record,
 * these are its index entries, and for a version its content. For an index entry, it is the record.
 * @throws MalformedJsonError if the record is malformed
 */
export function expectedEntries(part: Key, key: Key, value: Uint8Array): readonly ExpectedEntry[] {
  if (part[0] !== organizations) return []
  const record: ReadEntry = (type) => readRecord(type, { key, value })
  const [kind = ''] = key
  const content = versionBlobKey(part, key, value)
  if (content !== null) return [{ in: 'blobs', key: content }]
  const others = rules.get(`${kind} ${key.length}`)?.(key, record) ?? []
  return others.map((other) => ({ in: 'partition', key: other }))
}
