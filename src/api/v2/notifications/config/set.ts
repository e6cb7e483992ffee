import { noResults } from '../../../../directory/items.ts'
import { notificationConfig } from '../../../notification-schema.ts'
import { operation } from '../../../operation.ts'
import { batchMax, lookupMax, organizationId } from '../../../resource-schema.ts'

interface ConfigResult {
  readonly success: boolean
  readonly userId: string
  readonly documentId: string
  readonly message: string
}

export const setNotificationConfig = operation({
  path: '/v2/notifications/config/set',
  auth: 'key',
  effect: 'repeatable',
  audited: 'change',
  summary: 'Set what users want to see',
  description:
    'Sets which notifications reach users, in their inbox, by e-mail and by chat: of the documents named, or without ' +
    'these of every document that has no config of its own for the user. What is left out stays as it is.',
  request: {
    type: 'object',
    required: ['organizationId', 'userIds', 'config'],
    properties: {
      organizationId,
      documentIds: {
        type: 'array',
        minItems: 1,
        maxItems: lookupMax,
        items: { type: 'string', format: 'id' },
        description: 'The documents; without them the default for all of the organization.',
      },
      userIds: {
        type: 'array',
        minItems: 1,
        maxItems: batchMax,
        items: { type: 'string', format: 'id' },
        description: 'The users; they need not be users of the organization.',
      },
      config: notificationConfig,
    },
  },
  response: {
    type: 'object',
    description: 'By the ids of the users.',
    additionalProperties: {
      type: 'object',
      required: ['success', 'userId', 'documentId', 'message'],
      properties: {
        success: { type: 'boolean' },
        userId: { type: 'string' },
        documentId: {
          type: 'string',
          description: "The document, the first where there are several; '' for the organization.",
        },
        message: { type: 'string' },
      },
    },
  },
  errors: [{ status: 'NOT_FOUND', when: 'the organization or one of the documents does not exist' }],
  async handler({ userIds, documentIds, config: { inbox, email, slack }, ...data }, { caller, services }) {
    const scope = { ...caller.tenant, organizationId: data.organizationId }
    const places = documentIds === undefined ? [null] : [...new Set(documentIds)]
    const config = {
      ...(inbox !== undefined && { inbox }),
      ...(email !== undefined && { email }),
      ...(slack !== undefined && { slack }),
    }
    await services.notificationConfigs.set(scope, userIds, places, config)
    const message =
      documentIds === undefined ? 'set for the organization' : `set for ${places.length} documents`
    const results = noResults<ConfigResult>()
    for (const userId of userIds)
      results[userId] = { success: true, userId, documentId: places[0] ?? '', message }
    return { message: `Config of ${Object.keys(results).length} users set.`, data: results }
  },
})
