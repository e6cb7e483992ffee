import { ApiError } from '../../base/errors.ts'
import * as s from '../../base/schema.ts'
import type { BranchOverlap } from '../../content/branches/branch-overlaps.ts'
import { parseBranchEditorId } from '../../model/branch-address.ts'
import type { Key } from '../../store/engine.ts'
import type { DirectoryReader } from '../store/directory-reader.ts'
import { emptyValue } from '../store/records.ts'
import type { Transaction } from '../store/transaction.ts'

/** Limits of the branches of one document. */
export const branchLimits = {
  /** Maximum number of branches of one document, over all its editors. Further branches are rejected. */
  branches: 10_000,
  /** Maximum number of deleted branches of one document that can be restored. More of them replace the oldest one. */
  deleted: 100,
  /** Maximum length of the name of a branch in characters. */
  nameCharacters: 100,
} as const

/**
 * `merged` and `rejected`: the branch is decided and read-only. `deleted`: a job deletes or restores the branch. Callers
 * do not see it, and no room opens it.
 */
const branchStatuses = ['open', 'merged', 'rejected', 'deleted'] as const
export type BranchStatus = (typeof branchStatuses)[number]

/** The deletion that keeps a `deleted` branch; absent if nothing is kept. */
const branchDeletionSchema = s.object({
  id: s.string,
  /** The status before. */
  status: s.choice(branchStatuses),
  /** The schema of the main editor at the deletion, and its version; '' and 0 without one. */
  schema: s.string,
  version: s.number,
})
export type BranchDeletion = s.TypeOf<typeof branchDeletionSchema>

/** The stored record of a branch. Its content is the log of the editor `editorId@name`. */
export const branchRecordType = {
  name: 'branch',
  schema: s.object(
    {
      /** Id of the editor from which the branch was created. */
      editorId: s.string,
      name: s.string,
      /** Id of the user who created the branch; '' if the user is not known. */
      createdBy: s.string,
      /** Time of the creation in epoch milliseconds. */
      createdAt: s.number,
      /** Version of the editor from which the branch was created. */
      baseVersion: s.string,
      status: s.choice(branchStatuses),
      /** Id of the user who merged or rejected the branch, or whose merge of hunks is not finished; otherwise ''. */
      decidedBy: s.string,
      /** Time of the merge or rejection in epoch milliseconds; null while the branch is open. */
      decidedAt: s.orNull(s.number),
    },
    {
      deletion: branchDeletionSchema,
      /**
       * A merge of some hunks that is not finished, with the data with which a later call finishes it after a crash.
       * The main editor has the copies of the hunks, or will never have them.
       */
      accepting: s.object({
        hunkIds: s.array(s.string),
        /** The client id of the copies. The main editor has the copies if, and only if, it has this client. */
        client: s.number,
        /** The update (V1, base64) that deletes the originals of the copies from the branch. */
        removal: s.string,
      }),
      /** The words and values that both sides have changed since the creation, at most 100; absent if there are none. */
      overlaps: s.trusted<readonly BranchOverlap[]>(
        s.array(
          s.object({
            path: s.string,
            ids: s.array(s.object({ client: s.number, clock: s.number, length: s.number })),
          }),
        ),
      ),
    },
  ),
}
export type BranchRecord = s.TypeOf<typeof branchRecordType.schema>

/** Checks that a branch can be changed. @throws ApiError FAILED_PRECONDITION if it was merged or rejected */
export function requireOpen({ name, status }: Pick<BranchRecord, 'name' | 'status'>): void {
  if (status !== 'open')
    throw new ApiError(
      'branch/decided',
      `the branch ${JSON.stringify(name)} is ${status}; create another branch`,
    )
}

/**
 * The members of a branch that a deletion needs: the users in the index. A record with other malformed members
 * can still be deleted.
 */
export const branchUsersType = {
  name: 'branch',
  schema: s.object({}, { createdBy: s.string, decidedBy: s.string }),
}
type BranchUsers = s.TypeOf<typeof branchUsersType.schema>

export const branchPlaceSchema = s.object({ documentId: s.string, editorId: s.string, name: s.string })
/** Identifies a branch within its organization. */
export type BranchPlace = s.TypeOf<typeof branchPlaceSchema>

/** Keys of branches and their index in the partition of the organization. */
export const branchKeys = {
  /** Counter: the number of branches of a document. */
  count: (documentId: string): Key => ['branchCounts', documentId],
  all: ['branches'] satisfies Key,
  ofDocument: (documentId: string): Key => ['branches', documentId],
  ofEditor: (documentId: string, editorId: string): Key => ['branches', documentId, editorId],
  branch: ({ documentId, editorId, name }: BranchPlace): Key => ['branches', documentId, editorId, name],
  /** Index: the branches that a user has created or decided. */
  allBy: (userId: string): Key => ['branchesBy', userId],
  by: (userId: string, { documentId, editorId, name }: BranchPlace): Key => [
    'branchesBy',
    userId,
    documentId,
    editorId,
    name,
  ],
}

/** Writes a branch; if `record` is null, deletes the branch. Also updates the index by user. */
export async function writeBranch(
  transaction: Transaction,
  place: BranchPlace,
  record: BranchRecord | null,
): Promise<void> {
  const key = branchKeys.branch(place)
  const before = await transaction.get<BranchUsers>(key, record === null ? branchUsersType : branchRecordType)
  const [old, users] = [usersIn(before), usersIn(record)]
  for (const userId of old) if (!users.has(userId)) transaction.delete(branchKeys.by(userId, place))
  for (const userId of users) if (!old.has(userId)) transaction.put(branchKeys.by(userId, place), emptyValue)
  if (record === null) transaction.delete(key)
  else transaction.put(key, record)
}

const usersIn = (record: BranchUsers | null): ReadonlySet<string> =>
  new Set([record?.createdBy ?? '', record?.decidedBy ?? ''].filter((userId) => userId !== ''))

/**
 * Returns the branch with an editor id: the editor from which it was created, its creator and its status.
 * Returns null if the editor is not a branch. An editor id without `@` takes no read.
 */
export async function findBranch(
  reader: DirectoryReader,
  documentId: string,
  editorId: string,
): Promise<BranchRecord | null> {
  const ids = parseBranchEditorId(editorId)
  return ids === null ? null : reader.get(branchKeys.branch({ documentId, ...ids }), branchRecordType)
}
