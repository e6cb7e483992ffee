import type { SlotsOptions } from '../../core/base/semaphore.ts'

/** Callbacks that answer while a client waits. */
export type AnsweringCallbackName = 'authorize' | 'load'

/** Maximum numbers of calls at the same time, for all workspaces together and for one workspace. */
export interface Slots extends SlotsOptions {
  /** Maximum number of calls of one API key at the same time. */
  readonly perKey: number
}

export interface CallLimits {
  readonly slots: Slots
  /** Maximum numbers of calls that have been waiting for a response for `quickMs`; null if `slots` limits them. */
  readonly hanging: Slots | null
  /** Milliseconds after which a call counts as one that hangs. */
  readonly quickMs: number
  /** Maximum number of calls for one user at the same time. */
  readonly perUser: number
  /** Maximum number of calls of one API key that wait for a slot. Further calls fail. */
  readonly waitingMax: number
  /** Maximum bytes of a response. */
  readonly answerBytesMax: number
}

export const callLimits: Readonly<Record<AnsweringCallbackName, CallLimits>> = {
  authorize: {
    slots: { perKey: 64, total: 512, each: 256, reserved: 128 },
    hanging: { perKey: 512, total: 2_048, each: 1_024, reserved: 256 },
    quickMs: 25,
    perUser: 8,
    waitingMax: 2_000,
    answerBytesMax: 16_384,
  },
  load: {
    slots: { perKey: 8, total: 32, each: 16, reserved: 8 },
    hanging: null,
    quickMs: 0,
    perUser: 8,
    waitingMax: 1_000,
    answerBytesMax: 16 * 2 ** 20,
  },
}

/** Maximum bytes of a response of `load` that is parsed on the event loop. */
export const parsedInlineMax = 131_072

/** Maximum number of attempts of one call. */
export const attemptsMax = 3
/** Pauses between the attempts. */
export const attemptPauses = { firstMs: 300, maxMs: 600 }

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
