import type { AccessRole, AccessType } from '../../../src/core/directory/store/records.ts'

/**
 * Reference model that computes roles from plain lists. It is slow, and shares no code with the
 * implementation that it checks.
 */
export class AccessModel {
  now: number
  readonly grants: { subject: string; resource: string; role: AccessRole; endsAt: number }[] = []
  readonly memberships: { user: string; group: string }[] = []
  readonly parents = new Map<string, string>()
  readonly accessTypes = new Map<string, AccessType>()
  readonly closedAbove = new Set<string>()

  constructor(now: number) {
    this.now = now
  }

  grant(subject: string, resource: string, role: AccessRole, endsAt: number): void {
    this.revoke(subject, resource)
    this.grants.push({ subject, resource, role, endsAt })
  }

  revoke(subject: string, resource: string): void {
    drop(this.grants, (each) => each.subject === subject && each.resource === resource)
  }

  forget(subject: string): void {
    drop(this.grants, (each) => each.subject === subject)
    drop(this.memberships, ({ user, group }) => user === subject || group === subject)
  }

  isBelow(resource: string, ancestor: string): boolean {
    const parent = this.parents.get(resource)
    return resource === ancestor || (parent !== undefined && this.isBelow(parent, ancestor))
  }

  /**
   * Returns the role of a user on a resource. A grant on the resource or above it decides. Without such a
   * grant, the access type decides.
   */
  roleOn(user: string, resource: string): AccessRole | null {
    const granted = this.#granted(user, resource)
    if (granted !== null) return granted
    const type = this.#accessType(resource)
    if (type === 'public') return 'editor'
    return type === 'restricted' ? null : this.roleIn(user)
  }

  /** Returns the role that a user has in the organization. */
  roleIn(user: string): AccessRole | null {
    const direct = this.#grantedOn(user, 'organization')
    if (direct !== null) return direct
    const subjects = [user, ...this.#groups(user)]
    return this.#valid().some(({ subject }) => subjects.includes(subject)) ? 'viewer' : null
  }

  #granted(user: string, resource: string): AccessRole | null {
    const parent = this.#parent(resource)
    const here = this.#grantedOn(user, resource)
    return here !== null || parent === null ? here : this.#granted(user, parent)
  }

  #grantedOn(user: string, resource: string): AccessRole | null {
    const here = this.#valid().filter((each) => each.resource === resource)
    const own = here.find(({ subject }) => subject === user)
    if (own !== undefined) return own.role
    const groups = this.#groups(user)
    const roles = here.filter(({ subject }) => groups.includes(subject)).map(({ role }) => role)
    return (['editor', 'suggester', 'viewer'] as const).find((role) => roles.includes(role)) ?? null
  }

  #accessType(resource: string): AccessType {
    const own = this.accessTypes.get(resource)
    const parent = this.#parent(resource)
    if (own !== undefined) return own
    return parent === null ? 'public' : this.#accessType(parent)
  }

  /** Returns the parent of a resource; null if no permissions on parents apply to the resource. */
  #parent(resource: string): string | null {
    if (this.closedAbove.has(resource) || resource === 'organization') return null
    return this.parents.get(resource) ?? 'organization'
  }

  #groups = (user: string): string[] =>
    this.memberships.filter((each) => each.user === user).map(({ group }) => group)

  #valid = () => this.grants.filter(({ endsAt }) => endsAt > this.now)
}

function drop<Item>(items: Item[], matches: (item: Item) => boolean): void {
  for (let at = items.length - 1; at >= 0; at--) if (matches(items[at] as Item)) items.splice(at, 1)
}
