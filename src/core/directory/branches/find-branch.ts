import { parseBranchEditorId } from '../../model/branch-address.ts'
import type { DirectoryReader } from '../store/directory-reader.ts'
import { type BranchRecord, branchKeys, branchRecordType } from './branch-records.ts'

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
