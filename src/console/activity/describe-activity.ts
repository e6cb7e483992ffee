import type { ActivitiesGetDataItem, NamedUser } from '../../client/api/operation-types.ts'

export const activityKinds = ['comment', 'reaction', 'recorder', 'crdt', 'custom', 'administration'] as const

export type Activity = ActivitiesGetDataItem

/** Values of the filters. Without a value, a filter matches everything. */
interface ActivityFilters {
  readonly documentId?: string
  readonly userId?: string
  /** Feature type of the activities. */
  readonly feature?: string
  /** Action types, separated by commas. */
  readonly actions?: string
}

/** Converts filters to a request of `/v2/activities/get`. */
export function toActivityQuery(organizationId: string, filters: ActivityFilters): object {
  const { feature, actions = '', ...members } = filters
  const actionTypes = actions
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean)
  return {
    organizationId,
    order: 'desc',
    ...members,
    ...(feature !== undefined && { featureTypes: [feature] }),
    ...(actionTypes.length > 0 && { actionTypes }),
  }
}

/**
 * Texts for changes of the directory by backends, by action type. The template of such an activity contains
 * only the name of the action. `{to}` stands for the target, and `{who}` for the user.
 */
const directoryActions: Readonly<Record<string, string>> = {
  'organization.add': 'made the organization',
  'organization.update': 'changed the organization',
  'document.add': 'made the document {to}',
  'document.update': 'changed the record of the document {to}',
  'document.delete': 'deleted the document {to}',
  'folder.add': 'made the folder {to}',
  'folder.update': 'changed the folder {to}',
  'folder.delete': 'deleted the folder {to}',
  'user.add': 'added the user {to}',
  'user.update': 'changed the user {to}',
  'user.delete': 'removed the user {to}',
  'group.add': 'made the group {to}',
  'group.update': 'changed the group {to}',
  'group.delete': 'deleted the group {to}',
  'group.user_add': 'put {who} into the group {to}',
  'group.user_delete': 'took {who} out of the group {to}',
  'permission.add': 'granted {who} a role on {to}',
  'permission.update': 'changed the role of {who} on {to}',
  'permission.delete': 'took back the role of {who} on {to}',
}

/** Describes an activity in one sentence. */
export function describeActivity(activity: Activity): string {
  const { actionType, displayMessageTemplate, metadata, actionUser, targetEntityId = '' } = activity
  const action = directoryActions[actionType]
  const isOfBackend = actionUser.userId === metadata.apiKey
  if (isOfBackend && action !== undefined)
    return `The backend ${action.replace('{to}', () => targetEntityId).replace('{who}', () => concerned(activity))}`
  const rendered = displayMessageTemplate === undefined ? '' : filled(activity, displayMessageTemplate)
  if (rendered.trim() !== '') return rendered
  return [isOfBackend ? 'The backend' : nameOf(actionUser), actionType, targetEntityId]
    .filter(Boolean)
    .join(' ')
}

function concerned({ changes }: Activity): string {
  const { userId, groupId } = changes ?? {}
  if (typeof userId === 'string') return userId
  return typeof groupId === 'string' ? `the group ${groupId}` : 'somebody'
}

const nameOf = ({ name, userId }: NamedUser): string => (name === undefined || name === '' ? userId : name)

/**
 * Replaces the placeholders of a template with the values of an activity. If there is no value for `{{user}}`
 * or `{{actionUser}}`, the placeholder stands for the acting user.
 */
function filled(activity: Activity, template: string): string {
  const values = activity.displayMessageTemplateData ?? {}
  return template.replace(/\{\{([^{}]+)\}\}/g, (_, padded: string) => {
    const name = padded.trim()
    if (Object.hasOwn(values, name)) return shown(values[name])
    return name === 'user' || name === 'actionUser' ? nameOf(activity.actionUser) : ''
  })
}

/**
 * Returns a value as text: the name or text that the value contains. Returns '' if there is no value, and
 * JSON for any other object.
 */
function shown(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return ''
  if (typeof value !== 'object') return String(value)
  const members = new Map<string, unknown>(Object.entries(value))
  const found = ['name', 'userId', 'text']
    .map((name) => members.get(name))
    .find((each) => typeof each === 'string' && each !== '')
  return typeof found === 'string' ? found : JSON.stringify(value)
}
