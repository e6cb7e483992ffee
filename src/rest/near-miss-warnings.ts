import type { TenantCaller } from '../core/access/credentials/authenticator.ts'
import { nearMiss } from '../core/base/text.ts'
import type { OrganizationScope } from '../core/directory/organizations/organization-keys.ts'
import type { CreatedContent } from '../core/rooms/editor-content.ts'
import { type DocumentIds, listMainEditors } from './list-editors.ts'
import { type CreatedLists, type OperationResult, warningsOf } from './operation.ts'
import type { Services } from './services.ts'

/** Maximum number of editors with which the id of a new editor is compared. */
const comparedEditorsMax = 500

/**
 * Returns a warning if a new id is most likely a misspelling of an existing one. Only the outermost new resource is
 * compared, because the resources in it are new as well.
 */
export async function nearMissWarnings(
  { organization, document, editor }: CreatedContent,
  services: Pick<Services, 'organizations' | 'documents' | 'engine' | 'branches'>,
  caller: TenantCaller,
  ids: DocumentIds,
): Promise<readonly string[]> {
  const { tenant } = caller
  if (organization !== undefined)
    return warn('organization', organization, await services.organizations.nearMiss(tenant, organization))
  if (document !== undefined)
    return warn('document', document, await services.documents.nearMiss({ ...tenant, ...ids }, document))
  if (editor === undefined) return []
  const editors = await listMainEditors(services, caller, ids, comparedEditorsMax)
  return warn(
    'editor',
    editor,
    nearMiss(
      editor,
      editors.filter((id) => id !== editor),
    ),
  )
}

/** Maximum number of new resources of a call that are compared with existing ones. */
const comparedMax = 20

/**
 * Returns the members `created` and `warnings` of the response of a call that creates missing parents in one
 * organization. The warnings are as those of `nearMissWarnings`.
 */
export async function reportCreated(
  { organizations, documents, folders }: Pick<Services, 'organizations' | 'documents' | 'folders'>,
  scope: OrganizationScope,
  created: CreatedLists,
): Promise<Pick<OperationResult<unknown>, 'created' | 'warnings'>> {
  const warnings: string[] = []
  for (const id of created.organizations?.slice(0, comparedMax) ?? [])
    warnings.push(...warn('organization', id, await organizations.nearMiss(scope, id)))
  if (created.organizations !== undefined) return { created, ...warningsOf(warnings) }
  for (const id of created.folders?.slice(0, comparedMax) ?? [])
    warnings.push(...warn('folder', id, await folders.nearMiss(scope, id)))
  for (const id of created.documents?.slice(0, comparedMax) ?? [])
    warnings.push(...warn('document', id, await documents.nearMiss(scope, id)))
  return { created, ...warningsOf(warnings) }
}

const warn = (kind: string, created: string, meant: string | null): readonly string[] =>
  meant === null
    ? []
    : [`created the ${kind} ${JSON.stringify(created)}; did you mean ${JSON.stringify(meant)}?`]
