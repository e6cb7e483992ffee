import { expect, it } from 'vitest'
import { endOf, rightOn, sayRight } from '../../../src/console/rights/rights.ts'

const rights = {
  organization: { acme: { accessRole: 'viewer' } },
  folders: {},
  documents: { notes: { errorCode: 'permission_denied' }, gone: { errorCode: 'does_not_exist' } },
} as const

it('[CON-42] a right is said in words, for an organization, a folder and a document', () => {
  const on = (type: 'organization' | 'folder' | 'document', id: string) =>
    sayRight(rightOn(rights, { type, id, organizationId: 'acme' }))
  expect(on('organization', 'acme')).toBe('may read')
  expect(on('document', 'notes')).toBe('no access')
  expect(on('document', 'gone')).toBe('does not exist')
  expect(on('folder', 'unknown')).toBe('')
})

it('[CON-42] a grant ends at the second that was typed, or not at all', () => {
  expect(endOf('')).toBeUndefined()
  expect(endOf('2030-01-01T12:00')).toBe(new Date(2030, 0, 1, 12).getTime() / 1000)
})
