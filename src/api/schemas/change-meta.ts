import { type ChangeCause, type ChangeMeta, changeMetaLimits } from '../../model/change-origin.ts'
import { invalidAt } from '../validator.ts'

/** Request member with data of the caller about a change. */
export const changeMeta = {
  type: 'object',
  additionalProperties: {
    anyOf: [
      { type: 'string', maxLength: changeMetaLimits.valueCharacters },
      { type: 'number' },
      { type: 'boolean' },
      { type: 'null' },
    ],
  },
  description:
    'Data about the change, stored with its author. `/v2/crdt/changes` and `/v2/crdt/undo` find changes by it. At most ' +
    `${changeMetaLimits.members} members with names of 1 to ${changeMetaLimits.nameCharacters} characters.`,
  examples: [{ job: 'summary-17' }],
} as const

/**
 * Checks the request member `meta`.
 * @throws ApiError INVALID_ARGUMENT if it has too many members, or a name that is empty or too long
 */
export function checkChangeMeta(meta: ChangeMeta | undefined): void {
  if (meta === undefined) return
  const names = Object.keys(meta)
  if (names.length > changeMetaLimits.members)
    throw invalidAt({
      path: '/data/meta',
      message: `must have at most ${changeMetaLimits.members} members, not ${names.length}`,
    })
  if (names.some((name) => name === '' || name.length > changeMetaLimits.nameCharacters))
    throw invalidAt({
      path: '/data/meta',
      message: `must have names of 1 to ${changeMetaLimits.nameCharacters} characters`,
    })
}

/** Returns the cause of a write by REST. @throws ApiError as for `checkChangeMeta` */
export function restCause(meta: ChangeMeta | undefined): ChangeCause {
  checkChangeMeta(meta)
  return { source: 'rest', meta: meta ?? null }
}
