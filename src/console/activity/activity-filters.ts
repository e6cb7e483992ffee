import type { ActivityKind } from './describe-activity.ts'

/** Values of the filter form; an empty string matches everything. */
export interface Filters {
  readonly documentId: string
  readonly userId: string
  readonly feature: ActivityKind | ''
  /** Action types, separated by commas; empty to match all. */
  readonly actions: string
}

export const noFilters: Filters = { documentId: '', userId: '', feature: '', actions: '' }

/** Converts filters to a request of `/v2/activities/get`. */
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
