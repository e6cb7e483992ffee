import type { Clock } from '../../clock.ts'
import { ApiError } from '../../errors.ts'
import type { Tenant } from '../../model/address.ts'
import { findMissing } from '../documents/resource-lookup.ts'
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

/** A resource of some organization of a tenant. */
export interface OwnedResource {
  readonly organizationId: string
  readonly resource: Resource
}

export interface GrantInput extends OwnedResource {
  readonly grant: GrantRecord
}

/** Grants of users and groups, over several organizations at once. */
export class PermissionService {
  readonly #store: OrganizationStore
  readonly #clock: Clock

  constructor(store: OrganizationStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /**
   * Grants roles; replaces grants on the same resources. Uses one commit for each organization, after all of
   * them have been checked.
   * @param inputs each resource once
   * @throws ApiError NOT_FOUND, naming the missing ones, if a resource does not exist, or the group in one of
   * the organizations. Nothing is granted then, unless it was deleted while others were being granted
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

  /** @throws ApiError NOT_FOUND if the subject is a group that one of the organizations does not have */
  async requireSubject(tenant: Tenant, subject: Subject, organizationIds: Iterable<string>): Promise<void> {
    for (const organizationId of new Set(organizationIds))
      await requireGroup(this.#store.read({ ...tenant, organizationId }), subject, organizationId)
  }

  /**
   * Revokes grants, in one commit for each organization. Ignores resources without a grant and missing
   * resources.
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
  for (const input of inputs) {
    const part = parts.get(input.organizationId) ?? []
    part.push(input)
    parts.set(input.organizationId, part)
  }
  return parts
}

/** All inputs belong to one organization. @param isKnown whether that organization exists */
function notFound(
  missing: readonly Resource[],
  [input]: readonly OwnedResource[],
  isKnown: boolean,
): ApiError {
  const organizationId = input?.organizationId
  const { type, id } = (isKnown && missing[0]) || { type: 'organization' as const, id: organizationId }
  return new ApiError(`${type}/not-found`, `the ${type} ${JSON.stringify(id)} does not exist; add it first`, {
    details: { resources: missing.map((each) => ({ type: each.type, id: each.id, organizationId })) },
  })
}
