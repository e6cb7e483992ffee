import { deletedUserId } from '../../model/deleted-user.ts'
import type { KvEntry } from '../../store/engine.ts'
import type { DirectoryReader } from '../store/directory-reader.ts'
import type { Transaction } from '../store/transaction.ts'
import { type BranchPlace, type BranchRecord, branchKeys, branchRecordType } from './branch-records.ts'
import { writeBranch } from './branch-writing.ts'

/** A branch that a user has created or decided. */
interface UserBranch {
  readonly documentId: string
  readonly data: Partial<BranchRecord>
}

/**
 * Returns the branches to which index entries of a user refer, without other users. The result contains null
 * for a branch that was deleted meanwhile.
 */
export async function listBranchesByUser(
  reader: DirectoryReader,
  entries: readonly KvEntry[],
  userId: string,
): Promise<readonly (UserBranch | null)[]> {
  const places = entries.map(placeIn)
  const records = await reader.getAll(places.map(branchKeys.branch), branchRecordType)
  return places.map(({ documentId }, at) => {
    const record = records[at] ?? null
    if (record === null) return null
    const { createdBy, decidedBy, accepting: _, ...data } = record
    const own = { ...(createdBy === userId && { createdBy }), ...(decidedBy === userId && { decidedBy }) }
    return { documentId, data: { ...data, ...own } }
  })
}

/**
 * Replaces a user with the deleted user in up to `limit` branches. Returns the number of index entries that
 * were processed.
 */
export async function anonymizeBranches(
  transaction: Transaction,
  userId: string,
  limit: number,
): Promise<number> {
  const entries = await transaction.scan({ prefix: branchKeys.allBy(userId), limit })
  const places = entries.map(placeIn)
  const records = await transaction.getAll(places.map(branchKeys.branch), branchRecordType)
  const replaced = (id: string): string => (id === userId ? deletedUserId : id)
  for (const [at, place] of places.entries()) {
    const record = records[at] ?? null
    if (record === null) transaction.delete(branchKeys.by(userId, place))
    else {
      const [createdBy, decidedBy] = [replaced(record.createdBy), replaced(record.decidedBy)]
      await writeBranch(transaction, place, { ...record, createdBy, decidedBy })
    }
  }
  return entries.length
}

const placeIn = ({ key: [, , documentId = '', editorId = '', name = ''] }: KvEntry): BranchPlace => ({
  documentId,
  editorId,
  name,
})
