import type { UsersDataDeleteData } from '../../client/api/operation-types.ts'
import type { ApiClient } from '../api/client.ts'

/** Progress of the erasure of a user, as `/v2/users/data/delete` returns it. */
export type ErasureProgress = Pick<UsersDataDeleteData, 'status' | 'removed'>

/** Reads all stored data of a user, page by page. @throws ApiCallError */
export async function downloadUserData(api: ApiClient, userId: string): Promise<readonly unknown[]> {
  const items: unknown[] = []
  const pages = api.pages<readonly unknown[]>('/v2/users/data/get', { userId })
  for await (const page of pages) items.push(...page)
  return items
}

/**
 * Erases the data of a user. Reports the progress until the erasure is complete.
 * @param isWatched returns whether the page still shows the progress; if not, the function returns and the
 * erasure continues on the server
 * @throws ApiCallError
 */
export async function eraseUser(
  api: ApiClient,
  userId: string,
  tell: (erasure: ErasureProgress) => void,
  isWatched: () => boolean,
): Promise<void> {
  for (;;) {
    const erasure = await api.call<ErasureProgress>('/v2/users/data/delete', { userId })
    tell(erasure)
    if (erasure.status === 'done' || !isWatched()) return
  }
}

const names: Readonly<Record<string, string>> = {
  notificationMarks: 'marks of notifications',
  notificationConfigs: 'settings of notifications',
}

export function describeErasure({ status, removed }: ErasureProgress): string {
  const some = Object.entries(removed).filter(([, count]) => count > 0)
  const list = some.map(([name, count]) => `${count} ${names[name] ?? name}`).join(', ')
  if (status === 'running') return `Erasing… so far: ${list || 'nothing yet'}.`
  return list === '' ? 'Erased: the server had no data of the user.' : `Erased: ${list}.`
}
