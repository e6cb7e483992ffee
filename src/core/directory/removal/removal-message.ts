import { readJson } from '../../base/json.ts'
import * as s from '../../base/schema.ts'
import { keySchema } from '../../model/address-schemas.ts'
import type { Key } from '../../store/engine.ts'
import { type RemovalTask, removalTaskSchema } from './removal-task.ts'

/** Topic of messages that report that a removal has begun or that logs were deleted. */
export const removalTopic = 'documents.removed'

type RemovalMessage =
  /**
   * The resource of the task is marked as being deleted. Its sessions must end. Its contents are removed
   * later.
   */
  | { readonly kind: 'begun'; readonly task: RemovalTask }
  /**
   * Logs have been removed. `prefixes` are the key prefixes of the organizations or documents whose logs were
   * removed.
   */
  | { readonly kind: 'gone'; readonly prefixes: readonly Key[] }

export const encodeRemovalMessage = (news: RemovalMessage): Uint8Array => Buffer.from(JSON.stringify(news))

const messageSchema = s.variant('kind', [
  s.object({ kind: s.literal('begun'), task: removalTaskSchema }),
  s.object({ kind: s.literal('gone'), prefixes: s.array(keySchema) }),
])

/** Decodes a message that `encodeRemovalMessage` has encoded. @throws MalformedJsonError */
export const decodeRemovalMessage = (message: Uint8Array): RemovalMessage => readJson(messageSchema, message)
