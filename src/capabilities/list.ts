import type { Capability } from '../rest/capability.ts'
import { coreOperations } from '../rest/core-operations.ts'
import type { Operation } from '../rest/operation.ts'
import { agents } from './agents/index.ts'
import { backups } from './backups/index.ts'
import { branches } from './branches/index.ts'
import { callbacks } from './callbacks/index.ts'
import { comments } from './comments/index.ts'
import { decisions } from './decisions/index.ts'
import { feed } from './feed/index.ts'
import { history } from './history/index.ts'
import { notifications } from './notifications/index.ts'
import { observability } from './observability/index.ts'
import { streams } from './streams/index.ts'
import { usage } from './usage/index.ts'
import { userdata } from './userdata/index.ts'
import { webhooks } from './webhooks/index.ts'

/**
 * The capabilities of a server, in the order in which they are created and started. The folders `transfer` and
 * `backups/storage` serve the command line.
 */
export const capabilities: readonly Capability[] = [
  usage,
  decisions,
  notifications,
  comments,
  history,
  branches,
  webhooks,
  feed,
  callbacks,
  streams,
  userdata,
  agents,
  observability,
  backups,
]

/** Every REST operation, by path. The path of the file of an operation is the path of its URL. */
export const operationList: readonly Operation[] = [
  ...coreOperations,
  ...capabilities.flatMap(({ operations = [] }) => operations),
].sort((a, b) => (a.path < b.path ? -1 : 1))
