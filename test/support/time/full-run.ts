import { it } from 'vitest'

/** True if the run includes all tests, also the slow ones. */
export const isEverythingAsked = process.env.WEFT_TEST_ALL === '1'

/** Slow tests, which run only with WEFT_TEST_ALL=1. */
export const itLong = it.skipIf(!isEverythingAsked)

/** Returns the usual number of repetitions or, with WEFT_TEST_ALL=1, `all`. */
export const times = <T>(usually: T, all: T): T => (isEverythingAsked ? all : usually)
