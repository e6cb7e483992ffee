import type { Clock } from '../base/clock.ts'

/** Interval in ms at which the limit of an active workspace is read. */
const readEveryMs = 10_000
/** Maximum number of workspaces in memory. Beyond this number, the one that was added first is evicted. */
const workspacesMax = 10_000

/** The limit of a workspace as it was read last, and its use. */
export interface LimitedWorkspace {
  readAt: number
  /** The read in progress. Never rejects. */
  reading: Promise<void> | null
}

/**
 * A limit that the operator can set for single workspaces. It is read in the background while a workspace is active, so
 * that checks do not wait.
 */
export abstract class WorkspaceLimits<Workspace extends LimitedWorkspace> {
  protected readonly clock: Clock
  protected readonly workspaces = new Map<string, Workspace>()

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** Resolves when the limit of a workspace was read once, or when that has failed. */
  async ready(workspaceId: string): Promise<void> {
    const workspace = this.workspace(workspaceId)
    if (workspace.readAt === 0) await workspace.reading
  }

  /** Discards the limit of a workspace. Call this method when the limit has changed. */
  forget(workspaceId: string): void {
    this.workspaces.delete(workspaceId)
  }

  protected workspace(workspaceId: string): Workspace {
    const workspace = this.workspaces.get(workspaceId) ?? this.#add(workspaceId)
    if (workspace.reading === null && this.clock.now() >= workspace.readAt)
      workspace.reading = this.read(workspaceId, workspace).finally(() => {
        workspace.readAt = this.clock.now() + readEveryMs
        workspace.reading = null
      })
    return workspace
  }

  #add(workspaceId: string): Workspace {
    const workspace = this.created()
    const [oldest] = this.workspaces.keys()
    if (oldest !== undefined && this.workspaces.size >= workspacesMax) this.evict(oldest)
    this.workspaces.set(workspaceId, workspace)
    return workspace
  }

  protected evict(workspaceId: string): void {
    this.workspaces.delete(workspaceId)
  }

  /** Returns a workspace whose limit was not read. */
  protected abstract created(): Workspace

  /** Reads the limit of a workspace. Never rejects. */
  protected abstract read(workspaceId: string, workspace: Workspace): Promise<void>
}
