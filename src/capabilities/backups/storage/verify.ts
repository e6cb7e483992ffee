import * as Y from 'yjs'
import { errorMessage } from '../../../core/base/errors.ts'
import * as s from '../../../core/base/schema.ts'
import { noGuid } from '../../../core/content/yjs/create-doc.ts'
import { branchKeys, branchUsersType } from '../../../core/directory/branches/branch-records.ts'
import {
  keys,
  organizationPart,
  type ResourceType,
  type SubjectType,
} from '../../../core/directory/organizations/organization-keys.ts'
import { organizationRecordType } from '../../../core/directory/store/records.ts'
import type {
  Damage,
  ExpectedEntry,
  LiveLog,
  PendingRemoval,
  StoreCheck,
} from '../../../core/store/damage.ts'
import type { Key } from '../../../core/store/engine.ts'
import { type RecordType, readRecord } from '../../../core/store/stored-record.ts'
import { MalformedUpdateError } from '../../../core/update/malformed.ts'
import { readUpdate } from '../../../core/update/read-update.ts'
import { commentKeys as comments } from '../../comments/comment-keys.ts'
import {
  annotationEntries,
  annotationRecordType,
  commentEntries,
  commentRecordType,
} from '../../comments/comment-records.ts'
import { versionBlobKey } from '../../history/version-keys.ts'
import { checkOfflineStore } from './offline-store.ts'
import type { Progress } from './storage-error.ts'

/**
 * The members of records that the rules read. While a record is being deleted, its index entries are removed
 * together with it.
 */
const fieldsType = {
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
const pendingRemovalOf = (part: Key): PendingRemoval | null =>
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
function expectedEntries(part: Key, key: Key, value: Uint8Array): readonly ExpectedEntry[] {
  if (part[0] !== organizations) return []
  const record: ReadEntry = (type) => readRecord(type, { key, value })
  const [kind = ''] = key
  const content = versionBlobKey(part, key, value)
  if (content !== null) return [{ in: 'blobs', key: content }]
  const others = rules.get(`${kind} ${key.length}`)?.(key, record) ?? []
  return others.map((other) => ({ in: 'partition', key: other }))
}

/**
 * Number of updates that are applied in one transaction. With fewer updates, the fixed cost of a transaction
 * would dominate. With more updates, Yjs takes longer, because it joins lists of values pairwise.
 */
const updatesPerTurn = 64

/**
 * Applies the stored updates of a document to a Y.Doc. The checksums of the updates must be correct. Returns
 * the problem if Yjs cannot read an update, or if updates are missing; otherwise returns null.
 */
async function findContentDamage({ snapshot, entries }: LiveLog): Promise<string | null> {
  const doc = new Y.Doc(noGuid)
  try {
    if (snapshot !== null) Y.applyUpdate(doc, snapshot)
    for (let start = 0; start < entries.length; start += updatesPerTurn) {
      const problem = applied(doc, entries.slice(start, start + updatesPerTurn))
      if (problem !== null) return problem
      await new Promise((resolve) => setImmediate(resolve))
    }
    const { pendingStructs, pendingDs } = doc.store
    return pendingStructs === null && pendingDs === null ? null : 'it builds on updates that are missing'
  } catch (error) {
    return `Yjs cannot read its snapshot: ${errorMessage(error)}`
  } finally {
    doc.destroy()
  }
}

function applied(doc: Y.Doc, entries: LiveLog['entries']): string | null {
  let at = 0
  try {
    doc.transact(() => {
      for (const { seq, bytes } of entries) {
        at = seq
        readUpdate(bytes)
        Y.applyUpdate(doc, bytes)
      }
    })
    return null
  } catch (error) {
    const reader = error instanceof MalformedUpdateError ? 'is malformed' : 'cannot be read by Yjs'
    return `update ${at} ${reader}: ${errorMessage(error)}`
  }
}

type DamageWithHelp = Damage & { readonly help: string }

export interface Verification extends Omit<StoreCheck, 'damages'> {
  readonly damages: readonly DamageWithHelp[]
}

/** The remedy that the operator is shown, for each kind of damage. */
const help: Readonly<Record<Damage['kind'], string>> = {
  store: 'the server does not start on it: restore the newest backup into an empty directory',
  file: 'the content of the damaged part is lost for the documents and records named here; if none is named, the newest changes may be missing: compare with the newest backup',
  document:
    'clients cannot open this document: restore it from a backup, or delete it (if a block of a table is damaged, only a backup helps)',
  version: 'the document is served; its older versions that need the damaged part cannot be read',
  attribution:
    'the document is served; the authors of its changes before its newest snapshot are shown as unknown',
  record: 'calls that read this record fail with INTERNAL: restore the newest backup',
  index:
    'the record and its index entry do not match: write the named record again by REST, or restore the newest backup',
  job: 'the server drops this background job when it is due',
}

const withHelp = (damage: Damage): DamageWithHelp => ({ ...damage, help: help[damage.kind] })

/**
 * Checks all stored data of a stopped server, and loads each document.
 * @throws StorageError; EngineOpenError if the store cannot be read for a reason other than damage
 */
export async function verify(directory: string, onProgress: Progress): Promise<Verification> {
  const { damages, ...counts } = await checkOfflineStore(directory, {
    contentProblem: findContentDamage,
    expected: expectedEntries,
    removed: pendingRemovalOf,
    onProgress,
  })
  return { ...counts, damages: damages.map(withHelp) }
}
