import type { ActivityKind } from './describe-activity.ts'

/** Values of the filter form; an empty string matches everything. */
export interface Filters {
  readonly documentId: string
  readonly userId: string
  readonly feature: ActivityKind | ''
  /** Action types with commas between them. */
  readonly actions: string
}

export const noFilters: Filters = { documentId: '', userId: '', feature: '', actions: '' }

/** The question to `/v2/activities/get` that filters make. */
export function toActivityQuery(organizationId: string, filters: Filters): object {
  const [documentId, userId] = [filters.documentId.trim(), filters.userId.trim()]
  const actionTypes = filters.actions
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean)
  return {
    organizationId,
    order: 'desc',
    ...(documentId === '' ? {} : { documentId }),
    ...(userId === '' ? {} : { userId }),
    ...(filters.feature === '' ? {} : { featureTypes: [filters.feature] }),
    ...(actionTypes.length === 0 ? {} : { actionTypes }),
  }
}
