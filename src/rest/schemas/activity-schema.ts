import type { KeyCaller } from '../../core/access/credentials/authenticator.ts'
import { type FromSchema, json } from '../../core/base/schema.ts'
import {
  type ActivityRecord,
  activityBytesMax,
  addedFeatureTypes,
  contentOf,
  featureTypes,
} from '../../core/events/activity.ts'
import { namedInCallMax, namedUsersMax } from '../../core/model/named-users.ts'
import { openMembers } from '../open-members.ts'
import { batchMax } from './resource-schema.ts'
import { notifiedUser } from './user-schema.ts'

/** Id of the target of an activity. Ids of directory records are allowed. */
const entityId = json.id()

export const featureType = json.choice(
  featureTypes,
  'Subject of the activity. `administration`: changes of organizations, documents, folders, users, groups and ' +
    'permissions.',
)

const addedFeatureType = json.choice(addedFeatureTypes, 'Subject of the activity.')

/** The name becomes a key of the store, so it must be valid as an id. */
export const actionType = json.id('Name of the action, such as `comment.add`.', { maxLength: 200 })

const actionUser = { ...notifiedUser, description: 'The user who made the change.' } as const

/** Members of an activity that callers must give. */
const activityAction = { featureType: addedFeatureType, actionType, actionUser } as const

/** Members of an activity that callers need not give. */
export const activityContent = {
  targetEntityId: json.id('Target of the action, such as an annotation; required for `custom` activities.'),
  location: json.object(
    { id: entityId },
    {
      locationName: { type: 'string', maxLength: 1_000 },
    },
    {
      ...openMembers(),
      description: 'The place in the document. It is deleted with the data of this location.',
    },
  ),
  changes: json.map(
    {},
    {
      description:
        'Values before and after the change. The server reads only users in it: objects with a `userId`.',
    },
  ),
  displayMessageTemplate: json.text(
    'Text for users. `{{name}}` stands for a member of `displayMessageTemplateData`.',
    { maxLength: 2_000 },
  ),
  displayMessageTemplateData: json.map(
    {},
    {
      description:
        'Values of the placeholders. An object with a `name`, such as a user, is shown by its name.',
    },
  ),
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

export const activitiesToAdd = json.list(
  json.object(activityAction, {
    id: json.id(
      'Unique in the organization; default: generated. An activity with an existing id is replaced.',
    ),
    ...activityContent,
  }),
  {
    maxItems: batchMax,
    description: `Each at most ${activityBytesMax} bytes as JSON, ${namesBounded}.`,
    examples: [[example]],
  },
)

export const activityChanges = json.list(
  json.object({ id: entityId }, { ...activityAction, ...activityContent }),
  {
    maxItems: batchMax,
    description: `Each at most ${activityBytesMax} bytes as JSON afterwards, ${namesBounded}.`,
    examples: [[{ id: 'signed-off', displayMessageTemplate: '{{user}} signed it off' }]],
  },
)

/** Request members that identify activities of a document. */
export const activityReferences = json.list(json.object({ id: entityId }), { maxItems: batchMax })

export const activityIds = json.list(entityId, { maxItems: batchMax })

export const activityRecords = json.list(
  json.object(
    {
      id: { ...entityId, examples: ['signed-off'] },
      ...activityAction,
      featureType: { ...featureType, examples: ['custom'] },
      metadata: json.object(
        {
          apiKey: json.text(),
          organizationId: json.text(),
        },
        { documentId: json.text('Absent without a document.') },
      ),
      timestamp: json.integer('Epoch milliseconds of when it was first recorded.'),
    },
    activityContent,
  ),
)

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
