import type { Key } from '../engine/engine.ts'
import type { RemovalTask } from './removal-task.ts'

/** The topic on which removals are told: when they have begun, and when logs are gone. */
export const removalTopic = 'documents.removed'

export type RemovalNews =
  /** It is marked: nobody is to work on it any more. What it holds is removed when its turn has come. */
  | { readonly kind: 'begun'; readonly task: RemovalTask }
  /** Logs have been removed. `prefixes`: what their keys start with: of organizations, or of documents. */
  | { readonly kind: 'gone'; readonly prefixes: readonly Key[] }

export const encodeRemovalNews = (news: RemovalNews): Uint8Array => Buffer.from(JSON.stringify(news))

/** What `encodeRemovalNews` was given. */
export const decodeRemovalNews = (message: Uint8Array): RemovalNews =>
  JSON.parse(Buffer.from(message).toString()) as RemovalNews
