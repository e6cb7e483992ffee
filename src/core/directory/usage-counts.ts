import type { OrganizationScope } from './organizations/organization-keys.ts'

/** The counts of an organization on this node. Rooms and calls keep this object, so that an update costs one addition. */
export interface UsageCounts {
  /** Number of accepted updates. */
  updates: number
  bytesSent: number
  calls: number
  /** Counts a connection until `leave` is called. */
  enter(): void
  leave(): void
  release(): void
}

/** Returns counts. The caller must release them. */
export interface UsageSource {
  hold(scope: OrganizationScope): UsageCounts
  /** Returns the counts of a workspace for what belongs to no organization. */
  holdRest(workspaceId: string): UsageCounts
}

const ignored = (): UsageCounts => ({
  updates: 0,
  bytesSent: 0,
  calls: 0,
  enter: () => {},
  leave: () => {},
  release: () => {},
})

/** Counts that nobody reads, for a process that counts no usage. */
export const uncounted: UsageSource = { hold: ignored, holdRest: ignored }
