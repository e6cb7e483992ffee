import { ApiError } from '../../base/errors.ts'
import * as s from '../../base/schema.ts'
import type { BranchOverlap } from '../../content/branches/branch-overlaps.ts'
import type { BranchIds } from '../../model/branch-address.ts'
import type { Key } from '../../store/engine.ts'

/** `merged` and `rejected`: the branch is decided and read-only. */
const branchStatuses = ['open', 'merged', 'rejected'] as const
export type BranchStatus = (typeof branchStatuses)[number]

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
export type BranchUsers = s.TypeOf<typeof branchUsersType.schema>

/** Identifies a branch within its organization. */
export interface BranchPlace extends BranchIds {
  readonly documentId: string
}

/** Keys of branches and their index in the partition of the organization. */
export const branchKeys = {
  /** Counter: the number of branches of a document. */
  count: (documentId: string): Key => ['branchCounts', documentId],
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
