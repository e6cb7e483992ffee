import type { SlotsOptions } from '../jobs/fair-semaphore.ts'
import { limits } from '../model/limits.ts'

/** Callbacks that answer while a client waits. */
export type AnsweringCallbackName = 'authorize' | 'load'

/** Limits of the calls of a callback. */
interface CallLimits {
  /** Maximum number of calls at the same time, of all API keys together and of one. */
  readonly slots: SlotsOptions
  /** Maximum number of calls of one API key that wait for a slot. Further calls fail. */
  readonly waitingMax: number
  /** Maximum bytes of a response. */
  readonly answerBytesMax: number
  /** Maximum memory of the values of a response in bytes, as `measureJson` estimates it. */
  readonly valueBytesMax: number
}

export const callLimits: Readonly<Record<AnsweringCallbackName, CallLimits>> = {
  authorize: {
    slots: { total: 512, each: 64 },
    waitingMax: 2_000,
    answerBytesMax: 16_384,
    valueBytesMax: 2 ** 20,
  },
  load: {
    slots: { total: 32, each: 8 },
    waitingMax: 1_000,
    answerBytesMax: 16 * 2 ** 20,
    valueBytesMax: 96 * 2 ** 20,
  },
}

/** Maximum depth of the JSON in a response, including the object that contains the content. */
export const answerDepthMax = limits.typeDepth + 2

/** Maximum number of attempts of one call. */
export const attemptsMax = 3
/** Pause in ms before the second attempt. It doubles for the third one, and varies by half. */
export const retryMs = 200

/** Time in seconds for which a role is valid if the response has no `ttlSeconds`; and the maximum. */
export const ttlSecondsDefault = 60
export const ttlSecondsMax = 86_400
/** Maximum number of decisions of `authorize` that are kept. Beyond it, the oldest is evicted. */
export const decisionsMax = 50_000
/**
 * Time in ms after the end of a decision for which clients that are connected keep their role while calls fail.
 */
export const graceMs = 60_000
/** Time in ms after a failed call until connected clients cause the next one. */
export const repeatMs = 5_000

/** Time in ms for which it is remembered that the backend has no content for an editor. */
export const notFoundMs = 5_000
/** Maximum number of editors for which this is remembered. */
export const notFoundMax = 10_000
