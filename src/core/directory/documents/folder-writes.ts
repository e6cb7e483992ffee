import { directoryLimits } from '../limits.ts'
import { keys, rootFolderId } from '../organizations/organization-keys.ts'
import { type BatchResults, forEachItem, ItemRejectedError } from '../store/batch.ts'
import { patchRecord } from '../store/patch-record.ts'
import { type AccessType, emptyValue, type FolderRecord, folderRecordType } from '../store/records.ts'
import type { Transaction } from '../store/transaction.ts'
import type { DocumentWriteOptions } from './document-writes.ts'
import { type MoveProblem, rejectedMoves } from './folder-moves.ts'
import { accessTypeIn, folderPath, markTreeChanged, parentsOfAll, readCounts } from './folder-tree.ts'

export interface FolderInput {
  readonly folderId: string
  readonly folderName?: string | undefined
  /** Id of the parent folder. Default: `root`. */
  readonly parentFolderId?: string | undefined
}

/**
 * Adds folders. The order of the list does not matter: a new folder may be the parent of another new folder.
 */
export async function writeNewFolders(
  transaction: Transaction,
  folders: readonly FolderInput[],
  { now, defaultAccess }: DocumentWriteOptions,
): Promise<BatchResults> {
  const { folders: before } = await readCounts(transaction)
  await transaction.getAll(folders.map(({ folderId }) => keys.folder(folderId)))
  let added = 0
  const results = await forEachItem(parentsFirst(folders), 'folderId', async (folder) => {
    const above = await foldersAbove(transaction, folder)
    if (before + added >= directoryLimits.folders)
      throw new ItemRejectedError(
        'folder/too-many',
        `an organization has at most ${directoryLimits.folders} folders; delete some`,
      )
    putFolder(transaction, newFolder(folder, accessTypeIn(above, defaultAccess), now))
    added += 1
    return 'added'
  })
  if (added > 0) await markTreeChanged(transaction, added)
  return results
}

/**
 * Returns the future ancestors of a new folder, nearest first.
 * @throws ItemRejectedError if the folder cannot be added
 */
async function foldersAbove(
  transaction: Transaction,
  { folderId, parentFolderId = rootFolderId }: FolderInput,
): Promise<readonly FolderRecord[]> {
  if (folderId === rootFolderId)
    throw new ItemRejectedError('folder/root', `the id ${rootFolderId} is reserved`)
  const existing = await transaction.get(keys.folder(folderId), folderRecordType)
  if (existing !== null) {
    const exists = (await folderPath(transaction, folderId)) !== null
    throw exists
      ? new ItemRejectedError('folder/exists', 'the folder exists already')
      : new ItemRejectedError('folder/being-deleted', 'the folder is being deleted; try again')
  }
  const above = await folderPath(transaction, parentFolderId)
  if (above === null) throw new ItemRejectedError('folder/not-found', 'the parent folder does not exist')
  if (above.length >= directoryLimits.folderDepth)
    throw new ItemRejectedError(
      'folder/too-deep',
      `folders are at most ${directoryLimits.folderDepth} deep; choose a higher parent folder`,
    )
  return above
}

const newFolder = (
  { folderId, folderName = '', parentFolderId = rootFolderId }: FolderInput,
  accessType: AccessType | null,
  now: number,
): FolderRecord => ({
  folderId,
  folderName,
  parentFolderId,
  accessType,
  inheritAccessFromParent: true,
  createdAt: now,
  lastUpdated: now,
})

/** Writes a folder and its index entry. */
function putFolder(transaction: Transaction, folder: FolderRecord, before?: FolderRecord): void {
  const { folderId, parentFolderId } = folder
  transaction.put(keys.folder(folderId), folder)
  if (before?.parentFolderId === parentFolderId) return
  if (before !== undefined) transaction.delete(keys.folderIn(before.parentFolderId, folderId))
  transaction.put(keys.folderIn(parentFolderId, folderId), emptyValue)
}

/**
 * Sorts the folders: parents before their children, otherwise by id. As a result, if a limit is exceeded, the
 * same folders are rejected for every order of the list.
 */
function parentsFirst(folders: readonly FolderInput[]): readonly FolderInput[] {
  const byId = new Map(folders.map((folder) => [folder.folderId, folder]))
  const placed = new Set<FolderInput>()
  const ordered: FolderInput[] = []
  for (const folder of folders.toSorted((a, b) => (a.folderId < b.folderId ? -1 : 1))) {
    const upwards: FolderInput[] = []
    let next: FolderInput | undefined = folder
    while (next !== undefined && !placed.has(next)) {
      placed.add(next)
      upwards.push(next)
      next = byId.get(next.parentFolderId ?? rootFolderId)
    }
    ordered.push(...upwards.toReversed())
  }
  return ordered
}

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
  return forEachItem(changes, 'folderId', async (change) => {
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
  })
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
