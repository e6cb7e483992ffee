import type { KeyCaller } from '../../core/access/credentials/authenticator.ts'
import type { FromSchema } from '../../core/base/schema.ts'
import {
  type ActivityRecord,
  activityBytesMax,
  addedFeatureTypes,
  contentOf,
  featureTypes,
} from '../../core/events/activity.ts'
import { namedInCallMax, namedUsersMax } from '../../core/model/named-users.ts'
import { openMembers } from '../open-members.ts'
import { batchMax, documentId, organizationId } from './resource-schema.ts'
import { notifiedUser } from './user-schema.ts'

/** Id of the target of an activity. Ids of directory records are allowed. */
const entityId = { type: 'string', format: 'id' } as const

export const featureType = {
  type: 'string',
  enum: featureTypes,
  description:
    'Subject of the activity. `administration`: changes of organizations, documents, folders, users, groups and ' +
    'permissions.',
} as const

const addedFeatureType = {
  type: 'string',
  enum: addedFeatureTypes,
  description: 'Subject of the activity.',
} as const

export const actionType = {
  type: 'string',
  // The name becomes a key of the store, so it must be valid as an id.
  format: 'id',
  maxLength: 200,
  description: 'Name of the action, such as `comment.add`.',
} as const

const actionUser = { ...notifiedUser, description: 'The user who made the change.' } as const

/** Members of an activity that callers give. */
export const activityContent = {
  featureType: addedFeatureType,
  actionType,
  actionUser,
  targetEntityId: {
    ...entityId,
    description: 'Target of the action, such as an annotation; required for `custom` activities.',
  },
  location: {
    type: 'object',
    required: ['id'],
    properties: { id: entityId, locationName: { type: 'string', maxLength: 1_000 } },
    ...openMembers(),
    description: 'The place in the document. It is deleted with the data of this location.',
  },
  changes: {
    type: 'object',
    additionalProperties: {},
    description:
      'Values before and after the change. The server reads only users in it: objects with a `userId`.',
  },
  displayMessageTemplate: {
    type: 'string',
    maxLength: 2_000,
    description: 'Text for users. `{{name}}` stands for a member of `displayMessageTemplateData`.',
  },
  displayMessageTemplateData: {
    type: 'object',
    additionalProperties: {},
    description: 'Values of the placeholders. An object with a `name`, such as a user, is shown by its name.',
  },
} as const

const example = {
  id: 'signed-off',
  featureType: 'custom',
  actionType: 'document.sign_off',
  actionUser: { userId: 'ann', name: 'Ann' },
  targetEntityId: 'report',
  displayMessageTemplate: '{{user}} signed the report off',
  displayMessageTemplateData: { user: { userId: 'ann', name: 'Ann' } },
} as const

const namesBounded = `naming at most ${namedUsersMax} users, and all together ${namedInCallMax}`

export const activitiesToAdd = {
  type: 'array',
  maxItems: batchMax,
  description: `Each at most ${activityBytesMax} bytes as JSON, ${namesBounded}.`,
  items: {
    type: 'object',
    required: ['featureType', 'actionType', 'actionUser'],
    properties: {
      id: {
        ...entityId,
        description:
          'Unique in the organization; default: generated. An activity with an existing id is replaced.',
      },
      ...activityContent,
    },
  },
  examples: [[example]],
} as const

export const activityChanges = {
  type: 'array',
  maxItems: batchMax,
  description: `Each at most ${activityBytesMax} bytes as JSON afterwards, ${namesBounded}.`,
  items: { type: 'object', required: ['id'], properties: { id: entityId, ...activityContent } },
  examples: [[{ id: 'signed-off', displayMessageTemplate: '{{user}} signed it off' }]],
} as const

/** Request members that identify activities of a document. */
export const activityReferences = {
  type: 'array',
  maxItems: batchMax,
  items: { type: 'object', required: ['id'], properties: { id: entityId } },
} as const

export const activityIds = { type: 'array', maxItems: batchMax, items: entityId } as const

export const documentScopeFields = { organizationId, documentId } as const

export const activityRecords = {
  type: 'array',
  items: {
    type: 'object',
    required: ['id', 'featureType', 'actionType', 'actionUser', 'metadata', 'timestamp'],
    properties: {
      id: { ...entityId, examples: ['signed-off'] },
      ...activityContent,
      featureType: { ...featureType, examples: ['custom'] },
      metadata: {
        type: 'object',
        required: ['apiKey', 'organizationId'],
        properties: {
          apiKey: { type: 'string' },
          organizationId: { type: 'string' },
          documentId: { type: 'string', description: 'Absent without a document.' },
        },
      },
      timestamp: { type: 'integer', description: 'Epoch milliseconds of when it was first recorded.' },
    },
  },
} as const

/** Converts an activity to its response. */
export function toActivityResponse(
  { tenant }: KeyCaller,
  organizationId: string,
  activity: ActivityRecord,
): FromSchema<typeof activityRecords>[number] {
  const { id, documentId, timestamp } = activity
  const document = documentId === null ? {} : { documentId }
  return {
    id,
    ...contentOf(activity),
    metadata: { apiKey: tenant.apiKey, organizationId, ...document },
    timestamp,
  }
}
