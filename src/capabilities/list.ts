import type { Capability } from '../rest/capability.ts'
import { agents } from './agents/index.ts'
import { backups } from './backups/index.ts'
import { branches } from './branches/index.ts'
import { callbacks } from './callbacks/index.ts'
import { comments } from './comments/index.ts'
import { decisions } from './decisions/index.ts'
import { feed } from './feed/index.ts'
import { history } from './history/index.ts'
import { migrations } from './migrations/index.ts'
import { notifications } from './notifications/index.ts'
import { observability } from './observability/index.ts'
import { streams } from './streams/index.ts'
import { usage } from './usage/index.ts'
import { userdata } from './userdata/index.ts'
import { webhooks } from './webhooks/index.ts'

export { operationList } from './operation-list.ts'

/**
 * The capabilities of a server, in the order in which they are created and started. The folders `transfer` and
 * `backups/storage` serve the command line.
 */
export const capabilities: readonly Capability[] = [
  usage,
  decisions,
  notifications,
  comments,
  streams,
  history,
  branches,
  webhooks,
  feed,
  callbacks,
  userdata,
  migrations,
  agents,
  observability,
  backups,
]
