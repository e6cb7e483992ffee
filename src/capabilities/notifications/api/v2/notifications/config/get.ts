import { json } from '../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import { documentErrors, lookupMax, organizationId } from '../../../../../../rest/schemas/resource-schema.ts'
import { notificationConfig } from '../../../notification-schema.ts'

const effective = {
  ...notificationConfig,
  required: ['inbox', 'email', 'slack'],
  description: "Effective settings: the document's own, else the organization's, else `ALL`.",
  examples: [{ inbox: 'MINE', email: 'NONE', slack: 'ALL' }],
} as const

export const getNotificationConfig = defineOperation({
  path: '/v2/notifications/config/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'Read the notification settings of a user',
  description:
    'Returns which notifications reach a user, for the named documents, and for the organization if you request it or ' +
    'name no documents.',
  request: json.object(
    { organizationId, userId: json.id() },
    {
      documentIds: json.list(json.id(), { maxItems: lookupMax, description: 'The documents.' }),
      getOrganizationConfig: json.boolean(
        'True: also returns the settings for the organization. Default: true without `documentIds`.',
      ),
    },
  ),
  response: json.list(
    json.object({
      userId: json.text(),
      documentId: json.text("'' for the organization."),
      config: { ...notificationConfig, description: 'As set here.' },
      effectiveConfig: effective,
    }),
  ),
  errors: documentErrors,
  async handler(data, { caller, services }) {
    const { userId, documentIds, getOrganizationConfig = documentIds === undefined } = data
    const scope = { ...caller.tenant, organizationId: data.organizationId }
    const places = [...(getOrganizationConfig ? [null] : []), ...new Set(documentIds)]
    const entries = await services.notificationConfigs.get(scope, userId, places)
    const shown = entries.map((entry) => ({
      userId,
      documentId: entry.documentId ?? '',
      config: entry.config,
      effectiveConfig: entry.effective,
    }))
    return { message: `${shown.length} configs found.`, data: shown }
  },
})
