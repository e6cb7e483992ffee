import { putFolder } from './folder-adding.ts'
import { impossibleMoves, type MoveProblem } from './folder-moves.ts'
import { countsOf, folderPath, parentsOfAll, treeChanged } from './folder-tree.ts'
import { eachItem, ItemRefused, type Results, repeatedIds } from './items.ts'
import { directoryLimits } from './limits.ts'
import { rootFolderId } from './organization-keys.ts'
import type { AccessType, FolderRecord } from './records.ts'
import { touched } from './touched.ts'
import type { Transaction } from './transaction.ts'

/** What is not given stays. */
export interface FolderChange {
  readonly folderId: string
  readonly folderName?: string | undefined
  /** Another one moves the folder, with all that is in it. */
  readonly parentFolderId?: string | undefined
  readonly accessType?: AccessType | undefined
  readonly inheritAccessFromParent?: boolean | undefined
}

const moveProblems: Record<MoveProblem, string> = {
  cycle: 'a folder cannot be moved below itself',
  depth: `folders are at most ${directoryLimits.folderDepth} deep`,
}

/** Changes and moves folders. Moves are judged together: what becomes of them does not depend on their order. */
export async function updateFolders(
  transaction: Transaction,
  changes: readonly FolderChange[],
  now: number,
): Promise<Results> {
  const found = new Map<FolderChange, FolderRecord | string>()
  for (const change of changes) found.set(change, await checked(transaction, change))
  const moves = movesOf(found)
  const refused = await refusedMoves(transaction, moves)
  if (moves.size > refused.size) await treeChanged(transaction, 0)
  return eachItem(
    changes,
    ({ folderId }) => folderId,
    async (change) => {
      const folder = found.get(change)
      const problem = refused.get(change.folderId)
      if (folder === undefined || typeof folder === 'string') throw new ItemRefused(folder ?? '')
      if (problem !== undefined) throw new ItemRefused(moveProblems[problem])
      const { folderName, parentFolderId, accessType, inheritAccessFromParent } = change
      const changed = { folderName, parentFolderId, accessType, inheritAccessFromParent }
      putFolder(transaction, touched<FolderRecord>(folder, changed, now), folder)
      return 'updated'
    },
  )
}

/** The folder as it is, or why it cannot be changed. */
async function checked(
  transaction: Transaction,
  { folderId, parentFolderId = rootFolderId }: FolderChange,
): Promise<FolderRecord | string> {
  if (folderId === rootFolderId) return `the id ${rootFolderId} is reserved`
  const [folder] = (await folderPath(transaction, folderId)) ?? []
  if (folder === undefined) return 'the folder does not exist'
  const target = await folderPath(transaction, parentFolderId)
  return target === null ? 'the parent folder does not exist' : folder
}

function movesOf(found: ReadonlyMap<FolderChange, FolderRecord | string>): ReadonlyMap<string, string> {
  const repeated = repeatedIds([...found.keys()].map(({ folderId }) => folderId))
  const moves = new Map<string, string>()
  for (const [{ folderId, parentFolderId }, folder] of found) {
    if (typeof folder === 'string' || parentFolderId === undefined || repeated.has(folderId)) continue
    if (folder.parentFolderId !== parentFolderId) moves.set(folderId, parentFolderId)
  }
  return moves
}

async function refusedMoves(
  transaction: Transaction,
  moves: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, MoveProblem>> {
  if (moves.size === 0) return new Map()
  await countsOf(transaction)
  return impossibleMoves(await parentsOfAll(transaction), moves, directoryLimits.folderDepth)
}
