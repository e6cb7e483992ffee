import * as v from 'valibot'
import type { Key } from '../../engine/engine.ts'
import { readJson } from '../../json.ts'
import { keySchema } from '../../model/address-schemas.ts'
import { type RemovalTask, removalTaskSchema } from './removal-task.ts'

/** The topic on which removals are told: when they have begun, and when logs are gone. */
export const removalTopic = 'documents.removed'

export type RemovalMessage =
  /** It is marked: nobody is to work on it any more. What it holds is removed when its turn has come. */
  | { readonly kind: 'begun'; readonly task: RemovalTask }
  /** Logs have been removed. `prefixes`: what their keys start with: of organizations, or of documents. */
  | { readonly kind: 'gone'; readonly prefixes: readonly Key[] }

export const encodeRemovalMessage = (news: RemovalMessage): Uint8Array => Buffer.from(JSON.stringify(news))

const messageSchema = v.variant('kind', [
  v.looseObject({ kind: v.literal('begun'), task: removalTaskSchema }),
  v.looseObject({ kind: v.literal('gone'), prefixes: v.array(keySchema) }),
])

/** What `encodeRemovalMessage` was given. @throws MalformedJsonError */
export const decodeRemovalMessage = (message: Uint8Array): RemovalMessage => readJson(messageSchema, message)
