import { commentKeys as comments } from '../directory/comments/comment-keys.ts'
import {
  type AnnotationRecord,
  annotationEntries,
  type CommentRecord,
  commentEntries,
} from '../directory/comments/comment-records.ts'
import {
  keys,
  organizationPart,
  type ResourceType,
  type SubjectType,
} from '../directory/organizations/organization-keys.ts'
import { decodeRecord } from '../directory/store/records.ts'
import type { ExpectedEntry, PendingRemoval } from '../engine/damage.ts'
import type { Key } from '../engine/engine.ts'

/** Members of records that are read here. A record that is being deleted is removed together with its index entries. */
interface Fields {
  readonly folderId?: string
  readonly parentFolderId?: string
  readonly expiresAt?: number | null
  readonly hash?: string
  readonly deleting?: true
  readonly order?: string
}

type ExpectationRule = (key: readonly string[], record: () => Fields) => readonly Key[]

const [organizations = ''] = organizationPart({ workspaceId: '', apiKey: '', organizationId: '' })

/** For the kind and the length of a key, the entries that must exist with it, in both directions. */
const rules: ReadonlyMap<string, ExpectationRule> = new Map<string, ExpectationRule>([
  ['documents 2', ([, id = ''], record) => [keys.documentIn(record().folderId ?? '', id)]],
  ['documentsIn 3', ([, , id = '']) => [keys.document(id)]],
  [
    'annotations 2',
    ([, id = ''], record) => [comments.thread(id), ...annotationEntries(record() as AnnotationRecord)],
  ],
  ['annotationThreads 2', ([, id = '']) => [comments.annotation(id)]],
  ['annotationsIn 5', ([, , , , id = '']) => [comments.annotation(id)]],
  ['annotationsIn 6', ([, , , , , id = '']) => [comments.annotation(id)]],
  [
    'annotationComments 3',
    ([, id = ''], record) => {
      const comment = record() as CommentRecord
      const place = comments.commentPlace(id, comment.commentId)
      return [comments.annotation(id), place, ...commentEntries(id, comment)]
    },
  ],
  ['annotationCommentPlaces 3', ([, id = ''], record) => [comments.comment(id, record().order ?? '')]],
  [
    'annotationTies 4',
    ([, , id = '', order = '']) => [order === '' ? comments.annotation(id) : comments.comment(id, order)],
  ],
  ['folders 2', ([, id = ''], record) => [keys.folderIn(record().parentFolderId ?? '', id)]],
  ['foldersIn 3', ([, , id = '']) => [keys.folder(id)]],
  ['members 3', ([, group = '', user = '']) => [keys.groupOf(user, group)]],
  ['groupsOf 3', ([, user = '', group = '']) => [keys.member(group, user)]],
  [
    'grants 5',
    ([, type, id = '', subject, of = ''], record) => [
      keys.grantOf(
        { type: subject as SubjectType, id: of },
        { type: type as ResourceType, id },
        record().expiresAt ?? null,
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
 * Returns how to recognize an organization that is being removed. The removal takes several commits and deletes the
 * record of the organization last.
 */
export const pendingRemovalOf = (part: Key): PendingRemoval | null =>
  part[0] === organizations
    ? { key: keys.organization, isBeing: (value) => (decodeRecord(value) as Fields).deleting === true }
    : null

/**
 * Returns the entries that must exist together with a record of an organization: its index entries, the record of an
 * index entry, and the content of a version.
 */
export function expectedEntries(part: Key, key: Key, value: Uint8Array): readonly ExpectedEntry[] {
  if (part[0] !== organizations) return []
  const record = (): Fields => decodeRecord(value) as Fields
  const [kind = ''] = key
  if (kind === 'versions' && key.length === 4) {
    const [, documentId = '', editorId = ''] = key
    const blob = ['versions', ...part.slice(1), documentId, editorId, record().hash ?? '']
    return [{ in: 'blobs', key: blob }]
  }
  const others = rules.get(`${kind} ${key.length}`)?.(key, record) ?? []
  return others.map((other) => ({ in: 'partition', key: other }))
}
