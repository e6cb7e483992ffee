import { totalmem } from 'node:os'
import { constrainedMemory } from 'node:process'
import { getHeapStatistics } from 'node:v8'
import type { LimitName } from './limits.ts'
import { type AccountBounds, type AccountLimits, type LimitHit, MemoryAccount } from './memory-account.ts'

/**
 * The largest sizes that one client may use at the same time. The bounds of the accounts are large enough for
 * several such clients.
 */
interface LargestSizes {
  readonly messageBytesMax: number
  readonly bodyBytesMax: number
  readonly documentBytesMax: number
  readonly sendBufferBytesMax: number
}

/**
 * Returns half of the memory that the process may use: the smallest of the heap limit
 * (`--max-old-space-size`), the memory of the container and the memory of the machine.
 */
export function defaultBudgetBytes(): number {
  const container = constrainedMemory()
  const memory = container > 0 ? Math.min(container, totalmem()) : totalmem()
  return Math.floor(Math.min(getHeapStatistics().heap_size_limit, memory) / 2)
}

/** Maximum bytes of a message of a connection before authentication, whether complete or incomplete. */
export const unauthenticatedMessageBytesMax = 65_536

/**
 * Number of copies of a document that work on a thread needs: the bytes that are sent to the thread, and the
 * Y.Doc.
 */
const threadCopies = 2

/**
 * Memory that a request body takes, as a multiple of its size. The body is in memory as pieces of text, as
 * one text and as parsed values.
 */
const bodyCopies = 6

const limitsOf = (perAddress: LimitName, perWorkspace: LimitName, inAll: LimitName): AccountLimits => ({
  perAddress,
  perWorkspace,
  inAll,
})

const incomplete = limitsOf(
  'incompleteMemoryPerAddress',
  'incompleteMemoryPerWorkspace',
  'incompleteMemoryTotal',
)
const unread = limitsOf('unreadMemoryPerAddress', 'unreadMemoryPerWorkspace', 'unreadMemoryTotal')
const bodies = limitsOf('bodyMemoryPerWorkspace', 'bodyMemoryPerWorkspace', 'bodyMemoryTotal')
const threads = limitsOf('threadMemoryPerWorkspace', 'threadMemoryPerWorkspace', 'threadMemoryTotal')
const pending = limitsOf(
  'pendingUpdateMemoryPerWorkspace',
  'pendingUpdateMemoryPerWorkspace',
  'pendingUpdateMemoryTotal',
)
const queued = limitsOf(
  'queuedUpdateMemoryPerWorkspace',
  'queuedUpdateMemoryPerWorkspace',
  'queuedUpdateMemoryTotal',
)

/**
 * Returns the bounds of an account for a total number of bytes. A workspace may use half of the total, but at
 * least `leastPerWorkspace`. An address may use three quarters, because one address may be an office with
 * several workspaces.
 */
function halves(total: number, leastPerWorkspace: number): AccountBounds {
  const perWorkspace = Math.max(Math.floor(total / 2), leastPerWorkspace)
  return { perAddress: perWorkspace * 1.5, perWorkspace, inAll: Math.max(total, perWorkspace * 2) }
}

export type MemoryLedger = ReturnType<typeof createMemoryAccounts>

/** Creates the accounts for all memory that is kept for clients. Their bounds are shares of the budget. */
export function createMemoryAccounts(budgetBytes: number, sizes: LargestSizes, hit: LimitHit) {
  const { messageBytesMax, bodyBytesMax, documentBytesMax, sendBufferBytesMax } = sizes
  const share = (part: number): number => Math.floor(budgetBytes / part)
  const waiting = halves(share(4), documentBytesMax + sendBufferBytesMax)
  const early = Math.max(share(64), unauthenticatedMessageBytesMax * 4)
  return {
    unauthenticatedMessages: new MemoryAccount(
      'unauthenticated_messages',
      { perAddress: early, perWorkspace: early, inAll: early * 4 },
      incomplete,
      hit,
    ),
    incompleteMessages: new MemoryAccount(
      'incomplete_messages',
      halves(share(4), messageBytesMax * 2),
      incomplete,
      hit,
    ),
    unreadSockets: new MemoryAccount('unread_sockets', waiting, unread, hit),
    unreadResponses: new MemoryAccount('unread_responses', waiting, unread, hit),
    requestBodies: new MemoryAccount(
      'request_bodies',
      halves(share(2), bodyBytesMax * bodyCopies),
      bodies,
      hit,
    ),
    pendingUpdates: new MemoryAccount('pending_updates', halves(share(8), messageBytesMax * 2), pending, hit),
    queuedUpdates: new MemoryAccount('queued_updates', halves(share(8), messageBytesMax * 2), queued, hit),
    threadJobs: new MemoryAccount(
      'thread_jobs',
      halves(share(4), documentBytesMax * threadCopies),
      threads,
      hit,
    ),
  }
}
