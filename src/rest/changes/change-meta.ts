import type { TenantCaller } from '../../core/access/credentials/authenticator.ts'
import { json } from '../../core/base/schema.ts'
import { type ChangeMeta, changeMetaLimits } from '../../core/model/change-origin.ts'
import type { Services } from '../services.ts'
import { invalidAt } from '../validator.ts'

/** Request member with data of the caller about a change. */
export const changeMeta = json.map(
  {
    anyOf: [
      { type: 'string', maxLength: changeMetaLimits.valueCharacters },
      json.number(),
      json.boolean(),
      { type: 'null' },
    ],
  },
  {
    description:
      'Data about the change, stored with its author. `/v2/crdt/changes` and `/v2/crdt/undo` find changes by it. At most ' +
      `${changeMetaLimits.members} members with names of 1 to ${changeMetaLimits.nameCharacters} characters.`,
    examples: [{ job: 'summary-17' }],
  },
)

/**
 * Checks a request member with data about a change. `path`: the JSON pointer of the member.
 * @throws ApiError INVALID_ARGUMENT if it has too many members, or a name that is empty or too long
 */
export function checkChangeMeta(meta: ChangeMeta | undefined, path = '/data/meta'): void {
  if (meta === undefined) return
  const names = Object.keys(meta)
  if (names.length > changeMetaLimits.members)
    throw invalidAt({
      path,
      message: `must have at most ${changeMetaLimits.members} members, not ${names.length}`,
    })
  if (names.some((name) => name === '' || name.length > changeMetaLimits.nameCharacters))
    throw invalidAt({
      path,
      message: `must have names of 1 to ${changeMetaLimits.nameCharacters} characters`,
    })
}

/**
 * Checks the request member `meta`, and returns it; null if it must not be stored.
 * @throws ApiError INVALID_ARGUMENT if it has too many members, or a name that is empty or too long
 */
export async function storedMeta(
  meta: ChangeMeta | undefined,
  { tenant }: Pick<TenantCaller, 'tenant'>,
  { attribution }: Pick<Services, 'attribution'>,
): Promise<ChangeMeta | null> {
  checkChangeMeta(meta)
  if (meta === undefined) return null
  return (await attribution.isEnabled(tenant.workspaceId)) ? meta : null
}
