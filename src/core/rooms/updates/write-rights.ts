import type { WriteRight } from '../../directory/write-right.ts'
import { AppendRejectedError, type Fence, type FenceStore } from '../../store/engine.ts'
import type { Change, ClientChange, Commit, Member } from './change.ts'

/** Thrown if a permission must be rechecked before a change may rely on it. */
export class StaleRightError extends Error {
  override readonly name = 'StaleRightError'
}

/** Maximum number of tries of one change. The permission is rechecked before each further try. */
const triesMax = 5

/** Returns whether a permission has ended or may have ended. */
export const isStale = (fences: Pick<FenceStore, 'isCurrent'>, { fence }: WriteRight): boolean =>
  fence === null || !fences.isCurrent(fence)

/** Returns whether the permission of a member has ended or may have ended. */
export const mayBeStale = (fences: Pick<FenceStore, 'isCurrent'>, { right }: Member): boolean =>
  right !== undefined && isStale(fences, right)

/**
 * Runs `change`, and returns its result. If `change` throws StaleRightError, rechecks the permission and runs
 * `change` again, up to 5 times in total.
 * @throws ApiError if the permission has ended; all errors of `change`
 */
export async function whileAllowed<T>(right: WriteRight | undefined, change: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await change()
    } catch (error) {
      if (!(error instanceof StaleRightError) || right === undefined || tries === triesMax) throw error
      await right.recheck()
    }
  }
}

/**
 * Returns the permissions that must be rechecked before the updates of their holders are applied, without
 * duplicates; null if there are none.
 */
export function staleRightsOf(
  incoming: readonly ClientChange[],
  fences: Pick<FenceStore, 'isCurrent'>,
): ReadonlySet<WriteRight> | null {
  let stale: Set<WriteRight> | null = null
  let last: Member | null = null
  for (const { from } of incoming) {
    // Most updates of a tick have the same sender as the update before them.
    if (from === last) continue
    last = from
    const { right } = from
    // The getter reads the clock, so it is called once.
    const fence = right?.fence ?? null
    if (right !== undefined && fence !== null && !fences.isCurrent(fence))
      stale = (stale ?? new Set()).add(right)
  }
  return stale
}

/** Returns the given updates without the updates of members that may no longer write. */
export const allowedOf = (incoming: readonly ClientChange[]): readonly ClientChange[] =>
  incoming.some(isEnded) ? incoming.filter((one) => !isEnded(one)) : incoming

const isEnded = ({ from: { right } }: ClientChange): boolean => right?.fence === null

/** Returns the permissions with which the updates were made, without duplicates. */
function rightsOf(updates: readonly Change[]): ReadonlySet<WriteRight> {
  const rights = new Set<WriteRight>()
  for (const update of updates) {
    const right = rightOf(update)
    if (right !== undefined) rights.add(right)
  }
  return rights
}

/**
 * Returns the option `fence` for the append of the updates: the fences of all their permissions. Returns
 * undefined if the updates have no permissions. @throws AppendRejectedError if a permission has ended
 */
export function fenceOf(updates: readonly Change[]): Fence | undefined {
  const [only] = updates
  if (updates.length === 1 && only !== undefined) return validFence(rightOf(only))
  const [first, ...others] = [...rightsOf(updates)].map(validFence)
  return others.length === 0 ? first : [first, ...others].flatMap((fence) => fence ?? [])
}

function validFence(right: WriteRight | undefined): Fence | undefined {
  const fence = right?.fence
  if (fence === null) throw new AppendRejectedError('fence')
  return fence
}

/**
 * Rechecks the permissions with which the updates of commits were made. If a permission has ended, its
 * sessions are closed before this function throws.
 * @throws AppendRejectedError, ApiError if a permission has ended; StoreUnavailableError
 */
export async function recheckRights(commits: readonly Commit[]): Promise<void> {
  const rights = rightsOf(commits.flatMap(({ changes }) => changes))
  const rechecked = await Promise.allSettled([...rights].map((right) => right.recheck()))
  for (const outcome of rechecked) if (outcome.status === 'rejected') throw outcome.reason
  if ([...rights].some(({ fence }) => fence === null)) throw new AppendRejectedError('fence')
}

const rightOf = ({ right, from }: Change): WriteRight | undefined => right ?? from?.right
