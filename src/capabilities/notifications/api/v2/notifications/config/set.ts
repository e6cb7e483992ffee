import type { ErrorCode } from '../../../../../../core/base/errors.ts'
import { json } from '../../../../../../core/base/schema.ts'
import { emptyBatchResults } from '../../../../../../core/directory/store/batch.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import { failureDetails } from '../../../../../../rest/schemas/batch-results.ts'
import {
  batchMax,
  organizationId,
  organizationNotFound,
} from '../../../../../../rest/schemas/resource-schema.ts'
import { notificationConfig } from '../../../notification-schema.ts'

interface ConfigResult {
  readonly success: boolean
  readonly userId: string
  readonly documentId: string
  readonly message: string
  readonly details?: { readonly code: ErrorCode; readonly documentIds: readonly string[] }
}

/** Returns what the result of each user has in common. */
function outcomeOf(
  places: readonly (string | null)[],
  missing: ReadonlySet<string>,
): Pick<ConfigResult, 'success' | 'message' | 'details'> {
  const set =
    places[0] === null ? 'set for the organization' : `set for ${places.length - missing.size} documents`
  if (missing.size === 0) return { success: true, message: set }
  const documentIds = [...missing]
  const [first] = documentIds
  const others = missing.size > 1 ? ` and ${missing.size - 1} others` : ''
  return {
    success: false,
    message: `${set}; not for ${JSON.stringify(first)}${others}: the document does not exist; add it with /v2/organizations/documents/add`,
    details: { code: 'document/not-found', documentIds },
  }
}

/** Returns the first document of a request; empty if the request concerns the organization. */
function firstOf(data: ReadonlyMap<string, unknown>): string {
  const documentIds = data.get('documentIds')
  return Array.isArray(documentIds) ? String(documentIds[0] ?? '') : ''
}

export const setNotificationConfig = defineOperation({
  path: '/v2/notifications/config/set',
  auth: 'key',
  effect: 'repeatable',
  audited: 'change',
  grows: 'records',
  summary: 'Change the notification settings of users',
  description:
    'Sets which notifications reach users in their inbox, by e-mail and by chat, for the named documents. Without ' +
    'documents, it applies to all documents without settings of their own for the user. Omitted members keep their ' +
    'values. Documents that do not exist are skipped: the results then have `success: false`, and ' +
    '`details.documentIds` lists them.',
  batch: {
    items: { userIds: null },
    rejected: (userId, failure, data) => ({ success: false, userId, documentId: firstOf(data), ...failure }),
  },
  request: json.object(
    {
      organizationId,
      userIds: json.list(json.id(), {
        maxItems: batchMax,
        description: 'The users; they need not be users of the organization.',
      }),
      config: notificationConfig,
    },
    {
      documentIds: json.list(json.id(), {
        maxItems: batchMax,
        description:
          'The documents; without them, also as an empty list, the default for all of the organization.',
      }),
    },
  ),
  response: json.map(
    json.object(
      {
        success: json.boolean(),
        userId: json.text(),
        documentId: json.text("The document, the first where there are several; '' for the organization."),
        message: json.text(),
      },
      {
        details: {
          ...failureDetails,
          properties: {
            ...failureDetails.properties,
            documentIds: json.list(json.text(), {
              description: 'The documents that do not exist. The config was set for the others.',
            }),
          },
        },
      },
    ),
    { description: 'By user id.' },
  ),
  errors: [organizationNotFound],
  async handler(
    { userIds, documentIds = [], config: { inbox, email, slack }, ...data },
    { caller, services },
  ) {
    const scope = { ...caller.tenant, organizationId: data.organizationId }
    const places = documentIds.length === 0 ? [null] : [...new Set(documentIds)]
    const config = {
      ...(inbox !== undefined && { inbox }),
      ...(email !== undefined && { email }),
      ...(slack !== undefined && { slack }),
    }
    const missing = await services.notificationConfigs.set(scope, userIds, places, config)
    const outcome = outcomeOf(places, missing)
    const results = emptyBatchResults<ConfigResult>()
    for (const userId of userIds) results[userId] = { ...outcome, userId, documentId: places[0] ?? '' }
    return { message: `Config of ${Object.keys(results).length} users: ${outcome.message}.`, data: results }
  },
})
