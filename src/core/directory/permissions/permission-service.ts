import type { Clock } from '../../base/clock.ts'
import { ApiError } from '../../base/errors.ts'
import { addTo } from '../../base/maps.ts'
import type { Tenant } from '../../model/address.ts'
import { addingCalls, findMissing } from '../documents/resource-lookup.ts'
import { keys, type Resource, type Subject } from '../organizations/organization-keys.ts'
import {
  findOrganization,
  type OrganizationStore,
  organizationOf,
} from '../organizations/organization-store.ts'
import { ensureUsers } from '../organizations/user-records.ts'
import type { DirectoryReader } from '../store/directory-reader.ts'
import type { GrantRecord } from '../store/records.ts'
import { putGrant, removeExpired, removeGrant } from './grants.ts'

/** A resource, and the organization to which it belongs. */
interface OwnedResource {
  readonly organizationId: string
  readonly resource: Resource
}

interface GrantInput extends OwnedResource {
  readonly grant: GrantRecord
}

/** The grants of users and groups. One call may change grants in several organizations. */
export class PermissionService {
  readonly #store: OrganizationStore
  readonly #clock: Clock

  constructor(store: OrganizationStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /**
   * Grants roles to a subject. Replaces earlier grants on the same resources. First checks all organizations,
   * then makes one commit for each of them.
   * @param inputs the grants; each resource may occur only once
   * @throws ApiError NOT_FOUND if a resource does not exist (the error names all missing ones), or if one of
   * the organizations does not have the group. Nothing is granted then, unless the resource or the group was
   * deleted during the call: in that case, grants that were already committed in other organizations stay
   */
  async add(tenant: Tenant, subject: Subject, inputs: readonly GrantInput[]): Promise<void> {
    const parts = byOrganization(inputs)
    for (const [organizationId, part] of parts)
      await this.#check(this.#store.read({ ...tenant, organizationId }), subject, part)
    for (const [organizationId, part] of parts)
      await this.#store.change({ ...tenant, organizationId }, async (transaction) => {
        await this.#check(transaction, subject, part)
        if (subject.type === 'user') await ensureUsers(transaction, [subject.id], this.#clock.now())
        await removeExpired(transaction, subject, this.#clock.now())
        for (const { resource, grant } of part) await putGrant(transaction, resource, subject, grant)
      })
  }

  /**
   * If the subject is a group, checks that each of the organizations has this group.
   * @throws ApiError NOT_FOUND
   */
  async requireSubject(tenant: Tenant, subject: Subject, organizationIds: Iterable<string>): Promise<void> {
    for (const organizationId of new Set(organizationIds))
      await requireGroup(this.#store.read({ ...tenant, organizationId }), subject, organizationId)
  }

  /**
   * Revokes grants, in one commit for each organization. Ignores resources that do not exist or on which the
   * subject has no grant.
   * @throws ApiError NOT_FOUND if an organization does not exist
   */
  async remove(tenant: Tenant, subject: Subject, inputs: readonly OwnedResource[]): Promise<void> {
    const parts = byOrganization(inputs)
    for (const organizationId of parts.keys())
      await organizationOf(this.#store.read({ ...tenant, organizationId }))
    for (const [organizationId, part] of parts)
      await this.#store.change({ ...tenant, organizationId }, async (transaction) => {
        await transaction.getAll(part.map(({ resource }) => keys.grant(resource, subject)))
        for (const { resource } of part) await removeGrant(transaction, resource, subject)
      })
  }

  async #check(reader: DirectoryReader, subject: Subject, inputs: readonly OwnedResource[]): Promise<void> {
    const missing = await findMissing(
      reader,
      inputs.map(({ resource }) => resource),
    )
    if (missing.length > 0) throw notFound(missing, inputs, (await findOrganization(reader)) !== null)
    await requireGroup(reader, subject, inputs[0]?.organizationId)
  }
}

async function requireGroup(
  reader: DirectoryReader,
  subject: Subject,
  organizationId: string | undefined,
): Promise<void> {
  if (subject.type === 'group' && (await reader.get(keys.group(subject.id))) === null)
    throw new ApiError('group/not-found', 'the group does not exist in the organization; check its id', {
      details: { organizationId },
    })
}

function byOrganization<Input extends OwnedResource>(
  inputs: readonly Input[],
): ReadonlyMap<string, readonly Input[]> {
  const parts = new Map<string, Input[]>()
  for (const input of inputs) addTo(parts, input.organizationId, input)
  return parts
}

/**
 * Returns the error for missing resources of one organization.
 * @param isKnown whether the organization exists
 */
function notFound(
  missing: readonly Resource[],
  [input]: readonly OwnedResource[],
  isKnown: boolean,
): ApiError {
  const organizationId = input?.organizationId
  const { type, id } = (isKnown && missing[0]) || { type: 'organization' as const, id: organizationId }
  const message = `the ${type} ${JSON.stringify(id)} does not exist; add it with ${addingCalls[type]}`
  return new ApiError(`${type}/not-found`, message, {
    details: { resources: missing.map((each) => ({ type: each.type, id: each.id, organizationId })) },
  })
}
