import { expect, it } from 'vitest'
import { describeIds, describeOutcome } from '../../../src/console/activity/audit-entry.ts'
import {
  type Activity,
  describeActivity,
  toActivityQuery,
} from '../../../src/console/activity/describe-activity.ts'

const activity = (given: Partial<Activity>): Activity => ({
  id: 'a',
  featureType: 'custom',
  actionType: 'document.sign_off',
  actionUser: { userId: 'ann', name: 'Ann' },
  metadata: { apiKey: 'key', organizationId: 'acme' },
  timestamp: 0,
  ...given,
})

it('[CON-45] describes an activity with its template and the names in its data', () => {
  const template = '{{ user }} set {{what}} from {{from}} to {{to}}{{nothing}}'
  const displayMessageTemplateData = { what: { name: 'Budget' }, from: 3, to: { text: 'four' } }
  const said = describeActivity(activity({ displayMessageTemplate: template, displayMessageTemplateData }))
  expect(said).toBe('Ann set Budget from 3 to four')
})

it('[CON-45] describes in words how a backend changed organizations, folders, documents and users, for any ids', () => {
  const ofBackend = { actionUser: { userId: 'key' }, displayMessageTemplate: '{{actionType}}' }
  const put = { actionType: 'group.user_add', targetEntityId: '$&{who}', changes: { userId: 'bob' } }
  expect(describeActivity(activity({ ...ofBackend, ...put }))).toBe(
    'The backend put bob into the group $&{who}',
  )
  const granted = { actionType: 'permission.add', targetEntityId: 'notes', changes: { groupId: 'legal' } }
  expect(describeActivity(activity({ ...ofBackend, ...granted }))).toBe(
    'The backend granted the group legal a role on notes',
  )
})

it('[CON-45] describes an activity without a template by its actor, action and target', () => {
  expect(describeActivity(activity({ targetEntityId: 'report' }))).toBe('Ann document.sign_off report')
  expect(describeActivity(activity({ actionUser: { userId: 'key' } }))).toBe('The backend document.sign_off')
})

it('[CON-46] sends only the given filters in a request', () => {
  expect(toActivityQuery('acme', {})).toEqual({ organizationId: 'acme', order: 'desc' })
  const filters = { documentId: 'notes', userId: 'ann', feature: 'crdt', actions: 'a.b, ,c.d' }
  expect(toActivityQuery('acme', filters)).toEqual({
    organizationId: 'acme',
    order: 'desc',
    documentId: 'notes',
    userId: 'ann',
    featureTypes: ['crdt'],
    actionTypes: ['a.b', 'c.d'],
  })
})

it('[CON-47] describes the ids of an audit record, and the number of failures that it represents', () => {
  expect(describeIds({ ids: { userId: ['ann', 'bob'], organizationId: ['acme'] }, idsLeftOut: 3 })).toBe(
    'userId: ann, bob; organizationId: acme; and 3 more',
  )
  expect(describeOutcome({ outcome: 'UNAUTHENTICATED', refusals: { count: 7, since: 0 } })).toBe(
    'UNAUTHENTICATED, 7 times',
  )
})
