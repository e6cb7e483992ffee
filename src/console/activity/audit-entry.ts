import type { WorkspaceAuditGetDataItem } from '../../client/api/operation-types.ts'

/** A record of the audit log, as `/v2/workspace/audit/get` returns it. */
export type AuditEntry = WorkspaceAuditGetDataItem

export const actors = [
  ['', 'Anybody'],
  ['key', 'An API key'],
  ['agent', 'An agent'],
  ['workspace', 'The workspace'],
  ['operator', 'The operator: starts of the server'],
  ['nobody', 'Not authenticated (rejected calls)'],
] as const satisfies readonly (readonly [AuditEntry['actor'] | '', string])[]

/** Describes the ids of a record in words. */
export function describeIds({ ids, idsLeftOut = 0 }: Pick<AuditEntry, 'ids' | 'idsLeftOut'>): string {
  const named = Object.entries(ids).map(([member, values]) => `${member}: ${values.join(', ')}`)
  return [...named, ...(idsLeftOut === 0 ? [] : [`and ${idsLeftOut} more`])].join('; ')
}

export const describeOutcome = ({ outcome, refusals }: Pick<AuditEntry, 'outcome' | 'refusals'>): string =>
  refusals === undefined ? outcome : `${outcome}, ${refusals.count} times`
