import type { LocalReceivers } from '../../../core/outgoing/checked-sender.ts'
import type { CallbacksRecord } from './callback-records.ts'

/**
 * Callbacks of all API keys that are functions of this process. The URLs of the callbacks are those of the
 * receivers.
 */
export interface CallbackFunctions {
  readonly callbacks: CallbacksRecord
  readonly receivers: LocalReceivers
}

/** Returns the callbacks of an API key. A function has precedence over the stored callback with its name. */
export function withFunctions(
  stored: CallbacksRecord | null,
  functions: CallbacksRecord | null,
): CallbacksRecord | null {
  if (stored === null || functions === null) return stored ?? functions
  return {
    ...stored,
    authorize: functions.authorize ?? stored.authorize,
    load: functions.load ?? stored.load,
    store: functions.store ?? stored.store,
  }
}
