import { expect, it } from 'vitest'
import type { Identity, TokenGrant } from '../../../src/core/access/identity.ts'
import { publicAccess } from '../../../src/core/access/roles/document-access.ts'
import { roleOn } from '../../../src/core/access/roles/roles.ts'

const tenant = { workspaceId: 'ws', apiKey: 'key' }
const address = { ...tenant, organizationId: 'acme', documentId: 'plan', editorId: 'main' }
const now = 1_700_000_000_000
const tokenEnd = now + 3_600_000

const user = (more: Partial<Identity> = {}): Identity => ({
  tenant,
  userId: 'ann',
  name: 'Ann',
  email: '',
  admin: false,
  grants: null,
  agent: null,
  issuedAt: 0,
  expiresAt: tokenEnd,
  ...more,
})

const grant = (type: TokenGrant['type'], id: string, more: Partial<TokenGrant> = {}): TokenGrant => ({
  type,
  id,
  organizationId: 'acme',
  accessRole: 'editor',
  ...more,
})
const granted = (...grants: TokenGrant[]) => roleOn(user({ grants }), address, publicAccess, now)

it('[ACC-10] an admin has no role on a document of another tenant', () => {
  for (const other of [{ apiKey: 'other' }, { workspaceId: 'other' }])
    expect(roleOn(user({ admin: true }), { ...address, ...other }, publicAccess, now).role).toBeNull()
})

it('[ACC-11] gives the role editor to an admin, and to a user whose token has no grants, until the token expires', () => {
  expect(roleOn(user({ admin: true, grants: [] }), address, publicAccess, now)).toEqual({
    role: 'editor',
    until: tokenEnd,
  })
  expect(roleOn(user(), address, publicAccess, now)).toEqual({ role: 'editor', until: tokenEnd })
  expect(roleOn(user(), address, publicAccess, tokenEnd).role).toBeNull()
  expect(roleOn(user({ expiresAt: Number.POSITIVE_INFINITY }), address, publicAccess, now).until).toBe(
    Number.POSITIVE_INFINITY,
  )
})

it('[ACC-12] prefers the grant on the document to the grant on the organization', () => {
  expect(
    granted(grant('organization', 'acme', { accessRole: 'viewer' }), grant('document', 'plan')).role,
  ).toBe('editor')
  expect(
    granted(grant('organization', 'acme'), grant('document', 'plan', { accessRole: 'viewer' })).role,
  ).toBe('viewer')
  expect(granted(grant('organization', 'acme', { accessRole: 'viewer' })).role).toBe('viewer')
})

it('[ACC-97] uses the weaker of the role of the token and the role of the user, in the order viewer, suggester, editor', () => {
  const roles = ['viewer', 'suggester', 'editor'] as const
  const level = { accessType: null, inheritAccessFromParent: true, groups: [] }
  for (const [ofToken, accessRole] of roles.entries())
    for (const [ofUser, live] of roles.entries()) {
      const access = { ...publicAccess, levels: [{ ...level, own: { accessRole: live, expiresAt: null } }] }
      const identity = user({ grants: [grant('document', 'plan', { accessRole })] })
      expect(roleOn(identity, address, access, now).role).toBe(roles[Math.min(ofToken, ofUser)])
    }
})

it('[ACC-13] grants on other resources give no role', () => {
  expect(granted().role).toBeNull()
  expect(granted(grant('document', 'other')).role).toBeNull()
  expect(granted(grant('document', 'plan', { organizationId: 'other' })).role).toBeNull()
  expect(granted(grant('organization', 'other', { organizationId: 'other' })).role).toBeNull()
  expect(granted(grant('folder', 'plan')).role).toBeNull()
})

it('[ACC-14] ignores an expired grant, and returns the time when a valid one expires', () => {
  const endSeconds = now / 1000 + 60
  const expiring = grant('document', 'plan', { accessRole: 'viewer', expiresAt: endSeconds })
  expect(granted(expiring)).toEqual({ role: 'viewer', until: endSeconds * 1000 })
  const both = user({ grants: [expiring, grant('organization', 'acme')] })
  expect(roleOn(both, address, publicAccess, endSeconds * 1000)).toEqual({ role: 'editor', until: tokenEnd })
  expect(roleOn(user({ grants: [expiring] }), address, publicAccess, endSeconds * 1000).role).toBeNull()
})

it('[ACC-14] ends a grant at the latest when its token expires', () => {
  expect(granted(grant('document', 'plan', { expiresAt: tokenEnd / 1000 + 1 })).until).toBe(tokenEnd)
})

it('[ACC-15] uses only the last of several grants on one resource, even if it is weaker or has expired', () => {
  const plan = (more: Partial<TokenGrant>) => grant('document', 'plan', more)
  expect(granted(plan({}), plan({ accessRole: 'viewer' })).role).toBe('viewer')
  expect(granted(plan({ accessRole: 'viewer' }), plan({})).role).toBe('editor')
  expect(granted(plan({}), plan({ expiresAt: now / 1000 - 1 })).role).toBeNull()
  expect(granted(plan({ expiresAt: now / 1000 - 1 }), plan({ accessRole: 'viewer' })).role).toBe('viewer')
  const sooner = now / 1000 + 10
  expect(granted(plan({}), plan({ expiresAt: sooner })).until).toBe(sooner * 1000)
  const viewers = grant('organization', 'acme', { accessRole: 'viewer' })
  expect(granted(viewers, plan({}), plan({ expiresAt: now / 1000 - 1 })).role).toBe('viewer')
})
