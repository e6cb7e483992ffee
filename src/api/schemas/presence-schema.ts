import type { TenantCaller } from '../../access/credentials/authenticator.ts'
import type { DocumentScope } from '../../model/address.ts'
import { statusLengthMax } from '../../rooms/presence/document-presence.ts'
import type { ApiServices } from '../api-services.ts'
import type { DocumentIds } from '../list-editors.ts'
import { batchMax, documentId, organizationId } from './resource-schema.ts'

export const presenceDocument = { organizationId, documentId } as const

/** Request member for the users of an operation. */
export const presentUserIds = {
  type: 'array',
  maxItems: batchMax,
  items: { type: 'string', format: 'id' },
} as const

export const presenceStatus = {
  type: 'string',
  maxLength: statusLengthMax,
  description: 'Any status, such as `online`, `away`, `offline`.',
} as const

export const describedPresence = {
  userId: { type: 'string', format: 'id' },
  name: { type: 'string', maxLength: 200, description: 'Display name.' },
  email: { type: 'string', maxLength: 320, description: 'Only `presence/get` returns it.' },
  status: presenceStatus,
} as const

export const presenceInputs = {
  type: 'array',
  minItems: 1,
  maxItems: batchMax,
  items: { type: 'object', required: ['userId'], properties: describedPresence },
  examples: [[{ userId: 'ann', name: 'Ann', email: 'ann@example.com', status: 'away' }]],
} as const

/**
 * Returns the schema of a result.
 * @param when text that completes the description "False when …"
 */
export const presenceSuccess = <const When extends string>(when: When) =>
  ({
    type: 'object',
    required: ['success'],
    properties: { success: { type: 'boolean', description: `False when ${when}.` } },
  }) as const

export const alwaysSuccess = {
  type: 'object',
  required: ['success'],
  properties: { success: { type: 'boolean', description: 'Always true.' } },
} as const

/**
 * Returns the document of a call.
 * @throws ApiError NOT_FOUND if the document does not exist
 */
export async function presenceScope(
  ids: DocumentIds,
  caller: TenantCaller,
  { documents }: ApiServices,
): Promise<DocumentScope> {
  const scope = { ...caller.tenant, organizationId: ids.organizationId }
  await documents.require(scope, ids.documentId)
  return { ...scope, documentId: ids.documentId }
}
