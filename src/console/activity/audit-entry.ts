export type Actor = 'key' | 'workspace' | 'operator' | 'nobody'

export const actors = [
  ['', 'Anybody'],
  ['key', 'An API key'],
  ['workspace', 'The workspace'],
  ['operator', 'The operator: starts of the server'],
  ['nobody', 'Not authenticated (rejected calls)'],
] as const satisfies readonly (readonly [Actor | '', string])[]

/** A record of the audit log, as `/v2/workspace/audit/get` returns it. */
export interface AuditEntry {
  readonly auditId: string
  readonly timestamp: number
  readonly operation: string
  readonly actor: Actor
  readonly apiKey?: string
  readonly clientAddress?: string
  readonly outcome: string
  /** Ids that the call contained, by the name of the member that contained them. */
  readonly ids: Readonly<Record<string, readonly string[]>>
  readonly idsLeftOut?: number
  readonly refusals?: { readonly count: number; readonly since: number }
}

/** Describes the ids of a record in words. */
export function describeIds({ ids, idsLeftOut = 0 }: Pick<AuditEntry, 'ids' | 'idsLeftOut'>): string {
  const named = Object.entries(ids).map(([member, values]) => `${member}: ${values.join(', ')}`)
  return [...named, ...(idsLeftOut === 0 ? [] : [`and ${idsLeftOut} more`])].join('; ')
}

export const describeOutcome = ({ outcome, refusals }: Pick<AuditEntry, 'outcome' | 'refusals'>): string =>
  refusals === undefined ? outcome : `${outcome}, ${refusals.count} times`
