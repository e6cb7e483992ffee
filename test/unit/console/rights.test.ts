import { expect, it } from 'vitest'
import {
  describePermission,
  describeReason,
  expirySeconds,
  permissionOn,
} from '../../../src/console/permissions/permission.ts'

const rights = {
  organization: { acme: { accessRole: 'viewer' } },
  folders: {},
  documents: { notes: { errorCode: 'permission_denied' }, gone: { errorCode: 'does_not_exist' } },
} as const

it('[CON-42] describes a permission on an organization, a folder and a document in words', () => {
  const on = (type: 'organization' | 'folder' | 'document', id: string) =>
    describePermission(permissionOn(rights, { type, id, organizationId: 'acme' }))
  expect(on('organization', 'acme')).toBe('may read')
  expect(on('document', 'notes')).toBe('no access')
  expect(on('document', 'gone')).toBe('does not exist')
  expect(on('folder', 'unknown')).toBe('')
})

it('[PERM-20] explains why a user has access or not', () => {
  const on = { resourceType: 'folder', resourceId: 'plans' } as const
  const editor = { accessRole: 'editor', accessType: 'restricted' } as const
  const group = { source: 'group', groupId: 'crew', ...on } as const
  expect(describeReason({ ...editor, reason: { source: 'user', ...on } })).toBe(
    'granted to the user on the folder plans',
  )
  expect(describeReason({ ...editor, reason: group })).toBe('granted to the group crew on the folder plans')
  const open = { accessRole: 'editor', accessType: 'public', reason: { source: 'accessType' } } as const
  expect(describeReason(open)).toBe('access is public')
  expect(describeReason({ accessType: 'restricted', reason: { source: 'accessType', ...on } })).toBe(
    'nothing granted, access is restricted, set on the folder plans',
  )
  expect(describeReason({ reason: { source: 'membership' } })).toBe('not a user of the organization')
  expect(describeReason({ accessRole: 'viewer', reason: { source: 'membership' } })).toBe(
    'user of the organization',
  )
  expect(describeReason(undefined)).toBe('')
})

it('[CON-42] a grant expires at the entered second, or never if no time is entered', () => {
  expect(expirySeconds('')).toBeUndefined()
  expect(expirySeconds('2030-01-01T12:00')).toBe(new Date(2030, 0, 1, 12).getTime() / 1000)
})
