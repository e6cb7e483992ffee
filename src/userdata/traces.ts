import type { OrganizationStore } from '../directory/organization-store.ts'
import type { Memory } from '../memory/memory.ts'
import type { Presence } from '../rooms/presence.ts'
import { judgmentTrace } from './judgment-trace.ts'
import { organizationTraces } from './organization-traces.ts'
import { presenceTrace } from './presence-trace.ts'
import type { UserTraces } from './trace.ts'

export interface TraceParts {
  readonly store: OrganizationStore
  readonly presence: Presence
  readonly memory: Memory
}

/** Everywhere where this server keeps data of users. Whoever keeps more of them adds a line here. */
export const userTraces = ({ store, presence, memory }: TraceParts): UserTraces => ({
  ofTenant: [presenceTrace(presence), judgmentTrace(memory)],
  ofOrganization: organizationTraces(store),
})
