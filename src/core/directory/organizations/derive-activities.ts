import { randomUUID } from 'node:crypto'
import type { ActivityEvent } from '../../events/activity.ts'
import type { DomainEvent } from '../../events/event-recorder.ts'
import { eventTypesByActivity, type OutboundEvent } from '../../events/outbound-event.ts'
import type { Mutation } from '../store/transaction.ts'
import type { OrganizationScope } from './organization-keys.ts'

/** The activity types for one kind of record, by the kind of change. Null: the change creates no activity. */
interface Named {
  readonly added: string
  readonly updated: string | null
  readonly deleted: string
}

const named = (name: string): Named => ({
  added: `${name}.add`,
  updated: `${name}.update`,
  deleted: `${name}.delete`,
})

/** Activity types by the first segment of the key of a record. Other records create no activities. */
const kinds: Readonly<Record<string, Named>> = Object.assign(Object.create(null), {
  organization: named('organization'),
  documents: named('document'),
  folders: named('folder'),
  users: named('user'),
  groups: named('group'),
  members: { added: 'group.user_add', updated: null, deleted: 'group.user_delete' },
  grants: { added: 'permission.add', updated: 'permission.update', deleted: 'permission.delete' },
})

/** The document and the entity to which the activity of a record refers. */
interface Subject {
  readonly targetEntityId: string
  readonly documentId: string | null
  /** The user or group whose membership or permission has changed. */
  readonly changes?: { readonly userId?: string; readonly groupId?: string }
}

/**
 * Returns the activities of a commit: one for each resource, user, group, grant and membership that was
 * added, updated or deleted. Grants and memberships that are created or deleted together with their user or
 * group create no activities of their own. The events of documents and grants go to external receivers; a
 * grant that is created together with its user has an event as well. The acting user of a call by a backend is
 * its API key.
 */
export function deriveActivities(
  scope: OrganizationScope,
  written: readonly Mutation[],
): readonly DomainEvent[] {
  const [users, groups] = [wholeOf('users', written), wholeOf('groups', written)]
  return written.flatMap((one): readonly DomainEvent[] => {
    const actionType = actionOf(one)
    const subject = actionType === null ? null : subjectOf(scope, one)
    if (actionType === null || subject === null) return []
    const { userId, groupId } = subject.changes ?? {}
    const isPart =
      (userId !== undefined && users.has(userId)) || (groupId !== undefined && groups.has(groupId))
    const outbound = outboundOf(scope, actionType, one)
    if (!isPart) return [{ activity: activityOf(scope, actionType, subject), outbound }]
    return actionType === 'permission.add' ? [{ activity: null, outbound }] : []
  })
}

/** Returns the ids of the users (or groups) whose records are created or deleted. */
const wholeOf = (kind: 'users' | 'groups', written: readonly Mutation[]): ReadonlySet<string | undefined> =>
  new Set(
    written.filter(({ key, isNew, isGone }) => key[0] === kind && (isNew || isGone)).map(({ key }) => key[1]),
  )

function actionOf({ key, isNew, isGone, isGoing }: Mutation): string | null {
  const kind = kinds[key[0] ?? '']
  if (kind === undefined) return null
  if (isGone || isGoing) return kind.deleted
  return isNew ? kind.added : kind.updated
}

function subjectOf(scope: OrganizationScope, { key, isGoing }: Mutation): Subject | null {
  const [kind, first = '', second = '', third = '', fourth = ''] = key
  switch (kind) {
    case 'organization':
      // No activity is added when an organization is deleted, because its activities are deleted as well.
      return isGoing ? null : { targetEntityId: scope.organizationId, documentId: null }
    case 'documents':
      // The activities of a document are deleted with the document. Only the activity of the deletion stays,
      // because its `documentId` is null.
      return { targetEntityId: first, documentId: isGoing ? null : first }
    case 'members':
      return { targetEntityId: first, documentId: null, changes: { userId: second } }
    case 'grants':
      return {
        targetEntityId: second,
        documentId: first === 'document' ? second : null,
        changes: third === 'user' ? { userId: fourth } : { groupId: fourth },
      }
    default:
      return { targetEntityId: first, documentId: null }
  }
}

function activityOf(scope: OrganizationScope, actionType: string, subject: Subject): ActivityEvent {
  return {
    id: randomUUID(),
    featureType: 'administration',
    actionType,
    actionUser: { userId: scope.apiKey },
    ...subject,
    displayMessageTemplate: '{{actionType}} {{targetEntityId}}',
    displayMessageTemplateData: { actionType, targetEntityId: subject.targetEntityId },
  }
}

/**
 * Returns the event for external receivers; null for a change that has none. The data of a permission contains
 * its role and expiry, unless the permission was deleted.
 */
function outboundOf(
  { apiKey }: OrganizationScope,
  actionType: string,
  { key, record }: Mutation,
): OutboundEvent | null {
  const actionUser = { userId: apiKey }
  const [, first = '', second = '', third = '', fourth = ''] = key
  switch (actionType) {
    case 'document.add':
    case 'document.delete': {
      const type = actionType === 'document.add' ? eventTypesByActivity[actionType] : actionType
      return { type, documentId: first, actionUser, data: { documentId: first } }
    }
    case 'permission.add':
    case 'permission.update':
    case 'permission.delete':
      return {
        type: actionType,
        documentId: first === 'document' ? second : null,
        actionUser,
        data: {
          resource: { type: first, id: second },
          ...(third === 'user' ? { user: { userId: fourth } } : { organizationUserGroupId: fourth }),
          ...record,
        },
      }
    default:
      return null
  }
}
