import { expect, it } from 'vitest'
import { type AccessLevel, directoryRole } from '../../../src/core/access/roles/directory-role.ts'
import type { AccessRole, GrantRecord } from '../../../src/core/directory/store/records.ts'

const now = 1_700_000_000_000
const nowSeconds = now / 1000
const grant = (accessRole: AccessRole, expiresAt: number | null = null): GrantRecord => ({
  accessRole,
  expiresAt,
})
const level = (more: Partial<AccessLevel> = {}): AccessLevel => ({
  accessType: null,
  inheritAccessFromParent: true,
  own: null,
  groups: [],
  ...more,
})
const editor = grant('editor')
const viewer = grant('viewer')
const roleOf = (levels: readonly AccessLevel[], member: readonly GrantRecord[] = []) =>
  directoryRole(levels, member, now).role

it('[ACC-50] prefers the grant on the document to the grants on its folders and the organization', () => {
  const document = level({ own: viewer })
  const folder = level({ own: editor })
  const organization = level({ own: editor })
  expect(roleOf([document, folder, organization])).toBe('viewer')
  expect(roleOf([level(), level({ own: viewer }), folder, organization])).toBe('viewer')
  expect(roleOf([level(), level(), level({ own: viewer })])).toBe('viewer')
})

it('[ACC-50] prefers any grant to any access type', () => {
  for (const accessType of ['public', 'organizationPrivate', 'restricted'] as const)
    expect(roleOf([level({ accessType }), level({ own: viewer })], [editor])).toBe('viewer')
})

it("[ACC-51] prefers the user's own grant to stronger grants of groups on the same resource", () => {
  expect(roleOf([level({ own: viewer, groups: [editor] })])).toBe('viewer')
  expect(roleOf([level({ groups: [viewer] }), level({ own: editor })])).toBe('viewer')
})

it('[ACC-51] uses the strongest unexpired grant of the groups; if several are equally strong, uses the one that lasts longest', () => {
  expect(roleOf([level({ groups: [viewer, editor, viewer] })])).toBe('editor')
  expect(roleOf([level({ groups: [viewer, grant('suggester'), viewer] })])).toBe('suggester')
  expect(roleOf([level({ groups: [grant('suggester'), editor] })])).toBe('editor')
  expect(roleOf([level({ groups: [grant('editor', nowSeconds - 1), viewer] })])).toBe('viewer')
  const [short, long] = [grant('editor', nowSeconds + 5), grant('editor', nowSeconds + 50)]
  for (const groups of [
    [short, viewer, long],
    [long, short],
  ])
    expect(directoryRole([level({ groups })], [], now).grant).toBe(long)
})

it('[ACC-52] without a grant, uses the nearest access type', () => {
  expect(roleOf([level(), level()])).toBe('editor')
  expect(roleOf([])).toBe('editor')
  expect(roleOf([level(), level({ accessType: 'restricted' }), level()])).toBeNull()
  expect(roleOf([level({ accessType: 'public' }), level({ accessType: 'restricted' })])).toBe('editor')
  expect(roleOf([level(), level({ accessType: 'restricted' }), level({ accessType: 'public' })])).toBeNull()
})

it('[ACC-52] in a private organization, gives members their first unexpired role, and gives other users no role', () => {
  const closed = [level({ accessType: 'organizationPrivate' }), level()]
  expect(roleOf(closed)).toBeNull()
  expect(roleOf(closed, [editor, viewer])).toBe('editor')
  expect(roleOf(closed, [grant('editor', nowSeconds), viewer])).toBe('viewer')
  expect(roleOf(closed, [grant('editor', nowSeconds)])).toBeNull()
  expect(roleOf([level({ accessType: 'restricted' })], [editor])).toBeNull()
})

it('[ACC-53] ignores the grants and access types above a folder that does not inherit', () => {
  const cut = level({ inheritAccessFromParent: false })
  expect(roleOf([level(), cut, level({ accessType: 'restricted', own: viewer })])).toBe('editor')
  expect(roleOf([level({ accessType: 'restricted' }), cut, level({ own: editor })])).toBeNull()
  expect(roleOf([level(), { ...cut, own: viewer }, level({ own: editor })])).toBe('viewer')
})

it('[ACC-54] a grant ends at exactly the second of its expiry, and then the next grant applies', () => {
  const levels = [level({ own: grant('viewer', nowSeconds + 1) }), level({ own: editor })]
  expect(directoryRole(levels, [], now + 999).role).toBe('viewer')
  expect(directoryRole(levels, [], now + 1000).role).toBe('editor')
})

it('[ACC-54] returns as the time of the next check when the next grant that can change the role expires', () => {
  const soon = grant('viewer', nowSeconds + 10)
  const later = grant('viewer', nowSeconds + 20)
  const past = grant('viewer', nowSeconds - 10)
  const untilOf = (levels: readonly AccessLevel[], member: readonly GrantRecord[] = []) =>
    directoryRole(levels, member, now).until
  expect(untilOf([level({ own: editor })])).toBe(Number.POSITIVE_INFINITY)
  expect(untilOf([level({ own: later, groups: [soon] }), level({ own: past })])).toBe(now + 10_000)
  expect(untilOf([level({ accessType: 'organizationPrivate' })], [later])).toBe(now + 20_000)
  const cut = level({ inheritAccessFromParent: false, own: later })
  expect(untilOf([cut, level({ own: soon })])).toBe(now + 20_000)
})
