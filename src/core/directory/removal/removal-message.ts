import { readJson } from '../../base/json.ts'
import * as s from '../../base/schema.ts'
import { keySchema } from '../../model/address-schemas.ts'
import { removalTaskSchema } from './removal-task.ts'

/** Topic of messages that report that a removal has begun or that logs were deleted. */
export const removalTopic = 'documents.removed'

const messageSchema = s.variant('kind', [
  /**
   * The resource of the task is marked as being deleted. Its sessions must end. Its contents are removed
   * later.
   */
  s.object({ kind: s.literal('begun'), task: removalTaskSchema }),
  /**
   * Logs have been removed. `prefixes` are the key prefixes of the organizations or documents whose logs were
   * removed.
   */
  s.object({ kind: s.literal('gone'), prefixes: s.array(keySchema) }),
])
type RemovalMessage = s.TypeOf<typeof messageSchema>

export const encodeRemovalMessage = (news: RemovalMessage): Uint8Array => Buffer.from(JSON.stringify(news))

/** Decodes a message that `encodeRemovalMessage` has encoded. @throws MalformedJsonError */
export const decodeRemovalMessage = (message: Uint8Array): RemovalMessage => readJson(messageSchema, message)
