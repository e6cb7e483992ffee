import type { DocumentWriteOptions } from '../documents/document-writes.ts'
import { type MoveProblem, rejectedMoves } from '../documents/folder-moves.ts'
import {
  accessTypeIn,
  folderPath,
  markTreeChanged,
  parentsOfAll,
  readCounts,
} from '../documents/folder-tree.ts'
import { putFolder } from '../documents/folder-writes.ts'
import { directoryLimits } from '../limits.ts'
import { rootFolderId } from '../organizations/organization-keys.ts'
import { type BatchResults, forEachItem, ItemRejectedError } from '../store/batch.ts'
import { patchRecord } from '../store/patch-record.ts'
import type { AccessType, FolderRecord } from '../store/records.ts'
import type { Transaction } from '../store/transaction.ts'

/** Changes of a folder. Absent members stay unchanged. */
export interface FolderPatch {
  readonly folderId: string
  readonly folderName?: string | undefined
  /**
   * Id of the parent folder. If it differs from the current parent, the folder is moved with everything in
   * it.
   */
  readonly parentFolderId?: string | undefined
  readonly accessType?: AccessType | undefined
  readonly inheritAccessFromParent?: boolean | undefined
}

const moveProblems: Record<MoveProblem, ConstructorParameters<typeof ItemRejectedError>> = {
  cycle: ['folder/below-itself', 'a folder cannot be moved below itself'],
  depth: [
    'folder/too-deep',
    `folders are at most ${directoryLimits.folderDepth} deep; choose a higher parent folder`,
  ],
}

/**
 * Changes and moves folders. Checks all moves together, so that the results do not depend on the order of the
 * list.
 */
export async function writeFolderPatches(
  transaction: Transaction,
  changes: readonly FolderPatch[],
  { now, defaultAccess }: DocumentWriteOptions,
): Promise<BatchResults> {
  const found = new Map<FolderPatch, FolderRecord | ItemRejectedError>()
  for (const change of changes) found.set(change, await checked(transaction, change))
  const moves = movesOf(found)
  const refused = await refusedMoves(transaction, moves)
  if (moves.size > refused.size) await markTreeChanged(transaction, 0)
  return forEachItem(
    changes,
    ({ folderId }) => folderId,
    async (change) => {
      const folder = found.get(change)
      const problem = refused.get(change.folderId)
      if (folder === undefined || folder instanceof ItemRejectedError) throw folder
      if (problem !== undefined) throw new ItemRejectedError(...moveProblems[problem])
      const { folderName, parentFolderId, accessType, inheritAccessFromParent } = change
      const changed = { folderName, parentFolderId, accessType, inheritAccessFromParent }
      const target = moves.get(folder.folderId)
      const above = target === undefined ? null : await folderPath(transaction, target)
      const isOpen = above !== null && folder.accessType === null && folder.inheritAccessFromParent
      const inherited = isOpen ? accessTypeIn(above, defaultAccess) : null
      const before = inherited === null ? folder : { ...folder, accessType: inherited }
      putFolder(transaction, patchRecord<FolderRecord>(before, changed, now), folder)
      return 'updated'
    },
  )
}

/**
 * Returns the current record of the folder. If the folder cannot be changed, returns an error that contains
 * the reason.
 */
async function checked(
  transaction: Transaction,
  { folderId, parentFolderId = rootFolderId }: FolderPatch,
): Promise<FolderRecord | ItemRejectedError> {
  if (folderId === rootFolderId)
    return new ItemRejectedError('folder/root', `the id ${rootFolderId} is reserved`)
  const [folder] = (await folderPath(transaction, folderId)) ?? []
  if (folder === undefined) return new ItemRejectedError('folder/not-found', 'the folder does not exist')
  const target = await folderPath(transaction, parentFolderId)
  return target === null
    ? new ItemRejectedError('folder/not-found', 'the parent folder does not exist')
    : folder
}

function movesOf(
  found: ReadonlyMap<FolderPatch, FolderRecord | ItemRejectedError>,
): ReadonlyMap<string, string> {
  const moves = new Map<string, string>()
  for (const [{ folderId, parentFolderId }, folder] of found) {
    if (folder instanceof ItemRejectedError || parentFolderId === undefined) continue
    if (folder.parentFolderId !== parentFolderId) moves.set(folderId, parentFolderId)
  }
  return moves
}

async function refusedMoves(
  transaction: Transaction,
  moves: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, MoveProblem>> {
  if (moves.size === 0) return new Map()
  await readCounts(transaction)
  return rejectedMoves(await parentsOfAll(transaction), moves, directoryLimits.folderDepth)
}
